"""Who plays where no person does (P3, P30, P31, P63)."""

from dataclasses import dataclass
from enum import StrEnum


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

    # Seats that nobody took, and those that their people left for good.
    strength: Strength
    # A person's seat on time-out (P30) or while away or disconnected (P31).
    stand_in: Strength
