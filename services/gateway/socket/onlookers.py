"""Frames that nobody waits for leave together while moves are slow to be answered.

A row is news to everybody at the table, but two alone wait for it: who moved, and who is to move. Under load most of a
move's price is system calls, one a socket; a player who only looks on is told of some rows in one write then. As long
as moves are answered at their usual pace nothing is held back.
"""

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.gateway.socket.connection import Connection

USUAL_SECONDS = 0.004  # from a move's receipt to its answer; slower ones tell of load
WEIGHT = 0.02  # of one move in the mean
ROWS = 3.5  # moves' time that a frame may wait: a round of four passes with one write
LONGEST_SECONDS = 0.2  # below what anybody would call a delay in a game of cards


class Onlookers:
    """The sockets for which something is held, and for how long it may be."""

    def __init__(self) -> None:
        # How long a frame may wait; 0: frames leave at once.
        self.seconds = 0.0
        self._pace = 0.0
        self._held: list[Connection] = []

    def answered(self, seconds: float) -> None:
        """A move has got its answer, so long after its receipt."""
        self._pace += (seconds - self._pace) * WEIGHT
        self.seconds = min(self._pace * ROWS, LONGEST_SECONDS) if self._pace > USUAL_SECONDS else 0.0

    def sweep(self) -> None:
        """Once a second: what was slow a while ago says nothing of now."""
        self._pace /= 2
        self.answered(self._pace)

    def add(self, connection: "Connection") -> None:
        """Let this socket's frames go when their time is up; nothing of it was held before."""
        if not self._held:
            asyncio.get_running_loop().call_later(self.seconds, self._let_go)
        self._held.append(connection)

    def _let_go(self) -> None:
        held, self._held = self._held, []
        for connection in held:
            connection.let_go()
