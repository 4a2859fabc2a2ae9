"""What a finished game means to the other services, and the record its players may fetch (P16, P72)."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from libs.engine import fair
from libs.engine.errors import UnknownRulesVersion
from libs.engine.game import GAMES, Game, OwnBy
from libs.engine.record import model
from libs.engine.record.model import MOVES_MAX, Move, Record
from libs.engine.record.replaying import playable, played
from services.tables.domain.entries import Body, By, Moved, Opened, Resumed, TakenOver, Vacated
from services.tables.domain.table import LATELY_ROUNDS, Table

BY = {By.PERSON: model.By.PERSON, By.TIME_OUT: model.By.TIME_OUT, By.BOT: model.By.BOT}
PAUSES_MAX = 64  # the newest; a table that changed hands more often was in a crash loop
TAKEN_OVER_MAX = 64  # the first; each newcomer is an account that leaves for good
# What a broken row makes its reader raise.
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, UnknownRulesVersion)


Row = tuple[Body, datetime]  # an entry of the journal and when it was committed


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
    """By seat. The game must be over; a round is one's own when every bid, or card, of it was (P16)."""
    result = table.game.result(table.state)
    found = []
    for seat, tally in enumerate(table.tallies):
        facts = result.seats[seat]
        by_bids = table.game.own_by is OwnBy.BIDS
        rounds = [number for number, fact in enumerate(facts) if (fact.bid is not None if by_bids else fact.cards)]
        mine = tally.own_bids & ~tally.others
        own = [number for number in rounds if mine >> number & 1]
        found.append(
            SeatOutcome(
                seat=seat,
                place=result.place(seat),
                total=result.totals[seat],
                own_bids=len(own),
                own_made=sum(facts[number].made for number in own),
                rounds=len(rounds),
                bid_lately=not set(own).isdisjoint(rounds[-LATELY_ROUNDS:]),
                left=tally.left,
            )
        )
    return found


def record(
    table_id: UUID, opened: Opened, rows: Iterable[Row], finished_at: datetime, voided: str | None = None
) -> Record:
    """The game as the engine's record, accounts by id and never by name.

    `rows` are the journal's from row 0 on, `voided` the reason why the game was called off. A game longer than any
    played by people (bench) is kept up to the record's limit. Raises whatever a broken row makes its reader raise.
    """
    journal = list(rows)
    moves = tuple(_moves(GAMES[opened.game], opened.rules_version, journal))
    return _record(table_id, opened, moves[:MOVES_MAX], _table(table_id, opened, journal, finished_at, voided))


def called_off(table_id: UUID, opened: Opened, rows: Iterable[Row], finished_at: datetime, voided: str) -> Record:
    """The record of a game that was called off: what was decided before the fault, and no result (P70, P72).

    The fault may be in the rows: they are taken as far as they can be read and the rules accept them. A decision that
    would have ended the game stays out, for it ended nothing. Raises BadRecord where not even the first deal is sound.
    """
    journal, moves = list(rows), list[Move]()
    with contextlib.suppress(*UNREADABLE):
        for move in _moves(GAMES[opened.game], opened.rules_version, journal):
            moves.append(move)
    about = _table(table_id, opened, journal, finished_at, voided)
    sound = playable(_record(table_id, opened, tuple(moves[:MOVES_MAX]), about))
    return sound if played(sound).result is None else replace(sound, moves=sound.moves[:-1])


def _record(table_id: UUID, opened: Opened, moves: tuple[Move, ...], about: dict[str, Any]) -> Record:
    return Record(
        game=opened.game,
        rules_version=opened.rules_version,
        players=len(opened.seats),
        options=opened.options,
        commitment=fair.commitment(opened.secret),
        secret=opened.secret,
        moves=moves,
        table=about,
    )


def _moves(game: Game, rules_version: int, rows: Iterable[Row]) -> Iterator[Move]:
    """Every decision with its actor and time; stops where rows are missing."""
    turn = 0
    for body, at in rows:
        if not isinstance(body, Moved):
            continue
        if body.turn != turn:
            return
        decision = game.decision(game.load_event(body.events[0], rules_version))
        if decision is None:
            raise ValueError("a move begins with its decision")
        seat, action = decision
        yield Move(seat=seat, action=action, by=BY[By(body.by)], at_ms=_milliseconds(at))
        turn += 1


def _table(
    table_id: UUID, opened: Opened, rows: Sequence[Row], finished_at: datetime, voided: str | None
) -> dict[str, Any]:
    """What only the platform knows of the game; the record carries it and the engine does not read it.

    `seats` by seat: account in hex, null for a bot, and the room it chose; `left` who left for good and when (P8);
    `pauses` when another worker took over and for how long nobody could move (P33). A friends' table has besides
    `chosen_seats`, for nobody drew them, and `taken_over`: seat, account and when (P22). Times are UTC milliseconds.
    """
    taken = [[body.seat, body.who.account.hex(), _milliseconds(at)] for body, at in rows if isinstance(body, TakenOver)]
    friends = {} if opened.friends is None else {"chosen_seats": True, "taken_over": taken[:TAKEN_OVER_MAX]}
    return friends | {
        "id": table_id.hex,
        "status": "finished" if voided is None else "voided",
        "reason": voided,
        "started_at": _milliseconds(rows[0][1] if rows else finished_at),
        "finished_at": _milliseconds(finished_at),
        "seats": [{"account": seat.account.hex() or None, "room": seat.room} for seat in opened.seats],
        "left": [[body.seat, _milliseconds(at)] for body, at in rows if isinstance(body, Vacated)],
        "pauses": [[_milliseconds(at), body.pause_ms] for body, at in rows if isinstance(body, Resumed)][-PAUSES_MAX:],
    }


def _milliseconds(at: datetime) -> int:
    return round(at.timestamp() * 1000)
