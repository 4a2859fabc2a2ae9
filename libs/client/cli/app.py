"""Commands, options and exit codes: 0 well, 1 refused or a check failed (the reason is said), 2 wrong usage."""

import asyncio
import contextlib
import json
import logging
import os
import re
import signal
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from importlib.metadata import version
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer

from libs.client.cli import account, admin, friends, league, purse, screen, watching
from libs.client.cli import demo as demonstration
from libs.client.cli.analysis import CannotJudge, analyse, shown
from libs.client.cli.keyboard import Keyboard
from libs.client.cli.offline.fronts import LocalJson, LocalScreen
from libs.client.cli.offline.game import GameLeft
from libs.client.cli.offline.game import play as play_here
from libs.client.cli.offline.setup import Bots, GameName, Mode, Setup, WrongUsage, set_up
from libs.client.cli.offline.table import LocalTable
from libs.client.cli.play import HELP, Front, InputEnded, JsonFront, Player, ScreenFront
from libs.client.cli.records.file import CannotWrite, RecordFile
from libs.client.cli.records.replay import NoSuchRound, names_of, tell
from libs.client.cli.records.source import Unreadable, written_at
from libs.client.cli.refusals import refused
from libs.client.cli.verify import CheckFailed, Verified, verify_plain
from libs.client.cli.verify import verify as verify_record
from libs.client.sdk.errors import WhistError
from libs.client.sdk.session import FileStore
from libs.client.sdk.table import Table
from libs.client.sdk.whist import Whist
from libs.engine.record.flaws import BadRecord
from libs.wire import frames

INTERRUPTED = 130  # as a shell says of SIGINT
GAME_ID = re.compile("[0-9a-f]{32}")
NOT_OURS = frozenset({"NOT_AT_TABLE", "ANALYSIS_UNKNOWN"})  # somebody else of this machine may have played it
PACE_S = 0.6  # slow enough to see who plays what
PACE_MAX_S = 10.0  # nobody waits longer on purpose: a typing error

