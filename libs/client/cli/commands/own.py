"""What is one's own: league, purse, name, devices, a copy of everything (P10-P14, P24, P41, P44, P45, P53)."""

import json
from collections.abc import Sequence
from typing import Annotated

import typer

from libs.client.cli import account, league, purse
from libs.client.cli.commands.options import HERE, AsJson, Cup, Email, GameId, Url
from libs.client.cli.keyboard import Keyboard
from libs.client.cli.running import run, say, signed_in
from libs.client.sdk.session import FileStore
from libs.client.sdk.whist import Whist


def show_league(
    week: Annotated[str, typer.Option(help="Such as 2026-W48; else the one that runs.")] = "",
    with_friends: Annotated[bool, typer.Option("--friends", help="The leaderboard of friends' games instead.")] = False,
    url: Url = HERE,
    email: Email = "",
    as_json: AsJson = False,
) -> None:
    """Show your league group, or the friends' leaderboard: --friends."""
    run(_league(week, with_friends, url, email, as_json))


def upload(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Records that `play --record` wrote.")],
    url: Url = HERE,
    email: Email = "",
    as_json: AsJson = False,
) -> None:
    """Have offline games credited. Half of what they would bring online; guests upload none: --email."""
    run(_upload(files, url, email, as_json))


def wallet(url: Url = HERE, as_json: AsJson = False) -> None:
    """Say what coins, bars and cups there are."""
    run(_wallet(url, as_json))


def history(
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many at most.")] = 20,
    url: Url = HERE,
    as_json: AsJson = False,
) -> None:
    """Say what came into the purse and went, newest first."""
    run(_history(limit, url, as_json))


def rooms(url: Url = HERE, as_json: AsJson = False) -> None:
    """List the rooms: level, entry, prizes, and which are open to you."""
    run(_rooms(url, as_json))


def coffee(
    kind: Annotated[Cup, typer.Argument(metavar="KIND", help="x1.5, x2, x3 or x5.")],
    url: Url = HERE,
    as_json: AsJson = False,
) -> None:
    """Buy three cups of one kind for gold bars."""
    run(_coffee(kind, url, as_json))


def refund(
    game_id: GameId,
    ask: Annotated[bool, typer.Option("--ask", help="Only say what it would return and take.")] = False,
    url: Url = HERE,
    as_json: AsJson = False,
) -> None:
    """Give a game back. The entry and the cup return, all that it won goes; it cannot be undone."""
    run(_refund(game_id, ask, url, as_json))


def name(
    wanted: Annotated[str, typer.Argument(metavar="NAME", help="3 to 16 letters and digits.")],
    url: Url = HERE,
    email: Email = "",
) -> None:
    """Take a name that is yours alone: a ✓ at the table. Guests have none: --email."""
    run(_name(wanted, url, email))


def sessions(
    ended: Annotated[str, typer.Option("--end", metavar="ID", help="Sign this device out.")] = "",
    url: Url = HERE,
    as_json: AsJson = False,
) -> None:
    """List your devices that are signed in, or sign one out: --end."""
    run(_sessions(ended, url, as_json))


def export(url: Url = HERE) -> None:
    """Write all that the server holds of you, as JSON."""
    run(_export(url))


async def _league(week: str, with_friends: bool, url: str, email: str, as_json: bool) -> None:
    async with signed_in(url, Keyboard(), email) as whist:
        found = await (whist.friends_leaderboard(week) if with_friends else whist.group(week))
        own = str(whist.account["account_id"])
    told = league.told_board if with_friends else league.told_group
    print(json.dumps(found) if as_json else "\n".join(told(found, own)))


async def _upload(files: Sequence[str], url: str, email: str, as_json: bool) -> None:
    async with signed_in(url, Keyboard(), email) as whist:
        for file in files:
            answer = await league.upload(whist, file)
            print(json.dumps({"file": file, **answer}) if as_json else league.told_upload(file, answer))


async def _wallet(url: str, as_json: bool) -> None:
    async with Whist.connect(url, store=FileStore(url)) as whist:
        found = await whist.wallet()
    print(json.dumps(found) if as_json else purse.amounts(found))


async def _history(limit: int, url: str, as_json: bool) -> None:
    async with Whist.connect(url, store=FileStore(url)) as whist:
        found = (await whist.history(limit))["movements"]
    for each in found:
        print(json.dumps(each) if as_json else purse.moved(each))
    if not found:
        say("Nothing has come or gone yet.")


async def _rooms(url: str, as_json: bool) -> None:
    async with Whist.connect(url, store=FileStore(url)) as whist:
        found, days, me = await whist.rooms(), await whist.vip_days(), await whist.me()
    if not as_json:
        print(purse.ROOMS_HEAD)
    for each in found:
        print(json.dumps(each) if as_json else purse.room(each))
    if not as_json:
        print(purse.progress(me))
        if days:
            print(f"Your VIP days: {' and '.join(day.capitalize() for day in days)}.")


async def _coffee(kind: Cup, url: str, as_json: bool) -> None:
    async with Whist.connect(url, store=FileStore(url)) as whist:
        found = await whist.buy_coffee(kind.value)
    print(json.dumps(found) if as_json else purse.amounts(found))


async def _refund(game_id: str, ask: bool, url: str, as_json: bool) -> None:
    async with Whist.connect(url, store=FileStore(url)) as whist:
        if ask:
            offer = await whist.refund_offer(game_id)
            print(json.dumps(offer) if as_json else purse.offered(offer))
            return
        done = await whist.refund(game_id)
    print(json.dumps(done) if as_json else purse.refunded(done))


async def _name(wanted: str, url: str, email: str) -> None:
    async with signed_in(url, Keyboard(), email) as whist:
        say(account.claimed(await whist.claim_name(wanted)))


async def _sessions(ended: str, url: str, as_json: bool) -> None:
    async with Whist.connect(url, store=FileStore(url)) as whist:
        if ended:
            await whist.end_session(ended)
        found = await whist.sessions()
    print(json.dumps(found) if as_json else account.devices(found))


async def _export(url: str) -> None:
    async with Whist.connect(url, store=FileStore(url)) as whist:
        print(json.dumps(await whist.export(), ensure_ascii=False, indent=2))
