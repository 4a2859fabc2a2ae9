"""Carrying a match to its table. Any matcher may go on with any match from its row, and two may do so at once.

Every call to another service is idempotent by (table, account) or table, every change of our own is conditional on
the match's state, so a repetition finds what the first did. What cannot be undone comes in this order: hold each
entry → settle who stays → release those dropped (a late hold of theirs is refused from then on) → create the table.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from libs.chassis.errors import DomainError, Kind, Unavailable
from libs.house.platform import Platform
from services.matchmaking.domain.errors import AlreadySeated, SeatedElsewhere
from services.matchmaking.domain.ids import AccountId, TableId
from services.matchmaking.domain.matches import Match, MatchState, VipDays, players_of, shut_out
from services.matchmaking.domain.tickets import Ticket, TicketState
from services.matchmaking.handlers.matching import STEP_LEASE
from services.matchmaking.handlers.telling import publish_drops, publish_made
from services.matchmaking.metrics import matches_failed, queue_wait_seconds, tables_dealt, tickets_dropped
from services.matchmaking.ports import Store, Tables, Wallet

log = structlog.get_logger()

RETRY_PAUSE = timedelta(milliseconds=300)  # a worker that drains has answered; the next one is asked soon
DUE_A_TURN = 100  # matches resumed at one look
# The wallet's word that this table's holds are settled: the match was given up behind our back.
RESOLVED = frozenset({"HOLD_RESOLVED", "HOLD_DIFFERS"})


@dataclass(frozen=True, slots=True)
class Answer:
    """What the wallet said to one hold: `refused` is empty when the entry is held."""

    account_id: AccountId
    refused: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A match under way as the database has it; `closed`: who of a forming one is shut out, and why."""

    match: Match
    closed: Mapping[AccountId, str]
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Seating:
    """Takes matches on, step by step, one transaction each."""

    store: Store
    wallet: Wallet
    tables: Tables
    platform: Platform
    days: VipDays

    async def due(self) -> tuple[TableId, ...]:
        """Matches that nobody is at work on: left by a dead matcher, or postponed. They are this caller's now."""
        async with self.store.transaction() as tx:
            now = await tx.now()
            return tuple(await tx.take_due(now, now + STEP_LEASE, DUE_A_TURN))

    async def carry_on(self, table_id: TableId) -> bool:
        """Take a match as far as it goes: to its table, or back to the queue. Idempotent at every step.

        False: someone did not answer, and the match is due again after `RETRY_PAUSE`.
        """
        try:
            while (found := await self._look(table_id)) is not None:
                await self._step(found)
        except DomainError as error:
            if error.kind is not Kind.UNAVAILABLE:
                raise
            log.warning("match_postponed", table_id=str(table_id), reason=error.reason)
            async with self.store.transaction() as tx:
                await tx.postpone(table_id, await tx.now() + RETRY_PAUSE)
            return False
        return True

    async def _look(self, table_id: TableId) -> Found | None:
        async with self.store.transaction() as tx:
            match = await tx.match(table_id)
            if match is None or match.state in _OVER:
                return None
            closed: Mapping[AccountId, str] = {}
            if match.state is MatchState.FORMING:
                closed = await tx.closed_reasons([ticket.wish.account_id for ticket in match.staying()])
            return Found(match=match, closed=closed, now=await tx.now())

    async def _step(self, found: Found) -> None:
        match = found.match
        if match.state is MatchState.RELEASING:
            await self._release(match)
        elif match.overdue(found.now):
            await self._take_back(match)
        elif match.state is MatchState.FORMING:
            await self._hold(match, found.closed)
        else:
            await self._create(match)

    async def _hold(self, match: Match, closed: Mapping[AccountId, str]) -> None:
        """forming → held, without those who can't pay or may not enter; releasing when nobody is left (P8)."""
        reasons = {**shut_out(match, self.platform, self.days), **closed}
        asked = [ticket for ticket in match.staying() if ticket.wish.account_id not in reasons]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._ask(match.table_id, ticket)) for ticket in asked]
        answers = [task.result() for task in tasks]
        if any(answer.refused in RESOLVED for answer in answers):
            await self._take_back(match)
            return
        if any(answer.refused == Unavailable.reason for answer in answers):
            raise Unavailable(table_id=match.table_id)
        reasons |= {answer.account_id: answer.refused for answer in answers if answer.refused}
        to = MatchState.HELD if len(reasons) < len(match.staying()) else MatchState.RELEASING
        async with self.store.transaction() as tx:
            moved = await tx.move_match(match.table_id, (MatchState.FORMING,), to)
            dropped = await tx.drop_tickets(match.table_id, reasons, await tx.now()) if moved and reasons else ()
            await publish_drops(tx, dropped)
        _count_drops(dropped)

    async def _ask(self, table_id: TableId, ticket: Ticket) -> Answer:
        try:
            await self.wallet.hold(table_id, ticket.wish)
        except DomainError as error:
            reason = Unavailable.reason if error.kind is Kind.UNAVAILABLE else error.reason
            return Answer(ticket.wish.account_id, reason)
        return Answer(ticket.wish.account_id)

    async def _create(self, match: Match) -> None:
        """held → created: the table deals, the tickets are seated."""
        await self._release_entries(match, match.dropped())
        try:
            await self.tables.create(match.table_id, match.mode, players_of(match, self.days))
        except SeatedElsewhere as refusal:
            await self._leave_out(match, refusal.accounts)
            return
        except DomainError as error:
            if error.kind is Kind.UNAVAILABLE:
                raise
            log.warning("table_refused", table_id=str(match.table_id), reason=error.reason)
            await self._take_back(match)
            return
        await self._seat(match)

    async def _leave_out(self, match: Match, accounts: Collection[AccountId]) -> None:
        """Who has sat down elsewhere meanwhile is dropped, as who cannot pay (P8); without the others, all is over."""
        reasons = dict.fromkeys(accounts, AlreadySeated.reason)
        if all(ticket.wish.account_id in reasons for ticket in match.staying()):
            await self._take_back(match)
        async with self.store.transaction() as tx:
            dropped = await tx.drop_tickets(match.table_id, reasons, await tx.now())
            await publish_drops(tx, dropped)
        _count_drops(dropped)

    async def _seat(self, match: Match) -> None:
        async with self.store.transaction() as tx:
            came_from = (MatchState.FORMING, MatchState.HELD)
            moved = await tx.move_match(match.table_id, came_from, MatchState.CREATED)
            seated = await tx.seat_tickets(match.table_id, await tx.now()) if moved else ()
            await publish_made(tx, match, seated)
        if moved:
            tables_dealt.labels(match.mode.value, str(len(seated))).inc()
        for ticket in seated:
            queue_wait_seconds.labels(match.mode.value).observe((ticket.changed_at - ticket.created_at).total_seconds())

    async def _take_back(self, match: Match) -> None:
        """The table can't be had: unless it is dealt after all, it never will be, and entries go back."""
        if await self.tables.abandon(match.table_id):
            await self._seat(match)
            return
        async with self.store.transaction() as tx:
            moved = await tx.move_match(match.table_id, (MatchState.FORMING, MatchState.HELD), MatchState.RELEASING)
        if moved:
            matches_failed.inc()
            log.warning("match_failed", table_id=str(match.table_id))

    async def _release(self, match: Match) -> None:
        """releasing → cancelled: every entry is released, who did not fail it waits again at the old place."""
        await self._release_entries(match, match.tickets)
        async with self.store.transaction() as tx:
            moved = await tx.move_match(match.table_id, (MatchState.RELEASING,), MatchState.CANCELLED)
            changed = await tx.return_tickets(match.table_id, await tx.now()) if moved else ()
            dropped = [ticket for ticket in changed if ticket.state is TicketState.DROPPED]
            await publish_drops(tx, dropped)
        _count_drops(dropped)

    async def _release_entries(self, match: Match, tickets: Sequence[Ticket]) -> None:
        for ticket in tickets:
            try:
                await self.wallet.release(match.table_id, ticket.wish.account_id)
            except DomainError as error:
                if error.kind is Kind.UNAVAILABLE:
                    raise
                # Dealt, says the wallet: then the game's end settles it. Nobody may be stranded for this.
                log.exception("release_refused", table_id=str(match.table_id), reason=error.reason)


_OVER = frozenset({MatchState.CREATED, MatchState.DONE, MatchState.CANCELLED})


def _count_drops(tickets: Sequence[Ticket]) -> None:
    for ticket in tickets:
        tickets_dropped.labels(ticket.dropped_reason).inc()
