"""What the handlers need of the outside: the records, the wallet, the tables."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from google.protobuf.message import Message

from libs.house.modes import Mode
from services.matchmaking.domain.admission import Assets
from services.matchmaking.domain.ids import AccountId, TableId, TicketId
from services.matchmaking.domain.matches import Match, MatchState, Player
from services.matchmaking.domain.tickets import InLine, Standing, Ticket, Tier, Waiting, Wish


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMatch:
    """A group that was just formed."""

    table_id: TableId
    mode: Mode
    ticket_ids: tuple[TicketId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """A look at a mode's queue from outside."""

    oldest: tuple[Waiting, ...]
    lines: Mapping[TicketId, InLine]


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """An account at the door: shut out when `closed_reason` is not empty; `ticket` is the live one."""

    closed_reason: str
    standing: Standing
    ticket: Ticket | None


class Records(Protocol):
    """One open transaction over tickets, matches, pools and standings. Every change is conditional on the old state.

    Locks are taken in the order pool, match, tickets.
    """

    async def now(self) -> datetime: ...

    async def publish(self, topic: str, key: bytes, message: Message) -> None: ...

    # ---- tickets ----

    async def visit(self, account_id: AccountId) -> Visit:
        """All that is known of an account that comes to the door."""
        ...

    async def live_ticket(self, account_id: AccountId) -> Ticket | None:
        """Waiting, matched or seated: an account has at most one."""
        ...

    async def latest_tickets(self, account_ids: Sequence[AccountId]) -> Mapping[AccountId, Ticket]:
        """The live or else the last ticket of each account that has any."""
        ...

    async def insert_ticket(self, ticket_id: TicketId, wish: Wish, tier: Tier, now: datetime) -> Ticket | None:
        """None when the account has a live ticket already."""
        ...

    async def cancel_ticket(self, account_id: AccountId, now: datetime) -> bool:
        """Whether a waiting ticket was taken back."""
        ...

    async def shut_out_ticket(self, account_id: AccountId, reason: str, now: datetime) -> Ticket | None:
        """waiting → cancelled with a reason; returns the ticket."""
        ...

    async def rename(self, account_id: AccountId, name: str, *, guest: bool | None = None) -> None:
        """Of the ticket that waits or is on its way to a table: should that fail, it waits again.

        A table that has been asked for already may have the name before; it is made once all the same.
        """
        ...

    async def erase_names(self, account_id: AccountId) -> None:
        """On every ticket of the account, ended or not."""
        ...

    async def pool(self, mode: Mode, limit: int, asked: Sequence[TicketId]) -> Pool:
        """The `limit` oldest waiting tickets of a mode, and the places in line of those asked for."""
        ...

    async def waiting(self, mode: Mode, limit: int) -> Sequence[Waiting]:
        """The oldest waiting tickets of a mode."""
        ...

    async def lock_waiting(self, ticket_ids: Sequence[TicketId]) -> frozenset[TicketId]:
        """Those of them that wait yet, held against cancelling; one that is being cancelled is left out."""
        ...

    async def waiting_by_mode(self) -> Mapping[Mode, int]:
        """Modes without waiting tickets are left out."""
        ...

    async def waiting_by_room(self) -> Mapping[int, int]:
        """Rooms without waiting tickets are left out."""
        ...

    async def drop_tickets(
        self, table_id: TableId, reasons: Mapping[AccountId, str], now: datetime
    ) -> Sequence[Ticket]:
        """matched → dropped for these accounts of the table; returns those changed."""
        ...

    async def seat_tickets(self, table_id: TableId, now: datetime) -> Sequence[Ticket]:
        """matched → seated for all of the table; returns those changed."""
        ...

    async def return_tickets(self, table_id: TableId, now: datetime) -> Sequence[Ticket]:
        """matched → waiting, at their old place, or → dropped with TABLE_FAILED after `TABLES_TRIED` such tables.

        Returns those changed.
        """
        ...

    async def end_seat(self, table_id: TableId, account_id: AccountId, now: datetime) -> bool:
        """matched or seated → done for one account of the table."""
        ...

    # ---- matches ----

    async def hold_pool(self, mode: Mode, owner: UUID, now: datetime, until: datetime) -> bool:
        """Take or renew the lease on a mode's pool and lock it until the end; False while another owner's runs."""
        ...

    async def leave_pools(self, owner: UUID) -> None:
        """Give this owner's leases back."""
        ...

    async def insert_matches(self, matches: Sequence[NewMatch], now: datetime, next_try_at: datetime) -> None:
        """Forming matches; their tickets, locked by `lock_waiting`, → matched."""
        ...

    async def match(self, table_id: TableId) -> Match | None: ...

    async def take_due(self, now: datetime, until: datetime, limit: int) -> Sequence[TableId]:
        """Unfinished matches that nobody is at work on; no other replica takes them before `until`."""
        ...

    async def postpone(self, table_id: TableId, until: datetime) -> None:
        """Try an unfinished match again at `until`."""
        ...

    async def move_match(self, table_id: TableId, came_from: Sequence[MatchState], to: MatchState) -> bool:
        """False when the match is in none of these states (any more)."""
        ...

    async def end_table(self, table_id: TableId, now: datetime) -> None:
        """The match and all its matched and seated tickets → done; nothing happens to one that is over already."""
        ...

    async def forget_ended(self, before: datetime) -> int:
        """Delete tickets that ended before, and matches without any; returns how many tickets."""
        ...

    # ---- standings ----

    async def set_level(self, account_id: AccountId, level: int, told_at: datetime) -> None:
        """As told last: what was told before `told_at` changes nothing. It may fall, where a game was voided (P82)."""
        ...

    async def set_tier(self, account_id: AccountId, tier: Tier, told_at: datetime) -> None:
        """The same for the tier."""
        ...

    async def forget_standing(self, account_id: AccountId) -> None: ...

    # ---- accounts ----

    async def closed_reasons(self, account_ids: Sequence[AccountId]) -> Mapping[AccountId, str]:
        """Those of the accounts that auth has shut out, with the reason."""
        ...

    async def set_closed_reason(self, account_id: AccountId, reason: str, told_at: datetime) -> bool:
        """Empty opens again. False, and nothing changes: something later was told, or the account is deleted."""
        ...


