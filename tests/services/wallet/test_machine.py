"""Anything in any order, again and again, against a model of a page (E1-E5, P6, P8, P10-P12)."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Sequence
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from libs.chassis.db import Database
from libs.chassis.errors import DomainError
from libs.house.modes import Coffee
from services.wallet.handlers.entries import abandon_table, release_entry
from services.wallet.handlers.ledger_check import ledger_check
from services.wallet.handlers.reading import balances
from services.wallet.storage.ledger import LedgerStore
from tests.services.wallet.builders import (
    ENTROPY,
    SIGNUP,
    Player,
    Wallet,
    created,
    finished,
    new_account,
    new_table,
    started,
    voided,
)

ACCOUNTS = st.integers(0, 2)
DAYS = ["2026-11-30", "2026-12-01"]
ROOMS = st.sampled_from([1, 2, 4])
CUPS = st.sampled_from([Coffee.NONE, Coffee.X1_5, Coffee.X5])
ENTRY = {1: 0, 2: 100, 4: 500}
PRIZE = {1: 100, 2: 250, 4: 1250}
SHARE = {1: 100, 2: 70, 3: 55}
TIMES_TEN = {Coffee.NONE: 10, Coffee.X1_5: 15, Coffee.X5: 50}
OVER = {"finished", "voided", "abandoned"}


class WalletMachine(RuleBasedStateMachine):
    """Each rule acts on the wallet and on the model; what they own must never differ."""

    url: str

    @initialize()
    def open(self) -> None:
        self.runner = asyncio.Runner()
        self.database = Database.open(self.url, "wallet", pool=4)
        self.wallet = Wallet(LedgerStore(self.database, ENTROPY))
        self.accounts = [new_account() for _ in range(3)]
        self.tables = [new_table()]
        self.owned: list[Counter[str]] = [Counter() for _ in range(3)]
        self.welcomed: set[int] = set()
        self.holds: dict[tuple[int, int], tuple[int, Coffee, str]] = {}
        self.games: dict[int, str] = {}
        self.days: set[tuple[str, int]] = set()
        self.sent: list[Any] = []
        for account in (0, 1):  # the third may stay without a coin
            self.welcome(account)

    def run(self, work: Coroutine[Any, Any, Any]) -> str:
        """The reason of the refusal, or nothing."""
        try:
            self.runner.run(work)
        except DomainError as error:
            return error.reason
        return ""

    def send(self, event: Any) -> None:
        self.sent.append(event)
        self.runner.run(self.wallet.take(event))

    def cost(self, room: int, coffee: Coffee) -> Counter[str]:
        cost = Counter({"coin": ENTRY[room]}) if ENTRY[room] else Counter[str]()
        if coffee:
            cost[f"cup_{coffee}"] = 1
        return cost

    def welcome(self, account: int) -> None:
        if account not in self.welcomed:
            self.welcomed.add(account)
            self.owned[account].update(SIGNUP)
        self.send(created(self.accounts[account]))

    def hold(self, table: int, account: int, room: int, coffee: Coffee) -> None:
        cost, key = self.cost(room, coffee), (table, account)
        expected = ""
        if self.games.get(table, "open") != "open" or self.holds.get(key, (0, "", "open"))[2] != "open":
            expected = "HOLD_RESOLVED"
        elif key in self.holds:
            expected = "" if self.holds[key][:2] == (room, coffee) else "HOLD_DIFFERS"
        elif any(self.owned[account][asset] < amount for asset, amount in cost.items()):
            expected = "INSUFFICIENT_FUNDS"
        else:
            self.owned[account].subtract(cost)
            self.holds[key] = (room, coffee, "open")
        assert self.run(self.wallet.hold(self.tables[table], self.accounts[account], room, coffee)) == expected

    def release(self, table: int, account: int) -> None:
        room, coffee, state = self.holds.get((table, account), (1, Coffee.NONE, "none"))
        expected = "HOLD_RESOLVED" if state == "paid" else ""
        if state == "open":
            self.owned[account].update(self.cost(room, coffee))
        if state != "paid":
            self.holds[table, account] = (room, coffee, "released")
        work = release_entry(self.tables[table], self.accounts[account], wallets=self.wallet.store)
        assert self.run(work) == expected

    def settle_holds(self, table: int, seated: set[int]) -> None:
        for (of, account), (room, coffee, state) in list(self.holds.items()):
            if of == table and state == "open":
                if account not in seated:
                    self.owned[account].update(self.cost(room, coffee))
                self.holds[of, account] = (room, coffee, "paid" if account in seated else "released")

    def give_back(self, table: int, *states: str) -> None:
        for (of, account), (room, coffee, state) in list(self.holds.items()):
            if of == table and state in states:
                self.owned[account].update(self.cost(room, coffee))
                self.holds[of, account] = (room, coffee, "released")

    def start(self, table: int, seated: set[int]) -> None:
        if self.games.get(table, "open") == "open":
            self.games[table] = "started"
            self.settle_holds(table, seated)
        self.send(started(self.tables[table], [Player(account_id=self.accounts[a]) for a in sorted(seated)]))

    def finish(self, table: int, order: Sequence[int], bids: Sequence[int], left: int, day: str) -> None:
        players = [
            Player(account_id=self.accounts[a], place=place, own_bids=bids[a], left=a == left)
            for place, a in enumerate(order, start=1)
        ]
        if self.games.get(table, "open") not in OVER:
            self.games[table] = "finished"
            self.settle_holds(table, {0, 1, 2})
            for place, account in enumerate(order, start=1):
                if bids[account] >= 4 and account != left:
                    self.award(table, account, place, day)
        self.send(finished(self.tables[table], players, day=day))

    def award(self, table: int, account: int, place: int, day: str) -> None:
        room, coffee, state = self.holds.get((table, account), (1, Coffee.NONE, ""))
        if state != "paid":
            room, coffee = 1, Coffee.NONE
        self.owned[account]["coin"] += PRIZE[room] * SHARE[place] * TIMES_TEN[coffee] // 1000
        if (day, account) not in self.days:
            self.days.add((day, account))
            self.owned[account]["bar"] += 5

    def void(self, table: int) -> None:
        if self.games.get(table, "open") not in OVER:
            self.games[table] = "voided"
            self.give_back(table, "open", "paid")
        self.send(voided(self.tables[table], []))

    def abandon(self, table: int) -> None:
        if self.games.get(table, "open") == "open":
            self.games[table] = "abandoned"
            self.give_back(table, "open")
        self.runner.run(abandon_table(self.tables[table], wallets=self.wallet.store))

    @rule(entries=st.lists(st.tuples(ROOMS, CUPS), min_size=1, max_size=3), data=st.data())
    def a_table(self, entries: list[tuple[int, Coffee]], data: st.DataObject) -> None:
        self.tables.append(new_table())
        for account, (room, coffee) in enumerate(entries):
            self.hold(len(self.tables) - 1, account, room, coffee)
        for _ in range(data.draw(st.integers(0, 3))):
            self.something_happens(0, data)

    @rule(back=st.integers(0, 2), data=st.data())
    def something_happens(self, back: int, data: st.DataObject) -> None:
        """To the newest table, or one of the two before it."""
        table = max(0, len(self.tables) - 1 - back)
        match data.draw(st.sampled_from(["start", "finish", "void", "abandon", "release", "hold"])):
            case "start":
                self.start(table, data.draw(st.sets(ACCOUNTS)))
            case "finish":
                order = data.draw(st.permutations(range(3)))
                bids = data.draw(st.lists(st.integers(3, 6), min_size=3, max_size=3))
                self.finish(table, order, bids, data.draw(st.integers(0, 5)), data.draw(st.sampled_from(DAYS)))
            case "void":
                self.void(table)
            case "abandon":
                self.abandon(table)
            case "release":
                self.release(table, data.draw(ACCOUNTS))
            case "hold":
                self.hold(table, data.draw(ACCOUNTS), data.draw(ROOMS), data.draw(CUPS))

    @rule(account=ACCOUNTS)
    def sign_up(self, account: int) -> None:
        self.welcome(account)

    @rule(data=st.data())
    def an_event_comes_again(self, data: st.DataObject) -> None:
        self.runner.run(self.wallet.take(data.draw(st.sampled_from(self.sent))))

    @invariant()
    def the_ledger_adds_up(self) -> None:
        assert self.runner.run(ledger_check(wallets=self.wallet.store)) == []

    @invariant()
    def everyone_owns_what_the_model_says(self) -> None:
        for number, account in enumerate(self.accounts):
            held = Counter[str]()
            for (_, of), (room, coffee, state) in self.holds.items():
                if of == number and state == "open":
                    held.update(self.cost(room, coffee))
            found = self.runner.run(balances(account, wallets=self.wallet.store))
            assert +Counter(found.owned) == +self.owned[number]
            assert Counter(found.held) == held

    def teardown(self) -> None:
        self.runner.run(self.database.close())
        self.runner.close()


async def test_the_wallet_and_its_model_never_differ(database_url: str) -> None:
    machine = type("Machine", (WalletMachine,), {"url": database_url})
    options = settings(max_examples=60, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck))
    await asyncio.to_thread(run_state_machine_as_test, machine, settings=options)
