"""The registry: every game by name, under one protocol (re-exported from `protocol`)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from libs.engine.protocol import Action, Draw, Event, Game, Result, RoundFact, Seat, State, View
from libs.engine.romanian.game import RomanianWhist

GAMES: Final[Mapping[str, Game]] = MappingProxyType({game.name: game for game in (RomanianWhist(),)})

__all__ = [
    "GAMES",
    "Action",
    "Draw",
    "Event",
    "Game",
    "Result",
    "RoundFact",
    "Seat",
    "State",
    "View",
]
