"""A record played again by the rules: the one way in which forms are written, read and checked."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from libs.engine import fair
from libs.engine.errors import RuleViolation
from libs.engine.game import GAMES
from libs.engine.protocol import Draw, Event, Game, Seat, State
from libs.engine.record.flaws import BadRecord, Flaw, Place, short
from libs.engine.record.model import Drawn, Move, Record, check_bounds
from libs.engine.replay import fold


class Step(NamedTuple):
    """One draw or move of a record played again."""

    move: Move | None  # None: a draw
    events: tuple[Event, ...]
    state: State  # after them


class Deal(NamedTuple):
    """A deal as it lay: hands by seat in pack order, the turned card."""

    dealer: Seat
    trump: str | None
    hands: tuple[tuple[str, ...], ...]

    def dump(self) -> dict[str, Any]:
        """Plain JSON."""
        return {"dealer": self.dealer, "trump": self.trump, "hands": [list(hand) for hand in self.hands]}


@dataclass(slots=True)
class Walk:
    """A game on its way, and where it stands. Changed by `draw` and `move` alone."""

    game: Game
    state: State
    moves: int = 0
    deals: int = 0
    tricks: int = 0  # finished in this deal

    def place(self, seat: Seat | None = None) -> Place:
        """Of the next decision."""
        playing = self.game.phase(self.state) == "play"
        return Place(
            move=self.moves,
            round=self.deals - 1 if self.deals else None,
            trick=self.tricks if playing else None,
            seat=self.game.to_act(self.state) if seat is None else seat,
        )

    def draw(self, order: tuple[int, ...]) -> Step:
        """Raises BadRecord(WRONG_DRAW) for what is no permutation of the size that is due."""
        try:
            events = self.game.decide_draw(self.state, order)
        except ValueError as wrong:
            raise BadRecord(Flaw.WRONG_DRAW, str(wrong), Place(round=self.deals)) from wrong
        self.state = fold(self.game, self.state, events)
        if any(self.game.checkpoint(event) is not None for event in events):
            self.deals, self.tricks = self.deals + 1, 0
        return Step(None, events, self.state)

    def move(self, move: Move) -> Step:
        """Raises BadRecord(ILLEGAL_MOVE) when the rules refuse it."""
        try:
            events = self.game.decide(self.state, move.seat, move.action)
        except RuleViolation as refused:
            raise self._illegal(move, refused) from refused
        self.state = fold(self.game, self.state, events)
        self.moves += 1
        # A move alone is one event: only one that ends a trick has more, and is worth a look at each.
        if len(events) > 1:
            self.tricks += sum(self._ends_trick(event) for event in events)
        return Step(move, events, self.state)

    def _ends_trick(self, event: Event) -> bool:
        shown = self.game.project(event, None)
        return shown is not None and shown["k"] == "trick"

    def _illegal(self, move: Move, refused: RuleViolation) -> BadRecord:
        place, due = self.place(move.seat), self.game.to_act(self.state)
        if due is not None and move.seat != due:
            told = f"seat {short(move.seat + 1)}"
            return BadRecord(Flaw.ILLEGAL_MOVE, refused.reason, place, told=told, due=f"seat {due + 1}")
        legal = [str(next(iter(action.values()))) for action in self.game.legal(self.state)]
        due_moves = " ".join(legal) or "no move at all"
        return BadRecord(Flaw.ILLEGAL_MOVE, str(refused), place, told=move.action, due=due_moves)


def game_of(record: Record) -> Game:
    """The record's game. Raises BadRecord for one that this release does not know, or other rules."""
    game = GAMES.get(record.game)
    if game is None:
        raise BadRecord(Flaw.UNKNOWN_GAME, "no such game", Place(path="game"), told=record.game, due=sorted(GAMES))
    if game.rules_version != record.rules_version:
        place = Place(path="rules_version")
        raise BadRecord(Flaw.UNKNOWN_GAME, "not these rules", place, told=record.rules_version, due=game.rules_version)
    return game


def opening(record: Record) -> Walk:
    """The game before its first draw. Raises BadRecord for options that it refuses, or a false commitment."""
    game = game_of(record)
    check_bounds(record)
    if record.secret is not None and (due := fair.commitment(record.secret)) != record.commitment:
        told = record.commitment.hex()
        raise BadRecord(
            Flaw.WRONG_COMMITMENT,
            "the commitment is not the SHA-256 of the secret",
            Place(path="commitment"),
            told=told,
            due=due.hex(),
        )
    try:
        return Walk(game, game.new(record.players, record.options))
    except RuleViolation as refused:
        raise BadRecord(Flaw.BAD_OPTIONS, str(refused), Place(path="options")) from refused


