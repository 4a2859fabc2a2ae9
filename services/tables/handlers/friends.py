"""Use cases of friends' tables: open, change, deal, rematch, chat. One change of a table at a time."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from uuid import UUID

from libs.chassis.db.database import Store
from libs.chassis.entropy import Entropy
from libs.engine.game import GAMES
from libs.house.friends import Friends
from libs.house.ids import table_id as shard_id
from services.tables.domain import chat, waiting
from services.tables.domain.entries import SeatFacts
from services.tables.domain.errors import (
    Barred,
    ChatClosed,
    GameRunning,
    GuestsOpenNoTable,
    NotAtTable,
    Silenced,
    TableAbandoned,
    TableClosed,
    TableUnknown,
)
from services.tables.domain.table import Table, command_id
from services.tables.domain.waiting import Choices, Stage, WaitingTable
from services.tables.handlers import games
from services.tables.handlers.games import OpenTable, Owner
from services.tables.storage.friends import FriendsTransaction, Lease
from whist.tables.v1 import tables_pb2

FriendsStore = Store[FriendsTransaction]
SWEEP_MAX = 100  # tables looked after in one sweep; the next takes the others


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What every use case here needs."""

    store: FriendsStore
    friends: Friends
    entropy: Entropy

    @property
    def lease(self) -> Lease:
        return Lease(
            seat=timedelta(milliseconds=self.friends.seat_lease_ms),
            deserted=timedelta(milliseconds=self.friends.deserted_ms),
        )


async def open_table(who: SeatFacts, choices: Choices, req: str, *, desk: Desk) -> WaitingTable:
    """A new table; a repeat of `req` finds the first's. The id is a secret that its link tells, and made by chance.

    Raises GuestsOpenNoTable, BadChoice, BadOptions, AlreadySeated.
    """
    if who.guest:
        raise GuestsOpenNoTable
    table = waiting.open_waiting(shard_id(desk.entropy.uuid7()), who, choices, desk.friends)
    opened_by = command_id(UUID(bytes=who.account), who.account, f"open/{req}")
    async with desk.store.transaction() as tx:
        return _found(await tx.waiting(await tx.insert_waiting(table, opened_by, desk.lease)))


async def get_table(table_id: UUID, *, desk: Desk) -> WaitingTable:
    """Raises TableUnknown."""
    async with desk.store.transaction() as tx:
        return _found(await tx.waiting(table_id))


async def admit(table_id: UUID, account: bytes, *, desk: Desk) -> None:
    """Raises TableUnknown, Barred: the host has sent this person away."""
    if account in (await get_table(table_id, desk=desk)).barred:
        raise Barred


async def list_tables(most: int, *, desk: Desk) -> list[WaitingTable]:
    """Listed tables that wait or are in play, newest first."""
    async with desk.store.transaction() as tx:
        return await tx.listed(most)


async def change(
    table_id: UUID, account: bytes, req: str, decide: Callable[[WaitingTable], WaitingTable], *, desk: Desk
) -> WaitingTable:
    """Carry out one command. Idempotent by account and `req`; raises TableUnknown and what `decide` raises."""
    async with desk.store.transaction() as tx:
        return await _change(table_id, account, req, decide, tx, desk)


async def deal(
    table_id: UUID, account: bytes, req: str, *, desk: Desk, owner: Owner
) -> tuple[WaitingTable, tuple[Table, date] | None]:
    """Deal: the waiting table's end and the live one's birth in one transaction, under the same id.

    Returns the live table to keep, or None for it when the deal was done before. Raises as `change`, and
    TableAbandoned.
    """
    async with desk.store.transaction() as tx:
        before = _found(await tx.waiting(table_id)).stage
        dealt = await _change(
            table_id, account, req, lambda table: waiting.deal(table, account, desk.friends), tx, desk
        )
        if before is not Stage.WAITING or dealt.stage is not Stage.DEALT:
            return dealt, None  # done before, or the repeat of another command
        birth = games.prepare(_opening(dealt, desk.friends), desk.entropy)
        born = await games.give_birth(birth, owner, tx)
        if born is None:
            head = await tx.head(table_id)
            if head is None or head.status == games.ABANDONED:
                raise TableAbandoned
            return dealt, None  # another repeat of this command was first
    return dealt, (birth.table, born)


async def rematch(table_id: UUID, who: SeatFacts, *, desk: Desk, played: Sequence[bytes]) -> WaitingTable:
    """A new table for those who `played`: the first who asks opens it, the others sit down where they sat, or beside.

    `played` is by seat, empty for a bot. Idempotent by table and account. Raises TableUnknown, NotAtTable, GameRunning,
    GuestsOpenNoTable while nobody else has asked (P42), and what sitting down may.
    """
    opened_by = command_id(table_id, table_id.bytes, "rematch")
    async with desk.store.transaction() as tx:
        former, head = _found(await tx.waiting(table_id)), await tx.head(table_id)
        if who.account not in played:
            raise NotAtTable
        if head is None or head.status == games.LIVE:
            raise GameRunning
        seat = played.index(who.account)
        choices = former.choices
        chairs: list[SeatFacts | None] = [None] * choices.players
        chairs[seat] = who
        fresh = WaitingTable(
            table_id=shard_id(desk.entropy.uuid7()), stage=Stage.WAITING, host=who.account, choices=choices,
            chairs=tuple(chairs),
        )  # fmt: skip
        if who.guest and await tx.opened_by(opened_by) is None:
            raise GuestsOpenNoTable
        again = await tx.insert_waiting(fresh, opened_by, desk.lease)
        present = _found(await tx.waiting(again))
        if present.seat_of(who.account) is not None:
            return present
        free = seat < len(present.chairs) and present.chairs[seat] is None
        place = seat if free else waiting.ANY_SEAT
        return await _change(again, who.account, f"rematch/{present.version}", _sit(who, place), tx, desk)


