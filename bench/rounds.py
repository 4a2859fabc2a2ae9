"""Rounds of Romanian Whist as the benches of bots and coach play them."""

from random import Random

from libs.engine.cards import deck
from libs.engine.game import GAMES
from libs.engine.protocol import Seat, State
from libs.engine.romanian.dealing import deal
from libs.engine.romanian.options import parse_options
from libs.engine.romanian.state import Setup
from libs.engine.romanian.state import State as RomanianState

GAME = GAMES["romanian"]
OPTIONS: dict[str, object] = {"mode": "8-1-8"}


def dealt(players: int, cards: int, dealer: Seat, rng: Random) -> State:
    """A table on which one round of that size (1..8 cards) has just been dealt."""
    setup = Setup(players=players, options=parse_options(players, OPTIONS), first_dealer=dealer, sizes=(cards, cards))
    before = RomanianState(setup=setup, sheet=(), round=None, turn=0, ranking=None)
    return GAME.evolve(before, deal(before, rng.sample(deck(players), 8 * players)))
