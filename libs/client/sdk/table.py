"""One followed table: its view by the server's rows alone, and the decisions that are ours.

The server numbers its rows (`seq`) and its owners (`epoch`). A row is applied when it is the next one, ignored when
it is known or its owner is old, and when one is missing the table is asked for again. A move changes nothing here
until the server's row for it comes.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET

from libs.client.sdk.errors import TurnPassed, WhistError
from libs.client.sdk.pulse import Pulse
from libs.engine.follow import follow
from libs.engine.protocol import Action, View
from libs.wire import frames

RESEND_S = 3.0  # an unanswered command is sent again with the same `req`; the server answers a repeat as the first
COMMANDS_MAX = 8  # unanswered at once: a move and a departure; more is a caller that does not wait
# The same request may be sent again: the table is between two owners, or we were too fast.
PASSING = frozenset({"UNAVAILABLE", "TABLE_BUSY", "RATE_LIMITED", "JOIN_FIRST"})

Post = Callable[[frames.ClientFrame], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How the table ended for us. `status`: "finished", "voided", or "left" on purpose (then there is no ranking)."""

    status: str
    seat: int  # -1: a spectator
    ranking: tuple[int, ...] = ()  # seats, best first
    totals: tuple[int, ...] = ()  # by seat
    secret: str = ""  # hexadecimal; its SHA-256 is the commitment (P70)

    @property
    def place(self) -> int | None:
        """1 for the winner; None for a spectator or a game that was not played out."""
        return self.ranking.index(self.seat) + 1 if self.seat in self.ranking else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """It is our turn: what we know, and what we may do."""

    table: "Table"
    turn: int
    view: View

    @property
    def legal(self) -> tuple[Action, ...]:
        """Every move that the rules allow: {"bid": 3} or {"play": "QH"}."""
        return tuple(self.view["legal"])

    async def take(self, action: Mapping[str, Any]) -> None:
        """Make the move; returns when it stands and the view has it. Sent again by itself until it is answered.

        Raises TurnPassed (made already) and WhistError (refused: nothing changed, and the decision is offered again).
        """
        await self.table.act(self.turn, action)


@dataclass(slots=True)
class Pending:
    """A command without an answer. `stands_at`: acknowledged as this row, which has not come yet."""

    frame: frames.Act | frames.Quit
    answer: "asyncio.Future[None]"
    stands_at: int | None = None


