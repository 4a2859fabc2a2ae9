"""What leagues do by themselves, again and again."""

from libs.house.platform import Platform
from services.leagues.handlers import closing, proof
from services.leagues.metrics import last_closed_week, leagues_difference, week_late_seconds
from services.leagues.ports import Books, Wallet


async def close_weeks(books: Books, wallet: Wallet, platform: Platform) -> None:
    """Close what has ended; the gauges say how far the league is behind, also while the wallet is away."""
    before = await closing.lateness(books=books, platform=platform)
    week_late_seconds.set(before.late_seconds)
    after = await closing.close_weeks(books=books, wallet=wallet, platform=platform)
    week_late_seconds.set(after.late_seconds)
    last_closed_week.set(int(after.last_closed.replace("-W", "")) if after.last_closed else 0)


async def check_totals(books: Books, platform: Platform) -> None:
    """Repairs what differs; the gauge keeps what the last run found, so that an alert sees it."""
    leagues_difference.set(await proof.check(books=books, platform=platform))
