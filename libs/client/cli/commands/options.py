"""Options that several commands take."""

import re
from enum import StrEnum
from typing import Annotated

import typer

from libs.client.cli.running import say

HERE = "http://localhost:8080"

Url = Annotated[str, typer.Option(envvar="WHIST_URL", help="The server.")]
AsJson = Annotated[bool, typer.Option("--json", help="For programs: JSON on standard output.")]


class Cup(StrEnum):
    """Kinds of coffee (P11)."""

    X1_5 = "x1.5"
    X2 = "x2"
    X3 = "x3"
    X5 = "x5"


GAME_ID = re.compile("[0-9a-f]{32}")


def _id(text: str) -> str:
    """The server need not be asked for what is no id."""
    if GAME_ID.fullmatch(text) is None:
        say("whist: an id has 32 digits of 0-9 and a-f")
        raise typer.Exit(2)
    return text


TableId = Annotated[str, typer.Argument(metavar="ID", help="As `tables` and `open` say it.", callback=_id)]
GameId = Annotated[str, typer.Argument(metavar="ID", help="A finished game of yours.", callback=_id)]
Email = Annotated[str, typer.Option(help="Sign in by a code sent there, instead of playing as a guest.")]
