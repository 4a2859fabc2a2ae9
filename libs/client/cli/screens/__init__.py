"""What each game shows beside the frame that all of them share (`libs.client.cli.screen`)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from libs.client.cli.screens import english, german, knockout, romanian, solo
from libs.client.cli.screens.parts import GameScreen

SCREENS: Final[Mapping[str, GameScreen]] = MappingProxyType(
    {
        "romanian": romanian.SCREEN,
        "english": english.SCREEN,
        "solo": solo.SCREEN,
        "knockout": knockout.SCREEN,
        "german": german.SCREEN,
    }
)

__all__ = ["SCREENS", "GameScreen"]