def _sit(who: SeatFacts, seat: int) -> Callable[[WaitingTable], WaitingTable]:
    return lambda table: waiting.sit(table, who, seat)


async def say(
    table_id: UUID, who: SeatFacts, req: str, words: str, *, desk: Desk, at_live_table: Callable[[], Awaitable[bool]]
) -> int:
    """Say a line; `at_live_table` tells whether the account sits there once the game is dealt. Idempotent by `req`.

    Raises BadText, TableUnknown, TableClosed, Barred, Silenced, ChatClosed.
    """
    line = chat.clean(words)
    async with desk.store.transaction() as tx:
        table = _found(await tx.waiting(table_id))
    if table.stage is Stage.CLOSED:
        raise TableClosed
    if who.account in table.barred:
        raise Barred
    dealt = table.stage is Stage.DEALT
    sits = await at_live_table() if dealt else table.seat_of(who.account) is not None
    if not sits and not (table.choices.open_chat and table.choices.spectators):
        raise ChatClosed
    async with desk.store.transaction() as tx:
        if await tx.lock_waiting(table_id) is None:
            raise TableUnknown
        request_id = command_id(table_id, who.account, f"say/{req}")
        # Last of all: who is silenced while the line is on its way is not heard any more. What was said before stands.
        if await tx.said(table_id, request_id) is None:
            for until in (await tx.silenced([who.account])).values():
                raise Silenced(until=until.isoformat())
        return await tx.say(table_id, request_id, who, line)


async def mute(account: bytes, muted: bytes, *, on: bool, desk: Desk) -> None:
    """Whether this account sees the other's lines. Idempotent."""
    async with desk.store.transaction() as tx:
        await tx.mute(account, muted, mute=on)


async def report(table_id: UUID, account: bytes, req: str, reported: bytes, words: str, *, desk: Desk) -> None:
    """Keep a complaint for the operators. Idempotent by account and `req`. Raises TableUnknown, BadText."""
    said = chat.clean(words)
    async with desk.store.transaction() as tx:
        _found(await tx.waiting(table_id))
        await tx.report(command_id(table_id, account, f"report/{req}"), table_id, account, reported, said)


async def sweep(*, desk: Desk) -> int:
    """Free the seats of people who are gone, and close tables without people (P25). Returns how many changed."""
    async with desk.store.transaction() as tx:
        found = await tx.left(SWEEP_MAX)
    for table_id in found:
        async with desk.store.transaction() as tx:
            locked = await tx.lock_waiting(table_id)
            if locked is None or locked[0].stage is not Stage.WAITING:
                continue
            before, expired = locked
            after = waiting.without(before, expired)
            if not after.people and await tx.is_deserted(table_id):
                after = replace(after, stage=Stage.CLOSED)
            if after != before:
                await tx.keep_waiting(before, after, desk.lease)
    return len(found)


async def forget_old(*, desk: Desk) -> None:
    """Chat goes after thirty days, a table a day after its end."""
    async with desk.store.transaction() as tx:
        await tx.forget_old()


async def _change(
    table_id: UUID,
    account: bytes,
    req: str,
    decide: Callable[[WaitingTable], WaitingTable],
    tx: FriendsTransaction,
    desk: Desk,
) -> WaitingTable:
    locked = await tx.lock_waiting(table_id)
    if locked is None:
        raise TableUnknown
    before, expired = locked
    if not await tx.note_request(table_id, command_id(table_id, account, req)):
        return before
    # Whoever acts is there; whose lease is over is not, though no sweep has come by yet.
    gone = [each for each in expired if each != account] if before.stage is Stage.WAITING else []
    after = decide(waiting.without(before, gone))
    if after != before:
        await tx.keep_waiting(before, after, desk.lease)
    await tx.renew([(table_id, account)], desk.lease)
    return _found(await tx.waiting(table_id))


def _opening(table: WaitingTable, friends: Friends) -> OpenTable:
    choices = table.choices
    return OpenTable(
        table_id=table.table_id,
        kind=tables_pb2.TABLE_KIND_FRIENDS,
        mode=0,
        game=GAMES[choices.game].name,
        options=dict(choices.options),
        players=table.people,
        seats=len(table.chairs),
        friends=waiting.chosen(table, friends),
        chairs=table.chairs,
    )


def _found(table: WaitingTable | None) -> WaitingTable:
    if table is None:
        raise TableUnknown
    return table
