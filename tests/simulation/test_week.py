"""A town's weeks, told twice, late and out of order, come to what the books say (P10, P14, P15, P17, P50, P55, X18)."""

import tempfile
from pathlib import Path

from services.leagues.wiring import MIGRATIONS as LEAGUES
from services.wallet.wiring import MIGRATIONS as WALLET
from tests.conftest import MakeDatabase
from tests.simulation.history import history


async def test_p50_to_p55_two_weeks_of_a_town_come_to_what_the_books_say(make_database: MakeDatabase) -> None:
    url = await make_database(WALLET, LEAGUES)
    with tempfile.TemporaryDirectory(prefix="whist-town-") as folder:
        report = await history(url, Path(folder), seed=1, players=60, weeks=2, evenings=2)
    assert report.games > 40
    assert report.refunds > 5
    assert report.podium_bars > 0
