"""One player's socket: frames in, checks, frames out. Everything is a callback; nothing here waits."""

import asyncio
from typing import TYPE_CHECKING, Any, assert_never

import msgspec
from msgspec import UNSET
from picows import WSFrame, WSListener, WSMsgType, WSTransport

from libs.wire import frames, link
from libs.wire.frames import CloseCode
from services.gateway.metrics import frames_refused, sockets_closed
from services.gateway.sessions import Bearer
from services.gateway.socket.bucket import Bucket
from services.gateway.socket.framing import BINARY, TEXT, framed
from services.gateway.socket.tables import SNAPSHOT, Command, Table

if TYPE_CHECKING:
    from services.gateway.socket.hub import Hub

HELLO_SECONDS = 5.0
CLOSE_SECONDS = 1.0  # from our close frame until the connection is cut, read or not
TABLES_MAX = 8  # a socket; a person sits at one or two, a spectator's wall at a few more
COMMANDS_MAX = 256  # a table and socket without an answer; the rate allows no honest client so many
BAD_FRAMES_MAX = 10
# Tokens, where a frame costs one: a view is the dearest answer there is. A socket may join all its tables at once.
JOIN_COST = 4
EARLY_FRAMES_MAX = 8  # sent behind the Hello, before its token is looked at
FRAGMENTS_MAX = 64  # of one message
LOWEST, HIGHEST = -(2**63), 2**64 - 1  # the numbers that MessagePack, the link's language, has
MESSAGES = frozenset((WSMsgType.TEXT, WSMsgType.BINARY))
WRITE_BUFFER_MAX = 256 * 1024  # then the reader is too slow to be served (reliability N3)


