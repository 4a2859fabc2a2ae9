"""P82: an operator's act is written down with its effect, once, and for ever."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from libs.chassis.audit import (
    LINES_MAX,
    Act,
    ActDiffers,
    BadAct,
    BadLimit,
    BadPosition,
    asked,
    asked_page,
    create_audit_table,
)
from libs.chassis.db import Database, Store
from libs.chassis.errors import DomainError
from tests.chassis.sample import ENTROPY, SampleTransaction, rows
from tests.chassis.sample import MIGRATIONS as SAMPLE
from tests.conftest import MakeDatabase

Audited = Store[SampleTransaction]


@pytest.fixture
async def store(make_database: MakeDatabase) -> AsyncIterator[Audited]:
    database = Database.open(await make_database(SAMPLE), "sample", pool=5)
    statements: list[str] = []
    create_audit_table(statements.append, "sample")
    try:
        async with database.begin() as connection:
            for statement in statements:
                await connection.execute(sa.text(statement))
        yield Store(database, SampleTransaction, ENTROPY)
    finally:
        await database.close()


def act(number: int = 1, **changes: Any) -> Act:
    plain = Act(
        request_id=UUID(int=number), operator="ana", act="suspend", subject="a1", reason="cheats", details={"days": 3}
    )
    return replace(plain, **changes)


async def record(store: Audited, one: Act) -> bool:
    async with store.transaction() as tx:
        return await tx.record_act(one)


async def test_p82_an_act_is_recorded_once_and_its_repeat_is_known(store: Audited) -> None:
    assert await record(store, act()) is True
    assert await record(store, act()) is False
    async with store.transaction() as tx:
        [line] = await tx.acts()
        now = await tx.now()
    assert line.act == act() and line.n > 0
    assert line.at.tzinfo is not None and line.at <= now


@pytest.mark.parametrize(
    "other",
    [
        {"operator": "radu"}, {"act": "reinstate"}, {"subject": "a2"}, {"reason": "cheated"}, {"details": {"days": 4}},
        {"details": {}},
    ],
)  # fmt: skip
async def test_p82_another_act_under_the_same_request_is_refused(store: Audited, other: dict[str, Any]) -> None:
    await record(store, act())
    with pytest.raises(ActDiffers):
        await record(store, act(1, **other))
    async with store.transaction() as tx:
        assert [line.act for line in await tx.acts()] == [act()]


async def test_p82_of_the_same_act_at_once_one_is_done(store: Audited) -> None:
    done = await asyncio.gather(*(record(store, act()) for _ in range(8)))
    assert sorted(done) == [False] * 7 + [True]


async def test_p82_an_act_whose_transaction_fails_has_not_been(store: Audited) -> None:
    with pytest.raises(RuntimeError):
        async with store.transaction() as tx:
            assert await tx.record_act(act())
            raise RuntimeError("its effect failed")
    assert await record(store, act()) is True


@pytest.mark.parametrize(
    "change",
    ["update sample.audit set reason = 'none'", "delete from sample.audit", "truncate sample.audit"],
)
async def test_p82_a_line_is_never_changed(store: Audited, change: str) -> None:
    await record(store, act())
    with pytest.raises(sa.exc.DBAPIError, match="never changed"):
        await rows(store.database, change)
    async with store.transaction() as tx:
        assert len(await tx.acts()) == 1


async def test_p82_acts_are_paged_newest_first(store: Audited) -> None:
    for number in range(1, 8):
        await record(store, act(number))
    seen: list[int] = []
    before = None
    while True:
        async with store.transaction() as tx:
            page = await tx.acts(before=before, limit=3)
        if not page:
            break
        seen += [line.act.request_id.int for line in page]
        before = page[-1].n
    assert seen == [7, 6, 5, 4, 3, 2, 1]
    async with store.transaction() as tx:
        assert len(await tx.acts(limit=LINES_MAX + 1)) == 7


def words(**changes: object) -> SimpleNamespace:
    return SimpleNamespace(**{"request_id": bytes(16), "operator": "ana", "reason": "cheats"} | changes)


def test_an_act_is_taken_from_its_request() -> None:
    assert asked(words(), "suspend", "a1", days=3) == act(0)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("request_id", b""), ("request_id", bytes(15)), ("request_id", bytes(17)),
        ("operator", ""), ("operator", " "), ("operator", "x" * 65), ("operator", "a\0"),
        ("reason", ""), ("reason", "\n\t "), ("reason", "x" * 501), ("reason", "a\0b"),
        ("reason", "\n\u202e"), ("reason", "\u200b\u2060\ufeff"), ("operator", "\u00ad"),
    ],
)  # fmt: skip
def test_an_act_without_its_words_is_refused(field: str, value: object) -> None:
    with pytest.raises(BadAct) as refusal:
        asked(words(**{field: value}), "suspend", "a1")
    assert refusal.value.facts["field"] == field


@pytest.mark.parametrize(
    ("before", "limit", "page"), [(0, 0, (None, 100)), (7, 1, (7, 1)), (0, LINES_MAX, (None, LINES_MAX))]
)
def test_p82_a_page_of_acts_is_asked_for(before: int, limit: int, page: tuple[int | None, int]) -> None:
    assert asked_page(before, limit) == page


@pytest.mark.parametrize(
    ("before", "limit", "refused"), [(-1, 1, BadPosition), (0, -1, BadLimit), (0, LINES_MAX + 1, BadLimit)]
)
def test_p82_a_page_of_acts_has_its_bounds(before: int, limit: int, refused: type[DomainError]) -> None:
    with pytest.raises(refused):
        asked_page(before, limit)


@pytest.mark.parametrize(("field", "most"), [("operator", 64), ("reason", 500)])
async def test_the_longest_words_fit_the_table(store: Audited, field: str, most: int) -> None:
    assert await record(store, asked(words(**{field: "ș" * most}), "suspend", "a1"))
