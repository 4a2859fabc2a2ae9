"""The table: the fold of its journal, and the decisions that make the next entry.

`decide_*` functions look at a table and return an entry's body; `Table.apply` takes a committed body in. Nothing here
knows sockets, seats' connections or time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha1
from typing import Any
from uuid import UUID

from libs.engine import fair, replay
from libs.engine.errors import RuleViolation
from libs.engine.game import GAMES, Game, OwnBy, Seat, State, View
from services.tables.domain.entries import (
    BY_PERSON,
    BY_TIME_OUT,
    Body,
    By,
    Drawn,
    Moved,
    Opened,
    Resumed,
    SeatFacts,
    TakenOver,
    Tally,
    Vacated,
)
from services.tables.domain.errors import (
    AlreadySeated,
    BadOptions,
    Barred,
    GameOver,
    NoSuchSeat,
    NoTakeOver,
    NotAtTable,
    SeatLeft,
    SeatTaken,
    StaleTurn,
)

DRAWING, OVER = "draw", "over"  # phases in which no seat is to act (`Game.phase`)
LATELY_ROUNDS = 3  # P16: one own bid in the last three rounds
OWN_PHASE = {OwnBy.BIDS: "bid", OwnBy.CARDS: "play"}  # the decisions that make a round one's own (P16)
ANSWERED_MAX = 64  # newest commands remembered: ten a seat of six; the journal remembers the others
TALLIED_ROUNDS = 63  # bits of the journal's integers; no game that counts has so many rounds


class BrokenJournal(Exception):
    """Rows are missing and no checkpoint stands behind the gap; `args[0]` is the first missing row."""


@dataclass(slots=True)
class Table:
    """One live table. Mutable only through `apply`, which is called after the commit."""

    table_id: UUID
    opened: Opened
    game: Game
    state: State
    tallies: list[Tally]
    # Deals so far: the round that runs is number rounds - 1.
    rounds: int = 0
    # Rows in the journal: the next row's number.
    next_seq: int = 0
    # (account, req) of the newest commands, oldest first -> the row each became (P32).
    answered: dict[tuple[bytes, str], int] = field(default_factory=dict)
    # Who sits now: as opened, but for the seats that were taken over.
    seats: list[SeatFacts] = field(init=False)
    _seat_of: dict[bytes, Seat] = field(init=False)
    # Accounts whose seat another has taken over.
    gone: set[bytes] = field(default_factory=set)
    # What the state awaits, asked of the game once a row: every move reads each of them several times.
    turn: int = field(init=False)
    phase: str = field(init=False)
    to_act: Seat | None = field(init=False)

    def __post_init__(self) -> None:
        self.sit(self.opened.seats)
        self.stand_at(self.state)

    def sit(self, seats: Sequence[SeatFacts]) -> None:
        """Make these the people and bots at the table."""
        self.seats = list(seats)
        self._seat_of = {facts.account: seat for seat, facts in enumerate(seats) if facts.account}

    def seat_of(self, account: bytes) -> Seat | None:
        """Where this account sits; an empty account sits nowhere."""
        return self._seat_of.get(account)

    def sits(self, account: bytes) -> Seat | None:
        """Where this account plays. Who has left is as anyone else: nobody's hand is theirs to see (P8, P22)."""
        seat = self.seat_of(account)
        return None if seat is None or self.tallies[seat].left else seat

    def admit_spectator(self, account: bytes) -> int:
        """The most people who may watch, this account among them. Raises NotAtTable, Barred."""
        friends = self.opened.friends
        if friends is None or not friends.spectators:
            raise NotAtTable
        if account in friends.barred:
            raise Barred
        return friends.spectators

    def is_person(self, seat: Seat) -> bool:
        """Whether somebody sat down there and has not left for good."""
        return bool(self.seats[seat].account) and not self.tallies[seat].left

    def answered_at(self, account: bytes, req: str) -> int | None:
        """The row that a repeated command became, where it is one of the newest."""
        return self.answered.get((account, req))

    def view(self, seat: Seat | None) -> View:
        return self.game.view(self.state, seat)

    def stand_at(self, state: State) -> None:
        """Make this the table's state."""
        game, self.state = self.game, state
        self.turn, self.phase, self.to_act = game.turn(state), game.phase(state), game.to_act(state)

    def apply(self, body: Body, after: State | None = None) -> None:
        """Take row `next_seq` in. `after` is the state that its events lead to, where the caller has it."""
        match body:
            case Moved(seat=seat, by=by, req=req):
                tallied = self.phase == OWN_PHASE[self.game.own_by] and self.rounds <= TALLIED_ROUNDS
                self.stand_at(self._evolved(body.events) if after is None else after)
                self.tallies[seat] = moved(self.tallies[seat], by, self.rounds - 1 if tallied else None)
                self._answer(seat, req)
            case Drawn():
                self.stand_at(self._evolved(body.events) if after is None else after)
                self.tally(body)
            case Vacated(seat=seat, req=req):
                tally = self.tallies[seat]
                self.tallies[seat] = Tally(tally.own_bids, tally.time_outs, True, tally.others)
                self._answer(seat, req)
            case TakenOver(seat=seat, who=who, req=req):
                tally, before = self.tallies[seat], self.seats[seat].account
                if before:
                    self.gone.add(before)
                self.sit([*self.seats[:seat], who, *self.seats[seat + 1 :]])
                # What was bid or played here is not the newcomer's, the round that runs among it (P16).
                self.tallies[seat] = Tally(others=tally.others | tally.own_bids)
                self._answer(seat, req)
            case Resumed():
                pass
            case Opened():
                raise ValueError("a table is opened once")
        self.next_seq += 1

    def _answer(self, seat: Seat, req: str) -> None:
        if req:
            self.answered[self.seats[seat].account, req] = self.next_seq
            if len(self.answered) > ANSWERED_MAX:
                del self.answered[next(iter(self.answered))]

    def tally(self, drawn: Drawn) -> None:
        """Take over what stands beside a draw."""
        self.tallies, self.rounds = list(drawn.tallies), drawn.rounds
        if drawn.sitting:
            self.sit(drawn.sitting)
            self.gone = set(drawn.gone)

    def _evolved(self, dumped: Sequence[Any]) -> State:
        events = [self.game.load_event(each, self.opened.rules_version) for each in dumped]
        return replay.fold(self.game, self.state, events)


