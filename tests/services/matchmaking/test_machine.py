"""Any order of wishes, turns, crashes, outages, endings and news: one seat an account at most, nothing left behind."""

import asyncio
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from libs.chassis.db import Database
from libs.chassis.errors import DomainError, Kind
from libs.house.modes import Mode
from services.matchmaking.handlers.following import account_reinstated, account_suspended
from tests.services.matchmaking.world import PLATFORM, Died, World

T = TypeVar("T")

PEOPLE = 9
FAMILY, HOME = (0, 1, 2), bytes(16)
people = st.integers(0, PEOPLE - 1)


class Queue(RuleBasedStateMachine):
    """Nine people, one database, processes that die."""

    runner: asyncio.Runner
    url: str

    def __init__(self) -> None:
        super().__init__()
        self.world = World(Database.open(self.url, "matchmaking"))
        self.run(self.world.clear())
        self.accounts = [self.run(self.world.experienced()) for _ in range(PEOPLE)]
        self.suspended: set[int] = set()
        self.told = datetime(2026, 11, 30, tzinfo=UTC)

    def run(self, work: Coroutine[object, object, T]) -> T:
        return self.runner.run(work)

    @rule(person=people, room=st.integers(1, 3), mode=st.sampled_from(Mode))
    def enqueue(self, person: int, room: int, mode: Mode) -> None:
        async def twice() -> None:
            account_id = self.accounts[person]
            linkage = HOME if person in FAMILY else b"%016d" % person
            first = await self.world.enqueue(account_id, room=room, mode=mode, linkage=linkage)
            again = await self.world.enqueue(account_id, room=room, mode=mode, linkage=linkage)
            assert again.ticket == first.ticket

        try:
            self.run(twice())
        except DomainError as error:
            if error.reason == "ACCOUNT_SUSPENDED":
                assert person in self.suspended
            else:
                assert error.kind is Kind.UNAVAILABLE, error.reason
                assert self.world.wallet.down
        else:
            assert person not in self.suspended

    @rule(person=people)
    def cancel(self, person: int) -> None:
        try:
            self.run(self.world.queueing.cancel(self.accounts[person]))
        except DomainError as error:
            assert error.reason == "ALREADY_MATCHED"

    @rule(seconds=st.sampled_from((0.4, 0.6, 1.1, 6, 11, 31)))
    def pass_time(self, seconds: float) -> None:
        self.world.pass_time(seconds)

    @rule()
    def turn(self) -> None:
        self.run(self.world.turn())

    @rule(step=st.integers(1, 25))
    def die_during_a_turn(self, step: int) -> None:
        self.world.faults.rearm(step)
        try:
            self.run(self.world.turn())
        except (Died, ExceptionGroup):
            self.world.restart()
        finally:
            self.world.faults.rearm(None)

    @rule(mode=st.sampled_from(Mode))
    def form_and_die(self, mode: Mode) -> None:
        """The pool's owner goes with what it formed: the next has to wait for its leases."""
        self.run(self.world.matching.match(mode))
        self.world.restart()

    @rule()
    def two_matchers(self) -> None:
        """The old process did not know that it was given up for dead."""

        async def both() -> None:
            old = self.world.seating
            due = await old.due()
            self.world.restart()
            async with asyncio.TaskGroup() as group:
                for table_id in due:
                    group.create_task(old.carry_on(table_id))
                    group.create_task(self.world.seating.carry_on(table_id))
                group.create_task(self.world.turn())

        self.run(both())

    @rule(person=people, back=st.booleans(), late=st.booleans())
    def suspend(self, person: int, back: bool, late: bool) -> None:
        """Or reinstate; told twice, and the news before once more behind it."""

        async def tell() -> None:
            account_id = self.accounts[person]
            self.told += timedelta(seconds=1)
            news = account_reinstated if back else account_suspended
            for _ in range(2):
                async with self.world.store.transaction() as tx:
                    await news(account_id, self.told, tx=tx)
            if late:
                async with self.world.store.transaction() as tx:
                    await (account_suspended if back else account_reinstated)(
                        account_id, self.told - timedelta(seconds=1), tx=tx
                    )

        self.run(tell())
        (self.suspended.discard if back else self.suspended.add)(person)

    @rule()
    def told_once_more(self) -> None:
        """The whole topic of ended games is read again."""
        for table_id, state in self.world.tables.tables.items():
            if state == "over":
                self.run(self.world.ends(table_id))

    @rule(seed=st.integers(0, 20), told=st.booleans())
    def finish(self, seed: int, told: bool) -> None:
        live = [table_id for table_id, state in self.world.tables.tables.items() if state == "live"]
        if live:
            table_id = live[seed % len(live)]
            if told:
                self.run(self.world.ends(table_id))
            else:
                self.world.tables.tables[table_id] = "over"

    @rule(person=people)
    def leave(self, person: int) -> None:
        for table_id in self.world.tables.seats_of(self.accounts[person]):
            self.run(self.world.leaves(table_id, self.accounts[person]))

    @rule(down=st.booleans())
    def wallet(self, down: bool) -> None:
        self.world.wallet.down = down

    @rule(refuses=st.booleans(), loses=st.booleans())
    def workers(self, refuses: bool, loses: bool) -> None:
        self.world.tables.refuses_new, self.world.tables.loses_answers = refuses, loses

    @rule(person=people)
    def spend(self, person: int) -> None:
        self.world.wallet.spent ^= {self.accounts[person]}

    @invariant()
    def nobody_sits_twice(self) -> None:
        self.run(self.world.check_invariants())

    @invariant()
    def a_family_shares_no_paid_table(self) -> None:
        family = {self.accounts[person] for person in FAMILY}
        for players in self.world.tables.players.values():
            if any(player.room not in PLATFORM.free_rooms for player in players):
                assert len(family & {player.account_id for player in players}) <= 1, "X12"

    def teardown(self) -> None:
        """Heal everything; then every wish has come to its end and nothing hangs."""
        self.run(self._come_to_rest())
        self.run(self.world.database.close())

    async def _come_to_rest(self) -> None:
        world = self.world
        world.wallet.down = world.tables.refuses_new = world.tables.loses_answers = False
        await world.settle()
        for person in self.suspended:
            async with world.store.transaction() as tx:
                await account_reinstated(self.accounts[person], self.told + timedelta(seconds=1), tx=tx)
        for account_id in self.accounts:
            if not world.tables.seats_of(account_id):
                world.wallet.spent.discard(account_id)
                await world.enqueue(account_id)
        await world.settle()
        await world.check_settled()
        states = await world.rows("select distinct state from matchmaking.ticket")
        assert {state for (state,) in states} <= {"seated", "dropped", "cancelled", "done"}
        for account_id in self.accounts:
            assert len(world.tables.seats_of(account_id)) == 1


def test_p8_x3_x12_39_44_any_order_of_faults_ends_well(database_url: str) -> None:
    with asyncio.Runner() as runner:
        Queue.runner, Queue.url = runner, database_url
        run_state_machine_as_test(
            Queue,
            settings=settings(
                max_examples=15, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
            ),
        )
