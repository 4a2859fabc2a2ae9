"""Places in matchmaking: one stream an account, shared by its sockets that asked."""

import asyncio

from libs.chassis.entropy import Entropy
from libs.chassis.errors import DomainError, Kind
from libs.wire import frames
from services.gateway.ports import QueueWatch
from services.gateway.socket.connection import Connection
from services.gateway.tasks import Tasks

LAST_STATES = ("idle", "seated", "dropped")
PAUSE_MS = 500  # before a broken stream is opened again, plus as much jitter


class Watches:
    """Follows matchmaking for as long as somebody wants to know."""

    def __init__(self, queue: QueueWatch, entropy: Entropy, tasks: Tasks) -> None:
        self._queue = queue
        self._entropy = entropy
        self._tasks = tasks
        self._watching: dict[bytes, dict[int, Connection]] = {}
        self._last: dict[bytes, bytes] = {}

    def watch(self, connection: Connection) -> None:
        """Send this socket the account's place now and whenever it changes."""
        account_id = connection.account_id
        watching = self._watching.get(account_id)
        if watching is None:
            self._watching[account_id] = {connection.number: connection}
            self._tasks.spawn(self._follow(account_id))
            return
        watching[connection.number] = connection
        last = self._last.get(account_id)
        if last is not None:
            connection.send(last)

    def forget(self, connection: Connection) -> None:
        """The socket is gone; the stream ends at its next word, or now when nobody else listens."""
        watching = self._watching.get(connection.account_id)
        if watching is not None:
            watching.pop(connection.number, None)

    async def _follow(self, account_id: bytes) -> None:
        watching = self._watching[account_id]
        try:
            while watching:
                try:
                    async for place in self._queue.watch(account_id):
                        frame = self._last[account_id] = frames.encode(place)
                        for connection in list(watching.values()):
                            connection.send(frame)
                        if place.state in LAST_STATES or not watching:
                            return
                except DomainError as error:
                    if error.kind is not Kind.UNAVAILABLE:
                        for connection in list(watching.values()):
                            connection.refuse(error.reason)
                        return
                await asyncio.sleep((PAUSE_MS + self._entropy.below(PAUSE_MS)) / 1000)
        finally:
            del self._watching[account_id]
            self._last.pop(account_id, None)