class Connection(WSListener):
    """A socket from handshake to close. `account_id` is empty until its Hello was accepted; `opcode` is that of its
    frames, both ways.
    """

    def __init__(self, hub: "Hub", number: int, *, rate: float, burst: int) -> None:
        super().__init__()
        self.number = number
        self.account_id = b""
        self.session_id = b""
        self.network = ""
        self.tables: dict[bytes, Table] = {}
        self.closing = False
        self._hub = hub
        self._clock = hub.clock
        self._monotonic = hub.clock.monotonic
        self._bucket = Bucket(rate, burst, self._monotonic())
        self._kind, self.opcode = WSMsgType.TEXT, TEXT
        self._transport: Any = None
        self._write: Any = None
        self._timer: asyncio.TimerHandle | None = None
        self._bad_frames = 0
        self._early: list[bytes] | None = None
        self._parts: list[bytes] = []
        self._held: list[bytes] = []  # whole frames that may leave together (`services.gateway.socket.onlookers`)

    # ---- picows calls ----

    def on_ws_connected(self, transport: WSTransport) -> None:
        """The handshake is done: now the Hello is due."""
        self._transport = transport
        self._write = transport.underlying_transport.write
        transport.underlying_transport.set_write_buffer_limits(high=WRITE_BUFFER_MAX)
        self._timer = asyncio.get_running_loop().call_later(
            HELLO_SECONDS, self.close, CloseCode.POLICY, "no hello in time"
        )
        self._hub.opened(self, transport)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        """A frame of any sort. A whole message waits for the others of this turn of the loop (`Inbox`)."""
        kind = frame.msg_type
        if self._parts or kind not in MESSAGES or not frame.fin or frame.rsv1 or frame.rsv2 or frame.rsv3:
            self._hub.inbox.take_in()  # what this socket said before comes first
            self._other(transport, frame)
        elif not self.closing:
            self._hub.inbox.add(self, kind, frame.get_payload_as_bytes(), self._monotonic())

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        """The connection is gone, whoever ended it; what it said last still counts."""
        self._hub.inbox.take_in()
        self._leave()

    def pause_writing(self) -> None:
        """More than the cap lies unsent: this reader is cut off. Not at once, the fan-out may be under way."""
        asyncio.get_running_loop().call_soon(self.close, CloseCode.SLOW_READER, "too slow")

    def resume_writing(self) -> None:
        """Below the mark again; the close is under way already."""

    # ---- out ----

    def send(self, payload: bytes) -> None:
        """Write a ready-made message, as text or binary like the client's Hello, behind what is held."""
        self.write(framed(self.opcode, payload))

    def write(self, whole: bytes, count: int = 1) -> None:
        """Write so many frames, put together already, behind what is held."""
        if not self.closing:
            if self._held:
                self._held.append(whole)
                self.let_go()
            else:
                self._write(whole)
            self._hub.frames_out += count

    def hold(self, whole: bytes) -> None:
        """Write a frame, put together already, with the next one, or when `Onlookers` says so."""
        if not self.closing:
            if not self._held:
                self._hub.tables.onlookers.add(self)
            self._held.append(whole)
            self._hub.frames_out += 1

    def let_go(self) -> None:
        """Write what is held, if anything is."""
        if self._held:
            self._write(b"".join(self._held))
            self._held.clear()

    def refuse(self, reason: str, *, req: str = "", table: str = "", facts: dict[str, Any] | None = None) -> None:
        """Answer with a typed error; nothing has changed."""
        frames_refused.labels(reason).inc()
        self.send(frames.encode(frames.Error(reason=reason, req=req, table=table, facts=facts or {})))

    def close(self, code: int, why: str = "") -> None:
        """Send a close frame, forget the socket at once, and cut the connection a second later at most."""
        if self.closing:
            return
        self.let_go()
        self.closing = True
        sockets_closed.labels(str(code)).inc()
        self._transport.send_close(code, why)
        self._leave()
        asyncio.get_running_loop().call_later(CLOSE_SECONDS, self._transport.disconnect, False)

    def cut(self) -> None:
        """End the connection without a word, and hear nothing more of it."""
        self.closing = True
        self._transport.disconnect()

    def _leave(self) -> None:
        self.closing = True
        self._held.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._hub.gone(self)

    # ---- in ----

    def _other(self, transport: WSTransport, frame: WSFrame) -> None:
        """Anything that is not a whole message in one frame."""
        if self.closing:
            if frame.msg_type == WSMsgType.CLOSE:
                transport.disconnect()
        elif frame.rsv1 or frame.rsv2 or frame.rsv3:
            self.close(CloseCode.PROTOCOL, "no extension was agreed")
        elif frame.msg_type == WSMsgType.CLOSE:
            self.close(CloseCode.DONE)
            transport.disconnect()
        elif self._parts and frame.fin and frame.msg_type in MESSAGES:
            self.close(CloseCode.PROTOCOL, "a message inside another")
        elif frame.msg_type != WSMsgType.PONG:
            self._fragment(frame)

    def _fragment(self, frame: WSFrame) -> None:
        """Fragments are put together up to the size of one frame (RFC 6455 5.4)."""
        if (frame.msg_type == WSMsgType.CONTINUATION) != bool(self._parts):
            self.close(CloseCode.PROTOCOL, "fragments out of order")
            return
        if not self._parts:
            self._parts.append(b"" if frame.msg_type == WSMsgType.TEXT else b"\0")  # remembers the kind
        self._parts.append(frame.get_payload_as_bytes())
        if sum(map(len, self._parts)) > frames.FRAME_MAX_BYTES or len(self._parts) > FRAGMENTS_MAX:
            self.close(CloseCode.TOO_BIG, "message too big")
            return
        if frame.fin:
            kind, *parts = self._parts
            self._parts = []
            self.message(WSMsgType.BINARY if kind else WSMsgType.TEXT, b"".join(parts), self._monotonic())

    def message(self, kind: WSMsgType, payload: bytes, received_at: float) -> None:
        """A whole message, which arrived at this monotonic time."""
        if self.closing:
            return
        self._hub.frames_in += 1
        if not self._bucket.take(received_at):
            self.close(CloseCode.POLICY, "too many frames")
            return
        if self._early is not None:
            if len(self._early) == EARLY_FRAMES_MAX:
                self.close(CloseCode.POLICY, "too many frames before the welcome")
            else:
                self._early.append(payload)
            return
        if not self.account_id:
            self._kind, self.opcode = kind, TEXT if kind == WSMsgType.TEXT else BINARY
        self._take(payload, received_at)

    def _take(self, payload: bytes, received_at: float) -> None:
        try:
            # Deep nesting and lone surrogates are not JSON errors to the decoder, yet no frame of ours.
            frame = frames.decode_client.decode(payload)
        except (msgspec.DecodeError, RecursionError, ValueError):
            self._unreadable(payload)
            return
        match frame:
            case frames.Act():
                self._act(frame, received_at)
            case frames.Hello():
                self._hello(frame)
            case frames.Ping():
                self.send(frames.encode(frames.Pong(n=frame.n, now=self._hub.now_ms())))
            case _ if not self.account_id:
                self.refuse("HELLO_FIRST")
                self.close(CloseCode.POLICY, "hello first")
            case frames.Join():
                self._join(frame, received_at)
            case frames.Leave():
                table = self.tables.get(bytes.fromhex(frame.table))
                if table is not None:
                    self._hub.tables.unfollow(self, table)
                self._hub.company.leave(self, bytes.fromhex(frame.table))
            case frames.Quit():
                self._quit(frame, received_at)
            case frames.Watch():
                self._hub.watches.watch(self)
            case frames.Enter() | frames.Say():
                self._company(frame)
            case _ as never:
                assert_never(never)

    def _company(self, frame: frames.Enter | frames.Say) -> None:
        if isinstance(frame, frames.Say):
            self._hub.company.say(self, frame)
            return
        since = 0 if frame.since_line is UNSET else frame.since_line
        self._hub.company.enter(self, bytes.fromhex(frame.table), since)

    def _unreadable(self, payload: bytes) -> None:
        """RFC 6455 8.1 wants a connection ended for a text that is not UTF-8; all else has a few tries."""
        try:
            payload.decode()
        except UnicodeDecodeError:
            if self._kind == WSMsgType.TEXT:
                self.close(CloseCode.NOT_TEXT, "not UTF-8")
                return
        self._bad_frame()

    def _bad_frame(self) -> None:
        self.refuse("BAD_FRAME")
        self._bad_frames += 1
        if self._bad_frames >= BAD_FRAMES_MAX:
            self.close(CloseCode.POLICY, "too many bad frames")

    def _act(self, act: frames.Act, received_at: float) -> None:
        if not act.well_formed():
            self._bad_frame()
            return
        for value in act.action.values():
            # No game's action nests, and depth is a weapon against whoever decodes it next.
            if type(value) in (dict, list) or (type(value) is int and not LOWEST <= value <= HIGHEST):
                self._bad_frame()
                return
        table = self._table_of(act)
        if table is None:
            return
        traceparent = self._hub.sample()
        self._command(
            table,
            link.Command(table.id, self.account_id, self.number, act.req, act.turn, act.action, traceparent),
            received_at,
            traceparent,
        )

    def _quit(self, frame: frames.Quit, received_at: float) -> None:
        table = self._table_of(frame)
        if table is not None:
            self._command(table, link.Vacate(table.id, self.account_id, self.number, frame.req), received_at)

    def _table_of(self, frame: frames.Act | frames.Quit) -> Table | None:
        table = self.tables.get(bytes.fromhex(frame.table))
        if table is None:
            self.refuse("JOIN_FIRST", req=frame.req, table=frame.table)
        elif len(table.commands) >= COMMANDS_MAX:
            self.refuse("TOO_MANY_COMMANDS", req=frame.req, table=frame.table)
            return None
        return table

    def _command(
        self, table: Table, frame: link.Command | link.Vacate, received_at: float, traceparent: str = ""
    ) -> None:
        started_ns = self._hub.now_ns() if traceparent else 0
        self._hub.tables.command(table, Command(self, frame, received_at, traceparent, started_ns))

    def _join(self, join: frames.Join, received_at: float) -> None:
        if not self._bucket.take(received_at, JOIN_COST - 1):
            self.close(CloseCode.POLICY, "too many joins")
            return
        table_id = bytes.fromhex(join.table)
        if table_id not in self.tables and len(self.tables) >= TABLES_MAX:
            self.refuse("TOO_MANY_TABLES", table=join.table)
            return
        self._hub.tables.follow(self, table_id, SNAPSHOT if join.since is UNSET else join.since)

    def _hello(self, hello: frames.Hello) -> None:
        bearer = self._hub.bearer_now(hello.token)
        if bearer is not None:
            self.welcome(bearer)
            return
        self._early = []
        self._hub.check_later(self, hello.token)

    def welcome(self, bearer: Bearer) -> None:
        """The token stands: take the socket in, or give it a new lease of life."""
        if self.closing:
            return
        if self.account_id and self.account_id != bearer.account_id:
            self.reject("TOKEN_OF_ANOTHER_ACCOUNT")
            return
        first = not self.account_id
        self.account_id, self.session_id = bearer.account_id, bearer.session_id
        if self._timer is not None:
            self._timer.cancel()
        left = (bearer.expires_at - self._clock.now()).total_seconds()
        self._timer = asyncio.get_running_loop().call_later(max(left, 0), self.close, CloseCode.TOKEN, "token expired")
        if first:
            self._hub.admitted(self)
        self.send(self._hub.welcome_frame(bearer))
        self._take_early()

    def reject(self, reason: str) -> None:
        """The token does not stand."""
        self._early = None
        self.refuse(reason)
        self.close(CloseCode.TOKEN, "token refused")

    def delay(self) -> None:
        """Nobody can tell now whether the token stands: come back."""
        self._early = None
        self.refuse("UNAVAILABLE")
        self.close(CloseCode.SLOW_READER, "try again")

    def _take_early(self) -> None:
        early, self._early = self._early, None
        for payload in early or ():
            if self._early is not None:
                self._early.append(payload)  # behind another Hello that waits
            elif not self.closing:
                self._take(payload, self._monotonic())
