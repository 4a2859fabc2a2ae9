"""Policies every workload of ours keeps, whichever overlay renders it."""

from typing import Any

import pytest

from deploy.manifests import SERVICES, Manifests, pod_labels, pod_of, selects
from libs.chassis.events.kafka import PARTITIONS
from tests.deploy.conftest import spec_of

PORTS = {"grpc": 50051, "health": 50052, "metrics": 9100, "http": 8080, "sockets": 8081, "admin": 8090}
STOP_SECONDS = 5  # the server's own grace for running calls after the drain (libs.chassis.run)

each_service = pytest.mark.parametrize("name", SERVICES)


def test_every_pod_runs_under_the_restricted_profile(rendered: Manifests) -> None:
    """What Pod Security's `restricted` demands, and what it does not: no token, no service links, read-only root."""
    namespace = rendered.get("Namespace", "whist")["metadata"]["labels"]
    assert namespace["pod-security.kubernetes.io/enforce"] == "restricted"
    writable = {"kafka"}  # its image writes below /opt/kafka
    for workload in rendered.of("Deployment", "StatefulSet", "Job"):
        name, pod = workload["metadata"]["name"], pod_of(workload)
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["securityContext"]["runAsUser"] > 0, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert pod["automountServiceAccountToken"] is False, name
        assert pod["enableServiceLinks"] is False, name
        assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys(), name
        assert all("hostPath" not in volume for volume in pod.get("volumes", ())), name
        for container in pod["containers"] + pod.get("initContainers", []):
            context = container["securityContext"]
            assert context["allowPrivilegeEscalation"] is False, name
            assert context["capabilities"] == {"drop": ["ALL"]}, name
            assert context.get("readOnlyRootFilesystem", False) is (name not in writable), name


def test_every_container_has_a_memory_limit_equal_to_its_request_and_no_cpu_limit(rendered: Manifests) -> None:
    for workload in rendered.of("Deployment", "StatefulSet", "Job"):
        for container in pod_of(workload)["containers"]:
            resources, name = container["resources"], workload["metadata"]["name"]
            assert resources["requests"]["memory"] == resources["limits"]["memory"], name
            assert resources["requests"]["cpu"], name
            assert "cpu" not in resources["limits"], name


@each_service
def test_a_service_selects_its_own_servers_and_never_its_migration(rendered: Manifests, name: str) -> None:
    workload, service = rendered.workload(name), rendered.get("Service", name)
    for selector in (
        workload["spec"]["selector"],
        service["spec"]["selector"],
        rendered.get("PodDisruptionBudget", name)["spec"]["selector"],
    ):
        taken = [
            other["metadata"]["name"]
            for other in rendered.of("Deployment", "StatefulSet", "Job")
            if selects(selector, pod_labels(other))
        ]
        assert taken == [name]


@each_service
def test_ports_have_one_name_and_one_number_everywhere(rendered: Manifests, name: str) -> None:
    open_ports = {port["name"]: port["containerPort"] for port in _container(rendered, name)["ports"]}
    assert open_ports.items() <= PORTS.items()
    assert {"health", "metrics"} <= open_ports.keys()
    for port in rendered.get("Service", name)["spec"]["ports"]:
        assert port["targetPort"] == port["name"]
        assert port["port"] == open_ports[port["name"]]


@each_service
def test_grpc_services_are_headless_so_that_callers_balance_calls(rendered: Manifests, name: str) -> None:
    service = rendered.get("Service", name)["spec"]
    names = {port["name"] for port in service["ports"]}
    if name == "gateway":
        assert names == {"http", "sockets"}  # the operators' listener is in no Service
    else:
        assert names == {"grpc"}
        assert service["clusterIP"] == "None"


@each_service
def test_probes_ask_the_health_server_and_only_readiness_hears_of_the_drain(rendered: Manifests, name: str) -> None:
    container = _container(rendered, name)
    health = {"port": PORTS["health"]}
    assert container["startupProbe"]["grpc"] == health | {"service": "live"}
    assert container["livenessProbe"]["grpc"] == health | {"service": "live"}
    assert container["readinessProbe"]["grpc"] == health | {"service": "ready"}


