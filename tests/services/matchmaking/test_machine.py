"""Any order of wishes, turns, crashes, outages and endings: at most one seat an account, no ticket left behind."""

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from libs.chassis.db import Database
from libs.chassis.errors import DomainError, Kind
from libs.house.modes import Mode
from tests.services.matchmaking.world import Died, World

T = TypeVar("T")

PEOPLE = 9
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

    def run(self, work: Coroutine[object, object, T]) -> T:
        return self.runner.run(work)

    @rule(person=people, room=st.integers(1, 3), mode=st.sampled_from(Mode))
    def enqueue(self, person: int, room: int, mode: Mode) -> None:
        async def twice() -> None:
            account_id = self.accounts[person]
            first = await self.world.enqueue(account_id, room=room, mode=mode)
            again = await self.world.enqueue(account_id, room=room, mode=mode)
            assert again.ticket == first.ticket

        try:
            self.run(twice())
        except DomainError as error:
            assert error.kind is Kind.UNAVAILABLE, error.reason
            assert self.world.wallet.down

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

    def teardown(self) -> None:
        """Heal everything; then every wish has come to its end and nothing hangs."""
        self.run(self._come_to_rest())
        self.run(self.world.database.close())

    async def _come_to_rest(self) -> None:
        world = self.world
        world.wallet.down = world.tables.refuses_new = world.tables.loses_answers = False
        await world.settle()
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


def test_p8_39_44_any_order_of_faults_ends_well(database_url: str) -> None:
    with asyncio.Runner() as runner:
        Queue.runner, Queue.url = runner, database_url
        run_state_machine_as_test(
            Queue,
            settings=settings(
                max_examples=15, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
            ),
        )
