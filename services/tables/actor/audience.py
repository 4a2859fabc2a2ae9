"""Everybody who follows one table, and what they are told: rows, snapshots, refusals. Committed state only."""

from collections import deque
from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from libs.chassis.errors import DomainError
from libs.engine import fair
from libs.engine.errors import RuleViolation
from libs.engine.game import Seat
from libs.house.names import is_own
from libs.wire import frames, link
from services.tables.actor.asked import Asked
from services.tables.actor.presence import Followers, Holders
from services.tables.domain.entries import BY_TIME_OUT, Body, By, Moved, Resumed, TakenOver, Vacated
from services.tables.domain.errors import SeatLeft, SpectatorsFull
from services.tables.domain.table import Table
from services.tables.metrics import refusals
from services.tables.sessions import Session

WORDS = tuple(by.word for by in By)
SERVER = By.SERVER.word
# Rows kept for clients that resume: some ten seconds of play, a broken connection's length. Whoever missed more gets a
# snapshot. Memory that each move writes anew is what a table costs the processor's caches.
REPLAY_MAX = 16


class Audience:
    """The followers of a table in one epoch. `grace_ms` is told to clients (P30)."""

    def __init__(self, table: Table, epoch: int, holders: Holders, grace_ms: int) -> None:
        self.followers = Followers()
        # When the running turn ends, Unix milliseconds, 0 with nobody to act; set by whoever winds its clock.
        self.deadline_ms = 0
        self._table = table
        self._epoch = epoch
        self._holders = holders
        self._grace_ms = grace_ms
        self._hex = table.table_id.hex
        self._id = table.table_id.bytes
        self._commitment = fair.commitment(table.opened.secret).hex()
        self._replay: deque[tuple[int, bytes, dict[bytes, bytes]]] = deque(maxlen=REPLAY_MAX)
        # Who has no row from this one on gets a snapshot.
        self._resumes_from = 0

    # ---- who follows ----

    def join(self, session: Session, frame: link.Subscribe, seat: Seat | None) -> None:
        """Follow from a seat, or as a spectator: what was missed since `frame.since`, or a snapshot.

        Registering is the same step, so that no row falls between.
        """
        self.followers.add(session, frame.conn, frame.account)
        if not self._resume(session, frame):
            self._send(session, frame.conn, frames.encode(self.snapshot(seat)))

    def spectate(self, session: Session, frame: link.Subscribe) -> None:
        """Follow without a seat: public frames alone, and no more people than the host lets in (P22)."""
        try:
            most = self._table.admit_spectator(frame.account)
        except DomainError as refusal:
            has_left = self._table.seat_of(frame.account) is not None
            self.refuse(session, frame.conn, SeatLeft() if has_left else refusal)
            return
        watching = {account for account in self.followers.accounts() if self._table.sits(account) is None}
        if frame.account not in watching and len(watching) >= most:
            self.refuse(session, frame.conn, SpectatorsFull(most=most))
        else:
            self.join(session, frame, None)

    def see_off(self, account: bytes) -> None:
        """Who has left the seat goes on as anyone else: as a spectator within what is allowed, or not at all (P22)."""
        for session, conn in self.followers.sockets(account):
            self.followers.remove(session, conn)
            self.spectate(session, link.Subscribe(self._id, account, conn, -1))

    def _resume(self, session: Session, frame: link.Subscribe) -> bool:
        """Send the rows after `since` when all of them are still here."""
        missed = self._table.next_seq - 1 - frame.since
        if frame.since < self._resumes_from or missed < 0 or missed > len(self._replay):
            return False
        # The last row is repeated even when nothing was missed: it says whose turn it is and until when.
        for seq, public, private in self._replay:
            if seq > frame.since or (missed == 0 and seq == frame.since):
                session.send(link.ToSocket(self._id, frame.conn, self._epoch, public))
                if frame.account in private:
                    session.send(link.ToSocket(self._id, frame.conn, self._epoch, private[frame.account]))
        return bool(self._replay)

    # ---- to one ----

    def acknowledge(self, asked: Asked, seq: int) -> None:
        """The command stands as row `seq`."""
        if asked.session is not None:
            frame = frames.encode(frames.Ack(table=self._hex, req=asked.frame.req, seq=seq))
            self._send(asked.session, asked.conn, frame, asked.frame.req)
        elif asked.answer is not None and not asked.answer.done():
            asked.answer.set_result(seq)

    def refuse_asked(self, asked: Asked, refusal: DomainError | RuleViolation | None) -> None:
        """A command's refusal, the way that it came; without one it is our fault."""
        if asked.session is not None:
            self.refuse(asked.session, asked.conn, refusal, asked.frame.req)
        elif asked.answer is not None and not asked.answer.done():
            refusals.labels("INTERNAL" if refusal is None else refusal.reason).inc()
            asked.answer.set_exception(refusal or RuntimeError("the command failed"))

    def refuse(self, session: Session, conn: int, refusal: DomainError | RuleViolation | None, req: str = "") -> None:
        """A socket's refusal; of a command (`req`) with the decision that is awaited."""
        reason = "INTERNAL" if refusal is None else refusal.reason
        refusals.labels(reason).inc()
        frame = frames.Error(
            reason=reason,
            facts={} if refusal is None else dict(refusal.facts),
            req=req,
            table=self._hex,
            turn=self._table.turn if req else UNSET,
        )
        self._send(session, conn, frames.encode(frame), req)

    def _send(self, session: Session, conn: int, frame: bytes, req: str = "") -> None:
        session.send(link.ToSocket(self._id, conn, self._epoch, frame, req))

    # ---- to everybody ----

    def tell_row(self, seq: int, body: Body, events: Sequence[Any], asked: Asked | None) -> None:
        """A committed row: public bytes once, private ones by seat. Kept for those who resume."""
        if isinstance(body, Resumed):
            pause = frames.Moved(table=self._hex, epoch=self._epoch, pause_ms=body.pause_ms)
            self._broadcast(frames.encode(pause))
        game, turn, to_act = self._table.game, self._table.turn, self._table.to_act
        secret = [event for event in events if game.is_private(event)]
        moved = isinstance(body, Moved)
        public = frames.encode(
            frames.Delta(
                table=self._hex,
                seq=seq,
                epoch=self._epoch,
                events=[shown for event in events if (shown := game.project(event, None)) is not None],
                private=True if secret else UNSET,
                by=WORDS[body.by] if isinstance(body, Moved) else SERVER,
                seat=body.seat if isinstance(body, (Moved, Vacated, TakenOver)) else -1,
                turn=turn,
                to_act=-1 if to_act is None else to_act,
                deadline=self.deadline_ms,
                req=body.req if isinstance(body, Moved) else "",
            )
        )
        private = self._private_frames(seq, secret, turn, to_act)
        self._replay.append((seq, public, private))
        asking = asked.session if asked is not None and moved else None
        for session, conns in self.followers.by_session.items():
            there = conns.values()
            own = {account: frame for account, frame in private.items() if account in there}
            if session is asking:
                assert asked is not None
                session.send(link.Public(self._id, self._epoch, seq, public, asked.conn, asked.frame.req, own))
            else:
                session.send(link.Public(self._id, self._epoch, seq, public, 0, "", own))
        if isinstance(body, TakenOver):
            self._tell_newcomer(body)
        elif isinstance(body, Vacated) or (isinstance(body, Moved) and body.by == BY_TIME_OUT):
            self.tell_presence(body.seat)

    def tell_presence(self, seat: Seat) -> None:
        """Whose the seat is now, and until when its turn runs (P31)."""
        presence = frames.Presence(
            table=self._hex,
            seat=seat,
            holder=self._holders.of(seat),
            left=self._table.tallies[seat].left,
            deadline=self.deadline_ms if self._table.to_act == seat else 0,
        )
        self._broadcast(frames.encode(presence))

    def tell_over(self, status: str) -> None:
        """The record is kept; the secret may be shown (P70)."""
        over = frames.Over(
            table=self._hex,
            seq=self._table.next_seq - 1,
            epoch=self._epoch,
            status=status,
            secret=self._table.opened.secret.hex(),
        )
        self._broadcast(frames.encode(over))

    def _tell_newcomer(self, body: TakenOver) -> None:
        """Everybody learns who sits there; the newcomer sees the seat's hand from now on, and nothing of before."""
        # What was kept for those who resume does not add up to the newcomer's view, and whoever was cut off behind this
        # row may have missed the snapshot.
        self._replay.clear()
        self._resumes_from = self._table.next_seq
        self._broadcast(frames.encode(frames.Seated(table=self._hex, seat=body.seat, who=self._seat_info(body.seat))))
        snapshot = frames.encode(self.snapshot(body.seat))
        for session in self.followers.of(body.who.account):
            session.send(link.ToAccount(self._id, body.who.account, self._epoch, snapshot))

    def _broadcast(self, frame: bytes) -> None:
        seq = self._table.next_seq - 1
        for session in self.followers.by_session:
            session.send(link.Public(self._id, self._epoch, seq, frame))

    # ---- what they may see ----

    def snapshot(self, seat: Seat | None) -> frames.Snapshot:
        """The table as this seat may see it now; as a spectator without one."""
        return frames.Snapshot(
            table=self._hex,
            seq=self._table.next_seq - 1,
            epoch=self._epoch,
            seat=-1 if seat is None else seat,
            game=self._table.opened.game,
            view=self._table.view(seat),
            seats=[self._seat_info(each) for each in range(len(self._table.seats))],
            deadline=self.deadline_ms,
            commitment=self._commitment,
            grace_ms=self._grace_ms,
        )

    def _seat_info(self, seat: Seat) -> frames.SeatInfo:
        facts = self._table.seats[seat]
        return frames.SeatInfo(
            name=facts.name,
            kind="person" if facts.account else "bot",
            verified=bool(facts.account) and not facts.guest and is_own(facts.name),
            holder=self._holders.of(seat),
            left=self._table.tallies[seat].left,
        )

    def _private_frames(self, seq: int, secret: Sequence[Any], turn: int, to_act: Seat | None) -> dict[bytes, bytes]:
        """By account: what it alone is told of the `secret` events, and its legal moves when it is to act."""
        table, game = self._table, self._table.game
        seats = range(len(table.seats)) if secret else (() if to_act is None else (to_act,))
        made: dict[bytes, bytes] = {}
        for seat in seats:
            if not table.is_person(seat):
                continue
            frame = frames.Private(
                table=self._hex,
                seq=seq,
                epoch=self._epoch,
                turn=turn,
                events=[shown for event in secret if (shown := game.project(event, seat)) is not None],
            )
            if seat == to_act:
                frame.legal = list(game.legal(table.state))
            made[table.seats[seat].account] = frames.encode(frame)
        return made
