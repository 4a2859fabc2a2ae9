"""What an account shows: level, form, and its standing in a week."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from libs.house.experience import Experience, experience_for, level_of
from services.leagues.domain.league import FIRST_TIER, Tier
from services.leagues.domain.results import AccountId, WeekId

FIRST_LEVEL = 1
WINNING_PLACES = 3  # the first three win (P6), and make fire or ice (P54)
FORM_GAMES = 2  # in a row


class Form(StrEnum):
    """How the avatar looks (P54)."""

    NEITHER = "neither"
    FIRE = "fire"
    ICE = "ice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """An account's stored totals."""

    experience: int = 0
    level: int = FIRST_LEVEL
    games: int = 0  # of quick play that count by P16


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Level, experience, form and tier of one account."""

    experience: int
    level: int
    next_level_at: int  # experience at which the next level begins
    form: Form
    tier: Tier
    games: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One account's week."""

    account_id: AccountId
    week_id: WeekId
    points: int = 0  # coins won as prizes
    games: int = 0  # those that count by P16
    ranked: bool = False  # guests collect, accounts are ranked (P42)
    tier: Tier = FIRST_TIER  # in which it plays that week


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a group shows of a member beside its rank."""

    form: Form
    level: int


def form_of(places: Sequence[int]) -> Form:
    """Fire or ice from the places of the last counted games, newest first; fewer than two are neither (P54)."""
    latest = places[:FORM_GAMES]
    if len(latest) < FORM_GAMES:
        return Form.NEITHER
    won = {place <= WINNING_PLACES for place in latest}
    if len(won) > 1:
        return Form.NEITHER
    return Form.FIRE if won.pop() else Form.ICE


def profile_of(progress: Progress, places: Sequence[int], tier: Tier, numbers: Experience) -> Profile:
    """What is shown of stored totals and the places of the last counted games, newest first."""
    return Profile(
        experience=progress.experience,
        level=progress.level,
        next_level_at=experience_for(progress.level + 1, numbers=numbers),
        form=form_of(places),
        tier=tier,
        games=progress.games,
    )


def wrong_levels(spans: Iterable[tuple[int, int, int]], numbers: Experience) -> tuple[int, ...]:
    """The stored levels whose (level, least experience, most experience) do not fit P43.

    Levels rise with experience, so the two ends speak for all accounts between.
    """
    return tuple(
        level
        for level, least, most in spans
        if not level_of(least, numbers=numbers) == level == level_of(most, numbers=numbers)
    )
