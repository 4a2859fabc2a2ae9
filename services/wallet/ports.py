"""What the handlers need of the outside."""

from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol
from uuid import UUID

from google.protobuf.message import Message

from libs.chassis.audit import Act, AuditLine
from libs.house.rooms import Room
from services.wallet.domain.assets import Amounts
from services.wallet.domain.history import Belongings, Difference, Movement, Unproved
from services.wallet.domain.holds import GameState, Hold, HoldState, Resolved
from services.wallet.domain.ledger import AccountId, TableId, Transfer
from services.wallet.domain.settled import Analysis, Finish, SettledSeat, Undoing, Won
from services.wallet.domain.telling import Telling, Told
from services.wallet.domain.weeks import FinishedGames, WeekTotal


class Games(Protocol):
    """Finished games: what is kept of them, and what takes them back."""

    async def lock_game(self, table_id: TableId) -> GameState | None:
        """The table's state, unchangeable by others until the end of this transaction; None: never heard of."""
        ...

    async def game_state(self, table_id: TableId) -> GameState | None: ...

    async def keep_finish(self, finish: Finish, seats: Sequence[SettledSeat], rooms: Sequence[Room]) -> None:
        """Once a table; it never changes. `rooms`: what they paid when it was settled (E7)."""
        ...

    async def keep_departure(self, table_id: TableId, account_id: AccountId, at: datetime) -> None:
        """The first one stands; nothing for a table that the wallet does not know."""
        ...

    async def finish(self, table_id: TableId) -> Finish | None: ...

    async def seats(self, table_id: TableId) -> Sequence[SettledSeat]:
        """By account."""
        ...

    async def won(self, table_id: TableId, accounts: Collection[AccountId]) -> Sequence[Won]:
        """What the ledger says the game gave these accounts, taken back since or not."""
        ...

    async def keep_reversals(
        self, table_id: TableId, accounts: Collection[AccountId], undoing: Undoing, *, after_seal: bool
    ) -> None:
        """Once a table and account; a second is an error. `after_seal`: the week's totals had been told before."""
        ...

    async def reversals(self, table_id: TableId) -> Mapping[AccountId, Undoing]: ...

    async def keep_analyses(self, table_id: TableId, analyses: Sequence[Analysis]) -> Sequence[Analysis]:
        """Returns those that were not kept before."""
        ...

    async def analyses(self, table_id: TableId) -> Sequence[Analysis]: ...

    async def use_share(self, account_id: AccountId, day_id: str, kind: str, *, most: int) -> bool:
        """Use one of the `most` that an account may have on a day; False: they are used up."""
        ...

    async def used_share(self, account_id: AccountId, day_id: str, kind: str) -> int: ...

    async def lock_balances(self, accounts: Collection[AccountId]) -> Mapping[AccountId, Amounts]:
        """What these accounts own; nobody else can take of it until the end of this transaction."""
        ...


class Weeks(Protocol):
    """Weeks and their totals."""

    async def share_week(self, week_id: str) -> bool:
        """Whether the week is sealed; until the end of this transaction that cannot change."""
        ...

    async def is_sealed(self, week_id: str) -> bool: ...

    async def seal(self, week_id: str) -> None:
        """Wait for those who share the week, then keep its totals. Idempotent."""
        ...

    async def week_totals(self, week_id: str, *, after: AccountId | None, limit: int) -> Sequence[WeekTotal]:
        """Of a sealed week, by account, from the first beyond `after`."""
        ...

    async def settled(self, tables: Collection[TableId]) -> int:
        """How many of these have finished or were voided here."""
        ...


