"""The worker's end of a gateway's stream: frames out in batches, bounded in bytes."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol

import structlog

from libs.chassis.clock import Clock
from libs.wire.link import Down, Public, ToAccount, ToSocket, encode_batch

log = structlog.get_logger()

# What a gateway may lag behind; more means it is gone or drowning, and its players resume elsewhere.
BUFFER_MAX_BYTES = 16 * 1024 * 1024
# The gateway takes messages of 4 MiB; a thousand snapshots after a takeover are more.
BATCH_MAX_BYTES = 1024 * 1024
# A gRPC message costs about 190 µs whatever its size (measured): the first leaves at once, then one a millisecond.
GAP_SECONDS = 0.001


class Session(Protocol):
    """A gateway, however it is reached."""

    def send(self, frame: Down) -> None:
        """Queue one frame; a closed session drops it."""
        ...

    def close(self) -> None:
        """Send nothing any more."""
        ...

    def end(self) -> None:
        """Send what waits, and close."""
        ...


class NeighbourSession:
    """A gateway of this process: it is handed what was sent in one turn of the loop."""

    def __init__(self, deliver: Callable[[Sequence[Down]], None], lost: Callable[[], None]) -> None:
        self._deliver = deliver
        self._lost = lost
        self._call_soon = asyncio.get_running_loop().call_soon
        self._waiting: list[Down] = []
        self._closed = False

    def send(self, frame: Down) -> None:
        """Queue one frame."""
        if self._closed:
            return
        if not self._waiting:
            self._call_soon(self._flush)
        self._waiting.append(frame)

    def close(self) -> None:
        """Tell the gateway that nothing will follow. Idempotent."""
        if not self._closed:
            self._closed = True
            self._waiting.clear()
            self._call_soon(self._lost)

    def end(self) -> None:
        """Hand over what waits, and close."""
        self._flush()
        self.close()

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        self._deliver(waiting)


class GatewaySession:
    """One `Play` stream. `send` is called from callbacks; `batches` is the stream's writing side."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: list[Down] = []
        self._bytes = 0
        self._wake = asyncio.Event()
        self._ending = False
        self.closed = False

    def send(self, frame: Down) -> None:
        """Queue one frame; closes the session when the gateway has fallen too far behind."""
        if self.closed:
            return
        self._waiting.append(frame)
        self._bytes += size_of(frame)
        if self._bytes > BUFFER_MAX_BYTES:
            log.warning("gateway_too_slow", waiting_bytes=self._bytes)
            self.close()
        self._wake.set()

    def close(self) -> None:
        """End the stream; nothing is sent any more."""
        self.closed = True
        self._waiting.clear()
        self._wake.set()

    def end(self) -> None:
        """End the stream behind what waits."""
        self._ending = True
        self._wake.set()

    async def batches(self) -> AsyncIterator[bytes]:
        """Encoded batches until the session is closed."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self.closed:
                return
            if self._bytes <= BATCH_MAX_BYTES:
                batch, self._waiting, self._bytes = self._waiting, [], 0
            else:
                batch = self._some()
            if batch:
                yield encode_batch(batch)
            if self._ending and not self._waiting:
                return
            await asyncio.sleep(GAP_SECONDS)

    def _some(self) -> list[Down]:
        """The first frames, up to a batch's size; the rest follows."""
        size = count = 0
        for frame in self._waiting:
            weight = size_of(frame)
            if count and size + weight > BATCH_MAX_BYTES:
                break
            size += weight
            count += 1
        batch, self._waiting = self._waiting[:count], self._waiting[count:]
        self._bytes -= size
        self._wake.set()
        return batch


def size_of(frame: Down) -> int:
    """Bytes for clients that it carries; what is around them is small and of one size."""
    match frame:
        case Public():
            return len(frame.frame) + sum(map(len, frame.own.values()))
        case ToAccount() | ToSocket():
            return len(frame.frame)
        case _:
            return 0