@each_service
def test_the_grace_period_is_longer_than_everything_that_happens_in_it(rendered: Manifests, name: str) -> None:
    workload = rendered.workload(name)
    pause = _container(rendered, name)["lifecycle"]["preStop"]["sleep"]["seconds"]
    drain = float(str(rendered.environment(workload)["WHIST_DRAIN_SECONDS"]))
    grace = pod_of(workload)["terminationGracePeriodSeconds"]
    assert pause >= 5
    assert pause + drain + STOP_SECONDS + 10 <= grace <= 600


@each_service
def test_a_disruption_takes_one_pod_and_a_broken_pod_never_holds_a_node(rendered: Manifests, name: str) -> None:
    budget = rendered.get("PodDisruptionBudget", name)["spec"]
    assert budget["maxUnavailable"] == 1
    assert budget["unhealthyPodEvictionPolicy"] == "AlwaysAllow"


@each_service
def test_each_service_has_an_account_of_its_own_without_a_token(rendered: Manifests, name: str) -> None:
    assert pod_of(rendered.workload(name))["serviceAccountName"] == name
    assert rendered.get("ServiceAccount", name)["automountServiceAccountToken"] is False


@each_service
def test_replicas_spread_over_zones_and_nodes(rendered: Manifests, name: str) -> None:
    workload = rendered.workload(name)
    constraints = pod_of(workload)["topologySpreadConstraints"]
    assert {each["topologyKey"] for each in constraints} == {"topology.kubernetes.io/zone", "kubernetes.io/hostname"}
    for each in constraints:
        assert selects(each["labelSelector"], pod_labels(workload))
        assert each["matchLabelKeys"] == ["app.kubernetes.io/name"]


@each_service
def test_a_service_with_a_schema_is_migrated_by_a_job_of_the_same_image(rendered: Manifests, name: str) -> None:
    assert rendered.has("Job", f"{name}-migrate") is (spec_of(name).migrations is not None)
    if rendered.has("Job", f"{name}-migrate"):
        pod = pod_of(rendered.get("Job", f"{name}-migrate"))
        assert [container["args"] for container in pod["containers"]] == [["migrate"]]
        assert pod["containers"][0]["image"] == _container(rendered, name)["image"]
    assert _container(rendered, name)["args"] == ["serve"]


def test_the_coach_never_pushes_a_table_off_its_node(rendered: Manifests) -> None:
    value = {each["metadata"]["name"]: each["value"] for each in rendered.of("PriorityClass")}
    classes = {name: pod_of(rendered.workload(name))["priorityClassName"] for name in SERVICES}
    assert value[classes["coach"]] < min(value[classes[name]] for name in SERVICES if name != "coach")
    assert rendered.get("PriorityClass", classes["coach"])["preemptionPolicy"] == "Never"


def test_table_workers_have_stable_names_and_start_together(rendered: Manifests) -> None:
    workload = rendered.workload("tables")
    assert workload["kind"] == "StatefulSet"
    assert workload["spec"]["podManagementPolicy"] == "Parallel"
    assert workload["spec"]["serviceName"] == "tables"


@each_service
def test_only_tmp_is_writable(rendered: Manifests, name: str) -> None:
    pod = pod_of(rendered.workload(name))
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    mounts = {mount["mountPath"]: mount for mount in _container(rendered, name)["volumeMounts"]}
    assert "emptyDir" in volumes[mounts.pop("/tmp")["name"]]
    for path, mount in mounts.items():
        assert mount["readOnly"] is True, path


def test_secrets_are_named_and_never_carried(rendered: Manifests) -> None:
    assert list(rendered.of("Secret")) == []


def test_a_broker_that_makes_topics_gives_them_the_partitions_the_services_count_on(rendered: Manifests) -> None:
    if not any(each["metadata"]["name"] == "kafka" for each in rendered.of("StatefulSet")):
        return
    variables = rendered.environment(rendered.workload("kafka"))
    assert variables["KAFKA_NUM_PARTITIONS"] == str(PARTITIONS)


def _container(rendered: Manifests, name: str) -> Any:
    (container,) = pod_of(rendered.workload(name))["containers"]
    return container
