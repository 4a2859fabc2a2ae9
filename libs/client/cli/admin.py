"""`whist admin`: the operators' acts at the terminal (P82). For people a line each, for programs JSON."""

import asyncio
import json
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from libs.client.cli import screen
from libs.client.cli.refusals import refused
from libs.client.sdk.errors import Unreachable, WhistError
from libs.client.sdk.operators import OperatorsDesk

HERE = "http://127.0.0.1:8090"
EMBEDDED_TOKEN = Path(".run/embedded/secrets/operator-token")
ID = re.compile(r"[0-9a-f]{32}")
CUPS = ("x1.5", "x2", "x3", "x5")
PROOF = "services.wallet.ledger_check"
# What a refusal means to an operator, where its code does not say it all.
MEANINGS = {
    "NOT_AN_OPERATOR": "the token is nobody's: --token-file, WHIST_OPERATOR_TOKEN",
    "ROLE_NOT_ALLOWED": "your role may not do this",
    "ACT_DIFFERS": "--key belongs to another act: take it away, or repeat that one",
    "UNAVAILABLE": "nobody can answer now; nothing was done: once more in a moment",
    "GAME_OVER": "it was voided before, or never dealt",
    "TABLE_DEALT": "its game has begun: void it instead",
    "NOTHING_TO_GRANT": "say how much: --coins, --bars or --cup",
    "INSUFFICIENT_FUNDS": "the purse does not hold as much",
}

