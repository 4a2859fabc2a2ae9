"""Events back into states: journals after a crash, records step by step, deals recomputed."""

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce

from libs.engine import fair
from libs.engine.protocol import Action, Event, Game, Seat, State


def fold(game: Game, start: State, events: Iterable[Event]) -> State:
    """The state after these events."""
    return reduce(game.evolve, events, start)


def fold_from_checkpoint(game: Game, events: Iterable[Event]) -> State | None:
    """The state after these events by the last checkpoint among them; None without one."""
    state: State | None = None
    for event in events:
        state = game.checkpoint(event) or (state and game.evolve(state, event))
    return state


def make_draws(game: Game, state: State, secret: bytes) -> tuple[State, tuple[Event, ...]]:
    """Make every draw that is due; the state in which a player may act, and the events so far."""
    events: list[Event] = []
    while (draw := game.draw(state)) is not None:
        drawn = game.decide_draw(state, fair.permutation(secret, draw.label, draw.size))
        state = fold(game, state, drawn)
        events += drawn
    return state, tuple(events)


def recompute(
    game: Game,
    players: int,
    options: Mapping[str, object],
    secret: bytes,
    moves: Iterable[tuple[Seat, Action]],
) -> Iterator[Event]:
    """Every event of a game from its secret and its moves: the check that P70 promises to anyone.

    Raises RuleViolation at the first move that was not legal.
    """
    state, events = make_draws(game, game.new(players, options), secret)
    yield from events
    for seat, action in moves:
        events = game.decide(state, seat, action)
        yield from events
        state, events = make_draws(game, fold(game, state, events), secret)
        yield from events
