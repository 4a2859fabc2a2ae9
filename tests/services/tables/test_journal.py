"""The group journal against a PostgreSQL that answers late, never, or no: one row and one outcome a command (J1-J4)."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from libs.chassis.clock import Clock, ManualClock, SystemClock
from libs.chassis.entropy import SystemEntropy
from services.tables.metrics import unknown_outcomes
from services.tables.ports import Entry, Outcome, Seating
from services.tables.storage import journal as journal_module
from services.tables.storage.journal import APPLICATION, GroupJournal
from tests.faults.proxy import CRASH_NOTICE, REQUESTS, RESPONSES, Proxy
from tests.services.tables.conftest import Cluster, behind
from whist.tables.v1 import events_pb2

MARK = APPLICATION.encode()
TODAY = datetime.now(UTC).date()
COMMITTED, FENCED, REPEATED, REFUSED = Outcome.COMMITTED, Outcome.FENCED, Outcome.REPEATED, Outcome.REFUSED


class Desk:
    """A journal under test, and every outcome it has told, in order."""

    def __init__(self, cluster: Cluster, journal: GroupJournal) -> None:
        self.cluster = cluster
        self.journal = journal
        self.told: list[tuple[UUID, Outcome, int]] = []
        self._changed = asyncio.Event()

    async def tables(self, count: int, *, epoch: int = 1, status: str = "live") -> list[UUID]:
        """So many heads without rows, in the order of their ids."""
        made = sorted(uuid4() for _ in range(count))
        await self.cluster.query(
            "insert into tables.table_head (table_id, born, kind, status, epoch, next_seq, rules_version) "
            "select id, :born, 1, :status, :epoch, 0, 1 from unnest(cast(:ids as uuid[])) id",
            ids=made, born=TODAY, status=status, epoch=epoch,
        )  # fmt: skip
        return made

    def entry(
        self,
        table: UUID,
        seq: int = 0,
        *,
        command: UUID | None = None,
        epoch: int = 1,
        body: bytes = b"body",
        events: Sequence[Any] = (),
        then: Callable[[Outcome], None] | None = None,
        seating: Seating | None = None,
    ) -> Entry:
        identity = command or uuid4()

        def done(outcome: Outcome, at: int) -> None:
            self.told.append((identity, outcome, at))
            self._changed.set()
            if then is not None:
                then(outcome)

        return Entry(
            table_id=table, born=TODAY, seq=seq, epoch=epoch, command_id=identity, body=body, checkpoint=False,
            done=done, events=events, seating=seating,
        )  # fmt: skip

    async def settled(self, *entries: Entry) -> list[tuple[Outcome, int]]:
        """Append these together and wait for their outcomes, given in the order of the entries."""
        for entry in entries:
            self.journal.append(entry)
        return await self.outcomes(*entries)

    async def outcomes(self, *entries: Entry) -> list[tuple[Outcome, int]]:
        wanted = [entry.command_id for entry in entries]
        await self.until(lambda: all(any(each[0] == one for each in self.told) for one in wanted))
        return [next((outcome, seq) for id_, outcome, seq in self.told if id_ == one) for one in wanted]

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def seqs(self, table: UUID) -> list[int]:
        return [row.seq for row in await self.cluster.rows(table.bytes)]

    async def agree(self, tables: Sequence[UUID]) -> None:
        """J1, J3, J4: rows without gap, the head behind them, and exactly the commands that were told committed."""
        for table in tables:
            rows, head = await self.cluster.rows(table.bytes), await self.cluster.head(table.bytes)
            assert [row.seq for row in rows] == list(range(head.next_seq))
        commands = [identity for identity, _, _ in self.told]
        assert len(commands) == len(set(commands)), "an outcome was told twice"
        written = await self.cluster.query(
            "select command_id, seq from tables.table_log where table_id = any(:ids)", ids=list(tables)
        )
        committed = {(identity, seq) for identity, outcome, seq in self.told if outcome is COMMITTED}
        assert committed == {(row.command_id, row.seq) for row in written}


@asynccontextmanager
async def desk_at(cluster: Cluster, url: str, clock: Clock | None = None) -> AsyncIterator[Desk]:
    journal = GroupJournal(url.replace("+asyncpg", ""), clock or SystemClock(), SystemEntropy(), lambda: None)
    running = asyncio.create_task(journal.run())
    try:
        yield Desk(cluster, journal)
    finally:
        running.cancel()
        await asyncio.wait([running])
        assert running.cancelled(), "the journal runs until cancelled"


@pytest.fixture
async def desk(cluster: Cluster) -> AsyncIterator[Desk]:
    async with desk_at(cluster, cluster.url) as opened:
        yield opened


@pytest.fixture
async def proxy(cluster: Cluster) -> AsyncIterator[Proxy]:
    async with cluster.proxied() as standing:
        yield standing


@pytest.fixture
async def far(cluster: Cluster, proxy: Proxy) -> AsyncIterator[Desk]:
    """A journal behind the proxy that has prepared its statements: from now on a row is one round trip."""
    async with desk_at(cluster, behind(cluster.url, proxy)) as opened:
        [table] = await opened.tables(1)
        assert await opened.settled(opened.entry(table)) == [(COMMITTED, 0)]
        assert await opened.settled(opened.entry(table, 1, events=[event(table)])) == [(COMMITTED, 1)]
        opened.told.clear()
        yield opened


def event(table: UUID) -> events_pb2.TablesEvent:
    return events_pb2.TablesEvent(round_ended=events_pb2.RoundEnded(table_id=table.bytes, round=0))


async def test_b03_the_answer_to_a_commit_is_lost_and_there_is_one_row_and_one_outcome(far: Desk, proxy: Proxy) -> None:
    tables = await far.tables(3)
    proxy.hold(RESPONSES, only=MARK)
    entries = [far.entry(table, events=[event(table)]) for table in tables]
    for entry in entries:
        far.journal.append(entry)
    await far.cluster.until("select 1 from tables.table_log where table_id = :id", id=tables[0])
    assert far.told == [], "told before the answer"
    proxy.reset()
    proxy.heal()
    assert await far.outcomes(*entries) == [(COMMITTED, 0)] * 3
    await far.agree(tables)
    for table in tables:
        assert await far.cluster.events(table.bytes) == ["round_ended"]


async def test_b03_a_statement_lost_on_its_way_is_sent_again(far: Desk, proxy: Proxy) -> None:
    tables = await far.tables(3)
    proxy.hold(REQUESTS, only=MARK)
    entries = [far.entry(table, events=[event(table)]) for table in tables]
    for entry in entries:
        far.journal.append(entry)
    await proxy.until(lambda: proxy.held(REQUESTS, only=MARK))
    proxy.reset()
    proxy.heal()
    assert await far.outcomes(*entries) == [(COMMITTED, 0)] * 3
    await far.agree(tables)
    for table in tables:
        assert await far.cluster.events(table.bytes) == ["round_ended"]


async def test_b06_a_statement_after_the_servers_last_word_is_made_again_without_a_fault(
    far: Desk, proxy: Proxy
) -> None:
    [table] = await far.tables(1)
    entry, before = far.entry(table), unknown_outcomes._value.get()
    proxy.say(CRASH_NOTICE, only=MARK)
    for _ in range(10):  # turns of the loop: the driver reads the notice
        await asyncio.sleep(0)
    assert await far.settled(entry) == [(COMMITTED, 0)]
    assert unknown_outcomes._value.get() == before + 1, "taken for a lost connection, not for a fault of ours"
    await far.agree([table])


async def test_j3_a_statement_that_arrives_after_it_was_given_up_writes_nothing_more(
    far: Desk, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "COMMIT_SECONDS", 0.3)
    [table] = await far.tables(1)
    [late] = proxy.connections
    proxy.hold(REQUESTS, only=late)
    first = far.entry(table, events=[event(table)])
    assert await far.settled(first) == [(COMMITTED, 0)]
    second = far.entry(table, 1)
    assert await far.settled(second) == [(COMMITTED, 1)]
    proxy.heal()
    await proxy.until(lambda: late not in proxy.connections)
    await far.agree([table])
    assert await far.cluster.events(table.bytes) == ["round_ended"]


async def test_j3_a_row_written_by_such_a_statement_is_known_as_ones_own(desk: Desk) -> None:
    [table, other] = await desk.tables(2)
    entry = desk.entry(table)
    await desk.cluster.query(
        "with head as (update tables.table_head set next_seq = 1 where table_id = :id) "
        "insert into tables.table_log (table_id, born, seq, epoch, command_id, body) "
        "values (:id, :born, 0, 1, :command, :body)",
        id=table, born=TODAY, command=entry.command_id, body=entry.body,
    )  # fmt: skip
    assert await desk.settled(entry, desk.entry(other)) == [(COMMITTED, 0)] * 2
    await desk.agree([table, other])


async def test_j4_backends_killed_under_load_lose_and_double_nothing(far: Desk, proxy: Proxy) -> None:
    tables, kills = await far.tables(30), 6
    appended, killing = 0, True

    def play(table: UUID, seq: int) -> None:
        nonlocal appended

        def then(outcome: Outcome) -> None:
            assert outcome is COMMITTED
            if killing:
                play(table, seq + 1)

        appended += 1
        far.journal.append(far.entry(table, seq, events=[event(table)] if seq % 5 == 0 else (), then=then))

    connections = proxy.accepted
    for table in tables:
        play(table, 0)
    for _ in range(kills):
        # More than what was under way at the kill before: the connection that is killed now has written some of it.
        enough = len(far.told) + 2 * len(tables)
        await far.until(lambda enough=enough: len(far.told) >= enough)  # type: ignore[misc]
        await far.cluster.query(
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name = :name", name=APPLICATION
        )
    killing = False
    await far.until(lambda: len(far.told) == appended)
    assert proxy.accepted >= connections + kills
    await far.agree(tables)
    published = await far.cluster.query(
        "select key, count(*) as n from tables.event where key = any(:keys) group by key",
        keys=[table.bytes for table in tables],
    )
    told = {row.key: row.n for row in published}
    assert told == {table.bytes: -(-len(await far.seqs(table)) // 5) for table in tables}


async def test_a_statement_that_times_out_is_made_again_when_the_lock_is_gone(cluster: Cluster) -> None:
    name = (await cluster.query("select current_database() as name"))[0].name
    await cluster.query(f'alter database "{name}" set statement_timeout = 200')
    try:
        async with desk_at(cluster, cluster.url) as desk:
            tables = await desk.tables(2)
            entries = [desk.entry(table) for table in tables]
            async with cluster.database() as other:
                await other.exec_driver_sql(f"select from tables.table_head where table_id = '{tables[1]}' for update")
                canceled = unknown_outcomes._value.get()
                for entry in entries:
                    desk.journal.append(entry)
                while unknown_outcomes._value.get() < canceled + 2:
                    await other.exec_driver_sql("select pg_sleep(0.02)")
                assert desk.told == []
            assert await desk.outcomes(*entries) == [(COMMITTED, 0)] * 2
            await desk.agree(tables)
    finally:
        await cluster.query(f'alter database "{name}" reset statement_timeout')


async def test_p32_a_twin_in_a_batch_is_answered_at_its_old_row_and_disturbs_nobody(far: Desk, proxy: Proxy) -> None:
    tables = await far.tables(5)
    twins = {tables[1]: uuid4(), tables[3]: uuid4()}
    await far.settled(*(far.entry(table, command=twins.get(table)) for table in tables))
    accepted = proxy.accepted
    far.told.clear()
    entries = [far.entry(table, 1, command=twins.get(table), events=[event(table)]) for table in tables]
    expected = [(REPEATED, 0) if table in twins else (COMMITTED, 1) for table in tables]
    assert await far.settled(*entries) == expected
    for table in tables:
        repeated = table in twins
        assert await far.seqs(table) == ([0] if repeated else [0, 1])
        assert (await far.cluster.head(table.bytes)).next_seq == (1 if repeated else 2)
        assert await far.cluster.events(table.bytes) == ([] if repeated else ["round_ended"])
    assert proxy.accepted == accepted, "a twin is no reason to connect anew"
    # The refused number is free: the table goes on.
    assert await far.settled(far.entry(tables[1], 1)) == [(COMMITTED, 1)]


@pytest.mark.parametrize(
    "statement", [journal_module.APPEND, journal_module.APPEND_WITH_EVENTS, journal_module.APPEND_WITH_SEATS]
)
async def test_each_entry_finds_its_head_by_the_key_with_statistics_or_without(
    cluster: Cluster, statement: str
) -> None:
    connection = await asyncpg.connect(cluster.url.replace("+asyncpg", ""), server_settings=journal_module.PLANNER)
    try:
        await connection.execute(f"prepare append as {statement}")
        nothing = ", ".join("null" for number in range(1, 20) if f"${number}:" in statement)
        for before in ("select 1", "analyze tables.table_head"):
            await connection.execute(before)
            plan = "\n".join(row[0] for row in await connection.fetch(f"explain execute append({nothing})"))
            assert "using table_head_pkey" in plan
            assert "table_head_live" not in plan and "Seq Scan on table_head" not in plan
    finally:
        await connection.close()


async def test_b02_an_old_epoch_writes_nothing(desk: Desk) -> None:
    [ours, theirs, behind_us] = await desk.tables(3, epoch=2)
    entries = [
        desk.entry(ours, epoch=2),
        desk.entry(theirs, epoch=1, events=[event(theirs)]),
        desk.entry(behind_us, 4, epoch=2, events=[event(behind_us)]),
    ]
    assert [outcome for outcome, _ in await desk.settled(*entries)] == [COMMITTED, FENCED, FENCED]
    for table in (theirs, behind_us):
        assert await desk.seqs(table) == []
        assert (await desk.cluster.head(table.bytes)).next_seq == 0
        assert await desk.cluster.events(table.bytes) == []
    await desk.agree([ours, theirs, behind_us])


async def test_b02_a_row_that_stands_is_not_the_old_owners_to_announce(far: Desk, proxy: Proxy) -> None:
    [table] = await far.tables(1)
    entry = far.entry(table)
    proxy.hold(RESPONSES, only=MARK)
    far.journal.append(entry)
    await far.cluster.until("select 1 from tables.table_log where table_id = :id", id=table)
    await far.cluster.query("update tables.table_head set epoch = 2 where table_id = :id", id=table)
    proxy.reset()
    proxy.heal()
    assert await far.outcomes(entry) == [(FENCED, 0)]


@pytest.mark.parametrize("status", ["finished", "voided", "abandoned"])
async def test_a_table_that_is_closed_takes_no_row(desk: Desk, status: str) -> None:
    [closed] = await desk.tables(1, status=status)
    [live] = await desk.tables(1)
    entries = [desk.entry(closed, events=[event(closed)]), desk.entry(live)]
    assert await desk.settled(*entries) == [(FENCED, 0), (COMMITTED, 0)]
    assert await desk.seqs(closed) == []
    assert await desk.cluster.events(closed.bytes) == []


async def test_a_batch_that_was_a_deadlocks_victim_is_written_after_all(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = await desk.tables(2)
    other = await asyncpg.connect(desk.cluster.url.replace("+asyncpg", ""))
    lock = "select from tables.table_head where table_id = $1 for update"
    waits = "select 1 from pg_stat_activity where application_name = :name and wait_event_type = 'Lock'"
    try:
        await other.execute("set deadlock_timeout = '30s'")  # so that the journal is the one who finds it
        for held, wanted in ((second, first), (first, second)):
            seqs = {table: len(await desk.seqs(table)) for table in (first, second)}
            entries = [desk.entry(table, seqs[table]) for table in (first, second)]
            async with other.transaction():
                await other.fetch(lock, held)
                for entry in entries:
                    desk.journal.append(entry)
                await desk.cluster.until(waits, name=APPLICATION)
                # Where the journal has not come to `wanted` yet this is no deadlock, only a wait.
                await other.fetch(lock, wanted)
            assert [outcome for outcome, _ in await desk.outcomes(*entries)] == [COMMITTED, COMMITTED]
    finally:
        await other.close()
    assert "DeadlockDetectedError" in caplog.text
    await desk.agree([first, second])


async def test_a_row_that_the_database_refuses_takes_no_neighbour_with_it(desk: Desk) -> None:
    tables = await desk.tables(4)
    await desk.cluster.query("alter table tables.table_log add constraint planted check (body <> '\\xdead')")
    try:
        entries = [desk.entry(table, body=b"\xde\xad" if table == tables[2] else b"fine") for table in tables]
        outcomes = await desk.settled(*entries)
        assert [outcome for outcome, _ in outcomes] == [COMMITTED, COMMITTED, REFUSED, COMMITTED]
        assert (await desk.cluster.head(tables[2].bytes)).next_seq == 0
        assert await desk.settled(desk.entry(tables[2])) == [(COMMITTED, 0)]
    finally:
        await desk.cluster.query("alter table tables.table_log drop constraint planted")


async def test_x3_a_row_that_seats_somebody_who_sits_elsewhere_is_refused_alone(desk: Desk) -> None:
    one, other, *_ = tables = await desk.tables(4)
    account = uuid4().bytes
    sits, leaves = (Seating(account=account, seat=2, name="Ana", guest=False, sits=sits) for sits in (True, False))
    claims = "select table_id from tables.seat_claim where account = :a"
    assert await desk.settled(desk.entry(one, seating=sits)) == [(COMMITTED, 0)]
    entries = [desk.entry(table, seq=int(table == one), seating=sits if table == other else None) for table in tables]
    outcomes = await desk.settled(*entries)
    assert [outcome for outcome, _ in outcomes] == [COMMITTED, REFUSED, COMMITTED, COMMITTED]
    [claim] = await desk.cluster.query(claims, a=account)
    assert claim.table_id.bytes == one.bytes
    # A farewell at another table than the account sits at takes nothing from it.
    await desk.settled(desk.entry(other, seating=leaves))
    assert await desk.cluster.query(claims, a=account)
    await desk.settled(desk.entry(one, seq=2, seating=leaves))
    assert not await desk.cluster.query(claims, a=account)
    assert await desk.settled(desk.entry(other, seq=1, seating=sits)) == [(COMMITTED, 1)]
    await desk.agree(tables)


async def test_e10_when_a_seat_was_left_is_told_by_the_databases_clock(cluster: Cluster) -> None:
    """The next table's deal is dated by it: a worker that runs ahead must not make the two overlap."""
    ahead = ManualClock(datetime.now(UTC) + timedelta(days=1))
    async with desk_at(cluster, cluster.url, ahead) as desk:
        [table] = await desk.tables(1)
        leaves = Seating(account=uuid4().bytes, seat=2, name="Ana", guest=False, sits=False)
        left = events_pb2.TablesEvent(seat_vacated=events_pb2.SeatVacated(table_id=table.bytes, seat=2))
        assert await desk.settled(desk.entry(table, events=[left], seating=leaves)) == [(COMMITTED, 0)]
        [row] = await desk.cluster.query("select at from tables.table_log where table_id = :id", id=table)
        assert left.occurred_at.ToDatetime(UTC) <= row.at


