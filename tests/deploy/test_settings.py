"""The environment that pods get fits the settings that services read."""

import base64
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from deploy.local_secrets import secrets
from deploy.manifests import DEPLOY, SERVICES, Manifests, pod_of, render
from libs.chassis.entropy import SeededEntropy
from libs.chassis.settings import ENV_PREFIX, ServiceSettings, load_settings
from services.auth.storage.keys import read_keys, read_pepper
from tests.deploy.conftest import spec_of

each_service = pytest.mark.parametrize("name", SERVICES)

# What a secret or a field of the pod may hold, so that the settings can be read as they would be there.
EXAMPLES = {"url": "postgresql+asyncpg://whist:word@postgres:5432/whist", "status.podIP": "10.1.2.3"}
WORD = "a-word-of-a-secret-that-is-long-enough"


def resolved(environment: Mapping[str, Any]) -> dict[str, str]:
    """Values as the process sees them: examples for secrets and fields, ``$(NAME)`` replaced."""
    values: dict[str, str] = {}
    for key, value in environment.items():
        if isinstance(value, str):
            values[key] = re.sub(r"\$\((\w+)\)", lambda found: values[found[1]], value)
        else:
            source = value.get("secretKeyRef", {}).get("key") or value["fieldRef"]["fieldPath"]
            values[key] = EXAMPLES.get(source, WORD)
    return values