class Table:
    """A table that is followed until it ends; iterate over it for our own decisions.

    `Whist.join` makes it. Frames go in by `receive`; what is to be sent goes out by `post`, which may drop frames
    while there is no connection: `resume` says what to send on the next one.
    """

    def __init__(self, table_id: str, post: Post) -> None:
        self.id = table_id
        self.game = ""
        self.seat = -1
        self.view: View = {}
        self.seats: tuple[frames.SeatInfo, ...] = ()
        self.seq = -1
        self.epoch = 0
        self.deadline_ms = 0  # server's Unix milliseconds; 0: nobody has to act
        self.commitment = ""
        self.result: Result | None = None
        self.version = 0  # counts changes, see `changed`
        self._post = post
        self._pulse = Pulse()
        self._failure: WhistError | None = None
        self._pending: dict[str, Pending] = {}
        self._unmerged: frames.Delta | None = None  # a row that waits for what we alone are told of it
        self._asked = ""  # "", "since" or "whole": what was asked for to fill a gap
        self._last: frames.Over | None = None  # the end, known before the rows that lead to it
        self._offered: int | None = None

    # ---- for the player ----

    def __aiter__(self) -> AsyncIterator[Decision]:
        return self

    async def __anext__(self) -> Decision:
        """The next decision that is ours; ends with the game. Raises WhistError when the table is lost to us."""
        while self.result is None:
            self._raise_failure()
            decision = self.decision
            if decision is not None and decision.turn != self._offered:
                self._offered = decision.turn
                return decision
            await self._pulse.wait()
        raise StopAsyncIteration

    @property
    def decision(self) -> Decision | None:
        """Ours to make now, or None."""
        if self.result is not None or "legal" not in self.view:
            return None
        return Decision(table=self, turn=self.view["turn"], view=self.view)

    @property
    def away(self) -> bool:
        """Whether a bot plays our seat, because we were silent or gone, until `come_back` or a move (P30, P31)."""
        return self.seat >= 0 and self.seats[self.seat].holder == "bot"

    def come_back(self) -> None:
        """Tell the server that somebody is here again: our next decision is ours to make. Does nothing if it is."""
        if self.live and self.away:
            self._ask("since")

    async def changed(self, version: int) -> int:
        """Wait until the table differs from that `version`; its version then. Raises WhistError when it is lost."""
        while self.version == version:
            self._raise_failure()
            await self._pulse.wait()
        return self.version

    async def act(self, turn: int, action: Mapping[str, Any]) -> None:
        """Answer the decision `turn`; see `Decision.take`."""
        await self._command(frames.Act(table=self.id, req=uuid.uuid4().hex, turn=turn, action=dict(action)))

    async def quit(self) -> None:
        """Give the seat up for good: the bot plays to the end and nothing is won (P8)."""
        await self._command(frames.Quit(table=self.id, req=uuid.uuid4().hex))

    async def joined(self) -> None:
        """Wait for the first snapshot. Raises WhistError: NOT_AT_TABLE, TABLE_UNKNOWN, TABLE_FINISHED, …"""
        while not self.view:
            self._raise_failure()
            await self._pulse.wait()

    # ---- for the connection ----

    @property
    def live(self) -> bool:
        """Whether there is anything to follow still."""
        return self.result is None and self._failure is None

    def resume(self) -> list[frames.ClientFrame]:
        """What a new connection has to send: where we are, then every command that was not answered."""
        self._asked = "since" if self.view else "whole"
        self._unmerged = None
        return [self.join(), *(each.frame for each in self._pending.values())]

    def join(self) -> frames.Join:
        """The request that would bring us up to date now."""
        return frames.Join(table=self.id, since=self.seq if self._asked == "since" else UNSET)

    def fail(self, error: WhistError) -> None:
        """The table cannot be followed any more; whoever waits is told."""
        if not self.live:
            return
        self._failure = error
        for each in self._pending.values():
            _settle(each, error)
        self._beat()

    def touch(self) -> None:
        """Something around the table has changed: whoever shows it looks again."""
        self._beat()

    def finish(self, result: Result) -> None:
        """The end, learnt elsewhere than from the socket: the game ended while we were away."""
        self._end(result)

    def receive(self, frame: frames.ServerFrame) -> None:
        """Apply one frame of this table. Never blocks, never raises for what a server may send."""
        if not self.live:
            return
        match frame:
            case frames.Snapshot():
                self._snapshot(frame)
            case frames.Ack():
                self._acknowledged(frame.req, frame.seq)
            case frames.Error():
                self._refused(frame)
            case _ if not self.view:
                return  # left over from before: the snapshot is on its way
            case frames.Delta():
                self._delta(frame)
            case frames.Private():
                self._private(frame)
            case frames.Presence():
                self._presence(frame)
            case frames.Seated():
                self._seated(frame)
            case frames.Moved():
                self.epoch = max(self.epoch, frame.epoch)
            case frames.Over():
                self._over(frame)

    # ---- rows ----

    def _snapshot(self, frame: frames.Snapshot) -> None:
        if frame.epoch < self.epoch or frame.seq < self.seq:
            self._asked = ""  # older than what we have: the next gap may ask again
            return
        self.game, self.seat, self.view = frame.game, frame.seat, frame.view
        self.seats, self.commitment = tuple(frame.seats), frame.commitment
        self.seq, self.epoch, self.deadline_ms = frame.seq, frame.epoch, frame.deadline
        self._asked, self._unmerged = "", None
        self._moved_on()

    def _delta(self, frame: frames.Delta) -> None:
        if frame.epoch < self.epoch or frame.seq <= self.seq:
            if frame.seq == self.seq and self._asked == "since":
                self._asked = ""  # the newest row repeated: we asked, and nothing was missing
            return
        if self._unmerged is not None and frame.seq == self._unmerged.seq:
            return
        if frame.seq != self.seq + 1 or self._unmerged is not None:
            self._missed()
            return
        self.epoch = frame.epoch
        if self.seat >= 0 and (frame.private is True or any(_lacks_own_cards(event) for event in frame.events)):
            self._unmerged = frame
            return
        self._apply(frame, frame.events)

    def _private(self, frame: frames.Private) -> None:
        if frame.epoch < self.epoch or frame.seq < self.seq:
            return
        deal = self._unmerged
        if deal is not None and frame.seq == deal.seq:
            own = {event.get("k"): event for event in frame.events}
            self._apply(deal, [own.get(event.get("k"), event) for event in deal.events])
        elif frame.seq != self.seq:
            self._missed()
        if frame.seq == self.seq and frame.turn == self.view["turn"] and frame.legal is not UNSET:
            self.view = self.view | {"legal": frame.legal}
            self._beat()

    def _apply(self, frame: frames.Delta, events: list[dict[str, Any]]) -> None:
        view = self.view
        try:
            for event in events:
                view = follow(view, event)
        except (ValueError, LookupError, TypeError):
            self._ask("whole")  # an event that this release does not know: take the view as the server has it
            return
        self.view, self.seq, self.deadline_ms = view, frame.seq, frame.deadline
        self._unmerged = None
        if self._asked == "since":
            self._asked = ""
        if frame.req:
            self._acknowledged(frame.req, frame.seq)
        self._moved_on()

    def _moved_on(self) -> None:
        """The view is a newer one: settle what it answers, and the end if this is it."""
        for each in self._pending.values():
            if each.stands_at is not None and each.stands_at <= self.seq:
                _settle(each, None)
        self._beat()
        if self._last is not None:
            self._over(self._last)

    def _missed(self) -> None:
        """A row is missing: ask from where we are; when that does not fill it, ask for the whole table."""
        self._ask("whole" if self._asked else "since")

    def _ask(self, what: str) -> None:
        self._unmerged = None
        if self._asked != "whole":
            self._asked = what
            self._post(self.join())

    def _presence(self, frame: frames.Presence) -> None:
        seats = list(self.seats)
        if not 0 <= frame.seat < len(seats):
            return
        known = seats[frame.seat]
        seats[frame.seat] = frames.SeatInfo(
            name=known.name, kind=known.kind, verified=known.verified, holder=frame.holder, left=frame.left
        )
        self.seats = tuple(seats)
        self.deadline_ms = frame.deadline or self.deadline_ms
        self._beat()

    def _seated(self, frame: frames.Seated) -> None:
        """Somebody has taken a seat over; when it is ours, a snapshot follows."""
        seats = list(self.seats)
        if 0 <= frame.seat < len(seats):
            seats[frame.seat] = frame.who
            self.seats = tuple(seats)
            self._beat()

    def _over(self, frame: frames.Over) -> None:
        if frame.epoch < self.epoch:
            return
        if frame.status == "finished" and self.view["phase"] != "over":
            if self._last is None:
                self._last = frame
                self._missed()
            return
        ranking = tuple(self.view["ranking"] or ()) if frame.status == "finished" else ()
        totals = tuple(self.view["scores"])
        self._end(Result(status=frame.status, seat=self.seat, ranking=ranking, totals=totals, secret=frame.secret))

    # ---- commands ----

    async def _command(self, frame: frames.Act | frames.Quit) -> None:
        self._raise_failure()
        if self.result is not None:
            raise WhistError("GAME_OVER")
        if len(self._pending) >= COMMANDS_MAX:
            raise WhistError("TOO_MANY_COMMANDS", facts={"most": COMMANDS_MAX})
        pending = Pending(frame, asyncio.get_running_loop().create_future())
        self._pending[frame.req] = pending
        try:
            while not pending.answer.done():
                self._post(frame)
                await asyncio.wait({pending.answer}, timeout=RESEND_S)
            pending.answer.result()
        finally:
            del self._pending[frame.req]

    def _acknowledged(self, req: str, seq: int) -> None:
        if (pending := self._pending.get(req)) is None:
            return
        if isinstance(pending.frame, frames.Quit):
            _settle(pending, None)
            self._end(Result(status="left", seat=self.seat))
            return
        pending.stands_at = seq  # done when our view has it
        if seq <= self.seq:
            _settle(pending, None)

    def _refused(self, frame: frames.Error) -> None:
        pending = self._pending.get(frame.req) if frame.req else None
        if frame.reason in PASSING or (frame.req and pending is None):
            return  # sent again in time; or an answer that nobody waits for any more
        error = WhistError(frame.reason, facts=frame.facts)
        if pending is None:
            self.fail(error)
        elif isinstance(pending.frame, frames.Act) and frame.turn not in (UNSET, pending.frame.turn):
            _settle(pending, TurnPassed(frame.reason, facts=frame.facts))
        else:
            self._offered = None
            _settle(pending, error)

    # ---- ends ----

    def _end(self, result: Result) -> None:
        if self.result is not None:
            return
        self.result = result
        self.deadline_ms = 0
        for each in self._pending.values():
            _settle(each, TurnPassed("GAME_OVER"))
        self._beat()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _beat(self) -> None:
        self.version += 1
        self._pulse.beat()


def _lacks_own_cards(event: Mapping[str, Any]) -> bool:
    """A deal as everybody is told it, also by a server that does not say `private` yet."""
    return event.get("k") == "dealt" and "hand" not in event


def _settle(pending: Pending, error: WhistError | None) -> None:
    if pending.answer.done():
        return
    if error is None:
        pending.answer.set_result(None)
    else:
        pending.answer.set_exception(error)
