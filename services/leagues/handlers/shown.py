"""What players are shown: profile, standing, leaderboard."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from libs.house.calendar import week_id
from libs.house.platform import Platform
from services.leagues.domain.league import FIRST_TIER, GroupId, Place, Ranked, Tier, rank
from services.leagues.domain.results import AccountId, WeekId
from services.leagues.domain.standing import FORM_GAMES, Look, Profile, Progress, Standing, profile_of
from services.leagues.ports import Books, Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard:
    """A week of friends' games: the first places, and the asking account's own, if it has one."""

    week_id: WeekId
    places: tuple[Place, ...]
    own: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupShown:
    """An account's group of a week; without one only the tier."""

    week_id: WeekId
    group_id: GroupId | None
    tier: Tier
    ranks: tuple[Ranked, ...] = ()
    looks: Mapping[AccountId, Look] = field(default_factory=dict)
    closed: bool = False


async def profile(account_id: AccountId, *, books: Books, platform: Platform) -> Profile:
    """Level, experience and form; an account never seen is level 1 with nothing."""
    async with books.transaction() as ledger:
        progress = await ledger.progress(account_id)
        if progress is None:
            return profile_of(Progress(), (), FIRST_TIER, platform.experience)
        places = await ledger.latest_places(account_id, FORM_GAMES)
        return profile_of(progress, places, await ledger.tier_of(account_id), platform.experience)


async def standing(account_id: AccountId, week: WeekId | None, *, books: Books, platform: Platform) -> Standing:
    """Points of one week; None: the week that runs now by the database's clock. A closed week is as it was closed."""
    async with books.transaction() as ledger:
        asked = week or await running_week(ledger, platform)
        closed = await ledger.closed_rank(account_id, asked)
        score = await ledger.week_score(account_id, asked) if closed is None else closed.score
        group = await ledger.group_of(account_id, asked)
        return Standing(
            account_id=account_id,
            week_id=asked,
            points=score.points,
            games=score.games,
            ranked=await ledger.is_ranked(account_id),
            tier=await ledger.tier_of(account_id) if group is None else group.tier,
        )


async def group(account_id: AccountId, week: WeekId | None, *, books: Books, platform: Platform) -> GroupShown:
    """The account's group by rank (P53), as it would close now or as it was closed; none without a prize."""
    async with books.transaction() as ledger:
        asked = week or await running_week(ledger, platform)
        found = await ledger.group_of(account_id, asked)
        if found is None:
            return GroupShown(week_id=asked, group_id=None, tier=await ledger.tier_of(account_id))
        if found.closed:
            ranks = tuple(await ledger.closed_ranks(found.group_id))
        else:
            ranks = rank(found.tier, await ledger.live_scores(found.group_id), platform.league)
        return GroupShown(
            week_id=asked,
            group_id=found.group_id,
            tier=found.tier,
            ranks=ranks,
            looks=await ledger.looks([each.score.account_id for each in ranks]),
            closed=found.closed,
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
