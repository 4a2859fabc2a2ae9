"""What the handlers need of the outside."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol

from google.protobuf.message import Message

from services.leagues.domain.results import AccountId, GameResult, Prize, WeekId
from services.leagues.domain.standing import Progress, Standing


class Ledger(Protocol):
    """One open transaction over accounts, results, prizes and standings.

    Results and prizes are rows that are never changed; totals are sums over them, kept beside.
    """

    async def now(self) -> datetime: ...

    async def publish(self, topic: str, key: bytes, message: Message) -> None: ...

    async def lock(self, account_id: AccountId) -> Progress:
        """Make the account known and hold it until the end: whoever changes an account's totals holds it."""
        ...

    async def create(self, account_id: AccountId, *, guest: bool) -> None:
        """Note who is a guest; an account never becomes one again."""
        ...

    async def insert_result(self, result: GameResult) -> bool:
        """False: this game of this account is known already, and nothing has changed."""
        ...

    async def insert_prize(self, prize: Prize) -> bool:
        """False: this prize is known already, and nothing has changed."""
        ...

    async def add_progress(self, account_id: AccountId, *, experience: int, games: int) -> Progress: ...

    async def set_level(self, account_id: AccountId, level: int) -> None: ...

    async def add_points(self, account_id: AccountId, week_id: WeekId, *, points: int, games: int) -> None: ...

    async def progress(self, account_id: AccountId) -> Progress | None: ...

    async def latest_places(self, account_id: AccountId, count: int) -> Sequence[int]:
        """Places of the last counted games by the time they finished, newest first."""
        ...

    async def standing(self, account_id: AccountId, week_id: WeekId) -> Standing: ...

    async def different(self, limit: int) -> Sequence[AccountId]:
        """Accounts whose stored totals are not the sums of their rows, in one snapshot."""
        ...

    async def level_spans(self) -> Sequence[tuple[int, int, int]]:
        """For each stored level: (level, least experience, most experience)."""
        ...

    async def accounts_at(self, level: int, limit: int) -> Sequence[AccountId]: ...

    async def rebuild(self, account_id: AccountId) -> Progress:
        """Write totals anew from the rows of a locked account; the level stays as it is."""
        ...


class Books(Protocol):
    """Opens transactions."""

    def transaction(self) -> AbstractAsyncContextManager[Ledger]: ...