def moved(tally: Tally, by: int, tallied: int | None) -> Tally:
    """The tally after one decision of the seat; `tallied` is the round's number when P16 counts the decision."""
    own_bids, others = tally.own_bids, tally.others
    if tallied is not None:
        if by == BY_PERSON:
            own_bids |= 1 << tallied
        else:
            others |= 1 << tallied
    time_outs = 0 if by == BY_PERSON else tally.time_outs + (by == BY_TIME_OUT)
    if (own_bids, time_outs, others) == (tally.own_bids, tally.time_outs, tally.others):
        return tally
    return Tally(own_bids, time_outs, tally.left, others)


def opened(table_id: UUID, body: Opened) -> Table:
    """The table after row 0. Raises BadOptions when the game refuses players or options."""
    game = GAMES.get(body.game)
    if game is None:
        raise BadOptions(game=body.game)
    try:
        state = game.new(len(body.seats), body.options)
    except RuleViolation as refusal:
        raise BadOptions(**refusal.facts) from refusal
    return Table(table_id, body, game, state, [Tally() for _ in body.seats], next_seq=1)


def fold(table_id: UUID, body: Opened, later: Iterable[tuple[int, Body]]) -> Table:
    """Rebuild a table from row 0 and its rows from the last checkpoint on, as (seq, body) in order.

    Without a checkpoint among them `later` must begin with row 1.
    """
    table = opened(table_id, body)
    for seq, entry in later:
        if seq != table.next_seq:
            state = _checkpointed(table, entry)
            assert isinstance(entry, Drawn)
            table.stand_at(state)
            table.tally(entry)
            table.next_seq = seq + 1
            continue
        table.apply(entry)
    return table


def _checkpointed(table: Table, entry: Body) -> State:
    if not isinstance(entry, Drawn):
        raise BrokenJournal(table.next_seq)
    state = None
    for dumped in entry.events:
        event = table.game.load_event(dumped, table.opened.rules_version)
        at = table.game.checkpoint(event)
        state = at if at is not None else (None if state is None else table.game.evolve(state, event))
    if state is None:
        raise BrokenJournal(table.next_seq)
    return state