class Proof(Protocol):
    """What the ledger's check reads."""

    async def in_one_snapshot(self, *, alone: bool = False) -> None:
        """All that this transaction reads is of one moment. Called before anything else.

        `alone`: the moment is after the end of any other that asked for the same.
        """
        ...

    async def differences(self, limit: int) -> Sequence[Difference]:
        """What does not add up by the tables alone (E1-E14), at most `limit` a rule."""
        ...

    async def unproved(self) -> Sequence[Unproved]:
        """What those rules cannot say anything of, since it is older than what they need; counts above 0 alone."""
        ...

    async def telling(self, *, lock: bool = False) -> Telling:
        """From when on events are read; `lock`: nobody else takes them in until the end of this transaction."""
        ...

    def kept_events(self, since: datetime, until: datetime | None = None) -> AsyncIterator[tuple[UUID, bytes]]:
        """The wallet's own events of that time, as (id, payload), in no order."""
        ...

    async def untold(self, told: Told, limit: int) -> Sequence[Difference]:
        """Where the ledger is not what events have told: `told` and what was taken in before (E15)."""
        ...

    async def take_in(self, told: Told, since: datetime) -> None:
        """Keep the sums of events before `since`, which then are not read again."""
        ...

    async def open_telling(self, told: Told, since: datetime) -> None:
        """What moved before events told all is what the ledger has beyond `told`, the events since then."""
        ...


class Ledger(Games, Weeks, Proof, Protocol):
    """One open transaction over transfers, balances, holds and games.

    Locks are taken in one order: the game, its week, its holds by account, a day's share by account, transfers by key,
    balances by account and asset.
    """

    async def now(self) -> datetime:
        """The database's clock."""
        ...

    async def publish_all(self, topic: str, messages: Sequence[tuple[bytes, Message]]) -> None:
        """Each as (key, message)."""
        ...

    async def record_act(self, act: Act) -> bool:
        """False: it has been done. Raises ActDiffers."""
        ...

    async def acts(self, *, before: int | None = None, limit: int = 100) -> Sequence[AuditLine]: ...

    async def known(self, keys: Collection[str]) -> frozenset[str]:
        """Those of these keys under which there is a transfer."""
        ...

    async def moved(self, key: str, account_id: AccountId) -> Amounts:
        """What the transfer under `key` gave the account, or, negative, took."""
        ...

    async def post(self, transfers: Iterable[Transfer]) -> frozenset[str]:
        """Write the transfers whose key is new and change the balances by them. Returns the keys written.

        Transfers without postings are left out: a free room moves nothing. Raises InsufficientFunds, after which
        the transaction must be given up.
        """
        ...

    async def share_game(self, table_id: TableId) -> GameState:
        """Note the table if it is new; its state cannot change until the end of this transaction."""
        ...

    async def advance(
        self,
        table_id: TableId,
        state: GameState,
        *,
        started_at: datetime | None = None,
        ended_at: datetime | None = None,
    ) -> bool:
        """Move the table to `state` if that may follow its state now; False: it may not, and nothing has changed.

        With what is known of when the game ran, by the clock of its tables; a start once known stands.
        """
        ...

    async def undo(self, table_id: TableId) -> bool:
        """Move a finished table to voided; False: it is not finished (any more)."""
        ...

    async def open_hold(self, hold: Hold) -> tuple[GameState, bool]:
        """`share_game` and, where the table is open, `insert_hold`: (the table's state, whether it was inserted)."""
        ...

    async def open_holds(self, holds: Sequence[Hold]) -> Sequence[Hold]:
        """`open_hold` for several, of several tables; returns those whose table is open and that were inserted."""
        ...

    async def insert_hold(self, hold: Hold) -> bool:
        """False: this table and account have one already (a twin in flight is waited for)."""
        ...

    async def hold(self, table_id: TableId, account_id: AccountId) -> Hold: ...

    async def holds(self, table_id: TableId) -> Sequence[Hold]:
        """All of a table, as they are now."""
        ...

    async def resolve_entries(self, table_id: TableId, seated: Collection[AccountId]) -> Sequence[Resolved]:
        """Open holds of the seated become paid, open ones of others are released. Returns all of the table, by account.

        The game must be locked before, as `advance` does. None of them changes until the end of this transaction.
        """
        ...

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


class Wallets(Protocol):
    """Opens transactions."""

    def transaction(self) -> AbstractAsyncContextManager[Ledger]: ...


class Tables(Protocol):
    """The table workers."""

    async def abandon(self, table_id: TableId) -> bool:
        """True: the table will never be dealt, for ever. False: it was dealt. Raises Unavailable. Idempotent."""
        ...

    async def finished_games(self, week_id: str, *, after: TableId | None) -> FinishedGames:
        """A page of the quick games that finished in a week. Raises Unavailable."""
        ...
