"""What the handlers need of the outside."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol

from google.protobuf.message import Message

from services.leagues.domain.league import Place, Score
from services.leagues.domain.results import AccountId, GameKind, GameResult, Prize, PrizeReturn, TableId, WeekId
from services.leagues.domain.standing import Progress


class Facts(Protocol):
    """Accounts, results, prizes and what went back.

    Facts are rows that are never changed; totals are sums over those that count, kept beside.
    """

    async def lock(self, account_id: AccountId) -> Progress:
        """Make the account known and hold it until the end: whoever changes an account's totals holds it."""
        ...

    async def lock_game(self, table_id: TableId) -> bool:
        """Hold the game until the end, before any account is held. True: it was voided."""
        ...

    async def create(self, account_id: AccountId, *, guest: bool) -> None:
        """Note who is a guest; an account never becomes one again."""
        ...

    async def mark_deleted(self, account_id: AccountId) -> None:
        """The account is shown and ranked no more; its rows stay (P45)."""
        ...

    async def insert_result(self, result: GameResult) -> bool:
        """False: this game of this account is known already, and nothing has changed."""
        ...

    async def void(self, table_id: TableId) -> bool:
        """From now on the game's results count no more. False: voided before. The game is held."""
        ...

    async def results_of_game(self, table_id: TableId) -> Sequence[GameResult]:
        """By account id."""
        ...

    async def insert_prize(self, won: Prize) -> bool:
        """False: this prize is known already, and nothing has changed."""
        ...

    async def insert_return(self, gone: PrizeReturn) -> bool:
        """False: it is known already that this prize went back, and nothing has changed."""
        ...

    async def add_progress(self, account_id: AccountId, *, experience: int, games: int) -> Progress: ...

    async def set_level(self, account_id: AccountId, level: int) -> None: ...

    async def sum_week(self, account_id: AccountId, week_id: WeekId, kind: GameKind) -> None:
        """Write a locked account's week anew from the facts: the league's (quick), or the leaderboard's (friends)."""
        ...

    async def progress(self, account_id: AccountId) -> Progress | None: ...


class Shown(Protocol):
    """What profiles, standings and the leaderboard show."""

    async def latest_places(self, account_id: AccountId, count: int) -> Sequence[int]:
        """Places of the last counted quick-play games by the time they finished, newest first."""
        ...

    async def is_ranked(self, account_id: AccountId) -> bool:
        """Guests, those that are gone, and those whom auth has not told of yet are not."""
        ...

    async def week_score(self, account_id: AccountId, week_id: WeekId) -> Score:
        """Points and games of the weekly league as they stand."""
        ...

    async def leaderboard(self, week_id: WeekId, limit: int) -> Sequence[Place]:
        """The first places of friends' games."""
        ...

    async def leaderboard_place(self, account_id: AccountId, week_id: WeekId) -> Place | None:
        """None: no friends' game of that week counts."""
        ...


class Proofs(Protocol):
    """Stored totals against the facts."""

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


class Ledger(Facts, Shown, Proofs, Protocol):
    """One open transaction over all that leagues keep."""

    async def now(self) -> datetime: ...

    async def publish(self, topic: str, key: bytes, message: Message) -> None: ...


class Books(Protocol):
    """Opens transactions."""

    def transaction(self) -> AbstractAsyncContextManager[Ledger]: ...