class Store(Protocol):
    """Opens transactions."""

    def transaction(self) -> AbstractAsyncContextManager[Records]: ...


class Wallet(Protocol):
    """The ledger. All of it may raise a DomainError of kind UNAVAILABLE; the same call may then be sent again."""

    async def balances(self, account_id: AccountId) -> Assets: ...

    async def hold(self, table_id: TableId, wish: Wish) -> None:
        """Take the entry of the wish's own room and its cup aside. Idempotent by (table_id, account_id).

        Raises DomainError: INSUFFICIENT_FUNDS (nothing is held), HOLD_RESOLVED (released or paid already).
        """
        ...

    async def release(self, table_id: TableId, account_id: AccountId) -> None:
        """Give the entry back, and refuse any later hold. Idempotent. Raises DomainError HOLD_RESOLVED once dealt."""
        ...


class Tables(Protocol):
    """The table workers. All of it may raise a DomainError of kind UNAVAILABLE, as above."""

    async def create(self, table_id: TableId, mode: Mode, players: Sequence[Player]) -> None:
        """Make the table and deal; bots take the empty seats. Idempotent by table_id.

        Raises SeatedElsewhere (nothing is made), DomainError TABLE_ABANDONED.
        """
        ...

    async def seat_of(self, account_id: AccountId) -> TableId | None:
        """The table at which the account sits, waiting or playing, quick or friends'."""
        ...

    async def abandon(self, table_id: TableId) -> bool:
        """True: the table is dealt. False: it never will be. Idempotent."""
        ...

    async def is_seated(self, table_id: TableId, account_id: AccountId) -> bool:
        """Whether the account holds a seat at a game that still runs."""
        ...
