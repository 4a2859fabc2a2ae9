"""The close of a week's groups (P52, P53, P55): from the wallet's totals to ranks, moves and podiums."""

from collections.abc import Mapping
from dataclasses import dataclass

from libs.house.league import League
from services.leagues.domain.league import Group, Ranked, Score, Tier, rank
from services.leagues.domain.results import AccountId, WeekId


@dataclass(frozen=True, slots=True, kw_only=True)
class WeekTotal:
    """The wallet's word on an account's sealed week: prizes as paid, what went back taken off; more than nothing."""

    account_id: AccountId
    coins: int
    prizes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalsPage:
    """Totals of a sealed week by account id, and whether there are more behind them."""

    totals: tuple[WeekTotal, ...]
    more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenGroup:
    """A group that is to be closed; `tiers` are those its accounts are in until then."""

    group: Group
    scores: tuple[Score, ...]
    tiers: Mapping[AccountId, Tier]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedGroup:
    """A group's ranks, and the tier of each account that changes it."""

    group: Group
    ranks: tuple[Ranked, ...]
    moved: Mapping[AccountId, Tier]


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """How far the league is behind: the last week that is closed, and since when the next one should be."""

    last_closed: WeekId | None
    late_seconds: float  # 0: no week waits to be closed


def close(opened: OpenGroup, league: League) -> ClosedGroup:
    """Rank the group and move its accounts."""
    ranks = rank(opened.group.tier, opened.scores, league)
    moved = {
        each.score.account_id: each.next_tier
        for each in ranks
        if each.next_tier is not opened.tiers[each.score.account_id]
    }
    return ClosedGroup(group=opened.group, ranks=ranks, moved=moved)
