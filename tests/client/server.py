"""A small server that speaks the public contract: one account, one table of the real engine, faults on demand."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from libs.engine import bots, fair
from libs.engine.errors import RuleViolation
from libs.engine.game import GAMES
from libs.engine.record.model import By, Move, Record
from libs.engine.record.plain import to_json
from libs.engine.replay import make_draws
from libs.wire import frames

ACCOUNT = "0190" + "a" * 28
TABLE = "0192" + "b" * 28
ANALYSIS = {
    "v": 1, "table": TABLE, "game": "romanian", "seat": 2, "grade": "B", "loss": 0.95, "samples": 1000,
    "runs_of_seven": 1,
    "rounds": [{"round": 0, "cards": 8, "loss": 1.9, "grade": "C"}, {"round": 1, "cards": 1, "loss": 0, "grade": "A+"}],
    "dearest": [3],
    "decisions": [
        {"turn": 3, "round": 0, "action": {"bid": 2}, "best": {"bid": 1}, "points": 1.4, "loss": 1.9, "error": 0.1,
         "band": "blunder"},
        {"turn": 60, "round": 1, "action": {"play": "QH"}, "best": {"play": "QH"}, "points": 5, "loss": 0, "error": 0,
         "band": "good"},
    ],
}  # fmt: skip
SECRET = bytes(range(32))
GAME = GAMES["romanian"]
PLAYERS = 6
PRIZES = [100, 70, 55, 0, 0, 0]
ROOMS = [
    {"room": 1, "name": "Cottage", "level": 1, "entry_coins": 0, "entry_bars": 0, "prizes": PRIZES[:3], "vip": False,
     "closed_reason": None},
    {"room": 12, "name": "Palace", "level": 40, "entry_coins": 250_000, "entry_bars": 20,
     "prizes": [625_000, 437_500, 343_750], "vip": True, "closed_reason": "LEVEL_TOO_LOW"},
]  # fmt: skip
NOW_MS = 1_796_000_000_000

ServerFrame = Any


class Truth:
    """The table as the server has it: state, rows, and what each row told our seat."""

    def __init__(self, secret: bytes = SECRET, mode: str = "quick") -> None:
        self.secret = secret
        self.options = {"mode": mode}
        order = fair.permutation(secret, "seats", PLAYERS)
        self.seat = order.index(0)
        self.state = GAME.new(PLAYERS, self.options)
        self.rows: list[tuple[frames.Delta, frames.Private | None]] = []
        self.views = [GAME.view(self.state, self.seat)]
        self.answered: dict[str, int] = {}
        self.epoch = 1
        self.left = False
        self.away = False
        self.moves: list[Move] = []
        self.listeners: list[Callable[[ServerFrame], None]] = []

    @property
    def seq(self) -> int:
        return len(self.rows)

    def advance(self) -> None:
        """Draws and bots, until our seat is to act or the game is over."""
        while not GAME.over(self.state):
            state, events = make_draws(GAME, self.state, self.secret)
            if events:
                self._row(state, events, by="server", seat=-1)
                continue
            seat = GAME.to_act(self.state)
            assert seat is not None
            if seat == self.seat and not self.left:
                return
            action = bots.choose("romanian", GAME.view(self.state, seat))
            self.move(seat, action, by="bot")
        over = frames.Over(table=TABLE, seq=self.seq, epoch=self.epoch, status="finished", secret=self.secret.hex())
        self._tell(over)

    def move(self, seat: int, action: dict[str, Any], *, by: str, req: str = "") -> None:
        events = GAME.decide(self.state, seat, action)
        self.moves.append(Move(seat=seat, action=action, by=By(by), at_ms=NOW_MS))
        state = self.state
        for event in events:
            state = GAME.evolve(state, event)
        self._row(state, events, by=by, seat=seat, req=req)

    def _row(self, state: Any, events: Any, *, by: str, seat: int, req: str = "") -> None:
        self.state = state
        seq = self.seq + 1
        public = [GAME.project(event, None) for event in events]
        own = [GAME.project(event, self.seat) for event in events if GAME.is_private(event)]
        to_act = None if GAME.draw(state) else GAME.to_act(state)
        delta = frames.Delta(
            table=TABLE,
            seq=seq,
            epoch=self.epoch,
            events=[event for event in public if event],
            by=by,
            seat=seat,
            turn=GAME.turn(state),
            to_act=-1 if to_act is None else to_act,
            deadline=NOW_MS + 10_000,
            req=req,
        )
        private = None
        if own or to_act == self.seat:
            private = frames.Private(
                table=TABLE, seq=seq, epoch=self.epoch, turn=GAME.turn(state), events=[each for each in own if each]
            )
            if to_act == self.seat:
                private.legal = list(GAME.legal(state))
        self.rows.append((delta, private))
        self.views.append(GAME.view(state, self.seat))
        if req:
            self.answered[req] = seq
        for frame in self.row(seq):
            self._tell(frame)

    def row(self, seq: int) -> list[ServerFrame]:
        delta, private = self.rows[seq - 1]
        return [delta] if private is None else [delta, private]

    def _tell(self, frame: ServerFrame) -> None:
        for listener in list(self.listeners):
            listener(frame)

    def snapshot(self) -> frames.Snapshot:
        return frames.Snapshot(
            table=TABLE,
            seq=self.seq,
            epoch=self.epoch,
            seat=self.seat,
            game="romanian",
            view=json.loads(json.dumps(GAME.view(self.state, self.seat))),
            seats=self.seats(),
            deadline=NOW_MS + 10_000,
            commitment=fair.commitment(self.secret).hex(),
        )

    def seats(self) -> list[frames.SeatInfo]:
        names = iter(["Ana", "Bogdan", "Călin", "Dora", "Emil"])
        return [
            frames.SeatInfo(name="Vulpe 42", kind="person", verified=False, holder="bot" if self.away else "person")
            if seat == self.seat
            else frames.SeatInfo(name=next(names), kind="bot", verified=False, holder="bot")
            for seat in range(PLAYERS)
        ]

    def presence(self, *, away: bool) -> None:
        """We are taken to be away, or back (P30)."""
        self.away = away
        self._tell(frames.Presence(table=TABLE, seat=self.seat, holder="bot" if away else "person", left=False))

    def answer(self, frame: frames.Act | frames.Quit) -> Iterator[ServerFrame]:
        """What only the sender is told; rows go to every listener."""
        if frame.req in self.answered:
            yield frames.Ack(table=TABLE, req=frame.req, seq=self.answered[frame.req])
            return
        turn = GAME.turn(self.state)
        if isinstance(frame, frames.Quit):
            self.left = True
            self.answered[frame.req] = self.seq
            yield frames.Ack(table=TABLE, req=frame.req, seq=self.seq)
            self.advance()
            return
        if frame.turn != turn:
            yield frames.Error(reason="STALE_TURN", req=frame.req, table=TABLE, turn=turn)
            return
        try:
            self.move(self.seat, frame.action, by="person", req=frame.req)
        except RuleViolation as refusal:
            yield frames.Error(reason=refusal.reason, facts=dict(refusal.facts), req=frame.req, table=TABLE, turn=turn)
            return
        self.advance()

    def place(self) -> int:
        return GAME.result(self.state).place(self.seat)

    def record(self) -> dict[str, Any]:
        return to_json(
            Record(
                game="romanian",
                rules_version=1,
                players=PLAYERS,
                options=self.options,
                commitment=fair.commitment(self.secret),
                secret=self.secret,
                moves=tuple(self.moves),
                table={
                    "id": TABLE,
                    "seats": [
                        {"account": ACCOUNT if seat == self.seat else None, "room": 1} for seat in range(PLAYERS)
                    ],
                },
            )
        )


@dataclass
class Fault:
    """Once, at the `nth` frame of `kind` in one direction: "cut" before it passes, "cut after", "drop", "double"."""

    way: str  # "in" or "out"
    kind: str
    do: str
    nth: int = 1
    seen: int = 0

    def strikes(self, way: str, kind: str) -> bool:
        if way != self.way or kind != self.kind:
            return False
        self.seen += 1
        return self.seen == self.nth


@dataclass
class Whistle:
    """The server's memory and its behaviour."""

    truth: Truth = field(default_factory=Truth)
    faults: list[Fault] = field(default_factory=list)
    heard: list[Any] = field(default_factory=list)
    connections: int = 0
    live_sockets: int = 0
    tokens: Iterator[int] = field(default_factory=lambda: count(1))
    token_life_ms: int = 600_000
    access: str = ""
    refresh: str = ""
    refreshes: int = 0
    tries_left: int = 0
    asked_for: dict[str, Any] = field(default_factory=dict)
    guest_tokens: list[str] = field(default_factory=list)
    drops_guests: bool = False
    sessions: list[dict[str, Any]] = field(
        default_factory=lambda: [
            {"session_id": digit * 32, "device": device, "used_at": "2026-11-30T10:00:00Z", "current": digit == "1"}
            for digit, device in (("1", "Phone"), ("2", ""))
        ]
    )
    revoked: bool = False
    coins: int = 1000
    experience: int = 0
    prize_slip: int = 0  # what the wallet pays too much
    uploaded: list[Any] = field(default_factory=list)
    polls_until_paid: int = 2
    queued: bool = False
    never_deals: bool = False
    cancelled: bool = False
    drop_reason: str = ""
    refuse_joins: list[str] = field(default_factory=list)
    forgets_when_over: bool = False
    heartbeat_ms: int = 15_000
    on_connect: Callable[[], None] = lambda: None
    url: str = ""
    socket_url: str = ""

    def new_tokens(self) -> dict[str, Any]:
        number = next(self.tokens)
        self.access, self.refresh = f"access-{number}", f"refresh-{number}"
        return {
            "tokens": {
                "access_token": self.access,
                "access_expires_at": "2126-11-30T08:00:00Z",
                "refresh_token": self.refresh,
                "refresh_expires_at": "2126-12-30T08:00:00Z",
            },
            "account": {"account_id": ACCOUNT, "name": "Vulpe 42", "guest": True},
        }

    def settle(self) -> None:
        """Prize and experience come a little after the end."""
        if not GAME.over(self.truth.state) or self.experience:
            return
        self.polls_until_paid -= 1
        if self.polls_until_paid <= 0:
            self.coins += PRIZES[self.truth.place() - 1] + self.prize_slip
            self.experience += 85

    # ---- the socket ----

    async def socket(self, connection: ServerConnection) -> None:
        self.connections += 1
        self.on_connect()
        self.live_sockets += 1
        outgoing: asyncio.Queue[ServerFrame] = asyncio.Queue()
        writer = asyncio.create_task(self._write(connection, outgoing))
        following = False
        try:
            async for data in connection:
                frame = frames.decode_client.decode(data)
                self.heard.append(frame)
                after = self._strike("in", frame)
                if after == "cut":
                    connection.transport.abort()
                    return
                if after == "drop":
                    continue
                match frame:
                    case frames.Hello(token=token):
                        if token != self.access:
                            await connection.close(frames.CloseCode.TOKEN)
                            return
                        outgoing.put_nowait(
                            frames.Welcome(
                                account=ACCOUNT,
                                guest=True,
                                now=NOW_MS,
                                heartbeat_ms=self.heartbeat_ms,
                                token_expires=NOW_MS + self.token_life_ms,
                            )
                        )
                    case frames.Watch():
                        for place in self._places():
                            outgoing.put_nowait(place)
                    case frames.Join(since=since):
                        if self.refuse_joins:
                            outgoing.put_nowait(frames.Error(reason=self.refuse_joins.pop(0), table=TABLE))
                            continue
                        if self.forgets_when_over and GAME.over(self.truth.state):
                            outgoing.put_nowait(frames.Error(reason="TABLE_FINISHED", table=TABLE))
                            continue
                        if not following:
                            self.truth.listeners.append(outgoing.put_nowait)
                            following = True
                        for told in self._caught_up(since):
                            outgoing.put_nowait(told)
                        if self.truth.away:
                            self.truth.presence(away=False)
                    case frames.Act() | frames.Quit():
                        for told in self.truth.answer(frame):
                            outgoing.put_nowait(told)
                    case frames.Ping(n=n):
                        outgoing.put_nowait(frames.Pong(n=n, now=NOW_MS))
                if after == "cut after":
                    connection.transport.abort()
                    return
        except ConnectionClosed:
            pass
        finally:
            self.live_sockets -= 1
            if following:
                self.truth.listeners.remove(outgoing.put_nowait)
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)

    def _places(self) -> list[frames.Queue]:
        if self.drop_reason:
            return [frames.Queue(state="dropped", reason=self.drop_reason)]
        waiting = frames.Queue(state="waiting", room=1, mode="quick", seats=1, deals_at=NOW_MS + 10_000)
        if self.never_deals:
            return [waiting]
        return [
            waiting,
            frames.Queue(state="matched", table=TABLE, room=1, mode="quick", seats=1),
            frames.Queue(state="seated", table=TABLE, room=1, mode="quick", seats=6),
        ]

    def _caught_up(self, since: Any) -> list[ServerFrame]:
        truth = self.truth
        told: list[ServerFrame] = []
        if isinstance(since, int):
            for seq in range(min(since + 1, max(truth.seq, 1)), truth.seq + 1):
                told += truth.row(seq)
        else:
            told = [truth.snapshot()]
        if GAME.over(truth.state):
            told.append(
                frames.Over(table=TABLE, seq=truth.seq, epoch=truth.epoch, status="finished", secret=truth.secret.hex())
            )
        return told

    async def _write(self, connection: ServerConnection, outgoing: "asyncio.Queue[ServerFrame]") -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                frame = await outgoing.get()
                do = self._strike("out", frame)
                if do == "cut":
                    connection.transport.abort()
                    return
                if do == "drop":
                    continue
                for _ in range(2 if do == "double" else 1):
                    await connection.send(frames.encode(frame))
                if do == "cut after":
                    connection.transport.abort()
                    return

    def _strike(self, way: str, frame: Any) -> str:
        kind = type(frame).__name__.lower()
        return next((fault.do for fault in self.faults if fault.strikes(way, kind)), "")


