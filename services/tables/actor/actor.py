"""One live table: a mailbox drained by callbacks, one command in flight, nothing sent before its commit.

Three numbers are kept apart: `seq` (journal row; resume), `turn` (the decision a command answers; the only test of
staleness) and `epoch` (ownership). Views and frames read committed state only.
"""

import asyncio
from collections import deque
from collections.abc import Coroutine, Sequence
from datetime import date
from functools import partial
from typing import Any, Protocol
from uuid import UUID

from libs.chassis.clock import Clock
from libs.chassis.errors import DomainError
from libs.chassis.telemetry.tracing import sampled, span_afterwards
from libs.engine.errors import RuleViolation
from libs.engine.game import Seat, State
from libs.wire import frames, link
from libs.wire.metrics import decide_stage, fanout_stage, journal_stage, queue_stage
from services.tables import announcements
from services.tables.actor.asked import Asked, InFlight, TakeSeat, state_after, traceparent_of
from services.tables.actor.audience import Audience
from services.tables.actor.long_ago import look_up
from services.tables.actor.pace import Pace
from services.tables.actor.presence import Holders
from services.tables.actor.running_turn import RunningTurn
from services.tables.bots import BotPlayers
from services.tables.domain.entries import (
    BY_PERSON,
    BY_TIME_OUT,
    Body,
    Moved,
    Resumed,
    TakenOver,
    Vacated,
    encode_body,
)
from services.tables.domain.errors import (
    AlreadySeated,
    GameOver,
    NotAtTable,
    StaleTurn,
    TableBusy,
    TableUnowned,
)
from services.tables.domain.table import (
    OVER,
    Table,
    command_id,
    decide_draws,
    decide_move,
    decide_take_over,
    draw_id,
    move_id,
)
from services.tables.faults import note
from services.tables.metrics import moves_by, thinking
from services.tables.ports import COMMITTED, Entry, Journal, Outcome
from services.tables.sessions import Session

MAILBOX_MAX = 64  # six seats, ten commands each; more is a broken client


class Keeper(Protocol):
    """What a table asks of the worker that keeps it."""

    def lost(self, actor: "TableActor") -> None:
        """The fence refused us: the table is another worker's."""
        ...

    def ended(self, actor: "TableActor") -> None:
        """The game is over and committed: write record and event, then say so."""
        ...

    def failed(self, actor: "TableActor", error: Exception) -> None:
        """The server's own move cannot be made: void the game."""
        ...

    def deserted(self, actor: "TableActor") -> None:
        """No person has been at a friends' table for too long: call the game off (P25)."""
        ...

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something off the hot path, in the worker's own task group."""
        ...