def seated(players: Sequence[SeatFacts], seats: int, secret: bytes, bot_names: Sequence[str]) -> list[SeatFacts]:
    """People and bots in the order that the secret draws (P3, P70: label "seats")."""
    everyone = [*players, *(SeatFacts(b"", name) for name in bot_names[: seats - len(players)])]
    return [everyone[index] for index in fair.permutation(secret, "seats", seats)]


def filled(chairs: Sequence[SeatFacts | None], bot_names: Sequence[str]) -> list[SeatFacts]:
    """People where they sat down, and bots on the seats between (P21), called otherwise than they."""
    people = {person.name for person in chairs if person is not None}
    names = iter([name for name in bot_names if name not in people])
    return [SeatFacts(b"", next(names)) if person is None else person for person in chairs]


def decide_draws(table: Table) -> tuple[Drawn, list[Any], bool] | None:
    """All draws that are due, as (body, events, whether it is a checkpoint); None when a player is to act."""
    if table.phase != DRAWING:
        return None
    state, game = table.state, table.game
    events: list[Any] = []
    rounds, checkpoint = table.rounds, False
    while (draw := game.draw(state)) is not None:
        for event in game.decide_draw(state, fair.permutation(table.opened.secret, draw.label, draw.size)):
            state = game.evolve(state, event)
            events.append(event)
            if game.checkpoint(event) is not None:
                rounds, checkpoint = rounds + 1, True
    dumped = [game.dump_event(event) for event in events]
    changed = table.seats != table.opened.seats
    sitting, gone = (list(table.seats), sorted(table.gone)) if changed else ([], [])
    return Drawn(dumped, list(table.tallies), rounds, sitting, gone), events, checkpoint


def decide_take_over(table: Table, seat: Seat, who: SeatFacts, req: str) -> TakenOver:
    """A person sits down where the former one has left, or where a bot alone has played (P22).

    Who has left stays away: a game is left for good (P8), and rounds are counted by person (P16). Raises NoTakeOver,
    NoSuchSeat, GameOver, SeatLeft, AlreadySeated, SeatTaken.
    """
    if table.opened.friends is None:
        raise NoTakeOver
    if not 0 <= seat < len(table.seats):
        raise NoSuchSeat(seat=seat, seats=len(table.seats))
    if table.phase == OVER:
        raise GameOver
    own = table.seat_of(who.account)
    if who.account in table.gone or (own is not None and table.tallies[own].left):
        raise SeatLeft
    if own is not None:
        raise AlreadySeated(seat=own)
    if table.is_person(seat):
        raise SeatTaken(seat=seat)
    return TakenOver(seat, who, req)


def decide_move(table: Table, seat: Seat, turn: int, action: object, by: By, req: str) -> tuple[Moved, Sequence[Any]]:
    """One decision of a seat. Raises StaleTurn, SeatLeft, GameOver, or the engine's RuleViolation."""
    if by is BY_PERSON and table.tallies[seat].left:
        raise SeatLeft
    if table.phase == OVER:
        raise GameOver
    if turn != table.turn:
        raise StaleTurn(turn=table.turn)
    game = table.game
    events = game.decide(table.state, seat, action)
    return Moved(seat, by, turn, req, [game.dump_event(event) for event in events]), events


_VARIANT = ~(0xC000 << 48) & ~(0xF000 << 64)  # the bits of RFC 9562 that are not the hash's


def _named(table_id: UUID, name: str) -> UUID:
    """`uuid.uuid5`, the same ids at a third of its time: one is made for every move."""
    digest = sha1(table_id.bytes + name.encode(), usedforsecurity=False).digest()
    return UUID(int=int.from_bytes(digest[:16], "big") & _VARIANT | 0x8000 << 48 | 5 << 76)


def move_id(table_id: UUID, turn: int) -> UUID:
    """The command id of the server's move at a decision: two time-outs of one turn are one."""
    return _named(table_id, f"turn/{turn}")


def draw_id(table_id: UUID, seq: int) -> UUID:
    """The command id of the draws that fill row `seq`."""
    return _named(table_id, f"draw/{seq}")


def command_id(table_id: UUID, account: bytes, req: str) -> UUID:
    """The command id of a person's command: the account's own `req`, which a retry repeats (P32)."""
    return _named(table_id, f"{account.hex()}/{req}")
