"""The kernels as machine code and as their twins, and rounds played at random."""

import importlib.util
from collections.abc import Iterator
from random import Random
from types import ModuleType
from typing import Any

from libs.engine.cards import Card, Hand, deck
from libs.engine.protocol import Seat, State
from libs.engine.romanian.state import State as RomanianState
from libs.search import playouts, rollouts
from libs.search.habits import habits
from libs.search.seeing import chances, likely
from tests.engine.builders import GAME, dealt_from

SIZES = [(players, cards) for players in (4, 5, 6) for cards in range(1, 9)]


def twin(module: ModuleType) -> ModuleType:
    """The same source, interpreted."""
    path = str(module.__file__).split(".")[0] + ".py"
    spec = importlib.util.spec_from_file_location(f"{module.__name__}_twin", path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


PLAYOUTS_TWIN = twin(playouts)
ROLLOUTS_TWIN = twin(rollouts)


def points() -> list[int]:
    return [5 + bid if bid == won else -abs(bid - won) for bid in range(9) for won in range(9)]


def kernel(module: Any, players: int, cards: int) -> Any:
    """A `Rollouts` of the module, compiled or twin."""
    return module.Rollouts(players, cards, points(), chances(players, cards), likely(cards), habits())


def moments(players: int, cards: int, seed: int) -> Iterator[tuple[RomanianState, Seat]]:
    """Each decision of one round played at random."""
    rng = Random(seed)
    state: State = dealt_from(players, cards, rng.randrange(players), rng.sample(deck(players), 8 * players))
    while (seat := GAME.to_act(state)) is not None:
        yield state, seat
        for event in GAME.decide(state, seat, rng.choice(GAME.legal(state))):
            state = GAME.evolve(state, event)


def lowest(players: int) -> int:
    """What the kernel takes off an engine's card."""
    return 15 - 2 * players


def card_of(players: int, number: int) -> Card:
    return Card(number + lowest(players))


def numbers(players: int, hand: Hand) -> int:
    """The kernel's hand."""
    return int(hand) >> lowest(players)


def played_by(state: RomanianState, seat: Seat) -> list[tuple[Card, Card]]:
    """(card, card led) of every card the seat has played in this round."""
    current = state.round
    assert current is not None
    piles = [(trick.lead, trick.cards) for trick in current.tricks] + [(current.lead, current.trick)]
    players = state.setup.players
    return [(card, cards[0]) for lead, cards in piles for at, card in enumerate(cards) if (lead + at) % players == seat]
