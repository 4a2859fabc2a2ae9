"""Who plays where no person does (P3, P30, P31, P63)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from libs.house.fields import Choice


class Strength(StrEnum):
    """How hard a bot thinks, weakest first."""

    CALM = "calm"
    KEEN = "keen"
    SHARP = "sharp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bots:
    """The strength of a seat's bot, by why it plays there.

    A stand-in moves for a person who may still win coins, cups and league points. Were it stronger than most people,
    then to bid oneself (P16) and to let the clock play the cards would be the best way to win; so it plays by rule,
    well enough that a broken connection ruins no game. A bot that fills a seat wins nothing for anybody: it is there to
    be a good opponent.
    """

    strength: Annotated[Strength, Choice(Strength, "Seats that nobody took, or that were left for good.", "P3, P63")]
    stand_in: Annotated[Strength, Choice(Strength, "A person's seat on time-out, away or disconnected.", "P30, P31")]
