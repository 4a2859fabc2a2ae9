"""What the tests of games played here arrange with: a setup of each game, who types, who looks, and the command."""

import asyncio
import os
import sys

import pytest

from libs.client.cli.offline.game import play
from libs.client.cli.offline.setup import Bots, GameName, Mode, Setup, set_up
from libs.client.cli.offline.table import LocalTable
from libs.client.cli.play import Said, Seated
from libs.client.cli.records.file import RecordFile
from libs.engine.protocol import View
from libs.wire.frames import SeatInfo

COMMAND = (sys.executable, "-m", "libs.client.cli", "play")
# What is typed behind the command; short matches, since every screen of them is looked at.
GAMES_PLAYED = {
    "english": "--game english --option match=game",
    "club": "--game english --option match=game --option revokes=club",
    "american": "--game american --option match=game",
    "solo": "--game solo --option hands=4",
    "knockout": "--game knockout --players 7 --option dogs_life=true",
    "german": "--game german",
    "romanian": "--game romanian",
    "forehead": "--game romanian --players 4 --mode 1-8-1 --option one_card=forehead --bots calm",
}
SETUPS = {
    "english": set_up(GameName.ENGLISH, options=["match=game"], seed="english"),
    "club": set_up(GameName.ENGLISH, options=["match=game", "revokes=club"], seed="club"),
    "american": set_up(GameName.AMERICAN, options=["match=game"], seed="american"),
    "solo": set_up(GameName.SOLO, options=["hands=4"], seed="solo"),
    "knockout": set_up(GameName.KNOCKOUT, players=7, options=["dogs_life=true"], seed="knockout"),
    "german": set_up(GameName.GERMAN, seed="german"),
    "romanian": set_up(GameName.ROMANIAN, seed="romanian"),
    "forehead": set_up(
        GameName.ROMANIAN,
        players=4,
        mode=Mode.ONE_EIGHT_ONE,
        options=["one_card=forehead"],
        bots=Bots.CALM,
        seed="forehead",
    ),
}


PERSON = SeatInfo(name="Ana", kind="person", verified=True, holder="person")
each_game = pytest.mark.parametrize("played", SETUPS)


def typed_for(view: View) -> str:
    """What a person types for the last legal move, any call in turn; a club's cards (W7) are revokes if they can be."""
    action = view["legal"][-1]
    ((kind, value),) = action.items()
    match kind:
        case "play":
            return str(view["hand"].index(value) + 1)
        case "claim":
            return "y" if value else "n"
        case "hold":
            return "hold"
        case "call":
            return str(view["turn"] % len(view["legal"]) + 1)
        case _:
            return str(value)


class Typist:
    """Types a legal move whenever one is asked for, and other lines before the first."""

    def __init__(self, table: LocalTable, *first: str | None) -> None:
        self._table = table
        self._first = list(first)
        self.typed: list[str] = []

    async def line(self) -> str | None:
        if self._first:
            return self._first.pop(0)
        decision = self._table.decision
        assert decision is not None, "a pipe is read for decisions alone"
        self.typed.append(typed_for(decision.view))
        return self.typed[-1]


class Watcher:
    """Sees every change, as a terminal does."""

    def __init__(self) -> None:
        self.views: list[View] = []
        self.messages: list[str] = []
        self.told: list[str] = []  # beside the table
        self.ended = False

    def table(self, table: Seated, said: Said, *, typed: bool) -> None:
        self.views.append(table.view)
        self.messages.append(said.message)

    def end(self, table: Seated) -> None:
        self.ended = True


async def played_out(setup: Setup, *first: str | None, file: RecordFile | None = None) -> tuple[LocalTable, Watcher]:
    table, watcher = LocalTable(setup, pace_s=0.0), Watcher()
    await play(table, Typist(table, *first), watcher, eager=False, file=file, say=watcher.told.append)
    return table, watcher


async def script_of(setup: Setup) -> str:
    table = LocalTable(setup, pace_s=0.0)
    typist = Typist(table)
    watcher = Watcher()
    await play(table, typist, watcher, eager=False, file=None, say=watcher.told.append)
    return "\n".join(typist.typed) + "\n"


async def whist(*words: str, typed: str = "") -> tuple[int, str, str]:
    """Exit code, standard output and standard error of one command that needs no server."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        *words,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"WHIST_URL": "http://127.0.0.1:9"},
    )
    out, err = await process.communicate(typed.encode(errors="surrogateescape"))
    assert process.returncode is not None
    assert b"Traceback" not in err
    return process.returncode, out.decode(), err.decode()