def replay(record: Record) -> Iterator[Step]:
    """Every draw and move again, draws as soon as they are due. Raises BadRecord where one does not fit."""
    walk, source = opening(record), _Draws(record)
    for move in record.moves:
        yield from _draw_all(walk, source)
        yield walk.move(move)
    yield from _draw_all(walk, source)
    source.check_used_up()


class _Draws:
    """The permutations of a record, from its secret or as they are written."""

    def __init__(self, record: Record) -> None:
        self._secret = record.secret
        self._draws = iter(record.draws)

    def order(self, draw: Draw) -> tuple[int, ...] | None:
        """None: the record ends before this draw."""
        if self._secret is not None:
            return fair.permutation(self._secret, draw.label, draw.size)
        drawn = next(self._draws, None)
        return None if drawn is None else order_of(drawn, draw)

    def check_used_up(self) -> None:
        if next(self._draws, None) is not None:
            raise BadRecord(Flaw.MORE_THAN_A_GAME, "draws that were never due", Place(path="draws"))


def order_of(drawn: Drawn, draw: Draw) -> tuple[int, ...]:
    """The order of a written draw. Raises BadRecord(WRONG_DRAW) when another is due."""
    if drawn.label != draw.label:
        raise BadRecord(Flaw.WRONG_DRAW, "another draw is due", Place(path="draws"), told=drawn.label, due=draw.label)
    return drawn.order


def _draw_all(walk: Walk, source: _Draws) -> Iterator[Step]:
    """Every draw that is due now."""
    while (draw := walk.game.draw(walk.state)) is not None and (order := source.order(draw)) is not None:
        yield walk.draw(order)


def rebuild(
    empty: Record,
    next_move: Callable[[Game, State], Move | None],
    next_order: Callable[[Draw], tuple[int, ...] | None],
) -> Record:
    """The record whose moves come one by one, each asked for in its turn until None.

    Orders come from the record's secret, or else from `next_order`. Raises BadRecord.
    """
    walk = opening(empty)
    moves: list[Move] = []
    draws: list[Drawn] = []
    try:
        while True:
            if (draw := walk.game.draw(walk.state)) is not None:
                if empty.secret is not None:
                    walk.draw(fair.permutation(empty.secret, draw.label, draw.size))
                    continue
                order = next_order(draw)
                if order is None:
                    break
                draws.append(Drawn(draw.label, order))
                walk.draw(order)
            elif not walk.game.over(walk.state) and (move := next_move(walk.game, walk.state)) is not None:
                moves.append(move)
                walk.move(move)
            else:
                break
    except BadRecord as flaw:
        raise flaw.within(walk.place()) from flaw
    whole = replace(empty, moves=tuple(moves), draws=tuple(draws))
    check_bounds(whole)
    return whole


class Played(NamedTuple):
    """A record played to its end."""

    game: Game
    state: State
    deals: tuple[Deal, ...]

    @property
    def result(self) -> dict[str, Any] | None:
        """As `Result.dump` writes it; None when the game was not played to its end."""
        return self.game.result(self.state).dump() if self.game.over(self.state) else None


def played(record: Record, dealt: Callable[[int, Deal], None] = lambda number, deal: None) -> Played:
    """Play a record again; `dealt` sees each deal, numbered from 0, before the moves on it. Raises BadRecord."""
    game, deals = game_of(record), list[Deal]()
    state: State = None
    for step in replay(record):
        state = step.state
        if step.move is None and (deal := deal_in(game, step)) is not None:
            dealt(len(deals), deal)
            deals.append(deal)
    return Played(game, opening(record).state if state is None else state, tuple(deals))


def final(record: Record) -> State:
    """The state at the record's end. Raises BadRecord."""
    return played(record).state


def result(record: Record) -> dict[str, Any] | None:
    """The result as `Result.dump` writes it; None when the game was not played to its end. Raises BadRecord."""
    return played(record).result


def deal_in(game: Game, step: Step) -> Deal | None:
    """The deal that a step made, all hands open: for records, which are written after the game."""
    for event in step.events:
        if (state := game.checkpoint(event)) is not None:
            shown = game.project(event, None)
            assert shown is not None, "a deal is told to everybody"
            return Deal(dealer=shown["dealer"], trump=shown["trump"], hands=game.hands(state))
    return None


def playable(record: Record) -> Record:
    """A record with its secret, up to the first move that the rules refuse. Raises BadRecord for any other flaw."""
    moves = 0
    try:
        for step in replay(record):
            moves += step.move is not None
    except BadRecord as flaw:
        if flaw.reason is not Flaw.ILLEGAL_MOVE:
            raise
    return replace(record, moves=record.moves[:moves])
