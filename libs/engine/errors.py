"""What the rules refuse, said as a fact. The engine knows nothing of transports or statuses."""

from typing import Final

FIELD_MAX: Final = 80  # characters of the name of a field that no game has: a refusal is one line, whatever was sent


class RuleViolation(Exception):
    """A move or an option that the rules refuse; nothing has changed.

    `reason` is stable and translated by clients (OUT_OF_TURN, MUST_FOLLOW_SUIT, BID_BARRED, …);
    `facts` are JSON-able and hold nothing that the offender may not know.
    """

    def __init__(self, reason: str, **facts: object) -> None:
        super().__init__(reason)
        self.reason = reason
        self.facts: dict[str, object] = facts

    def __str__(self) -> str:
        return f"{self.reason} {self.facts}" if self.facts else self.reason


class UnknownRulesVersion(Exception):
    """A journal or snapshot was written by rules that this release cannot read."""

    def __init__(self, game: str, rules_version: object) -> None:
        super().__init__(f"{game} has no rules version {rules_version}")
        self.game = game
        self.rules_version = rules_version