def problem(status: int, code: str, **facts: object) -> JSONResponse:
    body = {"type": "about:blank", "title": "x", "status": status, "code": code, "request_id": "r1"}
    return JSONResponse(body | ({"facts": facts} if facts else {}), status, media_type="application/problem+json")


def rest(server: Whistle) -> FastAPI:
    """The routes that the SDK uses."""
    app = FastAPI()

    def refused(request: Request) -> JSONResponse | None:
        held = request.headers.get("authorization", "")
        return None if held == f"Bearer {server.access}" else problem(401, "TOKEN_EXPIRED")

    @app.get("/v1/config")
    async def config() -> Any:
        return {"socket_url": server.socket_url}

    @app.post("/v1/guests")
    async def guests(request: Request) -> Any:
        assert request.headers["idempotency-key"]
        return server.new_tokens()

    @app.post("/v1/login")
    async def login() -> Any:
        server.tries_left = 5
        return JSONResponse({"login_id": "1" * 32}, 202)

    @app.post("/v1/login/{login_id}")
    async def finish(login_id: str, request: Request) -> Any:
        body = await request.json()
        if body["code"] != "12345678":
            server.tries_left -= 1
            return problem(400, "CODE_WRONG", tries_left=server.tries_left)
        server.guest_tokens.append(request.headers.get("authorization", ""))
        if server.drops_guests and server.guest_tokens[-1] and not body.get("drop_guest"):
            return problem(409, "GUEST_WOULD_BE_DROPPED")
        return server.new_tokens()

    @app.put("/v1/account/name")
    async def name(request: Request) -> Any:
        body = await request.json()
        if body["name"] == "Admin":
            return refused(request) or problem(400, "NAME_INVALID", rule="reserved")
        account = {"account_id": ACCOUNT, "name": body["name"], "named": True}
        return refused(request) or {"account": account, "next_change_at": "2026-12-30T10:00:00Z"}

    @app.get("/v1/sessions")
    async def sessions(request: Request) -> Any:
        return refused(request) or {"sessions": server.sessions}

    @app.delete("/v1/sessions/{session_id}")
    async def end_session(session_id: str, request: Request) -> Any:
        server.sessions = [each for each in server.sessions if each["session_id"] != session_id]
        return refused(request) or {}

    @app.get("/v1/account/export")
    async def export(request: Request) -> Any:
        return refused(request) or {"account": {"email": "ana@example.com"}, "tables": {"chat": []}}

    @app.post("/v1/tokens")
    async def tokens(request: Request) -> Any:
        server.refreshes += 1
        body = await request.json()
        if server.revoked or body["refresh_token"] != server.refresh:
            return problem(401, "REFRESH_INVALID")
        return server.new_tokens()

    @app.get("/v1/me")
    async def me(request: Request) -> Any:
        return refused(request) or {
            "account": {"account_id": ACCOUNT}, "level": 3, "experience": server.experience, "next_level_at": 600,
        }  # fmt: skip

    @app.get("/v1/leagues/me")
    async def league(request: Request) -> Any:
        server.settle()
        return refused(request) or {"progress": {"experience": server.experience}, "standing": {}}

    @app.get("/v1/leagues/group")
    async def group(week: str = "") -> Any:
        member = {"account_id": ACCOUNT, "name": "Ana", "rank": 1, "points": 1250, "games": 2, "next_tier": "queen"}
        member |= {"podium_coins": 100_000, "podium_bars": 50, "form": None, "level": 2}
        gone = member | {"account_id": "f" * 32, "name": None, "rank": 2, "next_tier": "jack", "podium_coins": 0}
        shown = {"week": week or "2026-W49", "group_id": "a" * 32, "tier": "jack", "closed": False}
        return shown | {"members": [member, gone]}

    @app.get("/v1/leagues/friends")
    async def leaderboard(limit: int, week: str = "") -> Any:
        first = {"account_id": "f" * 32, "name": "Dan", "rank": 1, "points": 9, "games": limit}
        own = {"account_id": ACCOUNT, "name": "Ana", "rank": None, "points": 7, "games": 2}
        return {"week": week or "2026-W49", "places": [first], "own": own}

    @app.post("/v1/offline-games")
    async def offline_game(request: Request) -> Any:
        server.uploaded.append(await request.json())
        return {"credited": len(server.uploaded) == 1, "experience": 62, "total": 62, "level": 1}

    @app.get("/v1/wallet")
    async def wallet(request: Request) -> Any:
        return refused(request) or {"coins": server.coins, "bars": 0, "cups": {}}

    @app.post("/v1/wallet/coffee")
    async def coffee(request: Request) -> Any:
        assert request.headers["idempotency-key"]
        kind = (await request.json())["coffee"]
        if kind == "x5":
            return refused(request) or problem(409, "INSUFFICIENT_FUNDS", asset="bar", needed=25)
        return refused(request) or {"coins": 1000, "bars": 4, "cups": {"x2": 0, kind: 13}}

    @app.get("/v1/games/{game}/refund")
    async def offer(game: str, request: Request) -> Any:
        if game != TABLE:
            return refused(request) or {"refused": "FIRST_PLACE"}
        some, none = {"coins": 100, "bars": 0, "cups": {"x2": 1}}, {"coins": 0, "bars": 0, "cups": {}}
        return refused(request) or {"refused": None, "returns": some, "takes": none}

    @app.post("/v1/games/{game}/refund")
    async def refund(game: str, request: Request) -> Any:
        if game != TABLE:
            return refused(request) or problem(403, "FIRST_PLACE")
        some, none = {"coins": 1100, "bars": 0, "cups": {"x2": 1}}, {"coins": 0, "bars": 0, "cups": {}}
        return refused(request) or {"returned": some, "taken": none, "assets": some}

    @app.get("/v1/wallet/history")
    async def history(limit: int, before: str, request: Request) -> Any:
        gift = {"at": "2026-11-30T09:00:00Z", "reason": "signup_gift", "asset": "coin", "amount": 1000, "table": None}
        spent = gift | {"reason": "entry_hold", "asset": "cup_x1_5", "amount": -1, "table": TABLE}
        return refused(request) or {"movements": [spent, gift][:limit], "next_before": None}

    @app.get("/v1/rooms")
    async def rooms(request: Request) -> Any:
        return refused(request) or {"rooms": ROOMS, "vip_days": ["monday", "sunday"]}

    @app.post("/v1/queue")
    async def queue(request: Request) -> Any:
        if (no := refused(request)) is not None:
            return no
        server.asked_for = await request.json()
        if not server.queued:
            server.queued = True
            server.truth.advance()
        return {"state": "waiting"}

    @app.delete("/v1/queue")
    async def cancel(request: Request) -> Any:
        server.cancelled = True
        return refused(request) or {}

    @app.post("/v1/tables/{table}/hint")
    async def hint(table: str, request: Request) -> Any:
        return refused(request) or problem(403, "HINTS_NOT_ALLOWED")

    @app.get("/v1/games/{game}")
    async def game(game: str, request: Request) -> Any:
        if (no := refused(request)) is not None:
            return no
        if game != TABLE:
            return problem(404, "TABLE_UNKNOWN")
        return server.truth.record()

    @app.get("/v1/games/{game}/analysis")
    async def analysis(game: str, request: Request) -> Any:
        if (no := refused(request)) is not None:
            return no
        return ANALYSIS if game == TABLE else problem(404, "ANALYSIS_UNKNOWN")

    @app.get("/v1/games/{game}/story")
    async def story(game: str, request: Request, locale: str) -> Any:
        if (no := refused(request)) is not None:
            return no
        return {"locale": locale, "paragraphs": ["A game.", "Its\x1b[2J end."]}

    return app


class Uvicorn(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serving(server: Whistle | None = None) -> AsyncIterator[Whistle]:
    """The server on two ports of this machine."""
    server = server or Whistle()
    sockets: Server = await serve(server.socket, "127.0.0.1", 0, compression=None, ping_interval=None)
    web = Uvicorn(uvicorn.Config(rest(server), port=0, ws="none", log_level="error", lifespan="off"))
    running = asyncio.create_task(web.serve())
    while not web.started:
        await asyncio.sleep(0)
    host, port = web.servers[0].sockets[0].getsockname()[:2]
    server.url = f"http://{host}:{port}"
    socket_port = next(iter(sockets.sockets)).getsockname()[1]
    server.socket_url = f"ws://127.0.0.1:{socket_port}/v1/ws"
    try:
        yield server
    finally:
        web.should_exit = True
        await running
        sockets.close()
        await sockets.wait_closed()
