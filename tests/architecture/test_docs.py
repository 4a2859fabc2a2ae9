"""The documents say what the code does: links, proofs, RPCs and who may call them, topics, settings."""

import ast
import importlib
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor import MethodDescriptor

from libs.chassis.events.memory import MemoryBus
from libs.chassis.service import Service
from services.allinone.wiring import SPECS
from tests.architecture import migrations_sql, platform_table, settings_table
from tests.architecture.documents import ROOT, Row, anchors, documents, links, section, table, words

ARCHITECTURE, EVENTS, FAULTS, PLATFORM, README, SECURITY, SETTINGS = (
    ROOT / name
    for name in (
        "ARCHITECTURE.md",
        "docs/events.md",
        "docs/faults.md",
        "docs/platform.md",
        "README.md",
        "docs/security.md",
        "docs/settings.md",
    )
)
SERVICES = sorted(path.name for path in (ROOT / "services").iterdir() if (path / "__main__.py").exists())
ID = re.compile(r"\b[PRWLKGX]\d{1,2}\b")

each_document = pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
each_service = pytest.mark.parametrize("name", SERVICES)


@pytest.fixture(scope="module")
async def wired(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Mapping[str, Service]]:
    """Every service as its wiring builds it; nothing is started or connected."""
    folder = tmp_path_factory.mktemp("wired")
    needed: dict[str, dict[str, Any]] = {
        "auth": {
            "signing_keys": folder / "keys",
            "pepper_file": folder / "pepper",
            "keys_create": True,
            "mail_dir": folder,
        },
        "matchmaking": {"vip_key": "of no account at all"},
        "wallet": {"vip_key": "of no account at all"},
    }
    async with AsyncExitStack() as stack:
        services = {}
        for spec in SPECS:
            settings = spec.settings(**needed.get(spec.name, {}))
            _, services[spec.name] = await stack.enter_async_context(spec.open(settings, bus=MemoryBus()))
        yield services


# ---- links and proofs ----


@each_document
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    for link in links(path.read_text()):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        file = (path.parent / target).resolve() if target else path
        assert file.exists(), link
        if anchor:
            assert anchor in anchors(file.read_text()), link


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "docs" / "adr"
    assert set(links((folder / "README.md").read_text())) >= {path.name for path in folder.glob("0*.md")}


def proofs() -> list[Row]:
    return table(section(README.read_text(), "What works"))


@pytest.mark.parametrize("row", proofs(), ids=lambda row: row["ids"])
def test_every_row_of_what_works_names_tests_that_say_so(row: Row) -> None:
    claimed, proved = set(ID.findall(row["ids"])), set[str]()
    assert claimed
    for name in words(row["proved by"]):
        proved |= ids_of(*name.split("::"))
    assert claimed <= proved


def ids_of(path: str, name: str) -> set[str]:
    """The ids that a test names: in its own name, its docstring, or its module's. Raises KeyError for no such test."""
    module, functions = functions_in(ROOT / "tests" / path)
    function = functions[name]
    text = f"{' '.join(name.upper().split('_'))} {ast.get_docstring(function) or ''} {ast.get_docstring(module) or ''}"
    return set(ID.findall(text))


