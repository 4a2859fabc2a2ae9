"""What the server refuses, and that it cannot be reached: one family of errors, told apart by `code`."""

from collections.abc import Mapping
from typing import Any


class WhistError(Exception):
    """A refusal: nothing has changed. `code` is stable (MUST_FOLLOW_SUIT), `facts` say more.

    `status` is the HTTP status, 0 for a refusal that came over the socket.
    """

    def __init__(self, code: str, status: int = 0, facts: Mapping[str, Any] | None = None) -> None:
        super().__init__(code, status, facts)
        self.code = code
        self.status = status
        self.facts: Mapping[str, Any] = facts or {}

    def __str__(self) -> str:
        told = ", ".join(f"{name} {value}" for name, value in self.facts.items())
        return f"{self.code} ({told})" if told else self.code


class TurnPassed(WhistError):
    """The decision was made already: by the server when the time was up, or on another device (P30, P34)."""


class Unreachable(WhistError):
    """No answer from the server. What was asked may or may not have happened; asking again is safe."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__("UNREACHABLE", 0, {"url": url, "why": why})

    def __str__(self) -> str:
        return f"cannot reach {self.facts['url']}: {self.facts['why']}"
