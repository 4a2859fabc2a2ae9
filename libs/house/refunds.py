"""When a game may be given back (P14): rules by the day on which the game finished."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated

from libs.house.fields import Day, Flag, Whole

RULES_MAX = 100  # a rule a month for eight years


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundRule:
    """In force from its day until the next rule's."""

    since: Annotated[date, Day("The first day of games to which it applies.", "P14")]
    a_day: Annotated[int, Whole(0, 1000, "Refunds an account and day; 0: none.", "P14")]
    vip_days_only: Annotated[bool, Flag("Only of games that finished on the player's own VIP days.", "P14")]
    window_minutes: Annotated[int, Whole(1, 1440, "Open so long after the game finished.", "P14")]

    @property
    def window(self) -> timedelta:
        return timedelta(minutes=self.window_minutes)


def rule_of(rules: Sequence[RefundRule], day: date) -> RefundRule | None:
    """The rule of games that finished on `day`; None: before all of them, and there is no refund."""
    return next((rule for rule in reversed(rules) if rule.since <= day), None)
