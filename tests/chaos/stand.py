"""One live table on its own: the real actor over a journal in memory, and everything that leaves it."""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from libs.chassis.clock import ManualClock
from libs.engine.protocol import Action, Seat, State
from libs.house import platform
from libs.house.bots import Bots, Strength
from libs.house.turns import Turns
from libs.wire import link
from services.tables.actor import Pace, TableActor, TakeSeat
from services.tables.bots import BotPlayers
from services.tables.domain.entries import FriendsTable, Moved, Opened, SeatFacts, Tally, decode_body
from services.tables.domain.table import Table
from services.tables.ports import Entry, Outcome

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
STRANGER = b"\xee" * 16
WAIT_SECONDS = 20.0
FRIENDS = FriendsTable(bid_ms=60_000, play_ms=60_000, bots="calm", spectators=50)
TURNS: Turns = platform.load().turns


def account_of(seat: Seat) -> bytes:
    return bytes([seat + 1]) * 16


class MemoryJournal:
    """The journal's port: every entry stands a turn of the loop later, and is kept."""

    def __init__(self) -> None:
        self.rows: list[Entry] = []
        self.pending = 0
        self._ids: dict[UUID, int] = {}

    def append(self, entry: Entry) -> None:
        self.pending += 1
        asyncio.get_running_loop().call_soon(self._settle, entry)

    def _settle(self, entry: Entry) -> None:
        self.pending -= 1
        earlier = self._ids.get(entry.command_id)
        if earlier is not None:
            entry.done(Outcome.REPEATED, earlier)
            return
        self._ids[entry.command_id] = entry.seq
        self.rows.append(entry)
        entry.done(Outcome.COMMITTED, entry.seq)

    async def find(self, table_id: UUID, born: date, command_id: UUID) -> int | None:
        return self._ids.get(command_id)

    def moves(self) -> list[tuple[int, Moved]]:
        """The decisions so far with their rows."""
        bodies = [(entry.seq, decode_body(entry.body)) for entry in self.rows]
        return [(seq, body) for seq, body in bodies if isinstance(body, Moved)]


@dataclass
class Keeper:
    """What the worker would be told."""

    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    faults: list[Exception] = field(default_factory=list)
    over: bool = False

    def lost(self, actor: TableActor) -> None:
        raise AssertionError("nobody fences this table")

    def ended(self, actor: TableActor) -> None:
        self.over = True

    def failed(self, actor: TableActor, error: Exception) -> None:
        self.faults.append(error)

    def deserted(self, actor: TableActor) -> None:
        raise AssertionError("a clock of minutes")

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatPace(Pace):
    """Everybody has for ever, but for the seats in `hurried`, whose time is up at once."""

    hurried: set[Seat] = field(default_factory=set)
    tables: list[Table] = field(default_factory=list)

    def limit_seconds(self, phase: str, friends: FriendsTable | None) -> float:
        return 0.0 if self.tables[0].to_act in self.hurried else 3600.0

    def grace_seconds(self) -> float:
        return 0.0


class Heard:
    """A gateway's session that keeps every frame in order."""

    def __init__(self) -> None:
        self.down: list[link.Down] = []

    def send(self, frame: link.Down) -> None:
        self.down.append(frame)

    def close(self) -> None:
        self.down.clear()

    def end(self) -> None:
        """What was sent is here already."""


class Stand:
    """A friends' table of people (but for `bots_at`) that stands where `state` says, with everybody following it."""

    def __init__(
        self, game: Any, table_id: UUID, options: dict[str, Any], players: int, state: State, *,
        secret: bytes = b"s" * 32, dealt: int = 0, bots_at: Sequence[Seat] = (), strength: Strength = Strength.CALM,
    ) -> None:  # fmt: skip
        self.seats = [
            SeatFacts(b"" if seat in bots_at else account_of(seat), f"P{seat}", hints=True) for seat in range(players)
        ]
        body = Opened(3, 0, game.name, game.rules_version, options, self.seats, secret, FRIENDS)
        self.table = Table(table_id, body, game, state, [Tally() for _ in self.seats], rounds=dealt, next_seq=1)
        self.clock = ManualClock(NOW)
        self.journal = MemoryJournal()
        self.keeper = Keeper()
        self.pace = SeatPace(turns=TURNS, bot_scale=0.0, tables=[self.table])
        self.bots = BotPlayers(Bots(strength=strength, stand_in=strength), self.clock, compiled=True)
        self.heard = Heard()
        self.actor = TableActor(
            self.table, epoch=1, born=NOW.date(), journal=self.journal, clock=self.clock, pace=self.pace,
            bots=self.bots, keeper=self.keeper,
        )  # fmt: skip

    def conn_of(self, account: bytes) -> int:
        return account[0]

    def follow(self, account: bytes, since: int = -1) -> None:
        self.actor.subscribe(
            self.heard, link.Subscribe(self.table.table_id.bytes, account, self.conn_of(account), since)
        )

    def act(self, account: bytes, req: str, turn: int, action: Action, traceparent: str = "") -> None:
        frame = link.Command(self.table.table_id.bytes, account, self.conn_of(account), req, turn, action, traceparent)
        self.actor.command(self.heard, frame, self.clock.monotonic())

    def leave(self, account: bytes, req: str) -> None:
        frame = link.Vacate(self.table.table_id.bytes, account, self.conn_of(account), req)
        self.actor.command(self.heard, frame, self.clock.monotonic())

    async def take_seat(self, account: bytes, seat: Seat, req: str) -> int:
        """The row; raises the refusal."""
        return await self.actor.take_seat(TakeSeat(SeatFacts(account, "New"), seat, req), self.clock.monotonic())

    async def quiet(self) -> None:
        """Return when nothing is under way: no row, no look-up."""
        async with asyncio.timeout(WAIT_SECONDS):
            while self.journal.pending or self.keeper.tasks:
                await asyncio.sleep(0)

    async def passed(self, seat: Seat) -> None:
        """Return when the server has made all moves that the seat is due in a row."""
        async with asyncio.timeout(WAIT_SECONDS):
            while self.journal.pending or (self.table.to_act == seat and not self.keeper.faults):
                await asyncio.sleep(0)

    def sent_to(self, account: bytes) -> list[bytes]:
        """Every frame that a socket of this account is sent, in order."""
        conn, sent = self.conn_of(account), list[bytes]()
        for frame in self.heard.down:
            match frame:
                case link.Public():
                    sent.append(frame.frame)
                    sent += [own for holder, own in frame.own.items() if holder == account]
                case link.ToAccount() if frame.account == account:
                    sent.append(frame.frame)
                case link.ToSocket() if frame.conn == conn:
                    sent.append(frame.frame)
        return sent

    def published(self, before: int) -> list[bytes]:
        """The events for other services, of rows before this one."""
        return [event.SerializeToString() for row in self.journal.rows if row.seq < before for event in row.events]

    def answers(self, req: str) -> list[link.ToSocket]:
        """What one command was answered with, other than by its row."""
        return [frame for frame in self.heard.down if isinstance(frame, link.ToSocket) and frame.req == req]

    async def close(self) -> None:
        self.actor.retire()
        await self.bots.close()
