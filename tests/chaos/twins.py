"""H1 at one table: the same game in two worlds that its observer cannot tell apart, and all that the observer is sent.

Both worlds are played in step by moves that are legal in both. Whatever leaves the table for the observer is compared
byte by byte up to the first row in which the rules themselves tell the observer of a difference.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Any
from uuid import UUID

from libs.chassis.errors import DomainError
from libs.engine.cards import CARD_BY_TEXT
from libs.engine.protocol import Action, Game, Seat
from libs.house.bots import Strength
from services.coach import handlers as coach
from services.coach.ports import Thinker
from services.tables.domain.entries import Moved
from services.tables.grpc_api.tables import TablesApi
from tests.chaos.stand import STRANGER, Stand, account_of
from tests.chaos.swapping import Swap, common_moves, revealed
from whist.tables.v1 import tables_pb2

ENDLESS = 2**53
HINTS_MAX = 2  # a game; each thinks about all legal moves


class Observer(StrEnum):
    """From where the table is watched."""

    PLAYER = "player"
    SPECTATOR = "spectator"
    NEWCOMER = "newcomer"  # who watches, then takes the seat that its person has left (P22)
    BOT = "bot"  # what a bot does on its seat
    STAND_IN = "stand-in"  # what is done on the seat of a person whose time is up (P30)


BY_SERVER = (Observer.BOT, Observer.STAND_IN)
NONSENSE: tuple[Action, ...] = (
    {}, {"bid": 99}, {"bid": -1}, {"bid": 0}, {"play": "??"}, {"play": None}, {"call": "solo"}, {"call": "misere"},
    {"trumps": "S"}, {"claim": True}, {"penalty": "points"}, {"hold": True}, {"bid": 1, "play": "AS"},
)  # fmt: skip
ILLEGAL: tuple[Action, ...] = (*({"play": card} for card in CARD_BY_TEXT), *NONSENSE)
Plant = Callable[[Any], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one pair gave: how many bytes were compared over how many moves; whether other seats could tell."""

    compared: int
    moves: int
    told_apart: bool


class Leaked(AssertionError):
    """Something that the observer is sent depends on what is hidden from them."""


class _Kept:
    """The one table that this worker has."""

    def __init__(self, stand: Stand) -> None:
        self.find = {stand.table.table_id.bytes: stand.actor}.get


@dataclass
class _World:
    """One of the two tables, and what was answered besides its frames."""

    stand: Stand
    api: TablesApi
    asked: list[tuple[int, bytes]]

    async def ask(self, account: bytes) -> str:
        """GetTable as the coach and the results page are answered; the view, if there is one."""
        request = tables_pb2.GetTableRequest(table_id=self.stand.table.table_id.bytes, account_id=account)
        seen = await self.api.GetTable(request, None)
        self.asked.append((self.stand.table.next_seq, seen.SerializeToString()))
        return seen.view_json


