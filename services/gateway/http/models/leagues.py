"""Level, form, standing."""

from typing import Literal

from pydantic import BaseModel

from whist.leagues.v1 import leagues_pb2

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
    form: Literal["fire", "ice"] | None
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
    tier: Literal["jack", "queen", "king", "ace"] | None
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
