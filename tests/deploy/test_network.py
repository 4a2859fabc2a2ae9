"""Who may talk to whom: the policies against the calls that the services' settings and allow lists make possible."""

from typing import Any

import pytest

from deploy.manifests import NAME_LABEL, SERVICES, Manifests, pod_labels, selects
from tests.deploy.conftest import spec_of

each_service = pytest.mark.parametrize("name", SERVICES)
SERVER = "app.kubernetes.io/component"


def reachable(rendered: Manifests, source: dict[str, str], target: dict[str, str], port: int, name: str) -> bool:
    """Whether both sides' policies let a pod open a connection to another; `name` is the port's."""
    return _passes(rendered, "egress", source, target, {port, name}) and _passes(
        rendered, "ingress", target, source, {port, name}
    )


def _passes(rendered: Manifests, way: str, pod: dict[str, str], other: dict[str, str], ports: set[Any]) -> bool:
    peers = {"egress": "to", "ingress": "from"}[way]
    for policy in rendered.of("NetworkPolicy"):
        spec = policy["spec"]
        if way.capitalize() not in spec["policyTypes"] or not selects(spec["podSelector"], pod):
            continue
        for rule in spec.get(way, ()):
            named = {each["port"] for each in rule["ports"]}
            if named & ports and (
                peers not in rule or any(_is(peer, other) for peer in rule[peers] if "podSelector" in peer)
            ):
                return True
    return False


def _is(peer: dict[str, Any], pod: dict[str, str]) -> bool:
    return "namespaceSelector" not in peer and selects(peer["podSelector"], pod)


def callees(name: str) -> set[str]:
    """Services that this one's settings have a target for."""
    return {field.removesuffix("_target") for field in spec_of(name).settings.model_fields if field.endswith("_target")}


def test_nothing_passes_that_is_not_named(rendered: Manifests) -> None:
    deny = rendered.get("NetworkPolicy", "default-deny")["spec"]
    assert deny == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    stranger = {NAME_LABEL: "stranger"}
    for workload in rendered.of("Deployment", "StatefulSet"):
        if workload["metadata"]["name"] != "gateway":
            labels = pod_labels(workload)
            for port, title in ((50051, "grpc"), (5432, "postgres"), (9092, "kafka"), (9100, "metrics")):
                assert not reachable(rendered, stranger, labels, port, title)
                assert not _passes(rendered, "ingress", labels, stranger, {port, title})


@each_service
def test_a_service_reaches_exactly_those_it_calls(rendered: Manifests, name: str) -> None:
    labels = pod_labels(rendered.workload(name))
    found = {
        other for other in SERVICES if reachable(rendered, labels, pod_labels(rendered.workload(other)), 50051, "grpc")
    }
    assert found == callees(name)


@each_service
def test_only_services_with_a_schema_reach_the_database(rendered: Manifests, name: str) -> None:
    labels = pod_labels(rendered.workload(name))
    wanted = spec_of(name).migrations is not None
    assert reachable(rendered, labels, {NAME_LABEL: "postgres"}, 5432, "postgres") is wanted
    if wanted:
        migration = pod_labels(rendered.get("Job", f"{name}-migrate"))
        assert reachable(rendered, migration, {NAME_LABEL: "postgres"}, 5432, "postgres")


@each_service
def test_whoever_has_events_reaches_the_broker(rendered: Manifests, name: str) -> None:
    labels = pod_labels(rendered.workload(name))
    assert reachable(rendered, labels, {NAME_LABEL: "kafka"}, 9092, "kafka")


@each_service
def test_every_service_has_names_traces_and_a_scrape(rendered: Manifests, name: str) -> None:
    labels = pod_labels(rendered.workload(name))
    assert reachable(rendered, labels, {NAME_LABEL: "otel-collector"}, 4317, "otlp")
    selected = [
        policy["metadata"]["name"]
        for policy in rendered.of("NetworkPolicy")
        if selects(policy["spec"]["podSelector"], labels)
    ]
    assert {"default-deny", "names-and-traces", "metrics", name} <= set(selected)
    assert labels[SERVER] == "server"


def test_the_operators_listener_is_reached_by_port_forward_alone(rendered: Manifests) -> None:
    gateway = pod_labels(rendered.workload("gateway"))
    for workload in rendered.of("Deployment", "StatefulSet"):
        assert not reachable(rendered, pod_labels(workload), gateway, 8090, "admin")
    assert not _passes(rendered, "ingress", gateway, {}, {8090, "admin"})
