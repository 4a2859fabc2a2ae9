"""The weekly league: who is before whom, who moves, what the podium pays (P50-P53); the leaderboard's places (P24)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import NewType
from uuid import UUID, uuid5

from libs.house.league import League
from services.leagues.domain.results import AccountId, WeekId

GroupId = NewType("GroupId", UUID)
GROUPS = UUID("5f0b4f6e-6f6b-5c0e-9d7a-3b1a52d0c7aa")  # the name space of their ids

NEVER = datetime.max.replace(tzinfo=UTC)  # of a sum whose prizes have not been heard of: after every known moment


class Tier(StrEnum):
    """Of the weekly league (P50), from the lowest."""

    JACK = "jack"
    QUEEN = "queen"
    KING = "king"
    ACE = "ace"

    @property
    def number(self) -> int:
        """1 (Jack) to 4 (Ace)."""
        return TIERS.index(self) + 1


class Stage(StrEnum):
    """How far the closing of a week has come (P55); a week without one is open."""

    SEALING = "sealing"  # the wallet's totals are being fetched
    GROUPING = "grouping"  # all are there; who has no group yet gets one
    RANKING = "ranking"  # groups are closed one after the other; nobody joins one any more
    CLOSED = "closed"


TIERS = tuple(Tier)
FIRST_TIER = Tier.JACK  # new accounts and guests count as Jack (P3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What an account is ranked by in one week."""

    account_id: AccountId
    points: int
    games: int  # that count by P16
    reached_at: datetime | None  # when the last point came; None: not known here


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """At most twenty accounts of one tier and week (P53)."""

    group_id: GroupId
    week_id: WeekId
    tier: Tier
    closed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """One account's rank in its group and what follows from it."""

    score: Score
    rank: int  # from 1
    ranked: int  # how many are
    next_tier: Tier
    podium_coins: int
    podium_bars: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One account's place on the leaderboard of friends' games; `rank` 0: not ranked (a guest, P42)."""

    account_id: AccountId
    rank: int
    points: int
    games: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """An account's place in a group: `number` counts the groups of a tier and week, `position` those inside, from 1."""

    account_id: AccountId
    number: int
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LastGroup:
    """The newest group of a tier and week: how many there are, and how many accounts are in it. 0: there is none."""

    number: int = 0
    taken: int = 0


def order(score: Score) -> tuple[int, int, datetime, AccountId]:
    """Points, then fewer games, then who reached the sum first (P53); at last the id, so that there is never a tie."""
    return (-score.points, score.games, score.reached_at or NEVER, score.account_id)


def rank(tier: Tier, scores: Iterable[Score], league: League) -> tuple[Ranked, ...]:
    """The group by rank. Who has no points is not ranked (P52)."""
    ordered = sorted((score for score in scores if score.points > 0), key=order)
    return tuple(
        Ranked(
            score=score,
            rank=place,
            ranked=len(ordered),
            next_tier=next_tier(tier, place, len(ordered), league),
            podium_coins=coins,
            podium_bars=bars,
        )
        for place, score in enumerate(ordered, start=1)
        for coins, bars in (league.podium_of(tier.number, place),)
    )


def next_tier(tier: Tier, place: int, ranked: int, league: League) -> Tier:
    """Where the account of that rank plays next (P53): none rises from Ace, none falls from Jack."""
    if place <= min(league.up, -(-ranked // 3)):
        return TIERS[min(tier.number, len(TIERS) - 1)]
    if ranked >= league.down_from and place > ranked - league.down:
        return TIERS[max(tier.number - 2, 0)]
    return tier


def group_id_of(week: WeekId, tier: Tier, number: int) -> GroupId:
    """The same for the same group, whoever makes it."""
    return GroupId(uuid5(GROUPS, f"{week}:{tier}:{number}"))


def fill(accounts: Iterable[AccountId], last: LastGroup, size: int) -> tuple[Seat, ...]:
    """Seat accounts in order behind those of the tier's last group (P53)."""
    seats = []
    number, taken = last.number, last.taken
    for account_id in accounts:
        if number == 0 or taken >= size:
            number, taken = number + 1, 0
        taken += 1
        seats.append(Seat(account_id=account_id, number=number, position=taken))
    return tuple(seats)
