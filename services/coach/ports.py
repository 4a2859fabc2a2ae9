"""What the handlers need of the outside."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from google.protobuf.message import Message

from libs.search import Advice
from services.coach.domain.games import AccountId, FinishedGame, TableId
from services.coach.domain.story import Passage
from services.coach.domain.study import Study


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """One decision thought about."""

    action: Mapping[str, Any]  # the move to make, one of the view's legal ones
    advice: tuple[Advice, ...]  # every legal one in the view's order; empty for a game that has no such judge


class Thinker(Protocol):
    """Judges moves without holding up the event loop."""

    async def think(self, game: str, view: Mapping[str, Any]) -> Thought:
        """The same for the same view. Raises CoachBusy, or BadView for a view that no game leads to."""
        ...


class Analyst(Protocol):
    """Studies whole games without holding up the event loop or the hints."""

    async def study(self, game: FinishedGame) -> Study:
        """The same for the same game. A record that does not play again has nothing to grade."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Games not yet analysed."""

    games: int
    oldest_seconds: float  # since the oldest of them was heard of; 0 without any


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What is kept of one account's part in one game; `analysis` is None as long as the game waits."""

    offered: bool
    analysis: Mapping[str, Any] | None
    story: tuple[Passage, ...] = ()


class Games(Protocol):
    """One open transaction over games heard of and what was made of them."""

    async def publish(self, topic: str, key: bytes, message: Message) -> None: ...

    async def add(self, game: FinishedGame) -> bool:
        """Let a game wait for its analysis. False: it is known already, and nothing has changed."""
        ...

    async def void(self, table_id: TableId) -> None:
        """Drop what is kept of the game, and keep none of it that comes later. Idempotent."""
        ...

    async def claim(self) -> FinishedGame | None:
        """A game that waits, for a minute this caller's alone (longer from try to try); None: nothing is due."""
        ...

    async def keep(self, table_id: TableId, study: Study) -> bool:
        """Store what was made of a game that waits. False: it does not wait any more, and nothing has changed."""
        ...

    async def find(self, table_id: TableId, account_id: AccountId) -> Kept | None:
        """None: no such game, a voided one, or one in which the account did not sit."""
        ...

    async def waiting(self) -> Waiting: ...


class GamesStore(Protocol):
    """Opens transactions."""

    def transaction(self) -> AbstractAsyncContextManager[Games]:
        """Commits at the end, rolls back on an exception."""
        ...
