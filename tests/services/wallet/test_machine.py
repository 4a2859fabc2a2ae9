"""Anything in any order, again and again, against a model of two pages (E1-E14, P6, P8, P10-P12, P14, P15, P82)."""

import asyncio
import os
from collections import Counter, defaultdict
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from libs.chassis.db import Database
from libs.chassis.errors import DomainError
from libs.house.modes import Coffee
from services.wallet.handlers.entries import abandon_table, release_entry
from services.wallet.handlers.ledger_check import ledger_check
from services.wallet.handlers.purchases import BuyCoffee, buy_coffee
from services.wallet.handlers.reading import balances
from services.wallet.handlers.refunds import refund
from services.wallet.handlers.weeks import seal_week
from services.wallet.storage.ledger import LedgerStore
from tests.services.wallet.builders import (
    ENTROPY,
    SIGNUP,
    Player,
    Wallet,
    analysed,
    created,
    finished,
    new_account,
    new_table,
    seen,
    started,
    take_in,
    voided,
)
from tests.services.wallet.evenings import Evening
from tests.services.wallet.fake_tables import FakeTables
from whist.types.v1.types_pb2 import MODE_CLASSIC, MODE_QUICK

ACCOUNTS = st.integers(0, 2)
DAYS = ["2026-11-30", "2026-12-01"]
ROOMS = st.sampled_from([1, 2, 4])
CUPS = st.sampled_from([Coffee.NONE, Coffee.X1_5, Coffee.X5])
ENTRY = {1: 0, 2: 100, 4: 500}
PRIZE = {1: 100, 2: 250, 4: 1250}
SHARE = {1: 100, 2: 70, 3: 55}
TIMES_TEN = {Coffee.NONE: 10, Coffee.X1_5: 15, Coffee.X5: 50}
EXAMPLES = int(os.environ.get("WHIST_WALLET_EXAMPLES", "30"))  # more by hand: it grows with the database
OVER = {"finished", "voided", "abandoned"}
SINCE = datetime(2026, 11, 3, tzinfo=UTC)
MONDAYS = {"2026-11-08": 0, "2026-11-09": 1, "2026-11-23": 3}  # how many have passed on that day
REWARD = {"A+": ("cup_x3", 3), "B": ("cup_x1_5", 1), "F": ("", 0)}
PRICE = {Coffee.X1_5: 3, Coffee.X2: 6}
# Of weeks that are over each machine takes its own: what is sealed stays sealed.
WEEKS_OVER = (f"{year}-W{week:02}" for year in range(2025, 1970, -1) for week in range(1, 53))


class Died(Exception):
    """The process, before its commit."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a game ended: accounts by place, own bids of six by account, who left (beyond 2: nobody)."""

    order: Sequence[int]
    bids: Sequence[int]
    left: int
    day: str
    week: str
    classic: bool

    def counts(self, account: int) -> bool:
        return self.bids[account] >= 4 and account != self.left


@st.composite
def ends(draw: st.DrawFn, week: str) -> Ended:
    return Ended(
        order=draw(st.permutations(range(3))),
        bids=draw(st.lists(st.integers(3, 6), min_size=3, max_size=3)),
        left=draw(st.integers(0, 5)),
        day=draw(st.sampled_from(DAYS)),
        week=week,
        classic=draw(st.booleans()),
    )


