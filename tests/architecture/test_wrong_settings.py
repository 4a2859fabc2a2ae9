"""P83: each variable of each service, set wrong, stops the start with a message that names it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from pydantic import SecretStr

from libs.chassis import localca
from libs.chassis.entropy import SystemEntropy
from libs.chassis.settings import WrongSettings, load_settings
from services.allinone.home import Home
from services.allinone.wiring import SPECS
from services.auth.storage.keys import ensure_key

ROOT = Path(__file__).parents[2]
BY_NAME = {spec.name: spec for spec in SPECS}
# What must be there before anything else can be wrong.
GIVEN = {"WHIST_MAIL_DIR": "mail", "WHIST_VIP_KEY": "k" * 32}

# Text of which only some is right. What a file or folder must hold is seen when the service is wired: `STARTS` below.
TEXTS = {
    "database_url": ("", "postgresql://u@h/d", "postgresql+asyncpg://", "postgresql+asyncpg://h:5432"),
    "kafka_bootstrap": ("nonsense", "host:port", "a:1,,b:2"),
    "grpc_listen": ("", "nonsense", "127.0.0.1:65536", "unix:"),
    "health_listen": ("nonsense", "127.0.0.1:65536"),
    "metrics_listen": ("nonsense", "127.0.0.1:65536"),
    "http_listen": ("", "nonsense", "127.0.0.1:65536"),
    "socket_listen": ("", "nonsense", "127.0.0.1:65536"),
    "admin_listen": ("nonsense", "127.0.0.1:65536"),
    "otlp_endpoint": ("nonsense", "::::", "http://"),
    "public_socket_url": ("nonsense", "https://x"),
    "allowed_origins": ("nonsense", "[1]", '["play.example"]', '["https://play.example/"]', '["*"]'),
    "mail_from": ("", "nonsense", "Whist <a", "a@b.example, c@d.example"),
    "advertise": ("nonsense", ":::"),
    "worker_id": ("x" * 64,),
} | {
    f"rate_{name}": ("nonsense", "10 per fortnight", "-1/minute")
    for name in ("network", "account", "guests", "login", "tables", "chat", "operators", "exports")
}
TARGETS = ("", "nonsense", ":::", "dns:///auth")
# Any text is right: names and passwords at the mail server, which alone can tell.
FREE = {"smtp_host", "smtp_user"}


def wrong_values(name: str, annotation: Any) -> tuple[str, ...]:
    if name in TEXTS:
        return TEXTS[name]
    if name.endswith("_target"):
        return TARGETS
    if annotation is bool:
        return ("perhaps", "")
    if annotation in (int, float):
        return ("", "many", "-1", "nan", "inf", "1e99")
    if get_origin(annotation) is Literal:
        return ("", "loud")
    assert name in FREE or annotation is SecretStr or Path in (annotation, *get_args(annotation)), name
    return ()


def cases() -> Iterator[tuple[str, str, str]]:
    for spec in SPECS:
        for name, field in spec.settings.model_fields.items():
            for value in wrong_values(name, field.annotation):
                yield spec.name, name, value


@pytest.mark.parametrize("service", sorted(BY_NAME))
def test_p83_each_wrong_variable_is_named(service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in GIVEN.items():
        monkeypatch.setenv(name, value)
    load_settings(BY_NAME[service].settings)
    taken = []
    for _, name, value in (case for case in cases() if case[0] == service):
        variable = f"WHIST_{name.upper()}"
        with monkeypatch.context() as environment:
            environment.setenv(variable, value)
            try:
                load_settings(BY_NAME[service].settings)
            except WrongSettings as wrong:
                assert str(wrong).startswith(f"{variable}: "), (variable, value)
            else:
                taken.append((variable, value))
    assert taken == []


STARTS = [
    ("auth", "WHIST_GRPC_LISTEN", "192.0.2.1:1"),
    ("auth", "WHIST_HEALTH_LISTEN", "192.0.2.1:1"),
    ("auth", "WHIST_METRICS_LISTEN", "192.0.2.1:1"),
    ("auth", "WHIST_SIGNING_KEYS", "/nonexistent"),
    ("auth", "WHIST_PEPPER_FILE", "/nonexistent"),
    ("auth", "WHIST_MAIL_DIR", "/proc/nonexistent"),
    ("auth", "WHIST_SMTP_HOST", "mail.example"),
    ("gateway", "WHIST_HTTP_LISTEN", "192.0.2.1:1"),
    ("gateway", "WHIST_SOCKET_LISTEN", "192.0.2.1:1"),
    ("gateway", "WHIST_ADMIN_LISTEN", "192.0.2.1:1"),
    ("gateway", "WHIST_OPERATORS_FILE", "/nonexistent"),
    ("gateway", "WHIST_WEB_DIR", "/nonexistent"),
    ("coach", "WHIST_TLS_CERT", "/nonexistent"),
    ("coach", "WHIST_TLS_KEY", "/nonexistent"),
    ("coach", "WHIST_TLS_CA", "/etc/passwd"),
    ("matchmaking", "WHIST_VIP_KEY", "short"),
    ("wallet", "WHIST_KAFKA_BOOTSTRAP", ""),
]


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which every service starts."""
    folder = tmp_path_factory.mktemp("right")
    home = Home(folder, SystemEntropy())
    ensure_key(home.signing_keys, SystemEntropy())
    files = localca.ensure(home.certificates, sorted(BY_NAME))["coach"]
    return {
        "PATH": os.environ["PATH"],
        "WHIST_KAFKA_BOOTSTRAP": "127.0.0.1:1",
        "WHIST_HTTP_LISTEN": "127.0.0.1:0",
        "WHIST_SOCKET_LISTEN": "127.0.0.1:0",
        "WHIST_ADMIN_LISTEN": "127.0.0.1:0",
        "WHIST_OPERATORS_FILE": str(home.operators),
        "WHIST_SIGNING_KEYS": str(home.signing_keys),
        "WHIST_PEPPER_FILE": str(home.secret("pepper")),
        "WHIST_MAIL_DIR": str(home.mails),
        "WHIST_VIP_KEY": home.secret("vip-key").read_text(),
        "WHIST_TLS_CERT": str(files.cert),
        "WHIST_TLS_KEY": str(files.key),
        "WHIST_TLS_CA": str(files.ca),
    }


@pytest.mark.parametrize(("service", "variable", "value"), STARTS)
def test_p83_what_only_the_start_can_tell_ends_it_with_status_2(
    service: str, variable: str, value: str, right: dict[str, str]
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", f"services.{service}", "serve"], cwd=ROOT, env={**right, variable: value},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert (variable in done.stderr, done.returncode) == (True, 2), done.stderr[-2000:]