@dataclass
class Watched:
    """The pair under way."""

    pair: Swap
    observer: Observer
    rng: Random
    worlds: list[_World]
    thinker: Thinker | None
    hints: int = 0

    @property
    def stands(self) -> list[Stand]:
        return [world.stand for world in self.worlds]

    @property
    def game(self) -> Game:
        return self.pair.game

    @property
    def watcher(self) -> bytes:
        """The account whose socket is compared."""
        seat = self.pair.observer
        return STRANGER if seat is None or self.observer is Observer.NEWCOMER else account_of(seat)

    def by_server(self, seat: Seat | None) -> bool:
        """Whether nobody need send the next move."""
        table = self.stands[0].table
        return seat is not None and (
            not table.is_person(seat) or (self.observer is Observer.STAND_IN and seat == self.pair.observer)
        )

    # ---- the game ----

    async def start(self) -> None:
        for stand in self.stands:
            for facts in stand.seats:
                if facts.account:
                    stand.follow(facts.account)
            stand.follow(STRANGER)
            if self.observer is Observer.STAND_IN and self.pair.observer is not None:
                stand.pace.hurried.add(self.pair.observer)
            stand.actor.start()
            await stand.quiet()

    async def play(self) -> int:
        """Move by move until the round is over or nothing is common any more; how many moves people sent."""
        left_at = self.rng.randint(0, 2)
        taken_at = left_at + self.rng.randint(1, 6)
        sent = 0
        while True:
            tables = [stand.table for stand in self.stands]
            if tables[0].phase == "over" or tables[0].rounds > self.pair.dealt + 1:
                return sent
            seat = tables[0].to_act
            if seat is None or self.by_server(seat):
                if not await self._server_moves(seat):
                    return sent
                continue
            if (tables[1].turn, tables[1].to_act) != (tables[0].turn, seat):
                raise Leaked(f"turn {tables[0].turn} of seat {seat} is another in the other world")
            if self.observer is Observer.NEWCOMER:
                await self._newcomer(sent, left_at, taken_at)
                if self.stands[0].table.to_act != seat or self.by_server(seat):
                    continue
            await self._mischief(sent, seat)
            moves = common_moves(self.game, [table.state for table in tables], self.pair.observer)
            if not moves:
                return sent
            action = self.rng.choice(moves)
            for stand in self.stands:
                stand.act(stand.table.seats[seat].account, f"m{sent}", stand.table.turn, action)
                await stand.quiet()
            sent += 1

    async def _server_moves(self, seat: Seat | None) -> bool:
        """Let the seat's bot make its moves; False when the rules have told a difference by them."""
        if seat is None:
            return False
        for stand in self.stands:
            await stand.passed(seat)
            if stand.keeper.faults:
                raise stand.keeper.faults[0]
        return self.cut() == ENDLESS

    async def _newcomer(self, sent: int, left_at: int, taken_at: int) -> None:
        seat = self.pair.observer
        assert seat is not None
        for stand in self.stands:
            if sent == left_at and stand.table.is_person(seat):
                stand.leave(account_of(seat), "bye")
            elif sent == taken_at and not stand.table.is_person(seat):
                await stand.take_seat(STRANGER, seat, "take")
            await stand.quiet()

    async def _mischief(self, sent: int, to_act: Seat) -> None:
        """What the observer does besides: refused commands, resumes, looks, hints."""
        own = self.game.legal(self.stands[0].table.state) if self._seat_now() == to_act else ()
        wrong = [each for each in ILLEGAL[self.rng.randrange(29) :: 29] if each not in own]
        since = self.rng.randint(-1, self.stands[0].table.next_seq) if self.rng.random() < 0.2 else None
        for world in self.worlds:
            stand, turn = world.stand, world.stand.table.turn
            if self.observer not in BY_SERVER:
                for number, action in enumerate(wrong):
                    stand.act(self.watcher, f"x{sent}-{number}", turn, action)
                stand.act(self.watcher, f"x{sent}-stale", turn + 1, {"bid": 1})
                try:
                    await stand.take_seat(self.watcher, to_act, f"x{sent}-take")
                except DomainError as refusal:
                    world.asked.append((stand.table.next_seq, f"{refusal.reason} {refusal.facts}".encode()))
            if since is not None and self.observer is not Observer.BOT:
                stand.follow(self.watcher, since)
            await stand.quiet()
        views = [await world.ask(self.watcher) for world in self.worlds if self.observer is not Observer.BOT]
        if views and own and self.thinker is not None and self.hints < HINTS_MAX:
            self.hints += 1
            hints = [await coach.hint(self.game.name, view, thinker=self.thinker) for view in views]
            if hints[0] != hints[1]:
                raise Leaked(f"the coach advises {hints[0].action} or {hints[1].action}")

    def _seat_now(self) -> Seat | None:
        return self.stands[0].table.seat_of(self.watcher)

    # ---- the comparison ----

    def cut(self) -> int:
        """The first row that tells the observer, by the rules, of a difference, or that follows the next deal.

        From the next deal on bots may move in one world while the other is still looked at.
        """
        one, other = (stand.journal.moves() for stand in self.stands)
        for (seq, mine), (_, theirs) in zip(one, other, strict=False):
            decided = self._decided(mine), self._decided(theirs)
            if decided[0] != decided[1]:
                raise Leaked(f"{decided[0]} is moved, or {decided[1]}")
            if self._told(mine) != self._told(theirs):
                return seq
        deals = [entry.seq for entry in self.stands[0].journal.rows if entry.checkpoint]
        return ENDLESS if len(deals) < 2 else deals[1] + 1

    def _decided(self, body: Moved) -> Any:
        return body.by, self.game.decision(self.game.load_event(body.events[0], self.game.rules_version))

    def _told(self, body: Moved) -> list[Any]:
        events = [self.game.load_event(each, self.game.rules_version) for each in body.events]
        return [revealed(self.game, event, self.pair.observer) for event in events]

    def compare(self) -> int:
        """The bytes compared. Raises Leaked at the first that differs."""
        cut = self.cut()
        one, other = (
            [
                *(frame for frame in _before(cut, world.stand.sent_to(self.watcher))),
                *(frame for frame in _before(cut, world.stand.sent_to(STRANGER))),
                *world.stand.published(cut),
                *(answer for at, answer in world.asked if at <= cut),
            ]
            for world in self.worlds
        )  # fmt: skip
        for mine, theirs in zip(one, other, strict=False):
            if mine != theirs:
                raise Leaked(f"{mine.decode(errors='replace')}\n{theirs.decode(errors='replace')}")
        if len(one) != len(other):
            raise Leaked(f"{len(one)} frames in one world, {len(other)} in the other")
        return sum(map(len, one))

    def told_apart(self) -> bool:
        """Whether another seat could see a difference, as those do whose cards were changed."""
        accounts = [facts.account for facts in self.stands[0].seats if facts.account not in (b"", self.watcher)]
        return any(self.stands[0].sent_to(account) != self.stands[1].sent_to(account) for account in accounts)


