"""Level, form, standing; groups, leaderboard, offline games."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel

from services.gateway.http.models.base import Id
from whist.leagues.v1 import leagues_pb2

TierName = Literal["jack", "queen", "king", "ace"]
FormName = Literal["fire", "ice"]

TIERS = {
    leagues_pb2.TIER_JACK: "jack",
    leagues_pb2.TIER_QUEEN: "queen",
    leagues_pb2.TIER_KING: "king",
    leagues_pb2.TIER_ACE: "ace",
}
FORMS = {leagues_pb2.FORM_FIRE: "fire", leagues_pb2.FORM_ICE: "ice"}


class Progress(BaseModel):
    """Level, experience and form (P43, P54)."""

    level: int
    experience: int
    next_level_at: int
    form: FormName | None
    games: int

    @classmethod
    def of(cls, profile: leagues_pb2.ProfileResponse) -> "Progress":
        return cls.model_validate(
            {
                "level": profile.level,
                "experience": profile.experience,
                "next_level_at": profile.next_level_at,
                "form": FORMS.get(profile.form),
                "games": profile.games,
            }
        )


class Standing(BaseModel):
    """League points of a week (P50). Guests collect points but are not ranked."""

    week: str
    tier: TierName | None
    points: int
    games: int
    ranked: bool

    @classmethod
    def of(cls, standing: leagues_pb2.StandingResponse) -> "Standing":
        return cls.model_validate(
            {
                "week": standing.week_id,
                "tier": TIERS.get(standing.tier),
                "points": standing.points,
                "games": standing.games,
                "ranked": standing.ranked,
            }
        )


class League(BaseModel):
    """One's league."""

    progress: Progress
    standing: Standing


class GroupMember(BaseModel):
    """A rank of a league group: what it would pay, and where it would play next week (P51, P53).

    `name` is null where the account is gone, or names cannot be had just now.
    """

    account_id: Id
    name: str | None
    rank: int
    points: int
    games: int
    next_tier: TierName | None
    podium_coins: int
    podium_bars: int
    form: FormName | None
    level: int


class LeagueGroup(BaseModel):
    """One's group of a week by rank; `group_id` null and no members as long as one has won no prize in it (P52)."""

    week: str
    group_id: Id | None
    tier: TierName | None
    closed: bool
    members: list[GroupMember]

    @classmethod
    def of(cls, group: leagues_pb2.GroupResponse, names: Mapping[bytes, str]) -> "LeagueGroup":
        return cls.model_validate(
            {
                "week": group.week_id,
                "group_id": group.group_id.hex() or None,
                "tier": TIERS.get(group.tier),
                "closed": group.closed,
                "members": [
                    {
                        "account_id": each.account_id.hex(),
                        "name": names.get(each.account_id),
                        "rank": each.rank,
                        "points": each.points,
                        "games": each.games,
                        "next_tier": TIERS.get(each.next_tier),
                        "podium_coins": each.podium_coins,
                        "podium_bars": each.podium_bars,
                        "form": FORMS.get(each.form),
                        "level": each.level,
                    }
                    for each in group.members
                ],
            }
        )


class LeaderboardPlace(BaseModel):
    """A place by points of friends' games (P24); `rank` is null of a guest, who is ranked once signed in (P42)."""

    account_id: Id
    name: str | None
    rank: int | None
    points: int
    games: int

    @classmethod
    def of(cls, place: leagues_pb2.LeaderboardPlace, name: str | None) -> "LeaderboardPlace":
        return cls(
            account_id=place.account_id.hex(),
            name=name,
            rank=place.rank or None,
            points=place.points,
            games=place.games,
        )


class Leaderboard(BaseModel):
    """The first places of a week's friends' games; `own` is null without one that counts."""

    week: str
    places: list[LeaderboardPlace]
    own: LeaderboardPlace | None

    @classmethod
    def of(cls, board: leagues_pb2.LeaderboardResponse, names: Mapping[bytes, str]) -> "Leaderboard":
        own = LeaderboardPlace.of(board.own, names.get(board.own.account_id)) if board.HasField("own") else None
        return cls(
            week=board.week_id,
            places=[LeaderboardPlace.of(each, names.get(each.account_id)) for each in board.places],
            own=own,
        )


class OfflineGame(BaseModel):
    """What an uploaded game brought; `credited` false: it had before, and this is what it was."""

    credited: bool
    experience: int
    total: int
    level: int

    @classmethod
    def of(cls, answer: leagues_pb2.UploadOfflineResponse) -> "OfflineGame":
        return cls(credited=answer.credited, experience=answer.experience, total=answer.total, level=answer.level)
