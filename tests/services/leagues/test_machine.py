"""Weeks of play in any order, again and again, against a model of two pages (E1-E14, P14, P24, P42-P45, P50-P55, P82).

Events come twice, late and in any order; processes die before their commit; two replicas close weeks and are cut off
before any of their statements; the clock is the database's, and the test turns it.
"""

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from functools import partial
from random import Random
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from libs.chassis.errors import DomainError
from libs.chassis.events.envelope import Event
from services.leagues.handlers import closing, proof
from tests.conftest import MakeDatabase
from tests.services.leagues.builders import (
    account_created,
    account_deleted,
    friends_finished,
    game_finished,
    game_voided,
    guest_upgraded,
    new_id,
    seat_result,
)
from tests.services.leagues.kept import Kept
from tests.services.leagues.model import STAGES, Game, Kind, Model, Seat, level_of
from tests.services.leagues.scene import MONDAYS, RECORDS, WEEKS, Scene, at_once, scene_of, under_another_id
from tests.services.leagues.shown import is_shown
from tests.services.leagues.test_closed_weeks import Cut
from whist.tables.v1.tables_pb2 import TABLE_KIND_FRIENDS, TABLE_KIND_QUICK

EXAMPLES = int(os.environ.get("WHIST_LEAGUES_EXAMPLES", "15"))  # more by hand
ACCOUNTS, GUEST, PEOPLE = range(7), 7, range(10)  # of 8 and 9 auth tells later
SHARE = {1: 100, 2: 70, 3: 55}  # P6


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An event, and what the model makes of it."""

    event: Event
    hear: Callable[[], None]


def some_seats(dice: Random, kind: Kind, *, least: int = 1) -> tuple[Seat, ...]:
    """Some of the people at a table of six, of whom one or the other lets others bid, or leaves."""
    every, enough = (6, 4) if kind == "quick" else (18, 14)
    people = dice.sample(PEOPLE, dice.randint(least, 6))
    prize = dice.choice([100, 100, 100, 250]) if kind == "quick" else 0  # P9: of rooms 1 and 2
    seats = []
    for who, place in zip(people, dice.sample(range(1, 7), 6), strict=False):
        # (own bids, one of them in the last three rounds, left)
        unusual = [(enough, True, False), (enough, False, False), (enough - 1, True, False), (every, True, True)]
        own, lately, left = dice.choice([(every, True, False)] * 8 + unusual)
        counts = own >= enough and lately and not left
        seats.append(
            Seat(who=who, place=place, own=own, made=dice.randint(0, own), lately=lately, left=left,
                 coins=prize * SHARE.get(place, 0) // 100 if counts else 0)
        )  # fmt: skip
    return tuple(seats)


def cut(dice: Random) -> int:
    """Before which of its statements a closer is gone, of some 40 to close a week: most of them close its groups."""
    return dice.choice([dice.randrange(10), dice.randrange(10, 25), dice.randrange(15, 40)])


def held_back(dice: Random) -> set[int]:
    """Numbers of a game's events that come later."""
    return {number for number in range(7) if dice.random() < 0.2}


# One number draws the rest of an act: how much may be drawn is bounded, and a season of single draws would not fit.
DICE = st.randoms(use_true_random=True)
ACTS = st.lists(
    st.sampled_from([
        *["a_quick_game"] * 6, *["a_friends_game", "a_refund", "an_operator_voids_a_game"] * 2,
        "what_was_held_back_comes_in_any_order", "events_come_again", "a_process_dies_before_its_commit",
        "auth_tells_of_somebody", "offline_games_are_uploaded", "somebody_looks",
    ]),
    min_size=3, max_size=8,
)  # fmt: skip


