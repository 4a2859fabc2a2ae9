"""REST as its own document describes it, called with what it allows and with what it forbids (X17, A7, B32).

Requests are derived from the served OpenAPI document by schemathesis, without randomness; the services behind the
gateway are the real ones. What must hold of every answer: no 5xx, the documented form, what the document forbids is
refused, and who is refused has changed nothing in any service's tables.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig as Config
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.e2e.digest import Digest, differing

Operation = APIOperation[Any, Any, Any, Any]
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]


class State:
    """A database's digest, for callers that do not wait in a loop of their own."""

    def __init__(self, database_url: str) -> None:
        # The tests' own loop is left alone.
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._connection = self._runner.run(asyncpg.connect(database_url.replace("+asyncpg", "")))
        self._digest = self._runner.run(Digest.of(self._connection))

    def digest(self) -> Mapping[str, str]:
        return self._runner.run(self._digest.read())

    def is_quiet(self) -> bool:
        return self._runner.run(self._digest.is_quiet())

    def close(self) -> None:
        self._runner.run(self._connection.close())
        self._runner.close()


@dataclass
class Caller:
    """Somebody who calls: a way to a fresh access token, and the ids that mean something to them."""

    name: str
    sign_in: Callable[[], str]
    ids: Callable[[], Mapping[str, list[str]]]  # read before each operation: the last one may have ended a table
    token: str = ""

    def headers(self) -> dict[str, str]:
        if not self.token:
            self.token = self.sign_in()
        return {"Authorization": f"Bearer {self.token}"}


@dataclass
class Findings:
    """What was seen of each operation."""

    faults: dict[str, str] = field(default_factory=dict)  # the first of each kind at each operation
    statuses: dict[str, Counter[int]] = field(default_factory=dict)
    compared: int = 0

    def add(self, operation: str, kind: str, text: str) -> None:
        self.faults.setdefault(f"{operation}: {kind}", text)


# A query parameter that a route does not know is no data of its: OpenAPI has no word that forbids one.
GENERATION = {"generation": {"allow-extra-parameters": False}}
# After these the caller's token is of no use any more.
ENDS_THE_SESSION = {"DELETE /v1/session", "DELETE /v1/sessions/{session_id}", "DELETE /v1/account"}
# Refused by the gateway before any service is asked.
AT_THE_DOOR = {401, 405, 422}


def operations(document: Mapping[str, Any]) -> list[Operation]:
    """All of the document's; those after which a caller is somebody else come last."""
    schema = schemathesis.openapi.from_dict(dict(document), config=Config.from_dict(GENERATION))
    found = [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]
    assert len(found) == sum(len(methods) for methods in document["paths"].values())
    return sorted(found, key=lambda operation: operation.label in ENDS_THE_SESSION)


def unreached(findings: Findings) -> set[str]:
    """Operations of which no call came past the gateway's door."""
    reached = {label.partition(" as ")[0] for label, seen in findings.statuses.items() if set(seen) - AT_THE_DOOR}
    return {label.partition(" as ")[0] for label in findings.statuses} - reached


def fuzz(url: str, operation: Operation, caller: Caller, state: State, findings: Findings, examples: int) -> None:
    """Call one operation `examples` times with allowed and as often with forbidden data."""
    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
        for parameters in _places(operation, caller):
            strategy = operation.as_strategy(generation_mode=mode, path_parameters=parameters)
            with suppress(Unsatisfiable):  # where nothing is asked for, nothing can be wrong
                _run(strategy, examples, lambda case: _call(url, case, caller, state, findings))


def _places(operation: Operation, caller: Caller) -> Iterator[dict[str, Any] | None]:
    """Ids made up, and then those that lead somewhere."""
    yield None
    names = [parameter.name for parameter in operation.path_parameters]
    ids = caller.ids() if names else {}
    if names and all(name in ids for name in names):
        for values in zip(*(ids[name] for name in names), strict=False):
            yield dict(zip(names, values, strict=True))


def _run(strategy: Any, examples: int, check: Callable[[Any], None]) -> None:
    @settings(
        derandomize=True, max_examples=examples, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=strategy)
    def every(case: Any) -> None:
        check(case)

    every()


def _call(url: str, case: Any, caller: Caller, state: State, findings: Findings) -> None:
    label = f"{case.operation.label} as {caller.name}"
    headers = caller.headers()
    before = state.digest() if state.is_quiet() else None
    response = case.call(base_url=url, headers=headers, timeout=15)
    findings.statuses.setdefault(label, Counter())[response.status_code] += 1
    try:
        case.validate_response(response, checks=CHECKS)
    except FailureGroup as group:
        for failure in group.exceptions:
            findings.add(label, type(failure).__name__, _told(case, failure))
    except Failure as failure:
        findings.add(label, type(failure).__name__, _told(case, failure))
    if before is not None and 400 <= response.status_code < 500:
        after = state.digest()
        findings.compared += 1
        changed = differing(before, after)
        if changed:
            findings.add(label, f"a refusal changed {changed}", _told(case, f"{response.status_code} {response.text}"))
    if response.status_code < 300 and case.operation.label in ENDS_THE_SESSION:
        caller.token = ""


def _told(case: Any, what: object) -> str:
    sent = {"path": case.formatted_path, "query": case.query, "headers": case.headers, "body": repr(case.body)}
    return f"{what}\n  {json.dumps(sent, default=repr, ensure_ascii=True)[:700]}"
