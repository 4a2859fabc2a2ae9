"""Guests at tables over real sockets: they follow what they are told and make random legal moves in their turn.

Lean, for thousands of them live in one process beside the servers that are measured: a frame is decoded only by whom
it tells something new.
"""

import asyncio
from collections.abc import Callable, Sequence
from random import Random
from typing import Any
from uuid import UUID

from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from bench.seating import Seated
from libs.wire import frames

CONNECT_AT_ONCE = 64
PATIENCE_SECONDS = 120.0
AGAIN_SECONDS = 0.25
# msgspec writes a struct's tag first.
DELTA, PRIVATE, PRESENCE = b'{"t":"delta"', b'{"t":"private"', b'{"t":"presence"'


class Guest(WSListener):
    """One seat's socket: Hello and Join at once, then whatever its table does."""

    def __init__(self, live: "LiveTable", number: int) -> None:
        super().__init__()
        self.number = number
        self.seat = -1
        self.req = ""  # of the move without an answer yet
        self.act: frames.Act | None = None
        self.closed = False
        self._live = live
        self._transport: WSTransport | None = None

    def on_ws_connected(self, transport: WSTransport) -> None:
        """Say who we are and where we sit."""
        self._transport = transport
        self.say(frames.Hello(token=self._live.seated.tokens[self.number]))
        self.say(frames.Join(table=self._live.seated.table.hex))

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        """A server's frame."""
        if frame.msg_type == WSMsgType.CLOSE:
            self._live.fault(f"closed {frame.get_close_code()}")
        elif frame.msg_type == WSMsgType.TEXT:
            self._live.hear(self, frame.get_payload_as_bytes())

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        """Only we end sockets."""
        if not self.closed:
            self.closed = True
            self._live.fault("socket lost")

    def say(self, frame: Any) -> None:
        """Send one frame."""
        if self._transport is not None and not self.closed:
            self._transport.send(WSMsgType.TEXT, frames.encode(frame))

    def again(self) -> None:
        """Send the move again that has no answer yet."""
        if self.req and self.act is not None:
            self.say(self.act)

    def close(self) -> None:
        """Leave without farewell."""
        self.closed = True
        if self._transport is not None:
            self._transport.disconnect()


class LiveTable:
    """A table and its guests. `accepted` is told of each person's row as (table, epoch), once."""

    def __init__(
        self,
        seated: Seated,
        random: Random,
        think_seconds: Callable[[], float],
        accepted: Callable[["LiveTable", int], None],
    ) -> None:
        self.seated = seated
        self.guests = [Guest(self, number) for number in range(len(seated.tokens))]
        self.seq = -1
        self.epoch = 0
        self.acked: dict[int, tuple[UUID, str]] = {}
        self.faults: list[str] = []
        self.refused = 0  # moves sent again, because the gateway had given them up
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._random = random
        self._think_seconds = think_seconds
        self._accepted = accepted
        self._snapshots = 0
        self._timer: asyncio.TimerHandle | None = None
        self._due: Callable[[], None] | None = None
        self._playing = False

    def play(self) -> None:
        """Begin: think about the turn that runs."""
        self._playing = True
        self._wind()

    def hurry(self) -> None:
        """Whoever thinks moves now."""
        if self._timer is not None:
            self._timer.cancel()
            self._move()

    def stop(self) -> None:
        """Move no more; an answer under way may still come."""
        self._playing = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def close(self) -> None:
        """Leave."""
        self.stop()
        for guest in self.guests:
            guest.close()

    def fault(self, what: str) -> None:
        """Something no player should see."""
        self.faults.append(what)
        if not self.ready.done():
            self.ready.set_exception(RuntimeError(f"table {self.seated.table.hex}: {what}"))

    def hear(self, guest: Guest, payload: bytes) -> None:
        """One frame of one guest."""
        if payload.startswith(PRESENCE) or (payload.startswith(DELTA) and not self._tells(guest)):
            return
        frame = frames.decode_server.decode(payload)
        match frame:
            case frames.Snapshot():
                self._look(guest, frame)
            case frames.Delta():
                self._row(guest, frame)
            case frames.Private():
                if isinstance(frame.legal, list):
                    self._turn(guest, frame.turn, frame.legal)
            case frames.Ack():
                self._ack(guest, frame.req, frame.seq)
            case frames.Error(reason="UNAVAILABLE") if frame.req == guest.req:
                self.refused += 1
                asyncio.get_running_loop().call_later(AGAIN_SECONDS, guest.again)
            case frames.Error():
                self.fault(frame.reason)
            case _:
                pass

    def _tells(self, guest: Guest) -> bool:
        # Everybody gets the same row: whose move it is has to know, and the first guest looks after the table.
        return guest.number == 0 or bool(guest.req)

    def _look(self, guest: Guest, snapshot: frames.Snapshot) -> None:
        guest.seat = snapshot.seat
        self.seq, self.epoch = snapshot.seq, snapshot.epoch
        if "legal" in snapshot.view:
            self._turn(guest, snapshot.view["turn"], snapshot.view["legal"])
        self._snapshots += 1
        if self._snapshots == len(self.guests):
            self.ready.set_result(None)

    def _row(self, guest: Guest, delta: frames.Delta) -> None:
        self.epoch = delta.epoch
        if delta.seat == guest.seat and delta.req:
            self._ack(guest, delta.req, delta.seq)
        if delta.seq > self.seq:
            self.seq = delta.seq
            if delta.by == "person":
                self._accepted(self, delta.epoch)

    def _ack(self, guest: Guest, req: str, seq: int) -> None:
        if req == guest.req:
            guest.req = ""
        self.acked[seq] = (self.seated.accounts[guest.number], req)

    def _turn(self, guest: Guest, turn: int, legal: Sequence[Any]) -> None:
        if guest.req == str(turn):
            return  # told again after a change of owner; the gateway still carries the move
        action = self._random.choice(legal)

        def move() -> None:
            guest.req = str(turn)
            guest.act = frames.Act(table=self.seated.table.hex, req=guest.req, turn=turn, action=action)
            guest.say(guest.act)

        self._due = move
        if self._playing:
            self._wind()

    def _wind(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(self._think_seconds(), self._move)

    def _move(self) -> None:
        self._timer = None
        due, self._due = self._due, None
        if due is not None:
            due()


async def enter(url: str, tables: Sequence[LiveTable]) -> None:
    """Open every guest's socket and wait until all have their first view. Raises RuntimeError for what went wrong."""
    at_once = asyncio.Semaphore(CONNECT_AT_ONCE)

    async def one(guest: Guest) -> None:
        async with at_once:
            await ws_connect(lambda: guest, url, websocket_handshake_timeout=PATIENCE_SECONDS)

    async with asyncio.timeout(PATIENCE_SECONDS), asyncio.TaskGroup() as group:
        for table in tables:
            for guest in table.guests:
                group.create_task(one(guest))
        for table in tables:
            group.create_task(_ready(table))


async def _ready(table: LiveTable) -> None:
    await table.ready
