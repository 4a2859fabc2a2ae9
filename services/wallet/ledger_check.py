"""``python -m services.wallet.ledger_check [--json]``: prove the ledger of WHIST_DATABASE_URL.

Exit status 0: it adds up; 1: it does not, each difference on a line; 2: wrong settings or usage, or no such database.
With ``--json`` the last line is one object: ``{"ok", "differences": [{"rule", "subject", "expected", "found"}, …]}``.
"""

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy.exc import SQLAlchemyError

from libs.chassis.db import Database
from libs.chassis.entropy import SystemEntropy
from libs.chassis.settings import WrongSettings, load_settings
from services.wallet.domain.history import Difference
from services.wallet.handlers.ledger_check import ledger_check
from services.wallet.settings import WalletSettings
from services.wallet.storage.ledger import LedgerStore
from services.wallet.storage.tables import SCHEMA


async def differences(database_url: str) -> Sequence[Difference]:
    """What `handlers.ledger_check` finds there."""
    database = Database.open(database_url, SCHEMA, pool=1, command_seconds=None)
    try:
        return await ledger_check(wallets=LedgerStore(database, SystemEntropy()))
    finally:
        await database.close()


def report(found: Sequence[Difference], *, as_json: bool) -> str:
    """What is written: a line for each difference, then the verdict."""
    lines = [f"{each.rule} {each.subject}: expected {each.expected}, found {each.found}" for each in found]
    if as_json:
        lines.append(json.dumps({"ok": not found, "differences": [asdict(each) for each in found]}))
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
        found = asyncio.run(differences(settings.database_url))
    except (OSError, SQLAlchemyError) as error:  # away, or no wallet's: nothing is proved
        sys.stderr.write(f"WHIST_DATABASE_URL: {type(error).__name__}: {str(error).splitlines()[0]}\n")
        return 2
    sys.stdout.write(report(found, as_json="--json" in arguments))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
