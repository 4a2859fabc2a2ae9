"""A record: who decided what and when, and the randomness, from which the engine plays the game again.

Deals, scores and the ranking follow from these; the written forms show them for readers and check them when
they are read.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, NamedTuple

from libs.engine import fair
from libs.engine.errors import RuleViolation
from libs.engine.game import GAMES
from libs.engine.protocol import Action, Draw, Event, Game, Seat, State, View
from libs.engine.replay import fold

VERSION: Final = 1
MOVES_MAX: Final = 20_000  # eighteen times a classic for six; more is no game but an attack


class BadRecord(ValueError):
    """What was read is no record, or does not follow from the rules and its own secret."""


class By(StrEnum):
    """Who made a decision (P72)."""

    PERSON = "person"
    TIME_OUT = "time_out"
    BOT = "bot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One decision. `at_ms` is UTC in milliseconds; links keep neither actor nor time."""

    seat: Seat
    action: Action
    by: By | None = None
    at_ms: int | None = None


class Drawn(NamedTuple):
    """A draw as it fell, where no secret tells it: its label and permutation."""

    label: str
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A game from its start. `secret` is shown after the game (P70); without it `draws` holds every draw."""

    game: str
    rules_version: int
    players: int
    options: Mapping[str, Any]
    names: tuple[str, ...] = ()  # by seat; none, or one for each
    commitment: bytes
    secret: bytes | None = None
    draws: tuple[Drawn, ...] = ()
    moves: tuple[Move, ...] = ()

    def bare(self) -> "Record":
        """What a link keeps: the game without names, actors and times."""
        return replace(self, names=(), moves=tuple(Move(seat=one.seat, action=one.action) for one in self.moves))


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


def game_of(record: Record) -> Game:
    """The record's game. Raises BadRecord for one that this release does not know, or other rules."""
    game = GAMES.get(record.game)
    if game is None or game.rules_version != record.rules_version:
        raise BadRecord(f"no game {record.game!r} with rules version {record.rules_version!r}")
    return game


def opening(record: Record) -> State:
    """The game before its first draw. Raises BadRecord for options that it refuses, or a false commitment."""
    game = game_of(record)
    if record.secret is not None and fair.commitment(record.secret) != record.commitment:
        raise BadRecord("the commitment is not the SHA-256 of the secret")
    if len(record.names) not in (0, record.players):
        raise BadRecord("a name for each seat, or none")
    try:
        return game.new(record.players, record.options)
    except RuleViolation as refused:
        raise BadRecord(f"options: {refused}") from refused


def replay(record: Record) -> Iterator[Step]:
    """Every draw and move again, draws as soon as they are due. Raises BadRecord where one does not fit."""
    game, state = game_of(record), opening(record)
    source = _Draws(record)
    for move in record.moves:
        for step in _draw_all(game, state, source):
            yield step
            state = step.state
        moved = decide_move(game, state, move)
        yield moved
        state = moved.state
    yield from _draw_all(game, state, source)
    source.check_used_up()


class _Draws:
    """The permutations of a record, from its secret or as they are written."""

    def __init__(self, record: Record) -> None:
        self._secret = record.secret
        self._draws = list(record.draws)

    def order(self, draw: Draw) -> tuple[int, ...] | None:
        """None: the record ends before this draw."""
        if self._secret is not None:
            return fair.permutation(self._secret, draw.label, draw.size)
        if not self._draws:
            return None
        drawn = self._draws.pop(0)
        if drawn.label != draw.label:
            raise BadRecord(f"draw {draw.label!r} is due, not {drawn.label!r}")
        return drawn.order

    def check_used_up(self) -> None:
        if self._draws:
            raise BadRecord("draws that were never due")


def _draw_all(game: Game, state: State, source: _Draws) -> Iterator[Step]:
    """Every draw that is due now."""
    while (draw := game.draw(state)) is not None and (order := source.order(draw)) is not None:
        step = _draw(game, state, order)
        yield step
        state = step.state


def _draw(game: Game, state: State, order: tuple[int, ...]) -> Step:
    try:
        events = game.decide_draw(state, order)
    except ValueError as wrong:
        raise BadRecord(str(wrong)) from wrong
    return Step(None, events, fold(game, state, events))


def decide_move(game: Game, state: State, move: Move) -> Step:
    """Play one move. Raises BadRecord when the rules refuse it."""
    try:
        events = game.decide(state, move.seat, move.action)
    except RuleViolation as refused:
        raise BadRecord(f"move {game.turn(state) + 1}: {refused}") from refused
    return Step(move, events, fold(game, state, events))


def rebuild(
    empty: Record,
    next_move: Callable[[Game, State], Move | None],
    next_order: Callable[[Draw], tuple[int, ...] | None],
) -> Record:
    """The record whose moves come one by one, each asked for in its turn until None.

    Orders come from the record's secret, or else from `next_order`. Raises BadRecord.
    """
    game, state = game_of(empty), opening(empty)
    moves: list[Move] = []
    draws: list[Drawn] = []
    while True:
        if (draw := game.draw(state)) is not None:
            order = next_order(draw) if empty.secret is None else fair.permutation(empty.secret, draw.label, draw.size)
            if order is None:
                break
            if empty.secret is None:
                draws.append(Drawn(draw.label, order))
            state = _draw(game, state, order).state
        elif not game.over(state) and (move := next_move(game, state)) is not None:
            moves.append(move)
            state = decide_move(game, state, move).state
        else:
            break
    return replace(empty, moves=tuple(moves), draws=tuple(draws))


def final(record: Record) -> State:
    """The state at the record's end. Raises BadRecord."""
    state = opening(record)
    for step in replay(record):
        state = step.state
    return state


def result(record: Record) -> dict[str, Any] | None:
    """The result as `Result.dump` writes it; None when the game was not played to its end. Raises BadRecord."""
    game, state = game_of(record), final(record)
    return game.result(state).dump() if game.over(state) else None


def deal_in(game: Game, step: Step) -> Deal | None:
    """The deal that a step made, all hands open: for records, which are written after the game."""
    dealt = [state for event in step.events if (state := game.checkpoint(event)) is not None]
    if not dealt:
        return None
    views: list[View] = [game.view(dealt[-1], seat) for seat in range(game.view(dealt[-1], None)["players"])]
    return Deal(
        dealer=views[0]["dealer"],
        trump=views[0]["trump"],
        hands=tuple(tuple(view["hand"]) for view in views),
    )