app = typer.Typer(
    help="Whist: play online or here, watch a bot play, read records.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.add_typer(admin.app, name="admin")


class OnlineMode(StrEnum):
    """P1."""

    QUICK = "quick"
    CLASSIC = "classic"


class Cup(StrEnum):
    """Kinds of coffee (P11)."""

    X1_5 = "x1.5"
    X2 = "x2"
    X3 = "x3"
    X5 = "x5"


Url = Annotated[str, typer.Option(envvar="WHIST_URL", help="The server.")]
Room = Annotated[int, typer.Option(min=1, max=12, help="Room 1 is free and open to guests.")]
ModeOption = Annotated[OnlineMode, typer.Option(help="quick: six rounds; classic: thirty.")]
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


def _id(text: str) -> str:
    if GAME_ID.fullmatch(text) is None:
        _say("whist: an id has 32 digits of 0-9 and a-f")
        raise typer.Exit(2)
    return text


TableId = Annotated[str, typer.Argument(metavar="ID", help="As `tables` and `open` say it.", callback=_id)]
GameId = Annotated[str, typer.Argument(metavar="ID", help="A finished game of yours.", callback=_id)]


@app.command()
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
        _say(f"whist: {screen.printable(str(wrong))}")
        raise typer.Exit(2) from None
    _run(asked)


def _refuse_with(why: str, options: Mapping[str, object]) -> None:
    """Raises WrongUsage for the first option that was given."""
    for name, value in options.items():
        if value is not None:
            raise WrongUsage(f"--{name} {why}")


def _check_online(mode: Mode | None) -> None:
    if mode not in {None, *OnlineMode}:
        raise WrongUsage(f"--mode {mode}: online there are {' and '.join(OnlineMode)}; others need --game romanian")


@app.command()
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
    _run(_demo(mode.value, url, email, record_file, as_json))


@app.command()
def record(
    game_id: GameId,
    url: Url = HERE,
    as_json: AsJson = False,
) -> None:
    """Fetch a finished game's record and check it against its secret."""
    _run(_record(game_id, url, as_json))


@app.command()
def tables(url: Url = HERE, as_json: AsJson = False) -> None:
    """List friends' tables that wait or are in play."""
    _run(_tables(url, as_json))


@app.command("open")
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
        _say(f"whist: {screen.printable(str(wrong))}")
        raise typer.Exit(2) from None
    _run(_open(setup, not unlisted, url, email))


@app.command()
def sit(
    table_id: TableId,
    seat: Annotated[int | None, typer.Option(min=1, max=7, help="A certain seat; else any that is free.")] = None,
    url: Url = HERE,
    email: Email = "",
) -> None:
    """Sit down at a friends' table and play. In a game: on a seat that no person holds."""
    _run(_sit(table_id, seat, url, email))


@app.command()
def watch(
    table_id: TableId,
    url: Url = HERE,
    email: Email = "",
) -> None:
    """Watch a friends' game, or take a seat over. That is a bot's, or one that was left."""
    _run(_watch(table_id, url, email))


@app.command("league")
def show_league(
    week: Annotated[str, typer.Option(help="Such as 2026-W48; else the one that runs.")] = "",
    with_friends: Annotated[bool, typer.Option("--friends", help="The leaderboard of friends' games instead.")] = False,
    url: Url = HERE,
    email: Email = "",
    as_json: AsJson = False,
) -> None:
    """Show your league group, or the friends' leaderboard: --friends."""
    _run(_league(week, with_friends, url, email, as_json))


@app.command()
def upload(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Records that `play --record` wrote.")],
    url: Url = HERE,
    email: Email = "",
    as_json: AsJson = False,
) -> None:
    """Have offline games credited. Half of what they would bring online; guests upload none: --email."""
    _run(_upload(files, url, email, as_json))


RecordSource = Annotated[str, typer.Argument(metavar="FILE", help="A record: a file, - for standard input, or a link.")]


@app.command()
def replay(
    file: RecordSource,
    only: Annotated[int | None, typer.Option("--round", min=1, help="This round alone.")] = None,
    open_hands: Annotated[bool, typer.Option("--open", help="Show every hand.")] = False,
) -> None:
    """Tell a recorded game step by step. Enter for the next step on a terminal, all at once in a pipe."""
    _guarded(lambda: _replay(file, only, open_hands))


@app.command()
def verify(file: RecordSource, as_json: AsJson = False) -> None:
    """Check a record: commitment, deals, moves, scores, ranking. Exit code 1 says where it first differs."""
    _guarded(lambda: _verify(file, as_json))


@app.command()
def analysis(
    game: Annotated[str, typer.Argument(metavar="ID|FILE", help="A game of yours at the server, or a record.")],
    seat: Annotated[int | None, typer.Option(min=1, max=7, help="Of a record: whose moves.")] = None,
    url: Url = HERE,
    as_json: AsJson = False,
) -> None:
    """Judge your moves: what was best, what each cost, the grade. Of a finished Romanian Whist."""
    if GAME_ID.fullmatch(game):
        _run(_analysis(game, url, as_json))
    else:
        _guarded(lambda: _tell_analysis(analyse(verify_record(written_at(game)).record, seat and seat - 1), as_json))


@app.command()
def story(
    game_id: GameId,
    locale: Annotated[str, typer.Option(help="en, ro or zh.")] = "en",
    url: Url = HERE,
    as_json: AsJson = False,
) -> None:
    """Have a finished game told in a few paragraphs."""
    _run(_story(game_id, locale, url, as_json))


@app.command()
def wallet(url: Url = HERE, as_json: AsJson = False) -> None:
    """Say what coins, bars and cups there are."""
    _run(_wallet(url, as_json))


@app.command()
def history(
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many at most.")] = 20,
    url: Url = HERE,
    as_json: AsJson = False,
) -> None:
    """Say what came into the purse and went, newest first."""
    _run(_history(limit, url, as_json))


@app.command()
def rooms(url: Url = HERE, as_json: AsJson = False) -> None:
    """List the rooms: level, entry, prizes, and which are open to you."""
    _run(_rooms(url, as_json))


@app.command()
def coffee(
    kind: Annotated[Cup, typer.Argument(metavar="KIND", help="x1.5, x2, x3 or x5.")],
    url: Url = HERE,
    as_json: AsJson = False,
) -> None:
    """Buy three cups of one kind for gold bars."""
    _run(_coffee(kind, url, as_json))


@app.command()
def refund(
    game_id: GameId,
    ask: Annotated[bool, typer.Option("--ask", help="Only say what it would return and take.")] = False,
    url: Url = HERE,
    as_json: AsJson = False,
) -> None:
    """Give a game back. The entry and the cup return, all that it won goes; it cannot be undone."""
    _run(_refund(game_id, ask, url, as_json))


@app.command()
def name(
    wanted: Annotated[str, typer.Argument(metavar="NAME", help="3 to 16 letters and digits.")],
    url: Url = HERE,
    email: Email = "",
) -> None:
    """Take a name that is yours alone: a ✓ at the table. Guests have none: --email."""
    _run(_name(wanted, url, email))


@app.command()
def sessions(
    ended: Annotated[str, typer.Option("--end", metavar="ID", help="Sign this device out.")] = "",
    url: Url = HERE,
    as_json: AsJson = False,
) -> None:
    """List your devices that are signed in, or sign one out: --end."""
    _run(_sessions(ended, url, as_json))


@app.command()
def export(url: Url = HERE) -> None:
    """Write all that the server holds of you, as JSON."""
    _run(_export(url))


async def _name(wanted: str, url: str, email: str) -> None:
    async with _signed_in(url, Keyboard(), email) as whist:
        _say(account.claimed(await whist.claim_name(wanted)))


async def _sessions(ended: str, url: str, as_json: bool) -> None:
    async with Whist.connect(url, store=FileStore(url)) as whist:
        if ended:
            await whist.end_session(ended)
        found = await whist.sessions()
    print(json.dumps(found) if as_json else account.devices(found))


async def _export(url: str) -> None:
    async with Whist.connect(url, store=FileStore(url)) as whist:
        print(json.dumps(await whist.export(), ensure_ascii=False, indent=2))


async def _play(room: int, mode: str, cup: str, url: str, email: str, as_json: bool) -> None:
    keyboard = Keyboard()
    front: Front = (
        JsonFront(_write) if as_json else ScreenFront(_write, terminal=sys.stdout.isatty(), forget=keyboard.forget)
    )
    async with _signed_in(url, keyboard, email) as whist:
        _say(f"{screen.printable(whist.account['name'])} queues in room {room} ({mode})")
        table = await _seated(whist, room, mode, cup)
        resumed = (table.view["mode"] == OnlineMode.QUICK) != (mode == OnlineMode.QUICK) or bool(
            table.view["score_sheet"]
        )
        message = "Your seat in a running game comes first." if resumed else HELP
        try:
            await Player(whist, table, keyboard, front, eager=sys.stdin.isatty(), message=message).play()
        except asyncio.CancelledError:
            _say("\nA bot holds your seat; `whist play` takes it back.")
            raise


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
        _say("Nothing has come or gone yet.")


async def _rooms(url: str, as_json: bool) -> None:
    async with Whist.connect(url, store=FileStore(url)) as whist:
        found, me = await whist.rooms(), await whist.me()
    if not as_json:
        print(purse.ROOMS_HEAD)
    for each in found:
        print(json.dumps(each) if as_json else purse.room(each))
    if not as_json:
        print(purse.progress(me))


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


async def _tables(url: str, as_json: bool) -> None:
    async with Whist.connect(url, store=FileStore(url)) as whist:
        found = await whist.friends.list()
    for table in found:
        print(json.dumps(table) if as_json else friends.listed(table))
    if not found:
        _say("No friends' table waits or is in play: `whist open` opens one.")


async def _league(week: str, with_friends: bool, url: str, email: str, as_json: bool) -> None:
    async with _signed_in(url, Keyboard(), email) as whist:
        found = await (whist.friends_leaderboard(week) if with_friends else whist.group(week))
        own = str(whist.account["account_id"])
    told = league.told_board if with_friends else league.told_group
    print(json.dumps(found) if as_json else "\n".join(told(found, own)))


async def _upload(files: Sequence[str], url: str, email: str, as_json: bool) -> None:
    async with _signed_in(url, Keyboard(), email) as whist:
        for file in files:
            answer = await league.upload(whist, file)
            print(json.dumps({"file": file, **answer}) if as_json else league.told_upload(file, answer))


async def _open(setup: Setup, listed: bool, url: str, email: str) -> None:
    keyboard = Keyboard()
    async with _signed_in(url, keyboard, email) as whist:
        opened = await whist.friends.open(
            game=setup.game, options=dict(setup.options), players=setup.players, bots=setup.bots, listed=listed
        )
        _say(f"Friends join by: whist sit {opened['table']}")
        await _with_friends(whist, opened["table"], keyboard)


async def _sit(table_id: str, seat: int | None, url: str, email: str) -> None:
    keyboard = Keyboard()
    async with _signed_in(url, keyboard, email) as whist:
        place = None if seat is None else seat - 1
        try:
            await whist.friends.sit(table_id, place)
        except WhistError as error:
            if error.code != "TABLE_DEALT":
                raise
            table = await whist.join(table_id)
            if await watching.sit_down(whist, table, place, _say):
                await _play_with_friends(whist, table, keyboard)
        else:
            await _with_friends(whist, table_id, keyboard)


async def _watch(table_id: str, url: str, email: str) -> None:
    keyboard = Keyboard()
    async with _signed_in(url, keyboard, email) as whist:
        table = await whist.join(table_id)
        front = ScreenFront(_write, terminal=sys.stdout.isatty(), forget=keyboard.forget)
        if await watching.watch(whist, table, keyboard, front, eager=sys.stdin.isatty()):
            await _play_with_friends(whist, table, keyboard)


async def _with_friends(whist: Whist, table_id: str, keyboard: Keyboard) -> None:
    """From the waiting table to the game's end."""
    _say(friends.HELP)
    company = await whist.enter(table_id)
    if not await friends.wait(whist, company, keyboard, _say):
        _say("The game goes on without you.")
        return
    await _play_with_friends(whist, await whist.join(table_id), keyboard)


async def _play_with_friends(whist: Whist, table: Table, keyboard: Keyboard) -> None:
    front = ScreenFront(_write, terminal=sys.stdout.isatty(), forget=keyboard.forget)
    await Player(whist, table, keyboard, front, eager=sys.stdin.isatty()).play()


async def _play_here(setup: Setup, pace_s: float | None, file: RecordFile | None, as_json: bool) -> None:
    keyboard, terminal = Keyboard(), sys.stdout.isatty()
    if pace_s is None:
        pace_s = PACE_S if terminal and not as_json else 0.0
    table = LocalTable(setup, pace_s=pace_s)
    front: LocalJson | LocalScreen
    if as_json:
        front = LocalJson(_write)
        front.start(table)
    else:
        logging.getLogger("libs").addHandler(logging.NullHandler())  # a warning would be written into the screen
        front = LocalScreen(_write, terminal=terminal, forget=keyboard.forget)
        _say(f"{setup.game} with {setup.bots} bots. Commitment {table.commitment.hex()}")
    await play_here(table, keyboard, front, eager=sys.stdin.isatty(), file=file, say=_say)
    if file is not None:
        _say(f"The record is in {screen.printable(str(file.path))}")


async def _seated(whist: Whist, room: int, mode: str, cup: str) -> Table:
    """The table, once it is dealt. An interrupt in the queue takes the ticket back: nobody is seated who has gone."""
    try:
        return await whist.quick_game(room, mode, cup, told=lambda place: _tell_queue(whist, place))
    except asyncio.CancelledError:
        with contextlib.suppress(WhistError):
            await whist.cancel_queue()
        raise


async def _demo(mode: str, url: str, email: str, record_file: Path | None, as_json: bool) -> None:
    file = None if record_file is None else RecordFile(record_file)
    say = _say if as_json else lambda text: _write(text + "\n")
    FileStore(url, "demo").forget()
    keyboard = Keyboard()
    async with _signed_in(url, keyboard, email, "demo") as whist:
        report, kept = await demonstration.run(whist, mode, say)
    if file is not None:
        file.write(kept)
        _say(f"The record is in {screen.printable(str(file.path))}")
    if as_json:
        print(json.dumps(report))


async def _record(game_id: str, url: str, as_json: bool) -> None:
    found = await _fetch(game_id, url)
    if as_json:
        print(json.dumps(found))
        return
    verified = verify_plain(found)
    print(_end_of(verified))
    if verified.record.secret is not None:
        print(f"\nThe commitment, the seats and every deal follow from the secret {verified.record.secret.hex()}")


def _end_of(verified: Verified) -> str:
    """The score sheet and the ranking, or that there are none."""
    outcome = verified.game.result
    if outcome is None:
        return "The game was not played to its end; there is no result."
    names = names_of(verified.record)
    ranked = screen.ranking(outcome["ranking"], outcome["totals"], names, -1)
    return f"{screen.final_sheet(verified.view, names)}\n\n{ranked}"


def _replay(file: str, only: int | None, open_hands: bool) -> None:
    verified = verify_record(written_at(file))
    paged = sys.stdin.isatty() and sys.stdout.isatty()
    if paged:
        _say("Enter for the next step, q to stop.")
    tell(verified.record, _write, only=only, open_hands=open_hands, ask=_next_line if paged else None)


def _next_line() -> str | None:
    sys.stdout.flush()
    return sys.stdin.readline() or None


def _verify(file: str, as_json: bool) -> None:
    try:
        verified = verify_record(written_at(file))
    except BadRecord as flaw:
        if as_json:
            print(json.dumps({"ok": False} | flaw.facts()))
        raise
    if as_json:
        print(json.dumps(verified.report()))
        return
    print(f"{verified.record.game}, {verified.record.players} players, as {verified.form.value}")
    for each in verified.checked:
        print(f"  {each}")
    print("The record holds.")


async def _analysis(game_id: str, url: str, as_json: bool) -> None:
    _tell_analysis(await _asked_by_one_of_us(url, lambda whist: whist.analysis(game_id)), as_json)


def _tell_analysis(found: Mapping[str, Any], as_json: bool) -> None:
    print(json.dumps(found) if as_json else "\n".join(shown(found)))


async def _story(game_id: str, locale: str, url: str, as_json: bool) -> None:
    told = await _asked_by_one_of_us(url, lambda whist: whist.story(game_id, locale))
    print(json.dumps(told) if as_json else "\n\n".join(screen.printable(each) for each in told["paragraphs"]))


async def _fetch(game_id: str, url: str) -> dict[str, Any]:
    return await _asked_by_one_of_us(url, lambda whist: whist.record(game_id))


async def _asked_by_one_of_us(url: str, ask: Callable[[Whist], Coroutine[Any, Any, dict[str, Any]]]) -> dict[str, Any]:
    """By the player of this machine, or by the last demonstration's guest."""
    refusal: WhistError | None = None
    for role in ("player", "demo"):
        store = FileStore(url, role)
        if store.load() is None:
            continue
        async with Whist.connect(url, store=store) as whist:
            try:
                return await ask(whist)
            except WhistError as error:
                if error.code not in NOT_OURS:
                    raise
                refusal = error
    raise refusal or WhistError("NOT_AT_TABLE", facts={"why": "No game was played from here at this server."})


def _signed_in(url: str, keyboard: Keyboard, email: str, role: str = "player") -> AbstractAsyncContextManager[Whist]:
    """Whoever played here last, or the account of an address after its code; a guest may become it (P42)."""
    return Whist.connect(
        url,
        store=FileStore(url, role),
        email=email,
        ask_code=account.code_asker(keyboard, email, _say),
        ask_drop=account.drop_asker(keyboard, _say),
    )


def _tell_queue(whist: Whist, place: frames.Queue) -> None:
    if place.state != "waiting":
        return
    wait_s = whist.seconds_until(place.deals_at)
    line = f" ({place.position} of {place.waiting} in line)" if place.waiting > place.seats else ""
    bots = "" if wait_s is None else f"; in {wait_s:.0f} s bots take the rest"
    _say(f"Waiting for players: {place.seats} of 6 seats taken{line}{bots}")


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _run(asked: Coroutine[Any, Any, None]) -> None:
    _guarded(lambda: asyncio.run(asked))


def _guarded(command: Callable[[], None]) -> None:
    """Run one command; whatever a server, a line or a file can do wrong ends in one clear line."""
    try:
        command()
    except WhistError as error:
        _say(f"whist: {refused(error)}")
        raise typer.Exit(1) from None
    except (CheckFailed, CannotWrite, Unreadable, NoSuchRound, CannotJudge) as error:
        _say(f"whist: {error}")
        raise typer.Exit(1) from None
    except BadRecord as flaw:
        _say(f"whist: {screen.printable(str(flaw))} ({flaw.reason})")
        raise typer.Exit(1) from None
    except GameLeft as left:
        _say(("\n" if sys.stdout.isatty() else "") + f"whist: {left}")  # a terminal's cursor stands behind the prompt
        raise typer.Exit(1) from None
    except InputEnded:
        _say("whist: the input has ended before the game; a bot holds your seat, and `whist play` takes it back")
        raise typer.Exit(1) from None
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # whoever read us has gone: nothing to flush to
        raise typer.Exit(1) from None
    except OSError as fault:  # a disk without room, a terminal that has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _say(f"whist: {fault.strerror or fault}")
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        _say("")
        raise typer.Exit(INTERRUPTED) from None


def main() -> None:
    """The `whist` command."""
    for ending in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(ending) is signal.SIG_DFL:  # under nohup it is not
            # As an interrupt: a game's record is written, a place in the queue given back.
            signal.signal(ending, lambda _signal, _frame: signal.raise_signal(signal.SIGINT))
    for name, access in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by who started us: nothing to read, nobody who reads
            setattr(sys, name, Path(os.devnull).open(access))  # noqa: SIM115 - for as long as the process lives
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(
                errors="replace"
            )  # a terminal without suit signs shows ? and plays on, and so does wrong input
    app(prog_name="whist")