class LeaguesMachine(RuleBasedStateMachine):
    """Each rule acts on leagues and on the model; what they come to must never differ."""

    scene: ClassVar[Scene]

    @initialize(since=st.sampled_from([1, 1, 0]))
    def open(self, since: int) -> None:
        """In the first week that ever was, or in the second, with people in two tiers."""
        self.run(self.scene.begin())
        self.model, self.wallet = Model(), self.scene.wallet
        self.people = sorted(new_id() for _ in PEOPLE)  # so that their order is that of their ids
        self.week, self.minute = 0, 0
        self.games: list[Game] = []
        self.undone: set[tuple[int, int]] = set()  # prizes that went back
        self.void: set[int] = set()
        self.told: list[Told] = []
        self.held: list[Told] = []
        self.closed_at: Mapping[object, object] = {}
        for who in (*ACCOUNTS, GUEST):
            self.tell_account(who, guest=who == GUEST)
        for who in ACCOUNTS[: 7 if since else 1]:
            self.play("quick", (Seat(who=who, place=3, own=6, made=0, lately=True, left=False, coins=55),), set())
        if since:
            self.a_week_ends()
            self.close([None], settled=True)

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.scene.loop).result(timeout=60)

    def tell(self, event: Event, hear: Callable[[], None], *, later: bool = False) -> None:
        told = Told(event=event, hear=hear)
        if later:
            self.held.append(told)
        else:
            self.deliver(told)

    def deliver(self, told: Told) -> None:
        told.hear()
        self.told.append(told)
        self.run(self.scene.leagues.bus.publish([told.event]))

    def tell_account(self, who: int, *, guest: bool) -> None:
        self.tell(account_created(self.people[who], guest=guest), partial(self.model.account, who, guest=guest))

    # ---- what happens ----

    @rule(acts=ACTS, dice=DICE)
    def a_day_goes_by(self, acts: Sequence[str], dice: Random) -> None:
        for act in acts:
            getattr(self, act)(dice)

    @precondition(lambda self: self.week < len(WEEKS) - 2)
    @rule(acts=ACTS, dice=DICE, cuts=st.integers(1, 3))
    def a_week_ends_and_is_closed(self, acts: Sequence[str], dice: Random, cuts: int) -> None:
        """After so many closers that were gone in the middle."""
        self.a_day_goes_by(acts, dice)
        self.a_week_ends()
        if dice.random() < 0.8:  # else the week may have to wait for auth's word
            for who in sorted(self.model.undecided(PEOPLE)):
                self.tell_account(who, guest=False)
        if dice.random() < 0.5:
            self.a_quick_game(dice)  # of the next week
        for _ in range(cuts):
            self.close_and_cut(dice, settled=dice.random() < 0.9)
        self.close([None], settled=dice.random() < 0.9)

    @precondition(lambda self: self.week < len(WEEKS) - 2)
    @rule(acts=ACTS, dice=DICE)
    def a_week_ends_and_nobody_closes_it(self, acts: Sequence[str], dice: Random) -> None:
        self.a_day_goes_by(acts, dice)
        self.a_week_ends()

    @precondition(lambda self: self.week > self.model.open)
    @rule(dice=DICE)
    def closers_go_on(self, dice: Random) -> None:
        """And events come between two of them."""
        self.close_and_cut(dice, settled=True)
        self.what_was_held_back_comes_in_any_order(dice)
        self.close([None] * dice.randint(1, 2), settled=True)

    # ---- games ----

    def play(self, kind: Kind, plays: tuple[Seat, ...], later: set[int]) -> None:
        self.minute += 1
        game = Game(
            number=len(self.games), table_id=new_id(), kind=kind, week=self.week, seats=plays,
            at=(MONDAYS[self.week] + timedelta(hours=12, minutes=self.minute)).astimezone(UTC),
        )  # fmt: skip
        self.games.append(game)
        results = [
            seat_result(self.people[each.who], place=each.place, own_bids=each.own, own_made=each.made,
                        rounds=game.rounds, bid_lately=each.lately, left=each.left)
            for each in plays
        ]  # fmt: skip
        bots = [seat_result(None)] * (6 - len(plays))
        finished = game_finished if kind == "quick" else friends_finished
        ended = finished(*results, *bots, table_id=game.table_id, week=WEEKS[game.week], at=game.at)
        self.tell(ended, partial(self.model.finished, game), later=0 in later)
        for number, each in enumerate(plays, start=1):
            if each.coins:
                paid = self.wallet.pay(
                    self.people[each.who], each.coins, table=game.table_id, week=WEEKS[game.week], at=game.at
                )
                self.tell(paid, partial(self.model.prize, game, each.who), later=number in later)

    def a_quick_game(self, dice: Random) -> None:
        self.play("quick", some_seats(dice, "quick"), held_back(dice))

    def a_friends_game(self, dice: Random) -> None:
        self.play("friends", some_seats(dice, "friends"), held_back(dice))

    def refundable(self) -> list[tuple[Game, int]]:
        """P14: not of the first, not across a week's end."""
        return [
            (game, each.who)
            for game in self.games
            for each in game.seats
            if each.coins and each.place > 1 and game.week == self.week
            if game.number not in self.void and (game.number, each.who) not in self.undone
        ]

    def a_refund(self, dice: Random) -> None:
        if not (found := self.refundable()):
            return
        game, who = dice.choice(found)
        self.undone.add((game.number, who))
        gone = self.wallet.refund(self.people[who], game.table_id, week=WEEKS[game.week])
        self.tell(gone, partial(self.model.goes_back, game, who), later=dice.random() < 0.3)

    def an_operator_voids_a_game(self, dice: Random) -> None:
        """P82, of any week, also of one that is sealed or closed."""
        game = dice.choice(dice.choice([self.games, self.games[-3:]]))  # more often one that is still being told
        if game.number in self.void:
            return
        later = held_back(dice)
        self.void.add(game.number)
        kind = TABLE_KIND_QUICK if game.kind == "quick" else TABLE_KIND_FRIENDS
        self.tell(game_voided(game.table_id, kind=kind), partial(self.model.void, game), later=0 in later)
        for number, each in enumerate(game.seats, start=1):
            if each.coins and (game.number, each.who) not in self.undone:
                self.undone.add((game.number, each.who))
                gone = self.wallet.reverse(self.people[each.who], game.table_id, week=WEEKS[game.week])
                self.tell(gone, partial(self.model.goes_back, game, each.who), later=number in later)

    # ---- events ----

    def what_was_held_back_comes_in_any_order(self, dice: Random) -> None:
        arrived, self.held = dice.sample(self.held, len(self.held)), []
        for told in arrived:
            self.deliver(told)

    def events_come_again(self, dice: Random) -> None:
        """As they were, or under ids that nobody has seen; nothing at all may change."""
        before = self.run(self.scene.digest())
        for _ in range(4):
            event = dice.choice(self.told).event
            other = under_another_id(event) if dice.random() < 0.5 else event
            publish = self.scene.leagues.bus.publish
            self.run(at_once(publish([event]), publish([other])))
        assert self.run(self.scene.digest()) == before

    def a_process_dies_before_its_commit(self, dice: Random) -> None:
        """With anything that was told, or that is still to come."""
        event = dice.choice([*self.told, *self.held]).event
        with pytest.raises(Cut):
            self.run(self.scene.die_with(event))

    # ---- people ----

    def auth_tells_of_somebody(self, dice: Random) -> None:
        """Whoever has an account has it until it is deleted, also when an older word comes after a newer."""
        what = dice.choice(["account", "guest", "signs in", "deleted"])
        who, later = dice.choice(PEOPLE if what == "deleted" else (GUEST, 8, 9)), dice.random() < 0.3
        hear = partial(self.model.account, who, guest=what == "guest")
        account = self.people[who]
        match what:
            case "deleted":
                self.tell(account_deleted(account), partial(self.model.delete, who), later=later)
            case "signs in":
                self.tell(guest_upgraded(account), hear, later=later)
            case _:
                self.tell(account_created(account, guest=what == "guest"), hear, later=later)

    def offline_games_are_uploaded(self, dice: Random) -> None:
        """P43, P44; the answer to the first may have been lost."""
        for record in dice.sample(range(RECORDS), 2):
            self.upload(dice.choice((0, 0, 0, 1, GUEST)), record)

    def upload(self, who: int, record: int) -> None:
        guest = self.model.guest.get(who, False)
        written, whole = self.scene.records[record]
        upload = partial(self.scene.leagues.upload, self.people[who], written, guest=guest)
        expected = None if guest else self.model.upload(record, who, whole, self.week)
        if expected is None:
            with pytest.raises(DomainError) as refused:
                self.run(upload())
            assert refused.value.reason == ("GUESTS_UPLOAD_NOTHING" if guest else "BAD_RECORD")
        else:
            answer = self.run(upload())
            assert (answer.credited, answer.experience) == expected
            total = self.model.experience(who)
            assert (answer.total, answer.level) == (total, level_of(total))

    # ---- weeks ----

    def a_week_ends(self) -> None:
        self.week += 1
        self.run(self.scene.turn_to(self.week))

    def close_and_cut(self, dice: Random, *, settled: bool) -> None:
        """One closer that is gone in the middle, alone or beside another one."""
        others: list[list[int | None]] = [[], [None], [cut(dice)]]
        self.close([cut(dice), *dice.choice(others)], settled=settled)

    def close(self, cuts: Sequence[int | None], *, settled: bool) -> None:
        """One or two; each goes to the end or is gone before its statement of that number."""
        due = WEEKS[self.model.open : self.week]
        self.wallet.unsettled = set() if settled else {*due} - {*self.wallet.sealed}
        if self.run(self.scene.close(cuts)) and settled:
            self.whole_closes()
        self.compare()

    def whole_closes(self) -> None:
        """Nothing held them up but that auth has not told of somebody."""
        stages = {row.week_id: row.stage for row in self.run(self.scene.leagues.rows("select * from leagues.week"))}
        for week in range(self.model.open, self.week):
            if stages.get(WEEKS[week]) != "closed":
                assert self.model.undecided(self.sealed()[week])
                break

    def sealed(self) -> Mapping[int, Mapping[int, int]]:
        """The wallet's word, which is for ever."""
        return {
            WEEKS.index(week): {self.people.index(who): coins for who, coins in totals.items()}
            for week, totals in self.wallet.sealed.items()
        }

    # ---- what is kept and shown ----

    @invariant()
    def compare(self) -> None:
        kept = self.run(Kept.read(self.scene.closers[1], self.people))
        assert self.closed_at.items() <= kept.closed_at.items(), "what is closed is never closed again (P55)"
        self.closed_at = kept.closed_at
        closed = {group for group_id, group in kept.groups.items() if group_id in kept.closed_at}
        assert {week for week, stage in kept.stages.items() if STAGES.index(stage) > 1} <= {*self.sealed()}
        self.model.close_came_to(kept.stages, closed, self.sealed())
        kept.follows(self.model)

    def look(self, who: int, week: int) -> None:
        self.run(is_shown(who, week, self.people, self.model, self.scene.leagues))

    def somebody_looks(self, dice: Random) -> None:
        self.look(dice.choice(PEOPLE), max(0, self.week - dice.randrange(3)))

    def teardown(self) -> None:
        """At last everything arrives, every week is closed, and the service's own proof agrees."""
        for told in self.held:
            self.deliver(told)
        for who in (8, 9):
            self.tell_account(who, guest=False)
        self.week += 1
        self.run(self.scene.turn_to(self.week))
        self.close([None, None], settled=True)
        assert self.model.open == self.week
        for who in PEOPLE[::3]:
            self.look(who, self.week - 1)
        assert self.run(proof.check(books=self.scene.leagues.books, platform=self.scene.platform)) == 0


async def test_p24_p43_p50_p55_leagues_and_their_model_never_differ(
    make_database: MakeDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closing, "GROUPS_AT_ONCE", 1)  # so that a close can break off between two groups
    async with scene_of(make_database) as scene:
        machine = type("Machine", (LeaguesMachine,), {"scene": scene})
        options = settings(
            max_examples=EXAMPLES, stateful_step_count=6, deadline=None, suppress_health_check=list(HealthCheck)
        )
        await asyncio.to_thread(run_state_machine_as_test, machine, settings=options)
