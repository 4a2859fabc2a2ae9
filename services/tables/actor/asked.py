"""What is asked of a table, and what is under way."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from libs.chassis.telemetry.tracing import sampled
from libs.engine.game import Seat, State
from libs.wire import link
from services.tables.domain.entries import Body, SeatFacts
from services.tables.domain.table import Table
from services.tables.sessions import Session


@dataclass(frozen=True, slots=True)
class TakeSeat:
    """A person wants a seat that was left, or that only a bot holds (P22)."""

    who: SeatFacts
    seat: Seat
    req: str

    @property
    def account(self) -> bytes:
        return self.who.account


@dataclass(slots=True)
class Asked:
    """A person's command with the way its answer takes: to socket `conn`, or to whoever waits for the row's number."""

    frame: link.Command | link.Vacate | TakeSeat
    arrived: float
    session: Session | None = None
    conn: int = 0
    answer: "asyncio.Future[int] | None" = None


@dataclass(slots=True)
class InFlight:
    """The one entry that has been handed to the journal and has not come back."""

    body: Body
    events: Sequence[Any]
    # The state that the events lead to: it becomes the table's when the row is committed.
    after: State
    asked: Asked | None
    decided: float


def state_after(table: Table, events: Sequence[Any]) -> State:
    """The state to which these events lead."""
    state, evolve = table.state, table.game.evolve
    for event in events:
        state = evolve(state, event)
    return state


def traceparent_of(asked: Asked | None) -> str:
    """The trace that goes on in the entry's events; a command that is not sampled costs nothing."""
    if asked is None or not isinstance(asked.frame, link.Command) or not sampled(asked.frame.traceparent):
        return ""
    return asked.frame.traceparent
