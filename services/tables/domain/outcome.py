"""What a finished game means to the other services, and the record its players may fetch (P16, P72)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from libs.engine import fair
from services.tables.domain.entries import Body, By, Drawn, Moved, Opened, Resumed, Vacated
from services.tables.domain.table import LATELY_ROUNDS, Table

RECORD_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatOutcome:
    """One seat of a finished game."""

    seat: int
    place: int
    total: int
    own_bids: int
    own_made: int
    rounds: int
    bid_lately: bool
    left: bool


def outcomes(table: Table) -> list[SeatOutcome]:
    """By seat. The game must be over."""
    result = table.game.result(table.state)
    rounds = result.rounds_bid
    lately = ((1 << LATELY_ROUNDS) - 1) << max(0, rounds - LATELY_ROUNDS)
    return [
        SeatOutcome(
            seat=seat,
            place=result.place(seat),
            total=result.totals[seat],
            own_bids=tally.own_bids.bit_count(),
            own_made=sum(
                1 for number, fact in enumerate(result.seats[seat]) if tally.own_bids >> number & 1 and fact.made
            ),
            rounds=rounds,
            bid_lately=bool(tally.own_bids & lately),
            left=tally.left,
        )
        for seat, tally in enumerate(table.tallies)
    ]


def record(table: Table, rows: Iterable[tuple[int, Body, datetime]], finished_at: datetime) -> dict[str, Any]:
    """The whole game as plain JSON, accounts by id and never by name.

    A log item's `events` are the engine's public projections; `private` has, by seat, what that seat alone was told.
    """
    opened, log = table.opened, []
    started_at = finished_at
    for seq, body, at in rows:
        if isinstance(body, Opened):
            started_at = at
            continue
        log.append(_logged(table, seq, body, at))
    return {
        "v": RECORD_VERSION,
        "table": table.table_id.hex,
        "game": opened.game,
        "rules_version": opened.rules_version,
        "options": opened.options,
        "commitment": fair.commitment(opened.secret).hex(),
        "secret": opened.secret.hex(),
        "seats": [{"account": seat.account.hex() or None, "room": seat.room} for seat in opened.seats],
        "started_at": _milliseconds(started_at),
        "finished_at": _milliseconds(finished_at),
        "log": log,
        "result": table.game.result(table.state).dump() if table.game.over(table.state) else None,
    }


def _logged(table: Table, seq: int, body: Body, at: datetime) -> dict[str, Any]:
    item: dict[str, Any] = {"seq": seq, "at": _milliseconds(at)}
    match body:
        case Moved(seat=seat, by=by):
            item |= {"by": By(by).word, "seat": seat}
        case Vacated(seat=seat):
            return item | {"by": By.PERSON.word, "seat": seat, "left": True}
        case Resumed(pause_ms=pause_ms):
            return item | {"by": By.SERVER.word, "pause_ms": pause_ms}
        case Drawn():
            item |= {"by": By.SERVER.word}
        case Opened():
            raise ValueError("row 0 is the record's head")
    game = table.game
    events = [game.load_event(each, table.opened.rules_version) for each in body.events]
    item["events"] = [shown for event in events if (shown := game.project(event, None)) is not None]
    private = [event for event in events if game.is_private(event)]
    if private:
        item["private"] = {
            str(seat): [game.project(event, seat) for event in private] for seat in range(len(table.seats))
        }
    return item


def _milliseconds(at: datetime) -> int:
    return round(at.timestamp() * 1000)