@pytest.fixture
def settings_of(rendered: Manifests, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Loads a service's settings from exactly the rendered environment."""

    def load(name: str) -> ServiceSettings:
        for key, value in resolved(rendered.environment(rendered.workload(name))).items():
            monkeypatch.setenv(key, value)
        settings: ServiceSettings = load_settings(spec_of(name).settings)
        return settings

    return load


@each_service
def test_every_variable_is_a_field_of_the_services_settings(rendered: Manifests, name: str) -> None:
    fields = {f"{ENV_PREFIX}{field.upper()}" for field in spec_of(name).settings.model_fields}
    wanted = rendered.environment(rendered.workload(name)).keys()
    assert {key for key in wanted if key.startswith(ENV_PREFIX)} - fields == set()


@each_service
def test_the_settings_load_and_are_not_those_of_one_machine(settings_of: Any, rendered: Manifests, name: str) -> None:
    settings: ServiceSettings = settings_of(name)
    assert settings.tls_cert == Path("/run/whist/tls/tls.crt")
    assert settings.kafka_bootstrap == "kafka:9092"
    if spec_of(name).migrations is not None:
        assert "127.0.0.1" not in settings.database_url
    ports = {port["name"]: port["containerPort"] for port in pod_of(rendered.workload(name))["containers"][0]["ports"]}
    listeners = {"health": "health_listen", "metrics": "metrics_listen", "grpc": "grpc_listen", "http": "http_listen",
                 "sockets": "socket_listen", "admin": "admin_listen"}  # fmt: skip
    for port, number in ports.items():
        assert getattr(settings, listeners[port]) == f"0.0.0.0:{number}"


@each_service
def test_no_secret_keeps_the_value_it_has_in_the_code(settings_of: Any, rendered: Manifests, name: str) -> None:
    settings = settings_of(name)
    fields = type(settings).model_fields
    for field in fields:
        if isinstance(getattr(settings, field), SecretStr):
            source = rendered.environment(rendered.workload(name)).get(f"{ENV_PREFIX}{field.upper()}")
            assert isinstance(source, Mapping), field
            assert "secretKeyRef" in source, field


@each_service
def test_every_callee_is_a_headless_service_of_ours(settings_of: Any, rendered: Manifests, name: str) -> None:
    for callee, target in targets(settings_of(name)).items():
        assert target == f"dns:///{callee}:50051"
        assert rendered.get("Service", callee)["spec"]["ports"][0]["port"] == 50051


def targets(settings: ServiceSettings) -> dict[str, str]:
    """Callee → gRPC target, from the fields called ``<callee>_target``."""
    return {
        field.removesuffix("_target"): str(getattr(settings, field))
        for field in type(settings).model_fields
        if field.endswith("_target")
    }


def test_p33_gateways_dial_the_worker_that_holds_the_table(settings_of: Any) -> None:
    assert settings_of("tables").advertise == "10.1.2.3:50051"


@each_service
def test_a_migration_writes_to_the_same_database_as_its_servers(rendered: Manifests, name: str) -> None:
    if rendered.has("Job", f"{name}-migrate"):
        server = rendered.environment(rendered.workload(name))["WHIST_DATABASE_URL"]
        assert rendered.environment(rendered.get("Job", f"{name}-migrate"))["WHIST_DATABASE_URL"] == server


@each_service
def test_a_migration_has_all_settings_without_which_its_command_does_not_start(
    rendered: Manifests, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if rendered.has("Job", f"{name}-migrate"):
        for key, value in resolved(rendered.environment(rendered.get("Job", f"{name}-migrate"))).items():
            monkeypatch.setenv(key, value)
        assert load_settings(spec_of(name).settings).database_url == EXAMPLES["url"]


def wanted_secrets(rendered: Manifests) -> dict[str, set[str]]:
    """Secret → keys that any pod names; a mounted one without keys is in with none."""
    wanted: dict[str, set[str]] = {}
    for workload in rendered.of("Deployment", "StatefulSet", "Job"):
        pod = pod_of(workload)
        for volume in pod.get("volumes", ()):
            if "secret" in volume:
                wanted.setdefault(volume["secret"]["secretName"], set())
        for variable in (each for container in pod["containers"] for each in container.get("env", ())):
            if reference := variable.get("valueFrom", {}).get("secretKeyRef"):
                wanted.setdefault(reference["name"], set()).add(reference["key"])
    return wanted


def test_the_local_secrets_are_exactly_what_the_local_overlay_names(tmp_path: Path) -> None:
    made = {each["metadata"]["name"]: set(each["data"]) for each in secrets(tmp_path, SeededEntropy(1))}
    wanted = wanted_secrets(render(DEPLOY / "overlays" / "local"))
    assert made.keys() == wanted.keys()
    for name, keys in wanted.items():
        assert keys <= made[name]


def test_mounted_files_that_settings_name_are_in_the_secrets(settings_of: Any, tmp_path: Path) -> None:
    rendered = render(DEPLOY / "overlays" / "local")
    made = {each["metadata"]["name"]: set(each["data"]) for each in secrets(tmp_path, SeededEntropy(1))}
    for name in SERVICES:
        pod = pod_of(rendered.workload(name))
        mounted = {
            path
            for mount in pod["containers"][0]["volumeMounts"]
            for volume in pod["volumes"]
            if volume["name"] == mount["name"] and "secret" in volume
            for path in (
                mount["mountPath"],
                *(f"{mount['mountPath']}/{key}" for key in made[volume["secret"]["secretName"]]),
            )
        }
        named = {str(value) for _, value in settings_of(name) if isinstance(value, Path)}
        assert {path for path in named if path.startswith("/run/whist/")} <= mounted


def test_making_the_local_secrets_twice_changes_nothing(tmp_path: Path) -> None:
    assert secrets(tmp_path, SeededEntropy(1)) == secrets(tmp_path, SeededEntropy(2))
    assert (tmp_path / "postgres").stat().st_mode & 0o077 == 0


def test_auth_accepts_the_local_keys_and_pepper(tmp_path: Path) -> None:
    made = {each["metadata"]["name"]: each["data"] for each in secrets(tmp_path / "kept", SeededEntropy(1))}
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    for secret in ("whist-auth-keys", "whist-auth-pepper"):
        for key, value in made[secret].items():
            (mounted / key).write_bytes(base64.b64decode(value))
    assert len(read_keys(mounted)) == 1
    read_pepper(mounted / "pepper")
