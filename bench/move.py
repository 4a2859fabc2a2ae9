"""What our own code takes of a move, by part: gateway, actor and rules, without kernel, database and WebSocket library.

    python -m bench.move [--tables 50] [--rounds 30]

Real gateway sockets, link, worker and actors of one process; the transport keeps nothing and the journal commits at
once. Every part is timed for all tables together, CPU time of the thread; a number is the quietest of the rounds. What
a whole server takes beside it (`make bench`) is the kernel's, PostgreSQL's and asyncpg's, picows' and uvloop's, and
what memory costs when they have had the caches meanwhile.
"""

import argparse
import json
import os
import time
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID, uuid4

import uvloop
from picows import WSFrame, WSMsgType

from libs.chassis.clock import SystemClock
from libs.engine.game import GAMES
from libs.house import platform
from libs.house.turns import Turns
from libs.search import compiled
from libs.wire import link
from services.gateway.socket.connection import Connection
from services.gateway.socket.hub import Hub
from services.gateway.socket.inbox import Inbox
from services.gateway.socket.tables import Table as Followed
from services.gateway.socket.tables import Tables
from services.tables.actor import Pace, TableActor
from services.tables.bots import BotPlayers
from services.tables.domain.entries import Opened, SeatFacts
from services.tables.domain.table import opened
from services.tables.ports import Entry, Outcome

GAME = GAMES["romanian"]
SEATS = 4
ROWS_A_ROUND = 14  # moves of every table between two looks at the clocks
PARTS = ("gateway in", "decide", "commit and frames", "gateway out")
PLATFORM = Path(__file__).parent.parent / "config" / "platform.toml"


@dataclass(eq=False)
class Desk:
    """A journal, a link and a worker that hand things on only when told, so that each part can be timed."""

    entries: list[Entry] = field(default_factory=list)
    up: list[link.Up] = field(default_factory=list)
    down: list[link.Down] = field(default_factory=list)
    address: str = "here"
    tables: set[Any] = field(default_factory=set)

    def append(self, entry: Entry) -> None:
        """As a journal's."""
        self.entries.append(entry)

    async def find(self, table_id: UUID, born: date, command_id: UUID) -> int | None:
        """As a journal's: no command here was made before."""
        return None

    def send(self, frame: Any, received_at: float = 0.0) -> None:
        """As a link's, of up-frames, and as a session's, of down-frames."""
        if isinstance(frame, (link.Public, link.ToAccount, link.ToSocket)):
            self.down.append(frame)
        else:
            self.up.append(frame)

    def commit(self) -> None:
        """Every entry is a row."""
        while self.entries:
            entries, self.entries = self.entries, []
            for entry in entries:
                entry.done(Outcome.COMMITTED, entry.seq)


class Failing:
    """Nothing of what a worker is asked for may happen within a few rounds."""

    def lost(self, actor: TableActor) -> None:
        raise AssertionError

    def ended(self, actor: TableActor) -> None:
        raise AssertionError

    def failed(self, actor: TableActor, error: Exception) -> None:
        raise error

    def deserted(self, actor: TableActor) -> None:
        raise AssertionError

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        raise AssertionError


@dataclass
class Frame:
    """A text frame as picows hands it over."""

    payload: bytes
    fin: bool = True
    rsv1: bool = False
    rsv2: bool = False
    rsv3: bool = False
    msg_type: WSMsgType = WSMsgType.TEXT

    def get_payload_as_bytes(self) -> bytes:
        """What the client sent."""
        return self.payload


class Sink:
    """A socket whose bytes go nowhere."""

    def send(self, kind: WSMsgType, payload: bytes) -> None:
        """As picows'."""

    def write(self, payload: bytes) -> None:
        """As the transport's under it."""


