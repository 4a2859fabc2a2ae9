"""Finished games: what the coach makes of them (docs/analysis.md)."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from services.gateway.http.models.base import Id
from whist.coach.v1 import coach_pb2

Grade = Literal["A+", "A", "B", "C", "D", "F"]
AtLeastNothing = Annotated[float, Field(ge=0)]


class Decision(BaseModel):
    """A move made by oneself; `turn` is its number in the game's record. Points are expected ones of the round."""

    turn: int
    round: int
    action: dict[str, Any]
    best: dict[str, Any]
    points: float
    loss: AtLeastNothing
    error: AtLeastNothing
    band: Literal["good", "slip", "mistake", "blunder"]


class GradedRound(BaseModel):
    """The own decisions of one round, from 0, together."""

    round: int
    cards: int
    loss: AtLeastNothing
    grade: Grade


class Analysis(BaseModel):
    """Every own decision of a finished game, what was best and what it cost; `dearest` are turns (P61)."""

    v: Literal[1]
    table: Id
    game: str
    seat: int
    grade: Grade | None
    loss: AtLeastNothing
    samples: int
    runs_of_seven: int
    rounds: list[GradedRound]
    dearest: Annotated[list[int], Field(max_length=3)]
    decisions: list[Decision]

    @classmethod
    def of(cls, answer: coach_pb2.AnalysisResponse) -> "Analysis":
        return cls.model_validate_json(answer.analysis_json)


class Story(BaseModel):
    """A game told in a few paragraphs, in the language that `locale` names (P62)."""

    locale: Literal["en", "ro", "zh"]
    paragraphs: list[str]

    @classmethod
    def of(cls, answer: coach_pb2.StoryResponse) -> "Story":
        return cls.model_validate({"locale": answer.locale, "paragraphs": list(answer.paragraphs)})
