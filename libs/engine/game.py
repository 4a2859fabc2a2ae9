"""The registry: every game by name, under one protocol (re-exported from `protocol`)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from libs.engine.english.game import EnglishWhist
from libs.engine.german.game import GermanWhist
from libs.engine.knockout.game import KnockoutWhist
from libs.engine.protocol import Action, Draw, Event, Game, OwnBy, Result, RoundFact, Seat, State, View
from libs.engine.romanian.game import RomanianWhist
from libs.engine.solo.game import SoloWhist

GAMES: Final[Mapping[str, Game]] = MappingProxyType(
    {game.name: game for game in (RomanianWhist(), EnglishWhist(), SoloWhist(), KnockoutWhist(), GermanWhist())}
)

__all__ = [
    "GAMES",
    "Action",
    "Draw",
    "Event",
    "Game",
    "OwnBy",
    "Result",
    "RoundFact",
    "Seat",
    "State",
    "View",
]
