"""Games that one plays: online, here without a server, or by a bot."""

import asyncio
import contextlib
import json
import logging
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from libs.client.cli import demo as demonstration
from libs.client.cli import screen
from libs.client.cli.commands.options import HERE, AsJson, Cup, Email, Url
from libs.client.cli.keyboard import Keyboard
from libs.client.cli.offline.fronts import LocalJson, LocalScreen
from libs.client.cli.offline.game import play as play_here
from libs.client.cli.offline.setup import Bots, GameName, Mode, Setup, WrongUsage, set_up
from libs.client.cli.offline.table import LocalTable
from libs.client.cli.play import HELP, Front, JsonFront, Player, ScreenFront
from libs.client.cli.records.file import CannotWrite, RecordFile
from libs.client.cli.running import run, say, signed_in, write
from libs.client.sdk.errors import WhistError
from libs.client.sdk.session import FileStore
from libs.client.sdk.table import Table
from libs.client.sdk.whist import Whist
from libs.wire import frames

PACE_S = 0.6  # slow enough to see who plays what
PACE_MAX_S = 10.0  # nobody waits longer on purpose: a typing error


class OnlineMode(StrEnum):
    """P1."""

    QUICK = "quick"
    CLASSIC = "classic"


Room = Annotated[int, typer.Option(min=1, max=12, help="Room 1 is free and open to guests.")]
ModeOption = Annotated[OnlineMode, typer.Option(help="quick: six rounds; classic: thirty.")]


def play(
    game: Annotated[GameName | None, typer.Option(help="Play this game here, against bots, without a server.")] = None,
    mode: Annotated[
        Mode | None,
        typer.Option(help="Romanian Whist's: quick (six rounds, as usual) or classic (thirty); the others here alone."),
    ] = None,
    room: Room = 1,
    url: Url = HERE,
    email: Email = "",
    cup: Annotated[Cup | None, typer.Option("--coffee", help="Spend a cup: it multiplies the prize.")] = None,
    players: Annotated[int | None, typer.Option(help="With --game: seats, as the game allows.")] = None,
    bots: Annotated[Bots | None, typer.Option(help="With --game: keen as usual, calm where it has no other.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="With --game: the game's own; may be repeated.")
    ] = None,
    seed: Annotated[str | None, typer.Option(help="With --game: any text; the same text deals the same.")] = None,
    record_file: Annotated[
        Path | None, typer.Option("--record", metavar="FILE", help="With --game: where the record goes.")
    ] = None,
    pace: Annotated[
        float | None,
        typer.Option(min=0, max=PACE_MAX_S, help="With --game: seconds a bot's move takes; 0.6 on a terminal."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Play a quick or classic game online, or any game here: --game."""
    local = {"players": players, "bots": bots, "option": option, "seed": seed, "record": record_file, "pace": pace}
    try:
        if game is None:
            _refuse_with("needs --game, which plays here", local)
            _check_online(mode)
            asked = _play(room, (mode or OnlineMode.QUICK).value, cup.value if cup else "", url, email, as_json)
        else:
            online = {"room": None if room == 1 else room, "email": email or None, "coffee": cup}
            _refuse_with("is for online play", online)
            setup = set_up(game, players=players, mode=mode, options=option or (), bots=bots, seed=seed)
            file = None if record_file is None else RecordFile(record_file)
            asked = _play_here(setup, pace, file, as_json)
    except (WrongUsage, CannotWrite) as wrong:
        say(f"whist: {screen.printable(str(wrong))}")
        raise typer.Exit(2) from None
    run(asked)


def _refuse_with(why: str, options: Mapping[str, object]) -> None:
    """Raises WrongUsage for the first option that was given."""
    for name, value in options.items():
        if value is not None:
            raise WrongUsage(f"--{name} {why}")


def _check_online(mode: Mode | None) -> None:
    if mode not in {None, *OnlineMode}:
        raise WrongUsage(f"--mode {mode}: online there are {' and '.join(OnlineMode)}; others need --game romanian")


def demo(
    mode: ModeOption = OnlineMode.QUICK,
    url: Url = HERE,
    email: Email = "",
    record_file: Annotated[
        Path | None, typer.Option("--record", metavar="FILE", help="Where the game's record goes.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Let a bot play a whole checked game. In room 1, as a new guest: scores, prize, record and deals."""
    run(_demo(mode.value, url, email, record_file, as_json))


async def _play(room: int, mode: str, cup: str, url: str, email: str, as_json: bool) -> None:
    keyboard = Keyboard()
    front: Front = (
        JsonFront(write) if as_json else ScreenFront(write, terminal=sys.stdout.isatty(), forget=keyboard.forget)
    )
    async with signed_in(url, keyboard, email) as whist:
        say(f"{screen.printable(whist.account['name'])} queues in room {room} ({mode})")
        table = await _seated(whist, room, mode, cup)
        resumed = (table.view["mode"] == OnlineMode.QUICK) != (mode == OnlineMode.QUICK) or bool(
            table.view["score_sheet"]
        )
        message = "Your seat in a running game comes first." if resumed else HELP
        try:
            await Player(whist, table, keyboard, front, eager=sys.stdin.isatty(), message=message).play()
        except asyncio.CancelledError:
            say("\nA bot holds your seat; `whist play` takes it back.")
            raise


async def _seated(whist: Whist, room: int, mode: str, cup: str) -> Table:
    """The table, once it is dealt. An interrupt in the queue takes the ticket back: nobody is seated who has gone."""
    try:
        return await whist.quick_game(room, mode, cup, told=lambda place: _tell_queue(whist, place))
    except asyncio.CancelledError:
        with contextlib.suppress(WhistError):
            await whist.cancel_queue()
        raise


def _tell_queue(whist: Whist, place: frames.Queue) -> None:
    if place.state != "waiting":
        return
    wait_s = whist.seconds_until(place.deals_at)
    line = f" ({place.position} of {place.waiting} in line)" if place.waiting > place.seats else ""
    bots = "" if wait_s is None else f"; in {wait_s:.0f} s bots take the rest"
    say(f"Waiting for players: {place.seats} of 6 seats taken{line}{bots}")


async def _play_here(setup: Setup, pace_s: float | None, file: RecordFile | None, as_json: bool) -> None:
    keyboard, terminal = Keyboard(), sys.stdout.isatty()
    if pace_s is None:
        pace_s = PACE_S if terminal and not as_json else 0.0
    table = LocalTable(setup, pace_s=pace_s)
    front: LocalJson | LocalScreen
    if as_json:
        front = LocalJson(write)
        front.start(table)
    else:
        logging.getLogger("libs").addHandler(logging.NullHandler())  # a warning would be written into the screen
        front = LocalScreen(write, terminal=terminal, forget=keyboard.forget)
        say(f"{setup.game} with {setup.bots} bots. Commitment {table.commitment.hex()}")
    await play_here(table, keyboard, front, eager=sys.stdin.isatty(), file=file, say=say)
    if file is not None:
        say(f"The record is in {screen.printable(str(file.path))}")


async def _demo(mode: str, url: str, email: str, record_file: Path | None, as_json: bool) -> None:
    file = None if record_file is None else RecordFile(record_file)
    told = say if as_json else lambda text: write(text + "\n")
    FileStore(url, "demo").forget()
    keyboard = Keyboard()
    async with signed_in(url, keyboard, email, "demo") as whist:
        report, kept = await demonstration.run(whist, mode, told)
    if file is not None:
        file.write(kept)
        say(f"The record is in {screen.printable(str(file.path))}")
    if as_json:
        print(json.dumps(report))
