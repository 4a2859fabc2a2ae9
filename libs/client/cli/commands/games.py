"""Finished games: fetched, told, checked, judged (P61, P62, P70, P72)."""

import json
import sys
from collections.abc import Callable, Coroutine, Mapping
from typing import Annotated, Any

import typer

from libs.client.cli import screen
from libs.client.cli.analysis import analyse, shown
from libs.client.cli.commands.options import GAME_ID, HERE, AsJson, GameId, Url
from libs.client.cli.records.replay import names_of, tell
from libs.client.cli.records.source import written_at
from libs.client.cli.running import guarded, run, say, write
from libs.client.cli.verify import Verified, verify_plain
from libs.client.cli.verify import verify as verify_record
from libs.client.sdk.errors import WhistError
from libs.client.sdk.session import FileStore
from libs.client.sdk.whist import Whist
from libs.engine.record.flaws import BadRecord

NOT_OURS = frozenset({"NOT_AT_TABLE", "ANALYSIS_UNKNOWN"})  # somebody else of this machine may have played it

RecordSource = Annotated[str, typer.Argument(metavar="FILE", help="A record: a file, - for standard input, or a link.")]


def record(
    game_id: GameId,
    url: Url = HERE,
    as_json: AsJson = False,
) -> None:
    """Fetch a finished game's record and check it against its secret."""
    run(_record(game_id, url, as_json))


def replay(
    file: RecordSource,
    only: Annotated[int | None, typer.Option("--round", min=1, help="This round alone.")] = None,
    open_hands: Annotated[bool, typer.Option("--open", help="Show every hand.")] = False,
) -> None:
    """Tell a recorded game step by step. Enter for the next step on a terminal, all at once in a pipe."""
    guarded(lambda: _replay(file, only, open_hands))


def verify(file: RecordSource, as_json: AsJson = False) -> None:
    """Check a record: commitment, deals, moves, scores, ranking. Exit code 1 says where it first differs."""
    guarded(lambda: _verify(file, as_json))


def analysis(
    game: Annotated[str, typer.Argument(metavar="ID|FILE", help="A game of yours at the server, or a record.")],
    seat: Annotated[int | None, typer.Option(min=1, max=7, help="Of a record: whose moves.")] = None,
    url: Url = HERE,
    as_json: AsJson = False,
) -> None:
    """Judge your moves: what was best, what each cost, the grade. Of a finished Romanian Whist."""
    if GAME_ID.fullmatch(game):
        run(_analysis(game, url, as_json))
    else:
        guarded(lambda: _tell_analysis(analyse(verify_record(written_at(game)).record, seat and seat - 1), as_json))


def story(
    game_id: GameId,
    locale: Annotated[str, typer.Option(help="en, ro or zh.")] = "en",
    url: Url = HERE,
    as_json: AsJson = False,
) -> None:
    """Have a finished game told in a few paragraphs."""
    run(_story(game_id, locale, url, as_json))


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
        say("Enter for the next step, q to stop.")
    tell(verified.record, write, only=only, open_hands=open_hands, ask=_next_line if paged else None)


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
