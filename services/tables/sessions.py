"""The worker's end of a gateway's stream: frames out in batches, bounded in bytes."""

import asyncio
from collections.abc import AsyncIterator

import structlog

from libs.chassis.clock import Clock
from libs.wire.link import Down, Public, ToAccount, ToSocket, encode_batch

log = structlog.get_logger()

# What a gateway may lag behind; more means it is gone or drowning, and its players resume elsewhere.
BUFFER_MAX_BYTES = 16 * 1024 * 1024
# A gRPC message costs about 190 µs whatever its size (measured): the first leaves at once, then one a millisecond.
GAP_SECONDS = 0.001


class GatewaySession:
    """One `Play` stream. `send` is called from callbacks; `batches` is the stream's writing side."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: list[Down] = []
        self._bytes = 0
        self._wake = asyncio.Event()
        self.closed = False

    def send(self, frame: Down) -> None:
        """Queue one frame; closes the session when the gateway has fallen too far behind."""
        if self.closed:
            return
        self._waiting.append(frame)
        if isinstance(frame, (Public, ToAccount, ToSocket)):
            self._bytes += len(frame.frame)
            if self._bytes > BUFFER_MAX_BYTES:
                log.warning("gateway_too_slow", waiting_bytes=self._bytes)
                self.close()
        self._wake.set()

    def close(self) -> None:
        """End the stream; nothing is sent any more."""
        self.closed = True
        self._waiting.clear()
        self._wake.set()

    async def batches(self) -> AsyncIterator[bytes]:
        """Encoded batches until the session is closed."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self.closed:
                return
            batch, self._waiting, self._bytes = self._waiting, [], 0
            yield encode_batch(batch)
            await asyncio.sleep(GAP_SECONDS)
