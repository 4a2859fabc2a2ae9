"""What players are shown: profile, standing, leaderboard."""

from dataclasses import dataclass

from libs.house.calendar import week_id
from libs.house.platform import Platform
from services.leagues.domain.league import FIRST_TIER, Place
from services.leagues.domain.results import AccountId, WeekId
from services.leagues.domain.standing import FORM_GAMES, Profile, Progress, Standing, profile_of
from services.leagues.ports import Books, Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard:
    """A week of friends' games: the first places, and the asking account's own, if it has one."""

    week_id: WeekId
    places: tuple[Place, ...]
    own: Place | None


async def profile(account_id: AccountId, *, books: Books, platform: Platform) -> Profile:
    """Level, experience and form; an account never seen is level 1 with nothing."""
    async with books.transaction() as ledger:
        progress = await ledger.progress(account_id)
        if progress is None:
            return profile_of(Progress(), (), FIRST_TIER, platform.experience)
        places = await ledger.latest_places(account_id, FORM_GAMES)
        return profile_of(progress, places, FIRST_TIER, platform.experience)


async def standing(account_id: AccountId, week: WeekId | None, *, books: Books, platform: Platform) -> Standing:
    """Points of one week; None: the week that runs now by the database's clock."""
    async with books.transaction() as ledger:
        asked = week or await running_week(ledger, platform)
        score = await ledger.week_score(account_id, asked)
        return Standing(
            account_id=account_id,
            week_id=asked,
            points=score.points,
            games=score.games,
            ranked=await ledger.is_ranked(account_id),
        )


async def leaderboard(
    account_id: AccountId, week: WeekId | None, limit: int, *, books: Books, platform: Platform
) -> Leaderboard:
    """The weekly leaderboard of friends' games (P24): the first `limit`, and the account's own place."""
    async with books.transaction() as ledger:
        asked = week or await running_week(ledger, platform)
        return Leaderboard(
            week_id=asked,
            places=tuple(await ledger.leaderboard(asked, limit)),
            own=await ledger.leaderboard_place(account_id, asked),
        )


async def running_week(ledger: Ledger, platform: Platform) -> WeekId:
    """By the database's clock, in the platform's zone."""
    return WeekId(week_id(await ledger.now(), zone=platform.zone))
