"""One live table: a mailbox drained by callbacks, one command in flight, nothing sent before its commit.

Three numbers are kept apart: `seq` (journal row; resume), `turn` (the decision a command answers; the only test of
staleness) and `epoch` (ownership). Views and frames read committed state only.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any, Protocol
from uuid import UUID

import structlog
from msgspec import UNSET

from libs.chassis.clock import Clock
from libs.chassis.errors import DomainError
from libs.chassis.telemetry.tracing import sampled, span_afterwards
from libs.engine import fair
from libs.engine.errors import RuleViolation
from libs.engine.game import Action, Seat, State
from libs.house.bots import Strength
from libs.house.turns import Turns
from libs.wire import frames, link
from libs.wire.metrics import decide_stage, fanout_stage, journal_stage, queue_stage
from services.tables import announcements
from services.tables.bots import BotPlayers
from services.tables.domain.entries import (
    Body,
    By,
    FriendsTable,
    Moved,
    Resumed,
    SeatFacts,
    TakenOver,
    Vacated,
    encode_body,
)
from services.tables.domain.errors import (
    AlreadySeated,
    GameOver,
    NotAtTable,
    SeatLeft,
    SpectatorsFull,
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
from services.tables.metrics import moves_by, refusals, thinking
from services.tables.ports import Entry, Journal, Outcome
from services.tables.presence import Followers, Presence
from services.tables.sessions import Session
from services.tables.turn_clock import TurnClock

log = structlog.get_logger()

MAILBOX_MAX = 64  # six seats, ten commands each; more is a broken client
WORDS = tuple(by.word for by in By)
SERVER = By.SERVER.word
# Rows kept for clients that resume: some ten seconds of play, a broken connection's length. Whoever missed more gets a
# snapshot. Memory that each move writes anew is what a table costs the processor's caches.
REPLAY_MAX = 16


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long turns last and how soon bots move; the scales shorten both for demonstrations and tests."""

    turns: Turns
    bot_scale: float = 1.0
    limit_scale: float = 1.0
    # A friends' table without people is called off after this (P25).
    deserted_ms: int = 300_000

    def limit_seconds(self, phase: str, friends: FriendsTable | None) -> float:
        """A person's time for one decision: the platform's (P30) or the host's (P21); a claim has its own (W7)."""
        chosen = self.turns if friends is None else friends
        match phase:
            case "claim":
                milliseconds = self.turns.claim_ms
            case "bid" | "name":
                milliseconds = chosen.bid_ms
            case _:
                milliseconds = chosen.play_ms
        return milliseconds * self.limit_scale / 1000

    def deserted_seconds(self) -> float:
        return self.deserted_ms * self.limit_scale / 1000

    def grace_seconds(self) -> float:
        return self.turns.network_grace_ms * self.limit_scale / 1000

    def bot_seconds(self, share: float) -> float:
        """A human-like time; `share` in 0..1 picks it (P63)."""
        low, high = self.turns.bot_min_ms, self.turns.bot_max_ms
        return (low + (high - low) * share) * self.bot_scale / 1000


@dataclass(frozen=True, slots=True)
class TakeSeat:
    """A person wants a seat that was left, or that only a bot holds (P22)."""

    who: SeatFacts
    seat: Seat
    req: str

    @property
    def account(self) -> bytes:
        return self.who.account


@dataclass(slots=True)
class _Asked:
    """A person's command with the way its answer takes: to socket `conn`, or to whoever waits for the row's number."""

    frame: link.Command | link.Vacate | TakeSeat
    arrived: float
    session: Session | None = None
    conn: int = 0
    answer: "asyncio.Future[int] | None" = None


