"""Use cases of operators: void a game, close a table, silence a chatter, and see what there is (P82).

Each act is one transaction with its line in the audit log; a request that comes again is answered and does nothing.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from libs.chassis.audit import Act, AuditLine
from libs.chassis.db.database import Store
from libs.engine.record.flaws import BadRecord
from libs.engine.record.plain import dumps, loads
from services.tables import announcements
from services.tables.domain import waiting
from services.tables.domain.errors import GameOver, TableUnknown, TableUnowned
from services.tables.domain.waiting import WaitingTable
from services.tables.faults import note
from services.tables.handlers import games
from services.tables.handlers.friends import Desk
from services.tables.metrics import games_voided
from services.tables.ports import Head
from services.tables.storage.operators import OperatorsTransaction, ReportSeen, TableSeen

OperatorsStore = Store[OperatorsTransaction]
REASON = "operator"  # of GameVoided and of the record


async def void_game(act: Act, table_id: UUID, *, epoch: int | None, store: OperatorsStore, zone: ZoneInfo) -> bool:
    """End a live game, or undo a finished one; whether it had finished. Everything goes back by `GameVoided`.

    `epoch` is the one in which the table is this worker's, None where it is not. The head is locked first: the game's
    last row and its end come before or never. Raises TableUnknown, TableUnowned (live, and not ours: locate it),
    GameOver (voided already), ActDiffers.
    """
    async with store.transaction() as tx:
        locked = await tx.lock_head(table_id)
        if locked is None or locked[0].status == games.ABANDONED:
            raise TableUnknown
        head, undone = locked
        if not await tx.record_act(act):
            return undone
        had_finished = head.status == games.PLAYED_OUT
        if had_finished:
            await _undo(head, tx)
        elif head.status != games.LIVE:
            raise GameOver(status=head.status)
        elif head.epoch != epoch or not await tx.end(table_id, head.epoch, games.VOIDED):
            raise TableUnowned
        else:
            await games.call_off(table_id, await games.row_0(head, tx), reason=REASON, tx=tx, zone=zone)
    games_voided.labels(REASON).inc()
    return had_finished


async def _undo(head: Head, tx: OperatorsTransaction) -> None:
    """A finished game counts no more: its record says so, and stays for those who played it."""
    table_id = head.table_id
    await tx.undo(table_id)
    kept = await tx.record(table_id)
    if kept is not None:
        try:
            record = loads(kept[1].decode())
        except BadRecord as error:  # of an older release; it stays as it is, and what it won goes back all the same
            note("voided_record_failed", error, table=table_id.hex)
        else:
            about = dict(record.table or {}) | {"status": games.VOIDED, "reason": REASON}
            await tx.replace_record(table_id, dumps(replace(record, table=about)).encode())
    opened = await games.row_0(head, tx)
    seats = () if opened is None else opened.seats
    voided = announcements.game_voided(table_id.bytes, head.kind, seats, REASON, had_finished=True)
    await tx.publish(announcements.TOPIC, table_id.bytes, voided)


async def close_table(act: Act, table_id: UUID, *, store: OperatorsStore, desk: Desk) -> WaitingTable:
    """Close a friends' table that waits, and free its people. One that is closed stays so.

    Raises TableUnknown, TableDealt (void its game), ActDiffers.
    """
    async with store.transaction() as tx:
        locked = await tx.lock_waiting(table_id)
        if locked is None:
            raise TableUnknown
        before, _ = locked
        if not await tx.record_act(act):
            return before
        after = waiting.close_anyway(before)
        if after != before:
            await tx.keep_waiting(before, after, desk.lease)
    return after


async def silence(act: Act, account: bytes, span: timedelta, *, store: OperatorsStore) -> datetime | None:
    """Let nobody hear the account's lines for so long from now, at any table; a `span` of nothing lifts it.

    Answers until when it is silenced as things are; None: it is not. Raises ActDiffers.
    """
    async with store.transaction() as tx:
        if await tx.record_act(act):
            if span:
                await tx.silence(account, span)
            else:
                await tx.lift_silence(account)
        return (await tx.silenced([account])).get(account)


async def list_tables(
    *, account: bytes | None, table_id: UUID | None, live: bool, most: int, store: OperatorsStore
) -> Sequence[TableSeen]:
    """Tables as they stand, newest first."""
    async with store.transaction() as tx:
        return await tx.tables_seen(account=account, table_id=table_id, live=live, most=most)


async def list_reports(
    *, reported: bytes | None, before: int | None, most: int, store: OperatorsStore
) -> Sequence[ReportSeen]:
    """Complaints, newest first."""
    async with store.transaction() as tx:
        return await tx.reports(reported=reported, before=before, most=most)


async def audit_log(*, before: int | None, most: int, store: OperatorsStore) -> Sequence[AuditLine]:
    """Operators' acts on tables, newest first."""
    async with store.transaction() as tx:
        return await tx.acts(before=before, limit=most)