def _before(cut: int, sent: list[bytes]) -> list[bytes]:
    """The frames up to the first that belongs to this row or a later one."""
    if cut == ENDLESS:
        return sent
    ends = (at for at, frame in enumerate(sent) if json.loads(frame).get("seq", -1) >= cut)
    return sent[: next(ends, len(sent))]


def as_is(game: Any) -> Any:
    """Without any fault."""
    return game


async def watch(
    pair: Swap, observer: Observer, rng: Random, *, plant: Plant = as_is, thinker: Thinker | None = None,
    strength: Strength = Strength.CALM,
) -> Seen:  # fmt: skip
    """Play the pair and compare. `plant` puts a fault into both worlds' game. Raises Leaked."""
    _, players, options = pair.table
    table_id, secret = UUID(int=rng.getrandbits(128)), rng.randbytes(32)
    bots_at = [pair.observer] if observer is Observer.BOT and pair.observer is not None else []
    worlds = []
    for world in (0, 1):
        stand = Stand(
            plant(pair.stacked(world)), table_id, options, players, pair.before, secret=secret, dealt=pair.dealt,
            bots_at=bots_at, strength=strength,
        )  # fmt: skip
        kept: Any = _Kept(stand)
        absent: Any = None
        worlds.append(_World(stand, TablesApi(kept, absent, absent, absent, absent, absent), []))
    watched = Watched(pair, observer, rng, worlds, thinker)
    try:
        await watched.start()
        moves = await watched.play()
        if watched.cut() == ENDLESS:
            await _farewell(watched)
        return Seen(compared=watched.compare(), moves=moves, told_apart=watched.told_apart())
    finally:
        for stand in watched.stands:
            await stand.close()


async def _farewell(watched: Watched) -> None:
    """The observer looks once more, and somebody whose turn it is not leaves."""
    for world in watched.worlds:
        stand = world.stand
        stand.follow(STRANGER)
        if watched.observer is not Observer.BOT:
            stand.follow(watched.watcher)
            await world.ask(watched.watcher)
        idle = [
            facts.account for seat, facts in enumerate(stand.table.seats)
            if facts.account not in (b"", watched.watcher) and seat != stand.table.to_act
        ]  # fmt: skip
        if idle:
            stand.leave(idle[0], "farewell")
        await stand.quiet()
