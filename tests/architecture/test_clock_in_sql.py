"""Product SQL asks the database's clock by a bare function call, so that a test can put another before it.

`current_timestamp` and its like are keywords that no search path reaches, a qualified call says which clock it wants,
and the literal 'now' is read once when the statement is prepared. See tests/time_machine.
"""

import re

import pytest

from tests.architecture.documents import ROOT

ELSEWHERE = re.compile(
    r"\b(current_timestamp|current_date|current_time|localtimestamp|localtime|timeofday|sysdate)\b"
    r"|\bpg_catalog\.\w*(now|timestamp)\b"
    r"|'(now|today|tomorrow|yesterday)'\s*::",
    re.IGNORECASE,
)


def clocks_past_the_search_path(text: str) -> list[str]:
    return [found.group() for found in ELSEWHERE.finditer(text)]


def test_no_statement_asks_a_clock_that_a_search_path_cannot_replace() -> None:
    found = {
        str(path.relative_to(ROOT)): clocks_past_the_search_path(path.read_text())
        for folder in ("services", "libs")
        for path in (ROOT / folder).rglob("*.py")
    }
    assert {name: clocks for name, clocks in found.items() if clocks} == {}


@pytest.mark.parametrize(
    "statement",
    ["select CURRENT_TIMESTAMP", "sa.func.current_date()", "select pg_catalog.now()", "select 'now'::timestamptz"],
)
def test_such_a_statement_would_be_found(statement: str) -> None:
    assert clocks_past_the_search_path(statement)


@pytest.mark.parametrize("statement", ["select clock_timestamp()", "sa.func.now()", "default now()"])
def test_a_bare_call_is_what_is_wanted(statement: str) -> None:
    assert not clocks_past_the_search_path(statement)
