"""``python -m services.leagues.check``: prove what leagues store against the facts, now, beside the running service.

Reads the service's own settings. The last line is JSON, {"differences": n}; exit status 1 where there are any, 2 for
wrong settings or no such database. An account's totals that differ are repaired, as the job `check_totals` does; see
its log for each.
"""

import asyncio
import json
import sys

from sqlalchemy.exc import SQLAlchemyError

from libs.chassis.db import Store
from libs.chassis.db.database import Database
from libs.chassis.entropy import SystemEntropy
from libs.chassis.logs import configure_logs
from libs.chassis.settings import WrongSettings, load_settings
from libs.house import platform as house
from services.leagues.handlers.proof import check
from services.leagues.settings import LeaguesSettings
from services.leagues.storage.ledger import LeaguesTransaction
from services.leagues.storage.tables import SCHEMA


async def differences(settings: LeaguesSettings) -> int:
    """How many accounts and closed ranks were not what they stand for."""
    database = Database.open(settings.database_url, SCHEMA, pool=2, command_seconds=None)
    try:
        books = Store(database, LeaguesTransaction, SystemEntropy())
        return await check(books=books, platform=house.load(settings.platform_config))
    finally:
        await database.close()


def main() -> int:
    """Exit status."""
    try:
        settings = load_settings(LeaguesSettings)
    except WrongSettings as error:
        sys.stderr.write(f"{error}\n")
        return 2
    configure_logs(settings.log_level, settings.log_format)
    try:
        found = asyncio.run(differences(settings))
    except (OSError, SQLAlchemyError) as error:  # away, or no leagues': nothing is proved
        sys.stderr.write(f"WHIST_DATABASE_URL: {type(error).__name__}: {str(error).splitlines()[0]}\n")
        return 2
    sys.stdout.write(json.dumps({"differences": found}) + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
