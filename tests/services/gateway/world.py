"""The world around a gateway under test: one gRPC server plays all other services; sockets to the gateway are real."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosedError

from libs.chassis.clock import SystemClock
from libs.chassis.events.memory import MemoryBus
from libs.chassis.rpc.server import Server
from libs.chassis.run import running
from libs.chassis.service import Chassis
from libs.wire import frames
from services.gateway.settings import GatewaySettings
from services.gateway.wiring import SPEC, Gateway, service_of
from tests.services.gateway.fake_peers import TABLE, Auth, Coach, Keys, Leagues, Matchmaking, Purse
from tests.services.gateway.fake_worker import PATIENCE_SECONDS, Worker
from whist.auth.v1 import auth_pb2_grpc
from whist.coach.v1 import coach_pb2_grpc
from whist.leagues.v1 import leagues_pb2_grpc
from whist.matchmaking.v1 import matchmaking_pb2_grpc
from whist.tables.v1 import tables_pb2_grpc
from whist.wallet.v1 import wallet_pb2_grpc

ORIGIN = "https://play.example"


class AllowAll(dict[str, frozenset[str]]):
    """Every method to the gateway alone."""

    def get(self, _method: str, _default: Any = None) -> Any:
        return frozenset({"gateway"})


class World:
    """All other services behind one address; a second worker on demand."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.keys = Keys()
        self.auth = Auth(self.keys)
        self.matchmaking = Matchmaking()
        self.purse = Purse()
        self.leagues = Leagues()
        self.worker = Worker()
        self._servers: list[Server] = []

    async def start(self) -> str:
        address = await self._serve("all", [
            lambda server: auth_pb2_grpc.add_AuthServiceServicer_to_server(self.auth, server),
            lambda server: matchmaking_pb2_grpc.add_MatchmakingServiceServicer_to_server(self.matchmaking, server),
            lambda server: wallet_pb2_grpc.add_WalletServiceServicer_to_server(self.purse, server),
            lambda server: leagues_pb2_grpc.add_LeaguesServiceServicer_to_server(self.leagues, server),
            lambda server: coach_pb2_grpc.add_CoachServiceServicer_to_server(Coach(), server),
            lambda server: tables_pb2_grpc.add_TablesServiceServicer_to_server(self.worker, server),
        ])  # fmt: skip
        self.worker.address = address
        return address

    async def another_worker(self) -> Worker:
        worker = Worker()
        worker.address = await self._serve(
            f"worker{len(self._servers)}",
            [lambda server: tables_pb2_grpc.add_TablesServiceServicer_to_server(worker, server)],
        )
        return worker

    async def _serve(self, name: str, registrars: list[Any]) -> str:
        address = f"unix:{self._folder}/{name}.sock"
        server = Server(name, AllowAll(), SystemClock())
        await server.start(address, registrars)
        self._servers.append(server)
        return address

    async def close(self) -> None:
        for server in self._servers:
            await server.stop(0)


class Stage:
    """A running gateway in a world of fakes."""

    def __init__(self, world: World, gateway: Gateway, bus: MemoryBus) -> None:
        self.world = world
        self.gateway = gateway
        self.bus = bus

    @property
    def http_url(self) -> str:
        return f"http://127.0.0.1:{self.gateway.http_port}"

    @property
    def socket_url(self) -> str:
        return f"ws://127.0.0.1:{self.gateway.socket_port}/v1/ws"

    @contextlib.asynccontextmanager
    async def player(
        self, account: UUID | None = None, session: UUID | None = None, *, binary: bool = False, seconds: float = 600
    ) -> AsyncIterator["Player"]:
        """A socket that has been welcomed."""
        async with connect(self.socket_url, compression=None, ping_interval=None) as socket:
            player = Player(socket, binary=binary)
            await player.say(frames.Hello(token=self.world.keys.token(account, session, seconds)))
            await player.hear(frames.Welcome)
            yield player


class Player:
    """A client of the socket."""

    def __init__(self, socket: ClientConnection, *, binary: bool = False) -> None:
        self.socket = socket
        self.binary = binary

    async def say(self, frame: Any) -> None:
        payload = frames.encode(frame)
        await self.socket.send(payload if self.binary else payload.decode())

    async def hear(self, kind: type[Any]) -> Any:
        """The next frame, which must be of that kind."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            frame = frames.decode_server.decode(await self.socket.recv())
        assert isinstance(frame, kind), frame
        return frame

    async def closed(self) -> int:
        """The close code, after reading what is left."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            with contextlib.suppress(ConnectionClosedError):
                async for _ in self.socket:
                    pass
        assert self.socket.close_code is not None
        return self.socket.close_code

    async def joined(self, table: str = TABLE, since: int | None = None) -> Any:
        await self.say(frames.Join(table=table, since=msgspec.UNSET if since is None else since))
        return await self.hear(frames.Snapshot if since is None else frames.Delta)

    async def act(self, req: str, table: str = TABLE, turn: int = 0, **action: Any) -> None:
        await self.say(frames.Act(table=table, req=req, turn=turn, action=action or {"bid": 1}))


@contextlib.asynccontextmanager
async def staged(folder: Path, **settings: Any) -> AsyncIterator[Stage]:
    """A world and a gateway in it, both on free places."""
    world = World(folder)
    address = await world.start()
    known: dict[str, Any] = {
        "http_listen": "127.0.0.1:0",
        "socket_listen": "127.0.0.1:0",
        "grpc_listen": f"unix:{folder}/gateway.sock",
        "allowed_origins": (ORIGIN,),
        "drain_seconds": 5,
        "rate_network": "",
        "rate_account": "",
        "rate_guests": "",
        "rate_login": "",
        **{f"{name}_target": address for name in ("auth", "matchmaking", "tables", "wallet", "leagues", "coach")},
    }
    bus = MemoryBus()
    chassis = Chassis("gateway", GatewaySettings(**(known | settings)), bus=bus)
    gateway = Gateway(chassis)
    try:
        service = service_of(gateway)
        chassis.subscribe(service)
        async with running(SPEC, chassis, service):
            yield Stage(world, gateway, bus)
    finally:
        await chassis.close()
        await world.close()
