"""What the handlers need of the outside."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from google.protobuf.message import Message

from services.wallet.domain.history import Belongings, Difference, Movement
from services.wallet.domain.holds import GameState, Hold, HoldState
from services.wallet.domain.ledger import AccountId, TableId, Transfer


class Ledger(Protocol):
    """One open transaction over transfers, balances, holds and games.

    Locks are taken in one order: the game, its holds by account, transfers by key, balances by account and asset.
    """

    async def publish(self, topic: str, key: bytes, message: Message) -> None: ...

    async def post(self, transfers: Iterable[Transfer]) -> frozenset[str]:
        """Write the transfers whose key is new and change the balances by them. Returns the keys written.

        Transfers without postings are left out: a free room moves nothing. Raises InsufficientFunds, after which
        the transaction must be given up.
        """
        ...

    async def share_game(self, table_id: TableId) -> GameState:
        """Note the table if it is new; its state cannot change until the end of this transaction."""
        ...

    async def advance(self, table_id: TableId, state: GameState) -> bool:
        """Move the table to `state` if that may follow its state now; False: it may not, and nothing has changed."""
        ...

    async def insert_hold(self, hold: Hold) -> bool:
        """False: this table and account have one already (a twin in flight is waited for)."""
        ...

    async def hold(self, table_id: TableId, account_id: AccountId) -> Hold: ...

    async def resolve(
        self, table_id: TableId, accounts: Iterable[AccountId], *, source: HoldState, target: HoldState
    ) -> Sequence[Hold]:
        """Move these accounts' holds that are in `source` to `target`. Returns them as they are now, by account."""
        ...

    async def lock_holds(self, table_id: TableId) -> Sequence[Hold]:
        """All holds of a table, by account, unchangeable by others until the end of this transaction."""
        ...

    async def belongings(self, account_id: AccountId) -> Belongings:
        """In one snapshot."""
        ...

    async def movements(self, account_id: AccountId, *, limit: int, before: int | None) -> Sequence[Movement]:
        """Newest first, those with a position below `before`."""
        ...

    async def tables_of_old_holds(self, age_seconds: float, *, after: TableId | None, limit: int) -> Sequence[TableId]:
        """Tables with a hold open for longer, ascending, from the first beyond `after`."""
        ...

    async def oldest_hold_seconds(self) -> float:
        """Age of the oldest open hold; 0 when there is none."""
        ...

    async def differences(self, limit: int) -> Sequence[Difference]:
        """What does not add up, at most `limit` a rule; each rule is read in one snapshot."""
        ...


class Wallets(Protocol):
    """Opens transactions."""

    def transaction(self) -> AbstractAsyncContextManager[Ledger]: ...


class Tables(Protocol):
    """The table workers."""

    async def abandon(self, table_id: TableId) -> bool:
        """True: the table will never be dealt, for ever. False: it was dealt. Raises Unavailable. Idempotent."""
        ...
