"""Messages of all sockets that one turn of the loop has read, acted upon together behind the reading.

A move's code leaves the processor's caches while the kernel reads the next socket; of many moves in a row it stays.
"""

import asyncio
from typing import TYPE_CHECKING

import structlog
from picows import WSMsgType

if TYPE_CHECKING:
    from services.gateway.socket.connection import Connection

log = structlog.get_logger()

# Then they are acted upon in the middle of the turn: of a flood, the socket's own limits keep the rest away. So many
# honest messages in one turn lose nothing, since they are many in a row already.
ARRIVED_MAX = 1024


class Inbox:
    """Whole messages in the order in which they arrived; none waits longer than a turn of the loop."""

    def __init__(self) -> None:
        self._arrived: list[tuple[Connection, WSMsgType, bytes, float]] = []
        self._call_soon = asyncio.get_running_loop().call_soon

    def add(self, connection: "Connection", kind: WSMsgType, payload: bytes, received_at: float) -> None:
        """A message that arrived at this monotonic time."""
        if not self._arrived:
            self._call_soon(self.take_in)
        self._arrived.append((connection, kind, payload, received_at))
        if len(self._arrived) == ARRIVED_MAX:
            self.take_in()

    def take_in(self) -> None:
        """Act on everything that has arrived."""
        arrived, self._arrived = self._arrived, []
        for connection, kind, payload, received_at in arrived:
            try:
                connection.message(kind, payload, received_at)
            except Exception:  # a fault of ours, which the other sockets' messages must not suffer from
                log.exception("message_failed")
                connection.cut()
