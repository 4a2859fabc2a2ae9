"""Commands, options and exit codes: 0 well, 1 refused or a check failed (the reason is said), 2 wrong usage."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Coroutine
from enum import StrEnum
from importlib.metadata import version
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from libs.client.cli import demo as demonstration
from libs.client.cli import screen
from libs.client.cli.keyboard import Keyboard
from libs.client.cli.play import HELP, Front, InputEnded, JsonFront, Player, ScreenFront
from libs.client.cli.verify import CheckFailed, check_record
from libs.client.sdk.errors import WhistError
from libs.client.sdk.session import FileStore
from libs.client.sdk.table import Table
from libs.client.sdk.whist import Whist
from libs.wire import frames

INTERRUPTED = 130  # as a shell says of SIGINT

app = typer.Typer(
    help="Romanian Whist online: play, watch a bot play, read records.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class Mode(StrEnum):
    """P1."""

    QUICK = "quick"
    CLASSIC = "classic"


Url = Annotated[str, typer.Option(envvar="WHIST_URL", help="The server.")]
Room = Annotated[int, typer.Option(min=1, max=12, help="Room 1 is free and open to guests.")]
ModeOption = Annotated[Mode, typer.Option(help="quick: six rounds; classic: thirty.")]
AsJson = Annotated[bool, typer.Option("--json", help="For programs: JSON on standard output.")]
Email = Annotated[str, typer.Option(help="Sign in by a code sent there, instead of playing as a guest.")]

HERE = "http://localhost:8080"


@app.callback(invoke_without_command=True)
def _main(
    context: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", help="Say the version and stop.")] = False,
) -> None:
    if show_version:
        print(f"whist {version('whist')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit(2)


@app.command()
def play(
    room: Room = 1, mode: ModeOption = Mode.QUICK, url: Url = HERE, email: Email = "", as_json: AsJson = False
) -> None:
    """Play a quick or classic game in this terminal."""
    _run(_play(room, mode.value, url, email, as_json))


@app.command()
def demo(mode: ModeOption = Mode.QUICK, url: Url = HERE, email: Email = "", as_json: AsJson = False) -> None:
    """Let a bot play a whole game in room 1 as a new guest, and check scores, prize, record and deals."""
    _run(_demo(mode.value, url, email, as_json))


@app.command()
def record(
    game_id: Annotated[str, typer.Argument(help="As `play` and `demo` say it.")],
    url: Url = HERE,
    as_json: AsJson = False,
) -> None:
    """Fetch the record of a finished game that was played here, and check it against its secret."""
    _run(_record(game_id, url, as_json))


async def _play(room: int, mode: str, url: str, email: str, as_json: bool) -> None:
    keyboard = Keyboard()
    front: Front = (
        JsonFront(_write) if as_json else ScreenFront(_write, terminal=sys.stdout.isatty(), forget=keyboard.forget)
    )
    async with Whist.connect(url, store=FileStore(url), email=email, ask_code=_asker(keyboard, email)) as whist:
        _say(f"{screen.printable(whist.account['name'])} queues in room {room} ({mode})")
        table = await _seated(whist, room, mode)
        resumed = (table.view["mode"] == Mode.QUICK) != (mode == Mode.QUICK) or bool(table.view["score_sheet"])
        message = "Your seat in a running game comes first." if resumed else HELP
        try:
            await Player(whist, table, keyboard, front, eager=sys.stdin.isatty(), message=message).play()
        except asyncio.CancelledError:
            _say("\nA bot holds your seat; `whist play` takes it back.")
            raise


async def _seated(whist: Whist, room: int, mode: str) -> Table:
    """The table, once it is dealt. An interrupt in the queue takes the ticket back: nobody is seated who has gone."""
    try:
        return await whist.quick_game(room, mode, told=lambda place: _tell_queue(whist, place))
    except asyncio.CancelledError:
        with contextlib.suppress(WhistError):
            await whist.cancel_queue()
        raise


async def _demo(mode: str, url: str, email: str, as_json: bool) -> None:
    say = _say if as_json else lambda text: _write(text + "\n")
    store = FileStore(url, "demo")
    store.forget()
    keyboard = Keyboard()
    async with Whist.connect(url, store=store, email=email, ask_code=_asker(keyboard, email)) as whist:
        report = await demonstration.run(whist, mode, say)
    if as_json:
        print(json.dumps(report))


async def _record(game_id: str, url: str, as_json: bool) -> None:
    found = await _fetch(game_id, url)
    if as_json:
        print(json.dumps(found))
        return
    sheet = check_record(found)
    names = [f"account {seat['account'][-8:]}" if seat["account"] else "bot" for seat in found["seats"]]
    totals = found["result"]["totals"]
    print(screen.score_sheet(sheet, totals, names))
    print()
    print(screen.ranking(found["result"]["ranking"], totals, names, -1))
    print("\nThe commitment, the seats and every deal follow from the secret " + found["secret"])


async def _fetch(game_id: str, url: str) -> dict[str, Any]:
    """By the player of this machine, or by the last demonstration's guest."""
    refused: WhistError | None = None
    for role in ("player", "demo"):
        store = FileStore(url, role)
        if store.load() is None:
            continue
        async with Whist.connect(url, store=store) as whist:
            try:
                return await whist.record(game_id)
            except WhistError as error:
                if error.code != "NOT_AT_TABLE":
                    raise
                refused = error
    raise refused or WhistError("NOT_AT_TABLE", facts={"why": "no game was played from here at this server"})


def _asker(keyboard: Keyboard, email: str) -> Any:
    asked = False

    async def ask() -> str:
        nonlocal asked
        _say("That was not the code. Try again:" if asked else f"The code that was sent to {email}:")
        asked = True
        return await keyboard.line() or ""

    return ask


def _tell_queue(whist: Whist, place: frames.Queue) -> None:
    if place.state != "waiting":
        return
    wait_s = whist.seconds_until(place.deals_at)
    bots = "" if wait_s is None else f"; in {wait_s:.0f} s bots take the rest"
    _say(f"Waiting for players: {place.seats} of 6 seats taken{bots}")


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _run(asked: Coroutine[Any, Any, None]) -> None:
    """Run one command; whatever a server or a line can do wrong ends in one clear line."""
    try:
        asyncio.run(asked)
    except (WhistError, CheckFailed) as error:
        _say(f"whist: {error}")
        raise typer.Exit(1) from None
    except InputEnded:
        _say("whist: the input has ended before the game; a bot holds your seat, and `whist play` takes it back")
        raise typer.Exit(1) from None
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # whoever read us has gone: nothing to flush to
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        _say("")
        raise typer.Exit(INTERRUPTED) from None


def main() -> None:
    """The `whist` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without suit signs shows ? and plays on
    app(prog_name="whist")
