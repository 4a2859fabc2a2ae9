"""H1's pairs: two deals that one observer cannot tell apart by what the rules show, whatever the product does."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from libs.engine import replay
from libs.engine.cards import CARDS, Card, card_text, deck
from libs.engine.game import GAMES
from libs.engine.german.events import StockDrawn
from libs.engine.protocol import Action, Event, Game, Seat, State
from libs.engine.romanian.events import BidPlaced
from tests.engine.comparison import choose
from tests.engine.family import Table

DEALS_BEFORE_MAX = 4  # rounds played before the one that is swapped; later ones differ in the score sheet alone
TRIES_MAX = 50


class Stacked:
    """A game in which the deal of one label comes in an order of the test's; all else is the game's own."""

    def __init__(self, game: Game, label: str, order: Sequence[int]) -> None:
        self._game = game
        self._label = label
        self._order = order

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def decide_draw(self, state: State, order: Sequence[int]) -> tuple[Event, ...]:
        draw = self._game.draw(state)
        stacked = draw is not None and draw.label == self._label
        return self._game.decide_draw(state, self._order if stacked else order)


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """A table before a deal, and two orders of its pack between which the observer sees no difference.

    `observer` None is a spectator. `dealt` is the number of deals before this one.
    """

    table: Table
    observer: Seat | None
    before: State
    label: str
    dealt: int
    orders: tuple[tuple[int, ...], tuple[int, ...]]

    @property
    def game(self) -> Game:
        return GAMES[self.table[0]]

    def stacked(self, world: int) -> Stacked:
        return Stacked(self.game, self.label, self.orders[world])

    def state(self, world: int) -> State:
        """After the deal."""
        return replay.fold(self.game, self.before, self.game.decide_draw(self.before, self.orders[world]))


def swap(table: Table, observer: Seat | None, rng: Random) -> Swap:
    """A random place in a random game of the table, and two deals there that differ in hidden cards alone."""
    for _ in range(TRIES_MAX):
        before, label, dealt = _before_a_deal(table, rng)
        made = swap_at(table, observer, rng, before=before, label=label, dealt=dealt)
        if made is not None:
            return made
    raise AssertionError(f"nothing is hidden at {table}")


def swap_at(table: Table, observer: Seat | None, rng: Random, *, before: State, label: str, dealt: int) -> Swap | None:
    """The same for a deal of that state; None where chance has moved no card from hand to hand."""
    name, players, _ = table
    game, pack = GAMES[name], deck(players) if name == "romanian" else list(CARDS)
    one = tuple(rng.sample(range(len(pack)), len(pack)))
    known = known_after_deal(game, replay.fold(game, before, game.decide_draw(before, one)), observer)
    other = _moved(one, [at for at, index in enumerate(one) if card_text(pack[index]) not in known], pack, rng)
    made = Swap(table=table, observer=observer, before=before, label=label, dealt=dealt, orders=(one, other))
    return made if game.hands(made.state(0)) != game.hands(made.state(1)) else None


def _before_a_deal(table: Table, rng: Random) -> tuple[State, str, int]:
    """A state in which a deal is due, its label, and how many deals there were before."""
    name, players, options = table
    game, wanted, dealt = GAMES[name], rng.randint(0, DEALS_BEFORE_MAX), 0
    state = game.new(players, options)
    found: tuple[State, str, int] | None = None
    while not game.over(state):
        draw = game.draw(state)
        if draw is not None:
            if draw.label.startswith("deal/"):
                found = state, draw.label, dealt
                if dealt == wanted:
                    return found
                dealt += 1
            events = game.decide_draw(state, rng.sample(range(draw.size), draw.size))
        else:
            seat = game.to_act(state)
            assert seat is not None
            events = game.decide(state, seat, choose(game, state, rng))
        state = replay.fold(game, state, events)
    assert found is not None, "every game deals"
    return found


def known_after_deal(game: Game, state: State, observer: Seat | None) -> set[str]:
    """The cards that the rules show the observer right after a deal: their own, what is turned up, foreheads (R11)."""
    deal = state.round.deal if game.name == "romanian" else state.deal
    known = set() if deal.turn_up is None else {card_text(deal.turn_up)}
    if observer is None:
        return known
    hands = game.hands(state)
    if game.name == "romanian" and state.concealed:
        forehead = state.setup.options.one_card == "forehead"
        others = [hand for seat, hand in enumerate(hands) if seat != observer] if forehead else []
        return known.union(*others)
    return known | set(hands[observer])


def _moved(order: tuple[int, ...], places: Sequence[int], pack: Sequence[Card], rng: Random) -> tuple[int, ...]:
    """The order with the cards of these places dealt anew: all, or a few within their suits, which plays on longer."""
    moved = list(order)
    if rng.random() < 0.3:
        shuffled = rng.sample(places, len(places))
        for place, source in zip(places, shuffled, strict=True):
            moved[place] = order[source]
        return tuple(moved)
    for _ in range(rng.randint(1, 6)):
        one = rng.choice(places)
        twins = [place for place in places if pack[moved[place]] >> 4 == pack[moved[one]] >> 4]
        other = rng.choice(twins)
        moved[one], moved[other] = moved[other], moved[one]
    return tuple(moved)


def revealed(game: Game, event: Event, observer: Seat | None) -> Any:
    """What the rules tell this observer by an event, in whatever form; equal wherever it tells them the same."""
    match event:
        case BidPlaced(seat=seat, bid=bid, reveals=reveals):
            return seat, bid, reveals[observer] if reveals and observer is not None else None
        case StockDrawn(winner=winner, prize=prize, unseen=unseen, turned=turned):
            # Who took the trick never sees what the other draws (G2).
            return winner, prize, turned, unseen if observer == 1 - winner else None
        case _ if game.checkpoint(event) is not None:
            return None  # a deal: the swapped one is known to look the same, later ones are the same
        case _:
            return game.dump_event(event)


def told_alike(game: Game, states: Sequence[State], action: Action, observer: Seat | None) -> bool:
    """Whether this move of the seat to act tells the observer the same in both worlds."""
    told = []
    for state in states:
        seat = game.to_act(state)
        assert seat is not None
        told.append([revealed(game, event, observer) for event in game.decide(state, seat, action)])
    return told[0] == told[1]


def common_moves(game: Game, states: Sequence[State], observer: Seat | None) -> list[Action]:
    """What is legal in both worlds and tells the observer nothing that differs between them."""
    theirs = game.legal(states[1])
    return [
        action for action in game.legal(states[0]) if action in theirs and told_alike(game, states, action, observer)
    ]
