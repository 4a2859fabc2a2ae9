"""``python -m services.wallet.ledger_check [--json]``: prove the ledger of WHIST_DATABASE_URL.

Exit status 0: it adds up; 1: it does not, each difference on a line; 2: wrong settings or usage, or no such database.
What the proof says nothing of, since it is older than what a rule needs, is on lines of its own and changes no status.
With ``--json`` the last line is one object: ``{"ok", "differences": [{"rule", "subject", "expected", "found"}, …],
"unproved": [{"rule", "count", "why"}, …]}``.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict

from sqlalchemy.exc import SQLAlchemyError

from libs.chassis.db import Database
from libs.chassis.entropy import SystemEntropy
from libs.chassis.settings import WrongSettings, load_settings
from services.wallet.domain.history import Difference, Unproved
from services.wallet.handlers.ledger_check import ledger_check, unproved
from services.wallet.settings import WalletSettings
from services.wallet.storage.ledger import LedgerStore
from services.wallet.storage.tables import SCHEMA


@asynccontextmanager
async def wallets_of(database_url: str) -> AsyncIterator[LedgerStore]:
    """That database's wallets, for statements that may take their time."""
    database = Database.open(database_url, SCHEMA, pool=2, command_seconds=None)
    try:
        yield LedgerStore(database, SystemEntropy())
    finally:
        await database.close()


async def differences(database_url: str) -> Sequence[Difference]:
    """What `handlers.ledger_check` finds there."""
    async with wallets_of(database_url) as wallets:
        return await ledger_check(wallets=wallets)


async def proved(database_url: str) -> tuple[Sequence[Difference], Sequence[Unproved]]:
    """The same, and what it can say nothing of."""
    async with wallets_of(database_url) as wallets:
        return await ledger_check(wallets=wallets), await unproved(wallets=wallets)


def report(found: Sequence[Difference], beyond: Sequence[Unproved], *, as_json: bool) -> str:
    """What is written: a line for each difference, what is not proved, then the verdict."""
    lines = [f"{each.rule} {each.subject}: expected {each.expected}, found {each.found}" for each in found]
    lines += [f"{each.rule} says nothing of {each.count}: {each.why}" for each in beyond]
    if as_json:
        told = {"differences": [asdict(each) for each in found], "unproved": [asdict(each) for each in beyond]}
        lines.append(json.dumps({"ok": not found, **told}))
    elif not found:
        lines.append("the ledger adds up")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Returns the exit status."""
    if arguments not in ([], ["--json"]):
        sys.stderr.write("usage: python -m services.wallet.ledger_check [--json]\n")
        return 2
    try:
        settings = load_settings(WalletSettings)
    except WrongSettings as error:
        sys.stderr.write(f"{error}\n")
        return 2
    try:
        found, beyond = asyncio.run(proved(settings.database_url))
    except (OSError, SQLAlchemyError) as error:  # away, or no wallet's: nothing is proved
        sys.stderr.write(f"WHIST_DATABASE_URL: {type(error).__name__}: {str(error).splitlines()[0]}\n")
        return 2
    sys.stdout.write(report(found, beyond, as_json="--json" in arguments))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