async def test_a_row_that_fails_again_and_again_holds_up_nobody_else(desk: Desk) -> None:
    [sick, well] = await desk.tables(2)
    await desk.cluster.query(
        "create function tables.planted() returns trigger language plpgsql "
        "as $$ begin raise exception 'planted'; end $$"
    )
    await desk.cluster.query(
        f"create trigger planted before insert on tables.table_log for each row when (new.table_id = '{sick}') "
        "execute function tables.planted()"
    )
    try:
        waiting = desk.entry(sick)
        desk.journal.append(waiting)
        for seq in range(5):
            assert await desk.settled(desk.entry(well, seq)) == [(COMMITTED, seq)]
        assert all(identity != waiting.command_id for identity, _, _ in desk.told)
    finally:
        await desk.cluster.query("drop trigger planted on tables.table_log")
        await desk.cluster.query("drop function tables.planted")
    assert await desk.outcomes(waiting) == [(COMMITTED, 0)]
    await desk.agree([sick, well])


async def test_find_answers_many_at_once_over_one_connection(far: Desk, proxy: Proxy) -> None:
    [table] = await far.tables(1)
    entry = far.entry(table)
    await far.settled(entry)
    before = proxy.accepted
    asked = [far.journal.find(table, TODAY, command) for command in [entry.command_id, uuid4()] * 20]
    assert await asyncio.gather(*asked) == [0, None] * 20
    assert proxy.accepted == before + 1
    proxy.reset()
    with pytest.raises((OSError, asyncpg.PostgresError, asyncpg.InterfaceError)):
        await far.journal.find(table, TODAY, entry.command_id)
    assert await far.journal.find(table, TODAY, entry.command_id) == 0
