"""Friends' tables on sockets: one stream a socket and table, which also keeps its person's seat before the deal."""

import asyncio
from functools import partial

from libs.chassis.entropy import Entropy
from libs.chassis.errors import DomainError, Kind
from libs.wire import frames
from services.gateway import ports
from services.gateway.limits import Limits
from services.gateway.socket.connection import Connection
from services.gateway.tasks import Tasks

ENTERED_MAX = 8  # tables a socket; a person waits at one
SAYING_MAX = 8  # lines of a socket on their way; the rate allows no more
PAUSE_MS = 500  # before a broken stream is opened again, plus as much jitter
CLOSED = "closed"


class Company:
    """Who follows which friends' table. Everything but the tasks is a callback that never waits."""

    def __init__(self, friends: ports.Company, limits: Limits, entropy: Entropy, tasks: Tasks) -> None:
        self._friends = friends
        self._limits = limits
        self._entropy = entropy
        self._tasks = tasks
        self._following: dict[int, dict[bytes, asyncio.Task[None]]] = {}
        self._saying: dict[int, int] = {}

    def enter(self, connection: Connection, table_id: bytes, since_line: int) -> None:
        """Tell this socket of the table; once more for one that follows already, from where it asks."""
        following = self._following.setdefault(connection.number, {})
        former = following.pop(table_id, None)
        if former is not None:
            former.cancel()
        elif len(following) >= ENTERED_MAX:
            connection.refuse("TOO_MANY_TABLES", table=table_id.hex())
            return
        task = following[table_id] = self._tasks.spawn(self._follow(connection, table_id, since_line))
        task.add_done_callback(partial(self._ended, connection.number, table_id))

    def leave(self, connection: Connection, table_id: bytes) -> None:
        """The socket does not want to know any more; its seat's lease runs out unless another socket keeps it."""
        task = self._following.get(connection.number, {}).get(table_id)
        if task is not None:
            task.cancel()

    def forget(self, connection: Connection) -> None:
        """The socket is gone."""
        for task in self._following.pop(connection.number, {}).values():
            task.cancel()

    def say(self, connection: Connection, frame: frames.Say) -> None:
        """Pass a line on; answered by an ack with its number, or a typed error."""
        number = connection.number
        try:
            self._limits.chat(connection.account_id)
        except DomainError as error:
            connection.refuse(error.reason, req=frame.req, table=frame.table, facts=dict(error.facts))
            return
        if self._saying.get(number, 0) >= SAYING_MAX:
            connection.refuse("TOO_MANY_COMMANDS", req=frame.req, table=frame.table)
            return
        self._saying[number] = self._saying.get(number, 0) + 1
        self._tasks.spawn(self._say(connection, frame))

    def _ended(self, number: int, table_id: bytes, task: "asyncio.Task[None]") -> None:
        following = self._following.get(number)
        if following is not None and following.get(table_id) is task:
            del following[table_id]
            if not following:
                del self._following[number]

    async def _follow(self, connection: Connection, table_id: bytes, line: int) -> None:
        while True:
            try:
                async for told in self._friends.enter(table_id, connection.account_id, line):
                    connection.send(frames.encode(told))
                    if isinstance(told, frames.Chat):
                        line = told.line
                    elif told.stage == CLOSED:
                        return
            except DomainError as error:
                if error.kind is not Kind.UNAVAILABLE:
                    connection.refuse(error.reason, table=table_id.hex(), facts=dict(error.facts))
                    return
            await asyncio.sleep((PAUSE_MS + self._entropy.below(PAUSE_MS)) / 1000)

    async def _say(self, connection: Connection, frame: frames.Say) -> None:
        try:
            line = await self._friends.say(bytes.fromhex(frame.table), connection.account_id, frame.req, frame.words)
        except DomainError as error:
            connection.refuse(error.reason, req=frame.req, table=frame.table, facts=dict(error.facts))
        else:
            connection.send(frames.encode(frames.Ack(table=frame.table, req=frame.req, seq=line)))
        finally:
            left = self._saying.pop(connection.number) - 1
            if left:
                self._saying[connection.number] = left