@cache
def functions_in(path: Path) -> tuple[ast.Module, Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    module = ast.parse(path.read_text())
    functions = [each for each in module.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return module, {each.name: each for each in functions if each.name.startswith("test_")}


@pytest.mark.parametrize(
    "row", table(section(FAULTS.read_text(), "Tables, sockets, friends")), ids=lambda row: row["#"]
)
def test_every_fault_seen_elsewhere_names_tests_that_hold_it_here(row: Row) -> None:
    assert words(row["held by"])
    for name in words(row["held by"]):
        path, function = name.split("::")
        assert function in functions_in(ROOT / "tests" / path)[1], name


# ---- RPCs ----


def methods_of(name: str) -> list[MethodDescriptor]:
    """The RPCs of a service's contract; none where it has no contract."""
    if not (ROOT / "protos" / "whist" / name).exists():
        return []
    contract = importlib.import_module(f"whist.{name}.v1.{name}_pb2").DESCRIPTOR
    return [method for service in contract.services_by_name.values() for method in service.methods]


def full_name(method: MethodDescriptor) -> str:
    return f"/{method.containing_service.full_name}/{method.name}"


async def test_every_rpc_says_who_may_call_it_and_the_document_says_the_same(wired: Mapping[str, Service]) -> None:
    written = {
        (row["service"], row["RPC"]): frozenset(words(row["callers"]))
        for row in table(section(SECURITY.read_text(), "Who may call what"))
    }
    allowed = {
        (name, method.name): frozenset(wired[name].allow[full_name(method)])
        for name in wired
        for method in methods_of(name)
    }
    assert sum(len(service.allow) for service in wired.values()) == len(allowed)
    assert {key: "anyone" if callers == {"*"} else callers for key, callers in allowed.items()} == {
        key: callers if callers != {"anyone"} else "anyone" for key, callers in written.items()
    }


def test_the_architecture_names_every_service_and_its_rpcs() -> None:
    written = {
        row["service"]: set(words(row["gRPC"])) for row in table(section(ARCHITECTURE.read_text(), "Who owns what"))
    }
    assert written == {spec.name: {method.name for method in methods_of(spec.name)} for spec in SPECS}


@each_service
def test_a_services_readme_names_its_rpcs_and_leads_to_its_settings(name: str) -> None:
    text = (ROOT / "services" / name / "README.md").read_text()
    said = set(re.findall(r"\w+", text))
    assert {method.name for method in methods_of(name)} - said == set()
    assert f"../../docs/settings.md#{name}" in set(links(text))


# ---- topics ----


def published() -> dict[str, str]:
    """Topic → service, by the constants called TOPIC."""
    found = {}
    for path in (ROOT / "services").rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if (
                isinstance(node, ast.Assign)
                and any(isinstance(target, ast.Name) and target.id == "TOPIC" for target in node.targets)
                and isinstance(node.value, ast.Constant)
            ):
                found[str(node.value.value)] = path.relative_to(ROOT / "services").parts[0]
    return found


def test_the_events_document_has_every_topic_with_its_publisher_and_messages() -> None:
    written = {}
    for row in table(section(EVENTS.read_text(), "Topics")):
        [topic], [publisher] = words(row["topic"]), words(row["published by"])
        written[topic] = (publisher, set(words(row["events"])))
    code = {}
    for topic, publisher in published().items():
        contract = importlib.import_module(f"whist.{publisher}.v1.events_pb2").DESCRIPTOR
        [message] = [each for each in contract.message_types_by_name.values() if "event" in each.oneofs_by_name]
        code[topic] = (publisher, {field.message_type.name for field in message.oneofs_by_name["event"].fields})
    assert written == code


async def test_the_events_document_has_every_consumer_with_what_it_takes(wired: Mapping[str, Service]) -> None:
    written = {
        (row["consumer"], words(row["topic"])[0], frozenset(words(row["takes"])))
        for row in table(section(EVENTS.read_text(), "Consumers"))
    }
    code = {
        (each.consumer, each.topic, frozenset(pascal(kind) for kind in each.types))
        for service in wired.values()
        for each in service.subscriptions
    }
    assert written == code


async def test_the_events_document_has_every_listener(wired: Mapping[str, Service]) -> None:
    written = {(row["service"], words(row["topic"])[0]) for row in table(section(EVENTS.read_text(), "Listeners"))}
    assert written == {(name, each.topic) for name, service in wired.items() for each in service.listeners}


def pascal(snake: str) -> str:
    return "".join(word.capitalize() for word in snake.split("_"))


# ---- settings and migrations ----


def test_the_settings_page_is_what_the_classes_say() -> None:
    again = "python -m tests.architecture.settings_table > docs/settings.md"
    assert SETTINGS.read_text() == settings_table.text(), again


def test_p83_the_platforms_numbers_are_those_of_the_file_and_its_parser() -> None:
    again = "python -m tests.architecture.platform_table > docs/platform.md"
    assert PLATFORM.read_text() == platform_table.text(), again


def test_the_migrations_sql_holds_every_schema() -> None:
    text = migrations_sql.sql()
    for spec in SPECS:
        assert (f"create table {spec.name}.outbox" in text) is (spec.migrations is not None)
