"""One person's part of a finished quick game, and what it is worth."""

from dataclasses import dataclass
from datetime import datetime
from typing import NewType
from uuid import UUID

from libs.house.eligibility import counts
from libs.house.experience import Experience, game_experience

AccountId = NewType("AccountId", UUID)
TableId = NewType("TableId", UUID)
WeekId = NewType("WeekId", str)  # "2026-W48", in the platform's zone


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedSeat:
    """How one person ended one game."""

    account_id: AccountId
    place: int  # from 1
    rounds: int
    own_bids: int  # rounds in which the person bid
    own_made: int  # of these, contracts made
    bid_lately: bool  # at least one own bid in the last three rounds
    left: bool  # on purpose, which is final (P8)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedGame:
    """A quick-play game that ended; bots have no seat here."""

    table_id: TableId
    week_id: WeekId  # stamped once, where the game finished (P53)
    finished_at: datetime
    seats: tuple[FinishedSeat, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GameResult:
    """A finished game as an account keeps it; every total is a sum over these."""

    account_id: AccountId
    table_id: TableId
    week_id: WeekId
    finished_at: datetime
    place: int
    own_bids: int
    own_made: int
    rounds: int
    counted: bool  # by P16; what does not count earns nothing
    experience: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Prize:
    """Coins as paid for one game, so with coffee: the points of the weekly league (P50)."""

    account_id: AccountId
    table_id: TableId
    week_id: WeekId
    coins: int


def results_of(game: FinishedGame, numbers: Experience) -> tuple[GameResult, ...]:
    """What each person takes from the game, in the order of account ids, in which rows are locked.

    Raises ValueError for a seat that no game has.
    """
    return tuple(_result(game, seat, numbers) for seat in sorted(game.seats, key=lambda seat: seat.account_id))


def _result(game: FinishedGame, seat: FinishedSeat, numbers: Experience) -> GameResult:
    counted = not seat.left and counts("quick", seat.rounds, seat.own_bids, seat.bid_lately)
    return GameResult(
        account_id=seat.account_id,
        table_id=game.table_id,
        week_id=game.week_id,
        finished_at=game.finished_at,
        place=seat.place,
        own_bids=seat.own_bids,
        own_made=seat.own_made,
        rounds=seat.rounds,
        counted=counted,
        experience=game_experience(seat.own_bids, seat.own_made, seat.place, counted, numbers=numbers),
    )