class TableActor:
    """Owns one table in one epoch. All methods run on the event loop and return at once."""

    def __init__(
        self, table: Table, *, epoch: int, born: date, journal: Journal, clock: Clock, pace: Pace, bots: BotPlayers,
        keeper: Keeper,
    ) -> None:  # fmt: skip
        self.table = table
        self.epoch = epoch
        self.born = born
        # The trace of the newest row's command, where that is recorded.
        self.traceparent = ""
        self._journal = journal
        self._clock = clock
        self._pace = pace
        self._keeper = keeper
        self._loop = asyncio.get_running_loop()
        self._hex = table.table_id.hex
        self._id = table.table_id.bytes
        self._holders = Holders(table, pace.turns.away_after)
        self._audience = Audience(table, epoch, self._holders, round(pace.grace_seconds() * 1000))
        self._followers = self._audience.followers
        self._mailbox: deque[Asked] = deque()
        self._in_flight: InFlight | None = None
        self._turn = RunningTurn(
            table, clock=clock, pace=pace, bots=bots, holders=self._holders, free=self._free,
            chosen=self._server_moves, failed=self._failed,
        )  # fmt: skip
        self._released = False
        self._retiring = False
        # So many decide about the table now, and it stands still.
        self._holds = 0
        self._friends = table.opened.friends
        # Runs while no person is at a friends' table.
        self._alone: asyncio.TimerHandle | None = None
        self._on_idle: list[asyncio.Future[None]] = []

    # ---- life ----

    def start(self, pause_ms: int | None = None) -> None:
        """Begin to play; after a takeover the pause is journaled first, so that it is in nobody's turn."""
        self._watch_for_people()
        if pause_ms is not None:
            self._submit_own(Resumed(pause_ms), (), draw_id(self.table.table_id, self.table.next_seq))
        else:
            self._next()

    def retire(self) -> None:
        """Begin nothing new: what is in flight may finish, commands wait for the next owner."""
        self._retiring = True
        self._stop_clocks()

    def release(self) -> None:
        """Stop: no timer, no further entry, followers told to look for the new owner."""
        self._released = True
        self._stop_clocks()
        for session in self._followers.by_session:
            session.send(link.NotOwner(self._id))
        for asked in self._mailbox:
            self._disown(asked)
        self._mailbox.clear()

    def hold(self) -> "asyncio.Future[None]":
        """Stand still while somebody decides about the table: what is in flight ends, then nothing is until `go_on`.

        Done when nothing is in flight.
        """
        self._holds += 1
        self._turn.stop()
        return self.quiet()

    def go_on(self) -> None:
        """Play on after `hold`; whose turn it is has the whole of it again."""
        self._holds -= 1
        self._go_on()

    def quiet(self) -> "asyncio.Future[None]":
        """Done when no entry is in flight."""
        done: asyncio.Future[None] = self._loop.create_future()
        if self._in_flight is None:
            done.set_result(None)
        else:
            self._on_idle.append(done)
        return done

    def close(self) -> None:
        """Forget the followers: the game has ended and they have been told."""
        self._released = True
        self._stop_clocks()
        for session in self._followers.by_session:
            session.send(link.Closed(self._id))
        for asked in self._mailbox:
            if asked.session is None:
                self._audience.refuse_asked(asked, GameOver())

    def _stop_clocks(self) -> None:
        self._turn.close()
        if self._alone is not None:
            self._alone.cancel()
            self._alone = None

    def _watch_for_people(self) -> None:
        """Wind the clock of a friends' table that no person is at, stop it when somebody is (P25)."""
        if self._friends is None:
            return
        if self._holders.anybody() or self._released or self._retiring:
            if self._alone is not None:
                self._alone.cancel()
                self._alone = None
        elif self._alone is None:
            self._alone = self._loop.call_later(self._pace.deserted_seconds(), self._keeper.deserted, self)

    # ---- followers ----

    def subscribe(self, session: Session, frame: link.Subscribe) -> None:
        """Follow; answered by what was missed since `frame.since`, or by a snapshot. Registering is the same step."""
        seat = self.table.sits(frame.account)
        if seat is None:
            self._audience.spectate(session, frame)
            return
        returned = self._holders.joined(seat)
        if returned:
            self._begin_turn_anew(seat)
        self._audience.join(session, frame, seat)
        if returned:
            self._audience.tell_presence(seat)
        self._watch_for_people()

    def unsubscribe(self, session: Session, conn: int) -> None:
        """A socket has gone; the seat is kept (P31)."""
        account = self._followers.remove(session, conn)
        if account is not None:
            self._disconnected(account)

    def session_ended(self, session: Session) -> None:
        """A gateway has gone with all its sockets."""
        for account in self._followers.remove_session(session):
            self._disconnected(account)

    def snapshot(self, seat: Seat | None) -> frames.Snapshot:
        """The table as this seat may see it now; as a spectator without one."""
        return self._audience.snapshot(seat)

    def announce_over(self, status: str) -> None:
        """The record is kept; the secret may be shown (P70)."""
        self._audience.tell_over(status)
        self.close()

    def announce_owner(self, session: Session, address: str) -> None:
        session.send(link.Owned(self._id, self.epoch, self.table.next_seq - 1, address))

    def _disconnected(self, account: bytes) -> None:
        seat = self.table.seat_of(account)
        if seat is not None:
            self._holders.disconnected(seat)
            self._watch_for_people()

    # ---- commands ----

    def command(self, session: Session, frame: link.Command | link.Vacate, arrived: float) -> None:
        """A person's move or farewell; answered by the row's frames, an ack, or a typed error."""
        if self.table.seat_of(frame.account) is None and not self._released:
            self._audience.refuse(session, frame.conn, NotAtTable(), frame.req)
            return
        self._queue(Asked(frame, arrived, session, frame.conn))

    def take_seat(self, frame: TakeSeat, arrived: float) -> "asyncio.Future[int]":
        """The row in which a person has sat down. Idempotent by account and `req`.

        Raises what `decide_take_over` raises, TableBusy, TableUnowned (ask its owner).
        """
        answer: asyncio.Future[int] = self._loop.create_future()
        self._queue(Asked(frame, arrived, answer=answer))
        return answer

    def _queue(self, asked: Asked) -> None:
        if self._released:
            self._disown(asked)
        elif self._free():
            self._handle(asked)
        elif len(self._mailbox) >= MAILBOX_MAX:
            self._audience.refuse_asked(asked, TableBusy())
        else:
            self._mailbox.append(asked)

    def _handle(self, asked: Asked) -> None:
        started = self._clock.monotonic()
        queue_stage.observe(started - asked.arrived)
        table, frame = self.table, asked.frame
        answered = table.answered_at(frame.account, frame.req)
        if answered is not None:
            self._audience.acknowledge(asked, answered)
            return
        identity = command_id(table.table_id, frame.account, frame.req)
        body: Moved | Vacated | TakenOver
        events: Sequence[Any] = ()
        after = table.state
        try:
            match frame:
                case link.Command():
                    seat = self._seated(frame.account)
                    body, events = decide_move(table, seat, frame.turn, frame.action, BY_PERSON, frame.req)
                    after = state_after(table, events)
                case link.Vacate():
                    seat = self._seated(frame.account)
                    if table.tallies[seat].left:
                        self._audience.acknowledge(asked, table.next_seq - 1)
                        return
                    body = Vacated(seat, frame.req)
                case TakeSeat():
                    body = decide_take_over(table, frame.seat, frame.who, frame.req)
            decided = self._clock.monotonic()
            decide_stage.observe(decided - started)
            self._submit(body, events, after, identity, asked, decided)
        except StaleTurn as stale:
            self._answer_stale(asked, identity, stale)
        except (DomainError, RuleViolation) as refusal:
            self._audience.refuse_asked(asked, refusal)
        except Exception as error:
            # One command fails alone; the table lives on and the fault is counted.
            note("decide_failed", error, table=self._hex)
            self._audience.refuse_asked(asked, None)

    def _seated(self, account: bytes) -> Seat:
        """The seat of somebody whose command's turn has come; whoever acts has come back.

        Raises NotAtTable: another has taken the seat over.
        """
        seat = self.table.seat_of(account)
        if seat is None:
            raise NotAtTable
        if self._holders.acted(seat):
            self._begin_turn_anew(seat)
            self._audience.tell_presence(seat)
        return seat

    def _begin_turn_anew(self, seat: Seat) -> None:
        """A bot held the seat and its person is back: a turn of theirs that runs is theirs from now (P31).

        Everybody is to be told then whose the seat is, and until when its turn runs.
        """
        if self._free() and self.table.to_act == seat:
            self._begin_turn()

    def _answer_stale(self, asked: Asked, identity: UUID, stale: StaleTurn) -> None:
        """Too old for our memory or never made: the journal knows. The index is asked once, off the hot path."""
        found, missed = partial(self._audience.acknowledge, asked), partial(self._audience.refuse_asked, asked, stale)
        self._keeper.spawn(look_up(self._journal, self.table.table_id, self.born, identity, found, missed))

    def _disown(self, asked: Asked) -> None:
        """The table is another's: ask there."""
        if asked.session is not None:
            asked.session.send(link.NotOwner(self._id, asked.conn, asked.frame.req))
        elif asked.answer is not None and not asked.answer.done():
            asked.answer.set_exception(TableUnowned())

    # ---- the one command in flight ----

    def _submit(
        self, body: Body, events: Sequence[Any], after: State, identity: UUID, asked: Asked | None, decided: float,
        *, checkpoint: bool = False,
    ) -> None:  # fmt: skip
        table = self.table
        self.traceparent = traceparent_of(asked)
        entry = Entry(
            table_id=table.table_id,
            born=self.born,
            seq=table.next_seq,
            epoch=self.epoch,
            command_id=identity,
            body=encode_body(body),
            checkpoint=checkpoint,
            done=self._settled,
            events=announcements.of(table, body, after),
            traceparent=self.traceparent,
            seating=None if isinstance(body, Moved) else announcements.seating(table, body),
        )
        self._in_flight = InFlight(body, events, after, asked, decided)
        self._journal.append(entry)

    def _submit_own(self, body: Body, events: Sequence[Any], identity: UUID, *, checkpoint: bool = False) -> None:
        """An entry of the server's own; where there can be none, the game is voided."""
        try:
            after = state_after(self.table, events)
            self._submit(body, events, after, identity, None, self._clock.monotonic(), checkpoint=checkpoint)
        except Exception as error:
            self._failed(error)

    def _settled(self, outcome: Outcome, seq: int) -> None:
        flight, self._in_flight = self._in_flight, None
        assert flight is not None
        if outcome is COMMITTED:
            self._committed(flight)
        elif outcome is Outcome.REFUSED:
            self._wake_waiters()
            if flight.asked is None:
                self._keeper.failed(self, RuntimeError(f"row {self.table.next_seq} cannot be written"))
                return
            # Of a person's rows the database refuses the one that seats somebody who has just sat down elsewhere.
            self._audience.refuse_asked(flight.asked, AlreadySeated() if isinstance(flight.body, TakenOver) else None)
            self._go_on()
        elif outcome is Outcome.REPEATED:
            self._wake_waiters()
            if flight.asked is None:
                # Ids of the server's own entries name their turn or row; a twin means that our fold is wrong.
                self._keeper.failed(self, RuntimeError(f"row {self.table.next_seq} was written before as {seq}"))
                return
            self._audience.acknowledge(flight.asked, seq)
            self._go_on()
        else:
            self.release()
            self._wake_waiters()
            if flight.asked is not None:
                self._disown(flight.asked)
            self._keeper.lost(self)

    def _committed(self, flight: InFlight) -> None:
        try:
            self._commit(flight, self._clock.monotonic())
        except Exception as error:
            note("table_failed", error, table=self._hex)
            self._wake_waiters()
            self._keeper.failed(self, error)
            return
        self._wake_waiters()
        self._go_on()

    def _go_on(self) -> None:
        if not (self._released or self._retiring or self._holds) and self._in_flight is None:
            self._next()

    def _commit(self, flight: InFlight, committed: float) -> None:
        body, asked = flight.body, flight.asked
        seq = self.table.next_seq
        self.table.apply(body, flight.after)
        # Somebody else's coming or going is no reason to give the running turn more time.
        if not isinstance(body, (Vacated, TakenOver)) or body.seat == self.table.to_act:
            self._turn.stop()
        if isinstance(body, Moved):
            moves_by[body.by].count()
            if body.by == BY_PERSON:
                thinking.observe(committed - self._turn.began)
            elif body.by == BY_TIME_OUT:
                self._holders.timed_out(body.seat)
        elif isinstance(body, (Vacated, TakenOver)):
            if isinstance(body, TakenOver):
                self._holders.taken_over(body.seat, connected=self._followers.has(body.who.account))
            self._watch_for_people()
        if not self._turn.running and not self._holds:
            self._begin_turn()
        self._audience.tell_row(seq, body, flight.events, asked)
        if asked is not None:
            done = self._clock.monotonic()
            journal_stage.observe(committed - flight.decided)
            fanout_stage.observe(done - committed)
            if isinstance(asked.frame, (link.Vacate, TakeSeat)):
                self._audience.acknowledge(asked, seq)
            elif sampled(asked.frame.traceparent):
                self._trace(asked, flight.decided, committed, done)
        if isinstance(body, Vacated):
            self._audience.see_off(self.table.seats[body.seat].account)

    def _trace(self, asked: Asked, decided: float, committed: float, done: float) -> None:
        """Spans made afterwards, for sampled moves only: a span before is made costs what a move costs."""
        assert isinstance(asked.frame, link.Command)
        offset = int(self._clock.now().timestamp() * 1e9) - int(self._clock.monotonic() * 1e9)
        stages = (("decide", asked.arrived, decided), ("journal", decided, committed), ("fanout", committed, done))
        for name, start, end in stages:
            span_afterwards(
                f"tables.{name}", asked.frame.traceparent, int(start * 1e9) + offset, int(end * 1e9) + offset
            )

    def _wake_waiters(self) -> None:
        waiters, self._on_idle = self._on_idle, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    # ---- what comes next ----

    def _next(self) -> None:
        """The game's end, a due draw, a waiting command, or the running turn's clock."""
        table = self.table
        if table.phase == OVER:
            self._turn.stop()
            self._keeper.ended(self)
            return
        try:
            drawn = decide_draws(table)
        except Exception as error:
            note("draw_failed", error, table=self._hex)
            self._keeper.failed(self, error)
            return
        if drawn is not None:
            body, events, checkpoint = drawn
            self._submit_own(body, events, draw_id(table.table_id, table.next_seq), checkpoint=checkpoint)
            return
        while self._mailbox and self._in_flight is None:
            self._handle(self._mailbox.popleft())
        if self._in_flight is None and not self._turn.running:
            self._begin_turn()

    def _begin_turn(self) -> None:
        self._audience.deadline_ms = self._turn.begin()

    def _free(self) -> bool:
        """Whether a move may be made now."""
        return self._in_flight is None and not (self._released or self._retiring or self._holds)

    def _server_moves(self, body: Moved, events: Sequence[Any]) -> None:
        self._submit_own(body, events, move_id(self.table.table_id, body.turn))

    def _failed(self, error: Exception) -> None:
        """The server's own move cannot be made: a fault of ours, and the game is voided."""
        note("server_move_failed", error, table=self._hex)
        self._keeper.failed(self, error)
