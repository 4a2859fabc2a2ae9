"""What a table chooses before the first deal; the house rules (R11) are off by default."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from libs.engine.errors import FIELD_MAX, RuleViolation

BENCH_ROUNDS_MAX = 10_000  # a load run of an hour; more is a typing error


class Mode(StrEnum):
    """The schedules of R2, and `bench`: rounds of eight cards for the load harness."""

    EIGHT_ONE_EIGHT = "8-1-8"
    EIGHT_EIGHT_EIGHT = "8-8-8"
    ONE_EIGHT_ONE = "1-8-1"
    QUICK = "quick"
    BENCH = "bench"


class Scoring(StrEnum):
    """R7, or R11's triangular house rule."""

    LINEAR = "linear"
    TRIANGULAR = "triangular"


class Premium(StrEnum):
    """R11: ±10 at five in a row made or missed; what a one-card round does to the row."""

    OFF = "off"
    SKIP = "skip"
    RESET = "reset"


class OneCard(StrEnum):
    """R11: who sees a one-card round's card while bidding: its owner, all others, or nobody."""

    OFF = "off"
    FOREHEAD = "forehead"
    HIDDEN = "hidden"


SEATS: Mapping[Mode, tuple[int, ...]] = {
    Mode.EIGHT_ONE_EIGHT: (4, 5, 6),
    Mode.EIGHT_EIGHT_EIGHT: (4, 5, 6),
    Mode.ONE_EIGHT_ONE: (4, 5, 6),
    Mode.QUICK: (6,),
    Mode.BENCH: (4,),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """A table's choices. `rounds` is 0 except in bench."""

    mode: Mode
    scoring: Scoring = Scoring.LINEAR
    premium: Premium = Premium.OFF
    one_card: OneCard = OneCard.OFF
    rounds: int = 0

    def dump(self) -> dict[str, Any]:
        """Plain form; `parse_options` reads it back."""
        plain: dict[str, Any] = {
            "mode": self.mode.value,
            "scoring": self.scoring.value,
            "premium": self.premium.value,
        }
        if self.one_card is not OneCard.OFF:
            plain["one_card"] = self.one_card.value
        return plain | {"rounds": self.rounds} if self.mode is Mode.BENCH else plain


Choice = TypeVar("Choice", bound=StrEnum)


def parse_options(players: object, plain: object) -> Options:
    """The options of a table with that many players (R1, R2).

    {"mode": "8-1-8" | "8-8-8" | "1-8-1" | "quick" | "bench", "scoring"?, "premium"?, "one_card"?}, with "rounds"
    in bench.
    Raises RuleViolation(BAD_OPTIONS) naming the field.
    """
    if not isinstance(plain, Mapping):
        raise RuleViolation("BAD_OPTIONS", field="options")
    mode = _choice(Mode, plain, "mode", None)
    allowed = {"mode", "scoring", "premium", "one_card"} | ({"rounds"} if mode is Mode.BENCH else set())
    for field in plain:
        if field not in allowed:
            raise RuleViolation("BAD_OPTIONS", field=str(field)[:FIELD_MAX])
    if type(players) is not int or players not in SEATS[mode]:
        raise RuleViolation("BAD_OPTIONS", field="players", allowed=list(SEATS[mode]))
    return Options(
        mode=mode,
        scoring=_choice(Scoring, plain, "scoring", Scoring.LINEAR),
        premium=_choice(Premium, plain, "premium", Premium.OFF),
        one_card=_choice(OneCard, plain, "one_card", OneCard.OFF),
        rounds=_rounds(plain) if mode is Mode.BENCH else 0,
    )


def _choice(kind: type[Choice], plain: Mapping[Any, object], field: str, default: Choice | None) -> Choice:
    value = plain.get(field, default)
    allowed = [one.value for one in kind]
    if not isinstance(value, str) or value not in allowed:
        raise RuleViolation("BAD_OPTIONS", field=field, allowed=allowed)
    return kind(value)


def _rounds(plain: Mapping[Any, object]) -> int:
    rounds = plain.get("rounds")
    if type(rounds) is not int or not 1 <= rounds <= BENCH_ROUNDS_MAX:
        raise RuleViolation("BAD_OPTIONS", field="rounds", least=1, most=BENCH_ROUNDS_MAX)
    return rounds