class WalletMachine(RuleBasedStateMachine):
    """Each rule acts on the wallet and on the model; what they own must never differ."""

    url: str

    @initialize()
    def open(self) -> None:
        self.runner = asyncio.Runner()
        self.database = Database.open(self.url, "wallet", pool=4)
        store = LedgerStore(self.database, ENTROPY)
        self.evening = self.runner.run(Evening.of(Wallet(store)))
        self.wallet, self.fakes = self.evening.wallet, FakeTables()
        self.over_week = next(WEEKS_OVER)
        self.fakes.complete = {self.over_week}
        self.heard: set[int] = set()
        self.ended: dict[int, Ended] = {}
        self.won: dict[tuple[int, int], list[tuple[str, Counter[str]]]] = defaultdict(list)
        self.undone: dict[tuple[int, int], str] = {}
        self.judged: dict[tuple[int, int], tuple[str, int]] = {}
        self.shares: Counter[tuple[str, str, int]] = Counter()
        self.weeks: Counter[int] = Counter()
        self.orders: dict[tuple[int, int], Coffee] = {}
        self.sealed: dict[int, tuple[int, int]] | None = None
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
            self.heard.add(table)
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

    def finish(self, table: int, end: "Ended") -> None:
        players = [
            Player(account_id=self.accounts[a], place=place, own_bids=end.bids[a], left=a == end.left)
            for place, a in enumerate(end.order, start=1)
        ]
        if self.games.get(table, "open") not in OVER:
            self.games[table] = "finished"
            self.ended[table] = end
            self.fakes.finished[end.week].append(self.tables[table])
            self.settle_holds(table, {0, 1, 2})
            for place, account in enumerate(end.order, start=1):
                if end.counts(account):
                    self.award(table, account, place, end.day)
                    self.reward(table, account)
        mode = MODE_CLASSIC if end.classic else MODE_QUICK
        self.send(finished(self.tables[table], players, day=end.day, week=end.week, mode=mode, at=self.evening.now))

    def gain(self, table: int, account: int, reason: str, amounts: Counter[str]) -> None:
        self.owned[account].update(amounts)
        self.won[table, account].append((reason, amounts))

    def award(self, table: int, account: int, place: int, day: str) -> None:
        room, coffee = self.paid_for(table, account)
        coins = PRIZE[room] * SHARE[place] * TIMES_TEN[coffee] // 1000
        self.gain(table, account, "prize", Counter(coin=coins))
        if (day, account) not in self.days:
            self.days.add((day, account))
            self.gain(table, account, "first", Counter(bar=5))

    def paid_for(self, table: int, account: int) -> tuple[int, Coffee]:
        room, coffee, state = self.holds.get((table, account), (1, Coffee.NONE, ""))
        return (room, coffee) if state == "paid" else (1, Coffee.NONE)

    def reward(self, table: int, account: int) -> None:
        """P15, once the game has ended and been judged."""
        end, judged = self.ended[table], self.judged.get((table, account))
        if judged is None or not end.classic or (table, account) in self.undone or not end.counts(account):
            return
        cup, bars = REWARD[judged[0]]
        amounts = +Counter({cup: 1 if cup else 0, "bar": bars + 5 * judged[1]})
        share = ("classic", end.day, account)
        if amounts and self.paid_for(table, account)[0] == 1 and self.shares[share] < 3:
            self.shares[share] += 1
            self.gain(table, account, "classic", amounts)

    def judge(self, table: int, grade: str, runs: int) -> None:
        self.heard.add(table)
        for account in range(3):
            if (table, account) not in self.judged:
                self.judged[table, account] = (grade, runs)
                if self.games.get(table) == "finished":
                    self.reward(table, account)
        self.send(analysed(self.tables[table], *((account, grade, runs) for account in self.accounts)))

    def void(self, table: int, *, had_finished: bool) -> None:
        if self.games.get(table, "open") not in OVER:
            self.games[table] = "voided"
            self.give_back(table, "open", "paid")
        elif had_finished and self.games[table] == "finished":
            self.games[table] = "voided"
            for account in range(3):
                if (table, account) not in self.undone:
                    self.undone[table, account] = "void"
                    self.take_back(table, account)
                    room, coffee, state = self.holds.get((table, account), (1, Coffee.NONE, ""))
                    if state == "paid":
                        self.holds[table, account] = (room, coffee, "released")
        self.send(voided(self.tables[table], [], had_finished=had_finished))

    def take_back(self, table: int, account: int) -> None:
        """The net, to the last that is there."""
        for asset, amount in self.net(table, account).items():
            self.owned[account][asset] = max(0, self.owned[account][asset] + amount)

    def net(self, table: int, account: int) -> Counter[str]:
        net = Counter[str]()
        if (table, account) in self.holds and self.holds[table, account][2] == "paid":
            net.update(self.cost(*self.paid_for(table, account)))
        for _, amounts in self.won[table, account]:
            net.subtract(amounts)
        return net

    def refund(self, table: int, account: int) -> None:
        expected = self.refund_refused(table, account)
        if not expected and (table, account) not in self.undone:
            self.undone[table, account] = "refund"
            self.shares["refund", self.ended[table].day, account] += 1
            self.owned[account].update(self.net(table, account))
        work = refund(self.accounts[account], self.tables[table], desk=self.wallet.desk)
        assert self.run(work) == expected

    def refund_refused(self, table: int, account: int) -> str:
        key, end = (table, account), self.ended.get(table)
        state = self.games.get(table) or ("open" if table in self.heard else "unknown")
        if self.undone.get(key) == "refund":
            return ""
        if key not in self.holds and end is None:
            return "GAME_UNKNOWN"
        by_state = {"voided": "GAME_VOIDED", "open": "GAME_RUNNING", "started": "GAME_RUNNING"}
        if state != "finished" or end is None:
            return by_state.get(state, "GAME_UNKNOWN")
        return self.refund_of_seat(table, account, end)

    def refund_of_seat(self, table: int, account: int, end: "Ended") -> str:
        refusals = (
            (account == end.left, "GAME_LEFT"),
            (not end.counts(account), "GAME_NOT_COUNTED"),
            (end.order[0] == account, "FIRST_PLACE"),
            (not self.cost(*self.paid_for(table, account)), "NOTHING_TO_REFUND"),
            (end.week == self.over_week, "WEEK_CLOSED"),
            (self.shares["refund", end.day, account] >= 3, "REFUNDS_USED_UP"),
            (
                any(self.owned[account][asset] + amount < 0 for asset, amount in self.net(table, account).items()),
                "INSUFFICIENT_TO_REVERSE",
            ),
        )
        return next((reason for refused, reason in refusals if refused), "")

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
        acts = ["start", "finish", "void", "abandon", "release", "hold", "judge", "refund", "undo"]
        match data.draw(st.sampled_from(acts)):
            case "start":
                self.start(table, data.draw(st.sets(ACCOUNTS)))
            case "finish":
                over = self.sealed is None and data.draw(st.booleans())
                self.finish(table, data.draw(ends(self.over_week if over else self.evening.week)))
            case "void":
                self.void(table, had_finished=False)
            case "undo":
                self.void(table, had_finished=True)
            case "judge":
                self.judge(table, data.draw(st.sampled_from(list(REWARD))), data.draw(st.integers(0, 4)))
            case "refund":
                self.refund(table, data.draw(ACCOUNTS))
            case "abandon":
                self.abandon(table)
            case "release":
                self.release(table, data.draw(ACCOUNTS))
            case "hold":
                self.hold(table, data.draw(ACCOUNTS), data.draw(ROOMS), data.draw(CUPS))

    @rule(entries=st.lists(st.tuples(ROOMS, CUPS), min_size=3, max_size=3), data=st.data())
    def a_whole_game(self, entries: list[tuple[int, Coffee]], data: st.DataObject) -> None:
        """And what may follow on it."""
        self.tables.append(new_table())
        table = len(self.tables) - 1
        for account, (room, coffee) in enumerate(entries):
            self.hold(table, account, room, coffee)
        self.finish(table, data.draw(ends(self.evening.week)))
        for _ in range(data.draw(st.integers(0, 3))):
            match data.draw(st.sampled_from(["judge", "refund", "undo"])):
                case "judge":
                    self.judge(table, data.draw(st.sampled_from(list(REWARD))), data.draw(st.integers(0, 4)))
                case "refund":
                    self.refund(table, data.draw(ACCOUNTS))
                case "undo":
                    self.void(table, had_finished=True)

    @rule(account=ACCOUNTS, day=st.sampled_from(list(MONDAYS)))
    def is_seen(self, account: int, day: str) -> None:
        missed = max(0, MONDAYS[day] - self.weeks[account])
        self.weeks[account] += missed
        self.owned[account].update(Counter({cup: 2 * missed for cup in SIGNUP if cup != "coin"}))
        self.send(seen(self.accounts[account], day, SINCE))

    @rule(account=ACCOUNTS, request=st.integers(0, 3), coffee=st.sampled_from(list(PRICE)))
    def buys_coffee(self, account: int, request: int, coffee: Coffee) -> None:
        expected = ""
        if (account, request) in self.orders:
            expected = "" if self.orders[account, request] is coffee else "REQUEST_DIFFERS"
        elif self.owned[account]["bar"] < PRICE[coffee]:
            expected = "INSUFFICIENT_FUNDS"
        else:
            self.orders[account, request] = coffee
            self.owned[account].update(Counter({f"cup_{coffee}": 3, "bar": -PRICE[coffee]}))
        command = BuyCoffee(account_id=self.accounts[account], guest=False, coffee=coffee, request_id=UUID(int=request))
        assert self.run(buy_coffee(command, wallets=self.wallet.store, platform=self.wallet.platform)) == expected

    @rule()
    def the_week_that_is_over_is_sealed(self) -> None:
        if self.sealed is None:
            totals: dict[int, tuple[int, int]] = {}
            for (table, account), given in self.won.items():
                prizes = [amounts["coin"] for reason, amounts in given if reason == "prize"]
                if self.ended[table].week == self.over_week and (table, account) not in self.undone and prizes:
                    coins, count = totals.get(account, (0, 0))
                    totals[account] = (coins + sum(prizes), count + 1)
            self.sealed = totals
        page = self.runner.run(
            seal_week(
                self.over_week, after=None, limit=0, wallets=self.wallet.store, tables=self.fakes,
                zone=self.wallet.platform.zone,
            )
        )  # fmt: skip
        assert page is not None
        found = {self.accounts.index(each.account_id): (each.coins, each.prizes) for each in page.totals}
        assert found == self.sealed

    @rule(data=st.data())
    def a_process_dies_before_its_commit(self, data: st.DataObject) -> None:
        """In the middle of anything that was ever told, or of a game's end that is not told yet."""
        new = started(self.tables[-1], [Player(account_id=account) for account in self.accounts])
        event = data.draw(st.sampled_from([*self.sent, new]))

        async def die() -> None:
            async with self.wallet.store.transaction() as ledger:
                await take_in(ledger, event, self.wallet.platform)
                raise Died

        with pytest.raises(Died):
            self.runner.run(die())

    @rule(account=ACCOUNTS)
    def sign_up(self, account: int) -> None:
        self.welcome(account)

    @rule(data=st.data())
    def an_event_comes_again(self, data: st.DataObject) -> None:
        self.runner.run(self.wallet.take(data.draw(st.sampled_from(self.sent))))

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
        """Nothing is ever changed, so what did not add up at some step does not at the end."""
        assert self.runner.run(ledger_check(wallets=self.wallet.store)) == []
        self.runner.run(self.database.close())
        self.runner.close()


async def test_the_wallet_and_its_model_never_differ(database_url: str) -> None:
    machine = type("Machine", (WalletMachine,), {"url": database_url})
    options = settings(
        max_examples=EXAMPLES, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
    )
    await asyncio.to_thread(run_state_machine_as_test, machine, settings=options)
