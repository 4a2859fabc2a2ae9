"""One person's part of a finished game, and what it is worth."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NewType
from uuid import UUID

from libs.house.eligibility import counts
from libs.house.experience import Experience, game_experience

AccountId = NewType("AccountId", UUID)
TableId = NewType("TableId", UUID)
WeekId = NewType("WeekId", str)  # "2026-W48", in the platform's zone


class GameKind(StrEnum):
    """Whose games earn something; the words are those of P16's quotas."""

    QUICK = "quick"  # both modes of quick play
    FRIENDS = "friends"


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedSeat:
    """How one person ended one game."""

    account_id: AccountId
    place: int  # from 1; partners share one
    rounds: int  # where a game has no bids, hands (P16)
    own_bids: int  # rounds in which the person bid, or played every card
    own_made: int  # of these, contracts made
    bid_lately: bool  # at least one own bid in the last three rounds
    left: bool  # on purpose, which is final (P8)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedGame:
    """A game that ended; bots have no seat here but are among `players`."""

    table_id: TableId
    kind: GameKind
    players: int  # seats at the table, bots among them
    week_id: WeekId  # stamped once, where the game finished (P53)
    finished_at: datetime
    seats: tuple[FinishedSeat, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GameResult:
    """A finished game as an account keeps it; every total is a sum over those that were not voided."""

    account_id: AccountId
    table_id: TableId
    kind: GameKind
    week_id: WeekId
    finished_at: datetime
    place: int
    own_bids: int
    own_made: int
    rounds: int
    counted: bool  # by P16; what does not count earns nothing
    experience: int
    score: int  # on the weekly leaderboard of friends' games (P24)

    @property
    def games(self) -> int:
        """1 for a quick-play game that counts."""
        return int(self.counted and self.kind is GameKind.QUICK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prize:
    """Coins as paid for one game, so with coffee: the points of the weekly league (P50)."""

    account_id: AccountId
    table_id: TableId
    week_id: WeekId
    coins: int
    paid_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeReturn:
    """A prize that went back, by the player's refund (P14) or because the game was voided (P82)."""

    account_id: AccountId
    table_id: TableId
    week_id: WeekId
    coins: int


def results_of(game: FinishedGame, numbers: Experience) -> tuple[GameResult, ...]:
    """What each person takes from the game, in the order of account ids, in which rows are locked.

    Raises ValueError for a seat that no game has.
    """
    if len({seat.account_id for seat in game.seats}) != len(game.seats):
        raise ValueError("an account sits twice")
    return tuple(_result(game, seat, numbers) for seat in sorted(game.seats, key=lambda seat: seat.account_id))


def leaderboard_score(players: int, place: int) -> int:
    """With n players the k-th place scores n - k (P24). Raises ValueError for a place the table does not have."""
    if not 1 <= place <= players:
        raise ValueError(f"no place {place} among {players}")
    return players - place


def _result(game: FinishedGame, seat: FinishedSeat, numbers: Experience) -> GameResult:
    counted = not seat.left and counts(game.kind.value, seat.rounds, seat.own_bids, seat.bid_lately)
    ranked = counted and game.kind is GameKind.FRIENDS
    return GameResult(
        account_id=seat.account_id,
        table_id=game.table_id,
        kind=game.kind,
        week_id=game.week_id,
        finished_at=game.finished_at,
        place=seat.place,
        own_bids=seat.own_bids,
        own_made=seat.own_made,
        rounds=seat.rounds,
        counted=counted,
        experience=game_experience(seat.own_bids, seat.own_made, seat.place, counted, numbers=numbers),
        score=leaderboard_score(game.players, seat.place) if ranked else 0,
    )
