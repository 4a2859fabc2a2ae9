"""What the gateway needs of the world, so that sockets and routes can be tested without it."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Protocol

from libs.chassis.rpc.peer import Peer
from libs.wire.frames import Chat, Queue, Waiting

# A channel of its own to a worker's address; the caller closes it.
OpenPeer = Callable[[str], Peer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Whereabouts:
    """The worker that owns a table, and since which epoch."""

    address: str
    epoch: int


class Locator(Protocol):
    """Knows which worker owns a table."""

    async def locate(self, table_id: bytes) -> Whereabouts:
        """Raises DomainError: TABLE_UNKNOWN, TABLE_FINISHED; kind UNAVAILABLE when it is worth asking again."""
        ...


class Company(Protocol):
    """Friends' tables as sockets need them."""

    def enter(self, table_id: bytes, account_id: bytes, since_line: int) -> AsyncIterator[Waiting | Chat]:
        """The table and its chat, at once and at each change; ends when the table is closed. Raises DomainError."""
        ...

    async def say(self, table_id: bytes, account_id: bytes, req: str, words: str) -> int:
        """The number of the line. Raises DomainError."""
        ...


class QueueWatch(Protocol):
    """Follows an account's place in matchmaking."""

    def watch(self, account_id: bytes) -> AsyncIterator[Queue]:
        """Each change, from the present state on; ends after "idle", "seated" or "dropped". Raises DomainError."""
        ...
