"""The check that stored totals are the sums they stand for."""

from libs.house.platform import Platform
from services.leagues.handlers import proof
from services.leagues.metrics import leagues_difference
from services.leagues.ports import Books


async def check_totals(books: Books, platform: Platform) -> None:
    """Repairs what differs; the gauge keeps what the last run found, so that an alert sees it."""
    leagues_difference.set(await proof.check(books=books, platform=platform))
