"""Friends' tables: listed, opened, joined, watched (P20-P22)."""

import json
import sys
from typing import Annotated

import typer

from libs.client.cli import friends, screen, watching
from libs.client.cli.commands.options import HERE, AsJson, Email, TableId, Url
from libs.client.cli.keyboard import Keyboard
from libs.client.cli.offline.setup import Bots, GameName, Mode, Setup, WrongUsage, set_up
from libs.client.cli.play import Player, ScreenFront
from libs.client.cli.running import run, say, signed_in, write
from libs.client.sdk.errors import WhistError
from libs.client.sdk.session import FileStore
from libs.client.sdk.table import Table
from libs.client.sdk.whist import Whist


def tables(url: Url = HERE, as_json: AsJson = False) -> None:
    """List friends' tables that wait or are in play."""
    run(_tables(url, as_json))


def open_table(
    game: Annotated[GameName, typer.Option(help="What is played.")] = GameName.ROMANIAN,
    mode: Annotated[Mode | None, typer.Option(help="Romanian Whist's: 8-1-8 (as usual) or 8-8-8.")] = None,
    players: Annotated[int | None, typer.Option(help="Seats in all, as the game allows; bots take the rest.")] = None,
    bots: Annotated[Bots | None, typer.Option(help="How hard they think.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="The game's own; may be repeated.")
    ] = None,
    unlisted: Annotated[bool, typer.Option(help="Only those who know its id find the table.")] = False,
    url: Url = HERE,
    email: Email = "",
) -> None:
    """Open a friends' table, chat, deal and play. Guests open none: --email."""
    usual = Mode.EIGHT_ONE_EIGHT if game is GameName.ROMANIAN else None
    try:
        setup = set_up(game, players=players, mode=mode or usual, options=option or (), bots=bots)
    except WrongUsage as wrong:
        say(f"whist: {screen.printable(str(wrong))}")
        raise typer.Exit(2) from None
    run(_open(setup, not unlisted, url, email))


def sit(
    table_id: TableId,
    seat: Annotated[int | None, typer.Option(min=1, max=7, help="A certain seat; else any that is free.")] = None,
    url: Url = HERE,
    email: Email = "",
) -> None:
    """Sit down at a friends' table and play. In a game: on a seat that no person holds."""
    run(_sit(table_id, seat, url, email))


def watch(
    table_id: TableId,
    url: Url = HERE,
    email: Email = "",
) -> None:
    """Watch a friends' game, or take a seat over. That is a bot's, or one that was left."""
    run(_watch(table_id, url, email))


async def _tables(url: str, as_json: bool) -> None:
    async with Whist.connect(url, store=FileStore(url)) as whist:
        found = await whist.friends.list()
    for table in found:
        print(json.dumps(table) if as_json else friends.listed(table))
    if not found:
        say("No friends' table waits or is in play: `whist open` opens one.")


async def _open(setup: Setup, listed: bool, url: str, email: str) -> None:
    keyboard = Keyboard()
    async with signed_in(url, keyboard, email) as whist:
        opened = await whist.friends.open(
            game=setup.game, options=dict(setup.options), players=setup.players, bots=setup.bots, listed=listed
        )
        say(f"Friends join by: whist sit {opened['table']}")
        await _with_friends(whist, opened["table"], keyboard)


async def _sit(table_id: str, seat: int | None, url: str, email: str) -> None:
    keyboard = Keyboard()
    async with signed_in(url, keyboard, email) as whist:
        place = None if seat is None else seat - 1
        try:
            await whist.friends.sit(table_id, place)
        except WhistError as refused:
            if refused.code != "TABLE_DEALT":
                raise
            table = await whist.join(table_id)
            if await watching.sit_down(whist, table, place, say):
                await _play_with_friends(whist, table, keyboard)
        else:
            await _with_friends(whist, table_id, keyboard)


async def _watch(table_id: str, url: str, email: str) -> None:
    keyboard = Keyboard()
    async with signed_in(url, keyboard, email) as whist:
        table = await whist.join(table_id)
        front = ScreenFront(write, terminal=sys.stdout.isatty(), forget=keyboard.forget)
        if await watching.watch(whist, table, keyboard, front, eager=sys.stdin.isatty()):
            await _play_with_friends(whist, table, keyboard)


async def _with_friends(whist: Whist, table_id: str, keyboard: Keyboard) -> None:
    """From the waiting table to the game's end."""
    say(friends.HELP)
    company = await whist.enter(table_id)
    if not await friends.wait(whist, company, keyboard, say):
        say("The game goes on without you.")
        return
    await _play_with_friends(whist, await whist.join(table_id), keyboard)


async def _play_with_friends(whist: Whist, table: Table, keyboard: Keyboard) -> None:
    front = ScreenFront(write, terminal=sys.stdout.isatty(), forget=keyboard.forget)
    await Player(whist, table, keyboard, front, eager=sys.stdin.isatty()).play()
