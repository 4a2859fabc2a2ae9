"""What a player asks: rooms, a ticket, taking it back, where it stands (P1, P2, P7, P8)."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from libs.chassis.entropy import Entropy
from libs.chassis.errors import DomainError, Kind, Unavailable
from libs.house.modes import Mode
from libs.house.platform import Platform
from libs.house.rooms import Room
from libs.house.rooms import UnknownRoom as NoSuchRoom
from services.matchmaking.domain.admission import (
    Assets,
    Visitor,
    admit,
    check_funds,
    check_name,
    closed_reason,
    costs_nothing,
)
from services.matchmaking.domain.errors import (
    AccountDeleted,
    AccountSuspended,
    AlreadyMatched,
    AlreadySeated,
    UnknownRoom,
)
from services.matchmaking.domain.forming import seats_filled
from services.matchmaking.domain.ids import AccountId, TicketId
from services.matchmaking.domain.matches import VipDays
from services.matchmaking.domain.tickets import (
    Place,
    Standing,
    Ticket,
    TicketState,
    Tier,
    Wish,
    place_of,
    tier_of,
    waiting_of,
)
from services.matchmaking.ports import Pool, Records, Store, Tables, Visit, Wallet

POOL_SHOWN = 60  # oldest tickets looked at to tell how full a table would be; six are enough to call it full
# Side by side. A crowd waits here in turn and not before the wallet, which would answer all of them too late.
ADMISSIONS_AT_ONCE = 16
ENQUEUE_TRIES = 3  # a ticket may end between two looks at it, hardly twice


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRoom:
    """A room as one account sees it. `closed_reason` is empty when it may enter now."""

    room: Room
    closed_reason: str
    waiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Queueing:
    """The queue's front. `wake` tells this process's matcher that there is work."""

    store: Store
    wallet: Wallet
    tables: Tables
    platform: Platform
    days: VipDays
    entropy: Entropy
    wake: Callable[[], None]
    admissions: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(ADMISSIONS_AT_ONCE))

    async def enqueue(self, wish: Wish) -> Place:
        """A ticket for `wish`, or the live ticket or seat that the account has already (P8). Idempotent by account.

        Raises AccountSuspended, AccountDeleted, AlreadySeated (at a friends' table), UnknownRoom, BadName,
        GuestsRoom1Only, GuestsHaveNoCoffee, LevelTooLow, NotAVipDay, InsufficientFunds.
        """
        room = self._room(wish.room)
        check_name(wish.name)
        async with self.admissions:
            return await self._enqueue(wish, room)

    async def _enqueue(self, wish: Wish, room: Room) -> Place:
        for _ in range(ENQUEUE_TRIES):
            async with self.store.transaction() as tx:
                now = await tx.now()
                visit = await tx.visit(wish.account_id)
            self._require_open(visit)
            if visit.ticket is not None and not await self._given_up(visit.ticket):
                return await self.place(wish.account_id)
            await self._admit(wish, room, visit.standing, now)
            if (place := await self._queue_up(wish, tier_of(visit.standing, wish))) is not None:
                self.wake()
                return place
        raise Unavailable(account_id=wish.account_id)

    async def cancel(self, account_id: AccountId) -> None:
        """Take the waiting ticket back. Idempotent: without one, nothing happens. Raises AlreadyMatched."""
        async with self.store.transaction() as tx:
            if await tx.cancel_ticket(account_id, await tx.now()):
                return
            live = await tx.live_ticket(account_id)
        if live is not None:
            raise AlreadyMatched(table_id=live.table_id)

    async def place(self, account_id: AccountId) -> Place:
        """Where the account stands now."""
        return (await self.places((account_id,)))[account_id]

    async def places(self, account_ids: Sequence[AccountId]) -> Mapping[AccountId, Place]:
        """Where each of these accounts stands now; one look at the database for all."""
        async with self.store.transaction() as tx:
            now = await tx.now()
            tickets = await tx.latest_tickets(account_ids)
            pools = await self._pools(tx, tickets.values())
        return {account_id: self._place(tickets.get(account_id), pools, now) for account_id in account_ids}

    async def rooms(self, account_id: AccountId, *, guest: bool) -> tuple[OpenRoom, ...]:
        """All rooms, and why the account may not enter one now. Answers without the wallet too."""
        async with self.store.transaction() as tx:
            now = await tx.now()
            visit = await tx.visit(account_id)
            waiting = await tx.waiting_by_room()
        vip_day = self.days.today(account_id, now, guest=guest)
        visitor = Visitor(guest=guest, level=visit.standing.level, vip_day=vip_day)
        assets = await self._assets_if_known(account_id)
        return tuple(
            OpenRoom(
                room=room,
                closed_reason=visit.closed_reason or closed_reason(visitor, room, assets),
                waiting=waiting.get(room.number, 0),
            )
            for room in self.platform.rooms
        )

    def _room(self, number: int) -> Room:
        try:
            return self.platform.room(number)
        except NoSuchRoom as error:
            raise UnknownRoom(room=number) from error

    def _require_open(self, visit: Visit) -> None:
        """Raises AccountSuspended, AccountDeleted. Who is shut out from here on is dropped at the deal."""
        match visit.closed_reason:
            case AccountSuspended.reason:
                raise AccountSuspended
            case AccountDeleted.reason:
                raise AccountDeleted

    async def _given_up(self, ticket: Ticket) -> bool:
        """A seat whose game is over ends here, before the news of it."""
        if not await self._is_stale(ticket):
            return False
        assert ticket.table_id is not None, "CHECK on the table: a seated ticket names its table"
        async with self.store.transaction() as tx:
            await tx.end_seat(ticket.table_id, ticket.wish.account_id, await tx.now())
        return True

    async def _is_stale(self, ticket: Ticket) -> bool:
        """Whether the news of the seat's end is still on its way. While the tables don't answer, the seat stands."""
        if ticket.state is not TicketState.SEATED or ticket.table_id is None:
            return False
        try:
            return not await self.tables.is_seated(ticket.table_id, ticket.wish.account_id)
        except DomainError as error:
            if error.kind is not Kind.UNAVAILABLE:
                raise
            return False

    async def _require_no_seat(self, account_id: AccountId) -> None:
        """Raises AlreadySeated. While the tables don't answer one may queue: the deal asks again."""
        try:
            table_id = await self.tables.seat_of(account_id)
        except DomainError as error:
            if error.kind is not Kind.UNAVAILABLE:
                raise
            return
        if table_id is not None:
            raise AlreadySeated(table=table_id.hex)

    async def _admit(self, wish: Wish, room: Room, standing: Standing, now: datetime) -> None:
        """The door first, then who must be asked elsewhere, side by side. Raises what `enqueue` does."""
        vip_day = self.days.today(wish.account_id, now, guest=wish.guest)
        admit(Visitor(guest=wish.guest, level=standing.level, vip_day=vip_day), room, wish.coffee)
        free = costs_nothing(room, wish.coffee)
        async with asyncio.TaskGroup() as group:
            seat = group.create_task(self._refusal(self._require_no_seat(wish.account_id)))
            funds = None if free else group.create_task(self._refusal(self._require_funds(wish, room)))
        for task in (seat, funds):
            if task is not None and (refusal := task.result()) is not None:
                raise refusal

    @staticmethod
    async def _refusal(asked: Awaitable[None]) -> DomainError | None:
        try:
            await asked
        except DomainError as refusal:
            return refusal
        return None

    async def _require_funds(self, wish: Wish, room: Room) -> None:
        check_funds(await self.wallet.balances(wish.account_id), room, wish.coffee)

    async def _queue_up(self, wish: Wish, tier: Tier) -> Place | None:
        """None: the account has a ticket since."""
        async with self.store.transaction() as tx:
            now = await tx.now()
            ticket = await tx.insert_ticket(TicketId(self.entropy.uuid7()), wish, tier, now)
            if ticket is None:
                return None
            return self._place(ticket, await self._pools(tx, (ticket,)), now)

    async def _assets_if_known(self, account_id: AccountId) -> Assets | None:
        try:
            return await self.wallet.balances(account_id)
        except DomainError as error:
            if error.kind is not Kind.UNAVAILABLE:
                raise
            return None

    async def _pools(self, tx: Records, tickets: Iterable[Ticket]) -> Mapping[Mode, Pool]:
        asked: dict[Mode, list[TicketId]] = defaultdict(list)
        for ticket in tickets:
            if ticket.state is TicketState.WAITING:
                asked[ticket.wish.mode].append(ticket.ticket_id)
        return {mode: await tx.pool(mode, POOL_SHOWN, ticket_ids) for mode, ticket_ids in sorted(asked.items())}

    def _place(self, ticket: Ticket | None, pools: Mapping[Mode, Pool], now: datetime) -> Place:
        pace = self.platform.matchmaking
        if ticket is None or ticket.state is not TicketState.WAITING:
            return place_of(ticket, now, pace)
        pool = pools[ticket.wish.mode]
        filled = seats_filled(waiting_of(ticket), pool.oldest, now, pace, self.platform.free_rooms)
        return place_of(ticket, now, pace, seats_filled=filled, in_line=pool.lines.get(ticket.ticket_id))