def seated(
    number: int, desk: Desk, tables: Tables, hub: Hub, bots: BotPlayers, turns: Turns
) -> tuple[TableActor, list[Connection]]:
    """A table that has been dealt, with four sockets that follow it."""
    accounts = [bytes([seat + 1]) * 16 for seat in range(SEATS)]
    seats = [SeatFacts(account, f"player {seat}") for seat, account in enumerate(accounts)]
    body = Opened(2, 1, GAME.name, GAME.rules_version, {"mode": "8-8-8"}, seats, os.urandom(32))
    actor = TableActor(
        opened(uuid4(), body), epoch=1, born=date(2026, 1, 1), journal=desk, clock=hub.clock, pace=Pace(turns=turns),
        bots=bots, keeper=Failing(),
    )  # fmt: skip
    actor.start()
    desk.commit()
    table_id = actor.table.table_id.bytes
    followed = tables._tables[table_id] = Followed(table_id)
    followed.epoch = 1
    followed.link = cast("Any", desk)
    connections = []
    for seat, account in enumerate(accounts):
        connection = Connection(hub, number * SEATS + seat + 1, rate=0, burst=1)
        connection.account_id = account
        connection._transport, connection._write = Sink(), Sink().write
        connection.tables[table_id] = followed
        followed.waiting[connection.number] = (connection, -1)
        actor.subscribe(cast("Any", desk), link.Subscribe(table_id, account, connection.number, -1))
        connections.append(connection)
    return actor, connections


async def measured(count: int, rounds: int) -> dict[str, float]:
    """CPU microseconds a move, by part."""
    desk, rng, cpu = Desk(), Random(1), time.thread_time
    clock = SystemClock()
    nobody = cast("Any", None)
    tables = Tables(locator=nobody, open_peer=nobody, neighbours={}, clock=clock, entropy=nobody, tasks=nobody)
    hub = cast("Hub", SimpleNamespace(
        clock=clock, tables=tables, inbox=Inbox(), frames_in=0, frames_out=0, sample=lambda: "",
    ))  # fmt: skip
    house = platform.load(PLATFORM)
    bots = BotPlayers(house.bots, clock, compiled=compiled())
    games = [seated(number, desk, tables, hub, bots, house.turns) for number in range(count)]
    actors = {actor.table.table_id.bytes: actor for actor, _ in games}
    requests = iter(range(10**9))

    def deliver() -> None:
        down, desk.down = desk.down, []
        for frame in down:
            tables.deliver(cast("Any", desk), frame)

    deliver()
    quietest = dict.fromkeys(PARTS, float("inf"))
    for _ in range(rounds):
        spent = dict.fromkeys(PARTS, 0.0)
        for _ in range(ROWS_A_ROUND):
            moves = []
            for actor, connections in games:
                table = actor.table
                assert table.to_act is not None
                act = {
                    "t": "act",
                    "table": table.table_id.hex,
                    "req": f"r{next(requests)}",
                    "turn": table.turn,
                    "action": rng.choice(GAME.legal(table.state)),
                }
                moves.append((connections[table.to_act], cast("WSFrame", Frame(json.dumps(act).encode()))))
            times = [cpu()]
            for connection, frame in moves:
                connection.on_ws_frame(nobody, frame)
            hub.inbox.take_in()
            times.append(cpu())
            up, desk.up = desk.up, []
            for each in up:
                assert isinstance(each, link.Command)
                actors[each.table].command(cast("Any", desk), each, times[0])
            times.append(cpu())
            desk.commit()
            times.append(cpu())
            deliver()
            times.append(cpu())
            for part, start, end in zip(PARTS, times, times[1:], strict=False):
                spent[part] += end - start
        for part, seconds in spent.items():
            quietest[part] = min(quietest[part], seconds / (ROWS_A_ROUND * count) * 1e6)
    return quietest


def main() -> None:
    """Print the parts."""
    parser = argparse.ArgumentParser(prog="python -m bench.move", description=__doc__)
    parser.add_argument("--tables", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=30)
    arguments = parser.parse_args()
    parts = uvloop.run(measured(arguments.tables, arguments.rounds))
    for part, microseconds in parts.items():
        print(f"{part:18} {microseconds:5.1f} us a move")
    print(f"{'together':18} {sum(parts.values()):5.1f}")


if __name__ == "__main__":
    main()
