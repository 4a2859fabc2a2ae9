"""One stream to one table worker, carrying all players of both in batches (hot-path: a gRPC message has a price)."""

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import grpc
import msgspec
import structlog

from libs.chassis.clock import Clock
from libs.chassis.rpc.peer import Peer
from libs.wire import link
from libs.wire.metrics import gateway_stage
from libs.wire.neighbours import Neighbour
from services.gateway.metrics import links_lost, links_open
from whist.tables.v1 import tables_pb2, tables_pb2_grpc

if TYPE_CHECKING:
    from services.gateway.socket.tables import Table

    PlayCall = grpc.aio.StreamStreamCall[tables_pb2.PlayRequest, tables_pb2.PlayResponse]

log = structlog.get_logger()

FLUSH_GAP_SECONDS = 0.001  # at most one message a millisecond; the first leaves at once
WAITING_MAX = 20_000  # frames: seconds of everybody's moves; a worker that takes none for so long is cut off
BATCH_MAX = 500  # frames a message, so that the worker's loop is not held up
BATCH_BYTES = 192 * 1024  # the worker accepts 256 KiB a message

_pack = msgspec.msgpack.Encoder().encode


class WorkerLink:
    """Lives as long as its stream. After the end `lost` is called once and nothing is sent any more."""

    def __init__(
        self,
        address: str,
        peer: Peer,
        clock: Clock,
        deliver: Callable[["WorkerLink", link.Down], None],
        lost: Callable[["WorkerLink"], None],
    ) -> None:
        self.address = address
        self.tables: set[Table] = set()
        self.heard_at = clock.monotonic()
        self._peer = peer
        self._clock = clock
        self._deliver = deliver
        self._lost = lost
        self._waiting: list[bytes] = []
        self._received: list[float] = []
        self._wake: asyncio.Future[None] | None = None
        self._call: PlayCall | None = None
        self._ended = False

    def send(self, frame: link.Up, received_at: float = 0.0) -> None:
        """Put an up-frame into the next batch. `received_at` (monotonic) of a fresh command is measured."""
        if self._ended:
            return  # whoever follows a table here is told by `lost` and sends again elsewhere
        self._waiting.append(_pack(frame))
        if len(self._waiting) > WAITING_MAX and self._call is not None:
            log.error("link_overflow", worker=self.address)
            self._call.cancel()
        if received_at:
            self._received.append(received_at)
        wake = self._wake
        if wake is not None and not wake.done():
            wake.set_result(None)

    async def run(self) -> None:
        """Open the stream and carry frames until it ends."""
        links_open.inc()
        stub = tables_pb2_grpc.TablesServiceStub(self._peer.channel)
        try:
            call = stub.Play(metadata=self._peer.metadata())
            self._call = call
            writer = asyncio.create_task(self._write(call))
            writer.add_done_callback(lambda _: call.cancel())  # a link that cannot write is no link
            try:
                await self._read(call)
            finally:
                writer.cancel()
                call.cancel()
                await asyncio.gather(writer, return_exceptions=True)
        except grpc.aio.AioRpcError as error:
            log.info("link_lost", worker=self.address, code=error.code().name)
        except (grpc.aio.UsageError, msgspec.DecodeError):
            log.warning("link_broken", worker=self.address, exc_info=True)
        finally:
            links_open.dec()
            links_lost.inc()
            self._ended = True
            self._waiting.clear()
            self._lost(self)
            await self._peer.close()

    async def _read(self, call: "PlayCall") -> None:
        deliver, read, decode = self._deliver, call.read, link.decode_down
        while True:
            message = await read()
            if not isinstance(message, tables_pb2.PlayResponse):
                return  # the worker has ended the stream
            self.heard_at = self._clock.monotonic()
            for frame in decode(message.batch):
                deliver(self, frame)

    async def _write(self, call: "PlayCall") -> None:
        loop = asyncio.get_running_loop()
        monotonic = self._clock.monotonic
        written_at = 0.0
        while True:
            if not self._waiting:
                self._wake = loop.create_future()
                await self._wake
                self._wake = None
            gap = written_at + FLUSH_GAP_SECONDS - monotonic()
            if gap > 0:
                await asyncio.sleep(gap)
            batch = self._take_batch()
            received, self._received = self._received, []
            await call.write(tables_pb2.PlayRequest(batch=link.encode_batch([msgspec.Raw(each) for each in batch])))
            written_at = monotonic()
            for at in received:
                gateway_stage.observe(written_at - at)

    def _take_batch(self) -> list[bytes]:
        waiting = self._waiting
        if len(waiting) <= BATCH_MAX and sum(map(len, waiting)) <= BATCH_BYTES:
            self._waiting = []
            return waiting
        size = count = 0
        for packed in waiting[:BATCH_MAX]:
            size += len(packed)
            if size > BATCH_BYTES and count:
                break
            count += 1
        self._waiting = waiting[count:]
        return waiting[:count]


class NeighbourLink:
    """The same to a worker of this process: no stream, batches once a turn of the loop (`libs.wire.neighbours`)."""

    def __init__(
        self,
        address: str,
        neighbour: Neighbour,
        clock: Clock,
        deliver: Callable[["NeighbourLink", link.Down], None],
        lost: Callable[["NeighbourLink"], None],
    ) -> None:
        self.address = address
        self.tables: set[Table] = set()
        self.heard_at = math.inf  # it lives and dies with this process
        self._clock = clock
        self._deliver = deliver
        self._lost = lost
        self._waiting: list[link.Up] = []
        self._received: list[float] = []
        self._ended = asyncio.Event()
        self._call_soon = asyncio.get_running_loop().call_soon
        self._line = neighbour.join(self._take, self._ended.set)

    def send(self, frame: link.Up, received_at: float = 0.0) -> None:
        """As `WorkerLink.send`."""
        if self._ended.is_set():
            return
        if not self._waiting:
            self._call_soon(self._flush)
        self._waiting.append(frame)
        if received_at:
            self._received.append(received_at)

    async def run(self) -> None:
        """Until the worker leaves or the gateway does."""
        links_open.inc()
        try:
            await self._ended.wait()
        finally:
            links_open.dec()
            links_lost.inc()
            self._ended.set()
            self._line.close()
            self._lost(self)

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        received, self._received = self._received, []
        now = self._clock.monotonic()
        for at in received:
            gateway_stage.observe(now - at)
        self._line.take(waiting)

    def _take(self, batch: Sequence[link.Down]) -> None:
        for frame in batch:
            self._deliver(self, frame)


Link = WorkerLink | NeighbourLink