@dataclass(slots=True)
class _InFlight:
    body: Body
    events: Sequence[Any]
    # The state that the events lead to: it becomes the table's when the row is committed.
    after: State
    asked: _Asked | None
    decided: float


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
        self.followers = Followers()
        self._journal = journal
        self._clock = clock
        self._pace = pace
        self._bots = bots
        self._keeper = keeper
        self._loop = asyncio.get_running_loop()
        self._hex = table.table_id.hex
        self._id = table.table_id.bytes
        self._commitment = fair.commitment(table.opened.secret).hex()
        self._mailbox: deque[_Asked] = deque()
        self._in_flight: _InFlight | None = None
        self._turn_clock = TurnClock(self._time_up)
        self._deadline_ms = 0
        self._turn_began = 0.0
        self._presence = {seat: Presence() for seat, facts in enumerate(table.seats) if facts.account}
        self._replay: deque[tuple[int, bytes, dict[bytes, bytes]]] = deque(maxlen=REPLAY_MAX)
        self._released = False
        self._retiring = False
        self._friends = table.opened.friends
        # Runs while no person is at a friends' table.
        self._alone: asyncio.TimerHandle | None = None
        self._on_idle: list[Callable[[], None]] = []

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
        for session in self.followers.by_session:
            session.send(link.NotOwner(self._id))
        for asked in self._mailbox:
            self._disown(asked)
        self._mailbox.clear()

    async def quiet(self) -> None:
        """Return when no entry is in flight."""
        if self._in_flight is not None:
            done = self._loop.create_future()
            self._on_idle.append(lambda: None if done.done() else done.set_result(None))
            await done

    def close(self) -> None:
        """Forget the followers: the game has ended and they have been told."""
        self._released = True
        self._stop_clocks()
        for session in self.followers.by_session:
            session.send(link.Closed(self._id))
        for asked in self._mailbox:
            if asked.session is None:
                self._refuse_asked(asked, GameOver())

    def _stop_clocks(self) -> None:
        self._turn_clock.close()
        if self._alone is not None:
            self._alone.cancel()
            self._alone = None

    def _watch_for_people(self) -> None:
        """Wind the clock of a friends' table that no person is at, stop it when somebody is (P25)."""
        if self._friends is None:
            return
        there = any(each.connected for seat, each in self._presence.items() if self.table.is_person(seat))
        if there or self._released or self._retiring:
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
            self._spectate(session, frame)
            return
        self.followers.add(session, frame.conn, frame.account)
        returned = self._is_there(seat, joined=True)
        if not self._resume(session, frame):
            self._send(session, frame.conn, frames.encode(self.snapshot(seat)))
        if returned:
            self._announce_presence(seat)
        self._watch_for_people()

    def _spectate(self, session: Session, frame: link.Subscribe) -> None:
        """Follow without a seat: public frames alone, and no more people than the host lets in (P22)."""
        try:
            most = self.table.admit_spectator(frame.account)
        except DomainError as refusal:
            has_left = self.table.seat_of(frame.account) is not None
            self._refuse(session, frame.conn, SeatLeft() if has_left else refusal)
            return
        watching = {account for account in self.followers.accounts() if self.table.sits(account) is None}
        if frame.account not in watching and len(watching) >= most:
            self._refuse(session, frame.conn, SpectatorsFull(most=most))
        else:
            self.followers.add(session, frame.conn, frame.account)
            if not self._resume(session, frame):
                self._send(session, frame.conn, frames.encode(self.snapshot(None)))

    def _see_off(self, account: bytes) -> None:
        """Who has left the seat goes on as anyone else: as a spectator within what is allowed, or not at all (P22)."""
        for session, conn in self.followers.sockets(account):
            self.followers.remove(session, conn)
            self._spectate(session, link.Subscribe(self._id, account, conn, -1))

    def unsubscribe(self, session: Session, conn: int) -> None:
        """A socket has gone; the seat is kept (P31)."""
        account = self.followers.remove(session, conn)
        if account is not None:
            self._disconnected(account)

    def session_ended(self, session: Session) -> None:
        """A gateway has gone with all its sockets."""
        for account in self.followers.remove_session(session):
            self._disconnected(account)

    def snapshot(self, seat: Seat | None) -> frames.Snapshot:
        """The table as this seat may see it now."""
        return frames.Snapshot(
            table=self._hex,
            seq=self.table.next_seq - 1,
            epoch=self.epoch,
            seat=-1 if seat is None else seat,
            game=self.table.opened.game,
            view=self.table.view(seat),
            seats=[self._seat_info(each) for each in range(len(self.table.seats))],
            deadline=self._deadline_ms,
            commitment=self._commitment,
            grace_ms=round(self._pace.grace_seconds() * 1000),
        )

    def announce_over(self, status: str) -> None:
        """The record is kept; the secret may be shown (P70)."""
        frame = frames.encode(
            frames.Over(
                table=self._hex,
                seq=self.table.next_seq - 1,
                epoch=self.epoch,
                status=status,
                secret=self.table.opened.secret.hex(),
            )
        )
        self._broadcast(frame)
        self.close()

    def announce_owner(self, session: Session, address: str) -> None:
        session.send(link.Owned(self._id, self.epoch, self.table.next_seq - 1, address))

    def _seat_info(self, seat: Seat) -> frames.SeatInfo:
        facts = self.table.seats[seat]
        return frames.SeatInfo(
            name=facts.name,
            kind="person" if facts.account else "bot",
            verified=bool(facts.account) and not facts.guest,
            holder=self._holder(seat),
            left=self.table.tallies[seat].left,
        )

    def _holder(self, seat: Seat) -> str:
        """Who plays the seat's next turn: the person, or the bot for one who is away, gone or left."""
        if not self.table.is_person(seat):
            return "bot"
        presence = self._presence[seat]
        away = self.table.tallies[seat].time_outs >= self._pace.turns.away_after and not presence.returned
        gone = not presence.connected and presence.waited_out
        return "bot" if away or gone else "person"

    def _disconnected(self, account: bytes) -> None:
        seat = self.table.seat_of(account)
        if seat is not None:
            self._presence[seat].connected = False
            self._watch_for_people()

    def _announce_presence(self, seat: Seat) -> None:
        left = self.table.tallies[seat].left
        self._broadcast(
            frames.encode(
                frames.Presence(
                    table=self._hex,
                    seat=seat,
                    holder=self._holder(seat),
                    left=left,
                    deadline=self._deadline_ms if self.table.to_act == seat else 0,
                )
            )
        )

    def _resume(self, session: Session, frame: link.Subscribe) -> bool:
        """Send the rows after `since` when all of them are still here."""
        missed = self.table.next_seq - 1 - frame.since
        if frame.since < 0 or missed < 0 or missed > len(self._replay):
            return False
        # The last row is repeated even when nothing was missed: it says whose turn it is and until when.
        for seq, public, private in self._replay:
            if seq > frame.since or (missed == 0 and seq == frame.since):
                session.send(link.ToSocket(self._id, frame.conn, self.epoch, public))
                if frame.account in private:
                    session.send(link.ToSocket(self._id, frame.conn, self.epoch, private[frame.account]))
        return bool(self._replay)

    # ---- commands ----

    def command(self, session: Session, frame: link.Command | link.Vacate, arrived: float) -> None:
        """A person's move or farewell; answered by the row's frames, an ack, or a typed error."""
        if self.table.seat_of(frame.account) is None and not self._released:
            self._refuse(session, frame.conn, NotAtTable(), frame.req)
            return
        self._queue(_Asked(frame, arrived, session, frame.conn))

    async def take_seat(self, frame: TakeSeat, arrived: float) -> int:
        """The row in which a person has sat down. Idempotent by account and `req`.

        Raises what `decide_take_over` raises, TableBusy, TableUnowned (ask its owner).
        """
        answer: asyncio.Future[int] = self._loop.create_future()
        self._queue(_Asked(frame, arrived, answer=answer))
        return await answer

    def _queue(self, asked: _Asked) -> None:
        if self._released:
            self._disown(asked)
        elif self._in_flight is None and not self._retiring:
            self._handle(asked)
        elif len(self._mailbox) >= MAILBOX_MAX:
            self._refuse_asked(asked, TableBusy())
        else:
            self._mailbox.append(asked)

    def _handle(self, asked: _Asked) -> None:
        started = self._clock.monotonic()
        queue_stage.observe(started - asked.arrived)
        table, frame = self.table, asked.frame
        answered = table.answered_at(frame.account, frame.req)
        if answered is not None:
            self._acknowledge(asked, answered)
            return
        identity = command_id(table.table_id, frame.account, frame.req)
        body: Moved | Vacated | TakenOver
        events: Sequence[Any] = ()
        after = table.state
        try:
            match frame:
                case link.Command():
                    seat = self._seated(frame.account)
                    body, events = decide_move(table, seat, frame.turn, frame.action, By.PERSON, frame.req)
                    after = _after(table, events)
                case link.Vacate():
                    seat = self._seated(frame.account)
                    if table.tallies[seat].left:
                        self._acknowledge(asked, table.next_seq - 1)
                        return
                    body = Vacated(seat, frame.req)
                case TakeSeat():
                    body = decide_take_over(table, frame.seat, frame.who, frame.req)
        except StaleTurn as stale:
            self._answer_stale(asked, identity, stale)
            return
        except (DomainError, RuleViolation) as refusal:
            self._refuse_asked(asked, refusal)
            return
        except Exception as error:
            # One command fails alone; the table lives on and the fault is counted.
            note("decide_failed", error, table=self._hex)
            self._refuse_asked(asked, None)
            return
        decided = self._clock.monotonic()
        decide_stage.observe(decided - started)
        self._submit(body, events, after, identity, asked, decided)

    def _seated(self, account: bytes) -> Seat:
        """The seat of somebody whose command's turn has come; whoever acts has come back.

        Raises NotAtTable: another has taken the seat over.
        """
        seat = self.table.seat_of(account)
        if seat is None:
            raise NotAtTable
        if not self._presence[seat].returned and self._is_there(seat):
            self._announce_presence(seat)
        return seat

    def _is_there(self, seat: Seat, *, joined: bool = False) -> bool:
        """The seat's person has come or acted; True: a bot held the seat until now, and its running turn begins anew.

        Everybody is to be told then (P31): whose the seat is, and until when its turn runs.
        """
        presence = self._presence[seat]
        returned = self.table.is_person(seat) and self._holder(seat) == "bot"
        presence.connected = presence.connected or joined
        presence.waited_out, presence.returned = False, True
        stopped = self._released or self._retiring
        if returned and self._in_flight is None and not stopped and self.table.to_act == seat:
            self._arm()
        return returned

    def _answer_stale(self, asked: _Asked, identity: UUID, stale: StaleTurn) -> None:
        """Too old for our memory or never made: the journal knows. The index is asked once, off the hot path."""

        async def look_up() -> None:
            try:
                seq = await self._journal.find(self.table.table_id, self.born, identity)
            except Exception as error:
                log.warning("stale_lookup_failed", table=self._hex, error=repr(error))
                seq = None
            if seq is None:
                self._refuse_asked(asked, stale)
            else:
                self._acknowledge(asked, seq)

        self._keeper.spawn(look_up())

    def _acknowledge(self, asked: _Asked, seq: int) -> None:
        if asked.session is not None:
            frame = frames.encode(frames.Ack(table=self._hex, req=asked.frame.req, seq=seq))
            self._send(asked.session, asked.conn, frame, asked.frame.req)
        elif asked.answer is not None and not asked.answer.done():
            asked.answer.set_result(seq)

    def _refuse_asked(self, asked: _Asked, refusal: DomainError | RuleViolation | None) -> None:
        """A command's refusal, the way that it came; without one it is our fault."""
        if asked.session is not None:
            self._refuse(asked.session, asked.conn, refusal, asked.frame.req)
        elif asked.answer is not None and not asked.answer.done():
            refusals.labels("INTERNAL" if refusal is None else refusal.reason).inc()
            asked.answer.set_exception(refusal or RuntimeError("the command failed"))

    def _disown(self, asked: _Asked) -> None:
        """The table is another's: ask there."""
        if asked.session is not None:
            asked.session.send(link.NotOwner(self._id, asked.conn, asked.frame.req))
        elif asked.answer is not None and not asked.answer.done():
            asked.answer.set_exception(TableUnowned())

    def _refuse(self, session: Session, conn: int, refusal: DomainError | RuleViolation | None, req: str = "") -> None:
        reason = "INTERNAL" if refusal is None else refusal.reason
        refusals.labels(reason).inc()
        frame = frames.Error(
            reason=reason,
            facts={} if refusal is None else dict(refusal.facts),
            req=req,
            table=self._hex,
            turn=self.table.turn if req else UNSET,
        )
        self._send(session, conn, frames.encode(frame), req)

    # ---- the one command in flight ----

    def _submit(
        self, body: Body, events: Sequence[Any], after: State, identity: UUID, asked: _Asked | None, decided: float,
        *, checkpoint: bool = False,
    ) -> None:  # fmt: skip
        table = self.table
        self.traceparent = _traceparent(asked)
        self._in_flight = _InFlight(body, events, after, asked, decided)
        self._journal.append(
            Entry(
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
        )

    def _submit_own(self, body: Body, events: Sequence[Any], identity: UUID, *, checkpoint: bool = False) -> None:
        """An entry of the server's own."""
        after = _after(self.table, events)
        self._submit(body, events, after, identity, None, self._clock.monotonic(), checkpoint=checkpoint)

    def _settled(self, outcome: Outcome, seq: int) -> None:
        flight, self._in_flight = self._in_flight, None
        assert flight is not None
        if outcome is Outcome.COMMITTED:
            self._committed(flight)
        elif outcome is Outcome.REFUSED:
            self._wake_waiters()
            if flight.asked is None:
                self._keeper.failed(self, RuntimeError(f"row {self.table.next_seq} cannot be written"))
                return
            # Of a person's rows the database refuses the one that seats somebody who has just sat down elsewhere.
            self._refuse_asked(flight.asked, AlreadySeated() if isinstance(flight.body, TakenOver) else None)
            self._go_on()
        elif outcome is Outcome.REPEATED:
            self._wake_waiters()
            if flight.asked is None:
                # Ids of the server's own entries name their turn or row; a twin means that our fold is wrong.
                self._keeper.failed(self, RuntimeError(f"row {self.table.next_seq} was written before as {seq}"))
                return
            self._acknowledge(flight.asked, seq)
            self._go_on()
        else:
            self.release()
            self._wake_waiters()
            if flight.asked is not None:
                self._disown(flight.asked)
            self._keeper.lost(self)

    def _committed(self, flight: _InFlight) -> None:
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
        if not self._released and not self._retiring:
            self._next()

    def _commit(self, flight: _InFlight, committed: float) -> None:
        body, asked = flight.body, flight.asked
        seq = self.table.next_seq
        self.table.apply(body, flight.after)
        # Somebody else's coming or going is no reason to give the running turn more time.
        if not isinstance(body, (Vacated, TakenOver)) or body.seat == self.table.to_act:
            self._turn_clock.stop()
        if isinstance(body, Moved):
            moves_by[body.by].count()
            if body.by == By.PERSON:
                thinking.observe(committed - self._turn_began)
            elif body.by == By.TIME_OUT and body.seat in self._presence:
                presence = self._presence[body.seat]
                presence.waited_out = not presence.connected
                presence.returned = False
        elif isinstance(body, (Vacated, TakenOver)):
            if isinstance(body, TakenOver):
                self._presence[body.seat] = Presence(connected=self.followers.has(body.who.account), returned=True)
            self._watch_for_people()
        if not self._turn_clock.running:
            self._arm()
        self._fan_out(seq, flight)
        if asked is not None:
            done = self._clock.monotonic()
            journal_stage.observe(committed - flight.decided)
            fanout_stage.observe(done - committed)
            if isinstance(asked.frame, (link.Vacate, TakeSeat)):
                self._acknowledge(asked, seq)
            elif sampled(asked.frame.traceparent):
                self._trace(asked, flight.decided, committed, done)
        if isinstance(body, Vacated):
            self._see_off(self.table.seats[body.seat].account)

    def _trace(self, asked: _Asked, decided: float, committed: float, done: float) -> None:
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
            waiter()

    # ---- what comes next ----

    def _next(self) -> None:
        """The game's end, a due draw, a waiting command, or the running turn's clock."""
        table = self.table
        if table.phase == OVER:
            self._turn_clock.stop()
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
        if self._in_flight is None and not self._turn_clock.running:
            self._arm()

    def _arm(self) -> None:
        """Start the running turn's clock: a person's limit with a small grace, or the bot's pace."""
        table = self.table
        seat = table.to_act
        if seat is None:
            self._deadline_ms = 0
            return
        self._turn_began = self._clock.monotonic()
        if self._holder(seat) == "person":
            seconds = self._pace.limit_seconds(table.phase, self._friends)
            self._deadline_ms = round((self._clock.unix() + seconds) * 1000)
            seconds += self._pace.grace_seconds()
        else:
            turn = table.turn
            seconds = self._pace.bot_seconds(move_id(table.table_id, turn).bytes[0] / 255)
            self._deadline_ms = round((self._clock.unix() + seconds) * 1000)
        self._turn_clock.set(seconds, table.turn)

    def _time_up(self, turn: int) -> None:
        """The clock of decision `turn` has run out; a move that is in flight has won already."""
        table = self.table
        seat = table.to_act
        stopped = self._released or self._retiring
        if stopped or self._in_flight is not None or seat is None or table.turn != turn:
            return
        by = By.TIME_OUT if self._holder(seat) == "person" else By.BOT
        try:
            view = table.view(seat)
        except Exception as error:
            self._failed(error)
            return
        # By table and decision, not by the secret: whoever recovers the table makes the same move, and watching bots
        # tells nothing about the cards to come.
        seed = int.from_bytes(move_id(table.table_id, turn).bytes[8:])
        done = partial(self._bot_chose, turn, by)
        # A stand-in keeps the seat of somebody who may still win it; the host chooses the strength of the others.
        chosen = None if self._friends is None or table.is_person(seat) else Strength(self._friends.bots)
        self._bots.ask(table.opened.game, view, stand_in=table.is_person(seat), strength=chosen, seed=seed, done=done)

    def _bot_chose(self, turn: int, by: By, action: Action) -> None:
        """The bot's answer to decision `turn`; one that comes after the decision, or after a new clock, is dropped."""
        table = self.table
        seat = table.to_act
        stopped = self._released or self._retiring
        started_anew = self._turn_clock.running  # somebody is back and has the turn, or the pace runs once more
        if stopped or started_anew or self._in_flight is not None or table.turn != turn:
            return
        assert seat is not None, "the decision is still awaited"
        try:
            body, events = decide_move(table, seat, turn, action, by, "")
        except Exception as error:
            self._failed(error)
            return
        self._submit_own(body, events, move_id(table.table_id, turn))

    def _failed(self, error: Exception) -> None:
        """The server's own move cannot be made: a fault of ours, and the game is voided."""
        note("server_move_failed", error, table=self._hex)
        self._keeper.failed(self, error)

    # ---- frames ----

    def _fan_out(self, seq: int, flight: _InFlight) -> None:
        """The row to everybody: public bytes once, private ones by seat. Kept for those who resume."""
        body, asked = flight.body, flight.asked
        if isinstance(body, Resumed):
            pause = frames.Moved(table=self._hex, epoch=self.epoch, pause_ms=body.pause_ms)
            self._broadcast(frames.encode(pause))
        game, turn, to_act = self.table.game, self.table.turn, self.table.to_act
        secret = [event for event in flight.events if game.is_private(event)]
        public = frames.encode(
            frames.Delta(
                table=self._hex,
                seq=seq,
                epoch=self.epoch,
                events=[shown for event in flight.events if (shown := game.project(event, None)) is not None],
                private=True if secret else UNSET,
                by=WORDS[body.by] if isinstance(body, Moved) else SERVER,
                seat=body.seat if isinstance(body, (Moved, Vacated, TakenOver)) else -1,
                turn=turn,
                to_act=-1 if to_act is None else to_act,
                deadline=self._deadline_ms,
                req=body.req if isinstance(body, Moved) else "",
            )
        )
        private = self._private_frames(seq, secret, turn, to_act)
        self._replay.append((seq, public, private))
        asking = asked.session if asked is not None and isinstance(body, Moved) else None
        for session, conns in self.followers.by_session.items():
            there = conns.values()
            own = {account: frame for account, frame in private.items() if account in there}
            if session is asking:
                assert asked is not None
                session.send(link.Public(self._id, self.epoch, seq, public, asked.conn, asked.frame.req, own))
            else:
                session.send(link.Public(self._id, self.epoch, seq, public, 0, "", own))
        if isinstance(body, TakenOver):
            self._announce_newcomer(body)
        elif isinstance(body, Vacated) or (isinstance(body, Moved) and body.by == By.TIME_OUT):
            self._announce_presence(body.seat)

    def _announce_newcomer(self, body: TakenOver) -> None:
        """Everybody learns who sits there; the newcomer sees the seat's hand from now on, and nothing of before."""
        # What was kept for those who resume does not add up to the newcomer's view.
        self._replay.clear()
        self._broadcast(frames.encode(frames.Seated(table=self._hex, seat=body.seat, who=self._seat_info(body.seat))))
        snapshot = frames.encode(self.snapshot(body.seat))
        for session in self.followers.of(body.who.account):
            session.send(link.ToAccount(self._id, body.who.account, self.epoch, snapshot))

    def _private_frames(self, seq: int, secret: Sequence[Any], turn: int, to_act: Seat | None) -> dict[bytes, bytes]:
        """By account: what it alone is told of the `secret` events, and its legal moves when it is to act."""
        game = self.table.game
        seats = range(len(self.table.seats)) if secret else (() if to_act is None else (to_act,))
        made: dict[bytes, bytes] = {}
        for seat in seats:
            account = self.table.seats[seat].account
            if not self.table.is_person(seat):
                continue
            frame = frames.Private(
                table=self._hex,
                seq=seq,
                epoch=self.epoch,
                turn=turn,
                events=[shown for event in secret if (shown := game.project(event, seat)) is not None],
            )
            if seat == to_act:
                frame.legal = list(game.legal(self.table.state))
            made[account] = frames.encode(frame)
        return made

    def _broadcast(self, frame: bytes) -> None:
        seq = self.table.next_seq - 1
        for session in self.followers.by_session:
            session.send(link.Public(self._id, self.epoch, seq, frame))

    def _send(self, session: Session, conn: int, frame: bytes, req: str = "") -> None:
        session.send(link.ToSocket(self._id, conn, self.epoch, frame, req))


def _after(table: Table, events: Sequence[Any]) -> State:
    """The state to which these events lead."""
    state, evolve = table.state, table.game.evolve
    for event in events:
        state = evolve(state, event)
    return state


def _traceparent(asked: _Asked | None) -> str:
    """The trace that goes on in the entry's events; a command that is not sampled costs nothing."""
    if asked is None or not isinstance(asked.frame, link.Command) or not sampled(asked.frame.traceparent):
        return ""
    return asked.frame.traceparent