app = typer.Typer(
    help="See and act as an operator: accounts, purses, tables.\n\nThe token comes from "
    "WHIST_OPERATOR_TOKEN, or --token-file; on the machine of `make run` from its data folder.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Url = Annotated[str, typer.Option(envvar="WHIST_ADMIN_URL", help="The operators' listener.")]
TokenFile = Annotated[
    Path | None, typer.Option(envvar="WHIST_OPERATOR_TOKEN_FILE", help="A file with your token.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="For programs: JSON on standard output.")]
Reason = Annotated[str, typer.Option(help="Why; kept for ever beside your name: no address, no secret.")]
Key = Annotated[str, typer.Option(help="Of an act whose answer was lost: it is done once.", show_default=False)]
Account = Annotated[str, typer.Argument(metavar="ACCOUNT", help="Its id, as `accounts` says it.")]
TableId = Annotated[str, typer.Argument(metavar="TABLE", help="Its id, as `tables` says it.")]
OfAccount = Annotated[str, typer.Option(help="Of this account alone, by id.", show_default=False)]
Limit = Annotated[int, typer.Option(min=1, max=500, help="How many at most.")]

Run = Callable[[OperatorsDesk], Coroutine[Any, Any, None]]
Act = Callable[[OperatorsDesk, str], Coroutine[Any, Any, None]]


@app.command()
def accounts(
    words: Annotated[str, typer.Argument(metavar="WORDS", help="An id, a name, or an address.")],
    reason: Reason, url: Url = HERE, token_file: TokenFile = None, as_json: AsJson = False,
) -> None:  # fmt: skip
    """Find accounts by id, name or address. Guests by id alone; that you looked is written down."""

    async def run(desk: OperatorsDesk) -> None:
        found = await desk.accounts(words, reason)
        _tell(found, as_json, _account, "No account.")

    _ask(run, url, token_file)


@app.command()
def suspend(
    account: Account, reason: Reason, key: Key = "", url: Url = HERE, token_file: TokenFile = None,
) -> None:  # fmt: skip
    """Shut an account out. Its sessions end and it signs in no more."""

    async def run(desk: OperatorsDesk, key: str) -> None:
        await desk.suspend(_id(account), reason, key)
        print(f"{account} is suspended.")

    _act(run, url, token_file, key)


@app.command()
def reinstate(
    account: Account, reason: Reason, key: Key = "", url: Url = HERE, token_file: TokenFile = None,
) -> None:  # fmt: skip
    """Let a suspended account in again."""

    async def run(desk: OperatorsDesk, key: str) -> None:
        await desk.reinstate(_id(account), reason, key)
        print(f"{account} may sign in again.")

    _act(run, url, token_file, key)


@app.command()
def silence(
    account: Account,
    minutes: Annotated[int, typer.Argument(min=0, max=525_600, help="From now on; 0: it is heard again.")],
    reason: Reason, key: Key = "", url: Url = HERE, token_file: TokenFile = None,
) -> None:  # fmt: skip
    """Let nobody hear an account's chat for a while."""

    async def run(desk: OperatorsDesk, key: str) -> None:
        until = await desk.silence(_id(account), minutes, reason, key)
        print(f"{account} is silenced until {until}." if until else f"{account} is heard.")

    _act(run, url, token_file, key)


@app.command()
def grant(
    account: Account, reason: Reason,
    coins: Annotated[int, typer.Option(help="Signed: --coins=-50 takes.")] = 0,
    bars: Annotated[int, typer.Option(help="Signed.")] = 0,
    cup: Annotated[
        list[str] | None, typer.Option(metavar="KIND=N", help=f"Cups of {', '.join(CUPS)}; may be repeated.")
    ] = None,
    key: Key = "", url: Url = HERE, token_file: TokenFile = None, as_json: AsJson = False,
) -> None:  # fmt: skip
    """Correct a balance. What the account gains, or with a minus loses."""
    cups = dict(map(_cups, cup or ()))
    if len(cups) < len(cup or ()):
        _fail("--cup names each kind once", 2)

    async def run(desk: OperatorsDesk, key: str) -> None:
        assets = await desk.correct(_id(account), reason, coins=coins, bars=bars, cups=cups, key=key)
        _tell([assets], as_json, lambda one: f"{account} has {_assets(one)}", "")

    _act(run, url, token_file, key)


@app.command()
def wallet(account: Account, url: Url = HERE, token_file: TokenFile = None, as_json: AsJson = False) -> None:
    """What an account owns."""

    async def run(desk: OperatorsDesk) -> None:
        owned = await desk.wallet(_id(account))
        _tell([owned], as_json, lambda one: f"{_assets(one)}; held: {_assets(one['held'])}", "")

    _ask(run, url, token_file)


@app.command()
def tables(
    account: OfAccount = "",
    live: Annotated[bool, typer.Option(help="Those that wait or are in play alone.")] = False,
    limit: Limit = 50,
    url: Url = HERE, token_file: TokenFile = None, as_json: AsJson = False,
) -> None:  # fmt: skip
    """Tables as they stand, newest first; never a card."""

    async def run(desk: OperatorsDesk) -> None:
        found = await desk.tables(account=_id(account) if account else "", live=live, limit=limit)
        _tell(found, as_json, _table, "No table.")

    _ask(run, url, token_file)


@app.command()
def void(
    table: TableId, reason: Reason, key: Key = "", url: Url = HERE, token_file: TokenFile = None,
) -> None:  # fmt: skip
    """Void a game, live or finished. Entries come back, what was won is taken back."""

    async def run(desk: OperatorsDesk, key: str) -> None:
        had_finished = await desk.void(_id(table), reason, key)
        print(f"{table} is voided" + (": what it won is taken back." if had_finished else ": its game has ended."))

    _act(run, url, token_file, key)


@app.command()
def close(
    table: TableId, reason: Reason, key: Key = "", url: Url = HERE, token_file: TokenFile = None,
) -> None:  # fmt: skip
    """Close a friends' table that waits."""

    async def run(desk: OperatorsDesk, key: str) -> None:
        await desk.close(_id(table), reason, key)
        print(f"{table} is closed.")

    _act(run, url, token_file, key)


@app.command()
def reports(
    account: OfAccount = "",
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many at most.")] = 20,
    url: Url = HERE, token_file: TokenFile = None, as_json: AsJson = False,
) -> None:  # fmt: skip
    """Complaints about chatters, newest first. With what the other had said."""

    async def run(desk: OperatorsDesk) -> None:
        found = await desk.reports(account=_id(account) if account else "", limit=limit)
        _tell(found, as_json, _report, "No complaint.")

    _ask(run, url, token_file)


@app.command()
def audit(
    limit: Limit = 50, url: Url = HERE, token_file: TokenFile = None, as_json: AsJson = False,
) -> None:  # fmt: skip
    """Who did what, to whom and why, newest first."""

    async def run(desk: OperatorsDesk) -> None:
        _tell(await desk.audit(limit), as_json, _line, "Nothing was done.")

    _ask(run, url, token_file)


@app.command("ledger-check")
def ledger_check(
    database_url: Annotated[
        str, typer.Option(help="Prove this database instead, on a machine with the services.", show_default=False)
    ] = "",
    url: Url = HERE, token_file: TokenFile = None, as_json: AsJson = False,
) -> None:  # fmt: skip
    """Prove that the ledger adds up. Exit code 1 and a line for each thing that does not."""
    if database_url:
        # The wallet's own program: a client knows no service.
        environment = os.environ | {"WHIST_DATABASE_URL": database_url}
        command = [sys.executable, "-m", PROOF, *(["--json"] if as_json else [])]
        done = subprocess.run(command, env=environment, check=False)  # noqa: S603 - a module of ours by name
        raise typer.Exit(done.returncode)

    async def run(desk: OperatorsDesk) -> None:
        told = await desk.ledger_check()
        if as_json:
            print(json.dumps(told))
        else:
            for each in told["unproved"]:
                print(f"{each['rule']} says nothing of {each['count']}: {each['why']}")
            _tell(told["differences"], False, _difference, "The ledger adds up.")
        if not told["ok"]:
            raise typer.Exit(1)

    _ask(run, url, token_file)


def _act(run: Act, url: str, token_file: Path | None, key: str) -> None:
    """Run an act under `key`, or under a new one that is said where the answer is lost."""
    key = key or uuid.uuid4().hex
    _ask(lambda desk: run(desk, key), url, token_file, key)


def _ask(run: Run, url: str, token_file: Path | None, key: str = "") -> None:
    """Run a command; a refusal is said with what it means, and ends with 1. `key` is an act's."""

    async def asked() -> None:
        async with OperatorsDesk.connect(url, _token(token_file)) as desk:
            await run(desk)

    try:
        asyncio.run(asked())
    except Unreachable as error:
        _fail(f"{error}; it may have been done: once more with --key {key}" if key else str(error), 1)
    except WhistError as refusal:
        meaning = MEANINGS.get(refusal.code)
        _fail(f"{refusal}: {meaning}" if meaning else refused(refusal), 1)


def _token(file: Path | None) -> str:
    token = os.environ.get("WHIST_OPERATOR_TOKEN", "")
    if file is None and not token and EMBEDDED_TOKEN.is_file():
        file = EMBEDDED_TOKEN
    if file is not None:
        try:
            token = file.read_text()
        except (OSError, ValueError) as error:
            _fail(f"{file}: {getattr(error, 'strerror', None) or 'not a token'}", 2)
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable():
        _fail("no token: WHIST_OPERATOR_TOKEN, or --token-file", 2)
    return token


def _id(text: str) -> str:
    plain = text.replace("-", "").lower()
    if ID.fullmatch(plain) is None:
        _fail(f"{screen.printable(text)} is no id: 32 digits of 0-9 and a-f", 2)
    return plain


def _cups(text: str) -> tuple[str, int]:
    kind, _, number = text.partition("=")
    if kind not in CUPS or re.fullmatch(r"-?[0-9]{1,12}", number) is None:
        _fail(f"--cup {screen.printable(text)}: a kind of {', '.join(CUPS)}, = and a number", 2)
    return kind, int(number)


def _fail(told: str, code: int) -> NoReturn:
    print(f"whist: {told}", file=sys.stderr)
    raise typer.Exit(code)


def _tell(found: list[Any], as_json: bool, line: Callable[[Any], str], nothing: str) -> None:
    """Names and words are other people's: nothing of them moves a terminal's cursor."""
    for each in found:
        print(json.dumps(each) if as_json else "\n".join(map(screen.printable, line(each).split("\n"))))
    if not found and not as_json:
        print(nothing)


def _account(one: dict[str, Any]) -> str:
    marks = [mark for mark in ("guest", "suspended", "deleted") if one[mark]]
    told = f"{one['account']}  {one['name']}{' ✓' if one['named'] else ''}  {one['email'] or ''}".rstrip()
    return "  ".join([told, f"{one['sessions']} signed in", *marks])


def _assets(one: dict[str, Any]) -> str:
    cups = ", ".join(f"{number} {kind}" for kind, number in one["cups"].items() if number)
    return f"{one['coins']} coins, {one['bars']} bars, cups: {cups or 'none'}"


def _table(one: dict[str, Any]) -> str:
    status = "voided after its end" if one["had_finished"] else one["status"]
    people = len(one["accounts"])
    return f"{one['table']}  {one['created_at']}  {one['kind']} {one['game']}  {status}  {people} at it"


def _report(one: dict[str, Any]) -> str:
    head = f"{one['at']}  {one['reporter']} of {one['reported']} at {one['table']}: {one['words']}"
    return "\n".join([head, *(f"    {each['at']}  {each['words']}" for each in one["lines"])])


def _line(one: dict[str, Any]) -> str:
    details = "".join(f" {name}={value}" for name, value in one["details"].items())
    act = " ".join(filter(None, (one["act"], one["subject"])))
    return f"{one['at']}  {one['operator']}  {act}{details}: {one['reason']}"


def _difference(one: dict[str, Any]) -> str:
    return f"{one['rule']} {one['subject']}: expected {one['expected']}, found {one['found']}"
