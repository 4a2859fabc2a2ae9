"""Whether a finished game may be given back, and what then moves (P14)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from libs.chassis.errors import DomainError
from libs.house.calendar import week_bounds
from libs.house.refunds import RefundRule
from services.wallet.domain.assets import Amounts
from services.wallet.domain.errors import (
    AlreadyRefunded,
    FirstPlace,
    GameLeft,
    GameNotCounted,
    GameRunning,
    GameUnknown,
    GameWasVoided,
    GuestsHaveNoRefund,
    InsufficientToReverse,
    NotAVipDay,
    NothingToRefund,
    RefundsUsedUp,
    RefundTooLate,
    WeekIsClosed,
)
from services.wallet.domain.holds import GameState, Hold, HoldState
from services.wallet.domain.ledger import Reason
from services.wallet.domain.settled import Finish, SettledSeat, Undoing, Won, total


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundCase:
    """All that decides. What is None is not known of the table, or of the account at it."""

    state: GameState | None
    hold: Hold | None
    finish: Finish | None
    seat: SettledSeat | None
    won: Sequence[Won]
    undone: Undoing | None
    # What the account owns now.
    owned: Amounts
    # Refunds of games of that day which the account has had.
    used: int
    # The game's week has been closed.
    sealed: bool

    @property
    def returns(self) -> Amounts:
        """Entry and coffee, as they were paid."""
        return self.hold.amounts if self.hold is not None and self.hold.state is HoldState.PAID else {}

    @property
    def takes(self) -> Amounts:
        """All that the game won."""
        return total([each.amounts for each in self.won])


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """`refused` is None where a refund is open; what is not known of a refused game is empty."""

    refused: type[DomainError] | None
    returns: Amounts
    takes: Amounts
    until: datetime | None
    left_today: int
    loses_first_game: bool


def offer(case: RefundCase, *, rule: RefundRule | None, vip_day: bool, now: datetime, zone: ZoneInfo) -> Offer:
    """The answer at `now`, by the database's clock.

    `rule` and `vip_day` are of the day on which the game finished. Reasons are looked at in one order, those that
    will never change first.
    """
    until = None if case.finish is None or rule is None else _until(case.finish, rule, zone)
    return Offer(
        refused=_never(case) or _not_now(case, rule, vip_day=vip_day, now=now, until=until),
        returns=case.returns,
        takes=case.takes,
        until=until,
        left_today=max(0, (rule.a_day if rule else 0) - case.used),
        loses_first_game=any(each.reason is Reason.FIRST_GAME_GIFT for each in case.won),
    )


def day_of(finish: Finish) -> date:
    """The day whose rule holds."""
    return date.fromisoformat(finish.day_id)


def _until(finish: Finish, rule: RefundRule, zone: ZoneInfo) -> datetime:
    """The first moment at which it is too late."""
    _, week_end = week_bounds(finish.week_id, zone=zone)
    return min(finish.finished_at + rule.window, week_end)


def _never(case: RefundCase) -> type[DomainError] | None:
    if case.undone is Undoing.REFUND:
        return AlreadyRefunded
    if case.seat is None and case.hold is None:
        return GameUnknown  # also of a game in which somebody else has played
    if case.state is GameState.VOIDED:
        return GameWasVoided
    if case.state in (GameState.OPEN, GameState.STARTED):
        return GameRunning
    if case.state is not GameState.FINISHED or case.seat is None or case.finish is None:
        return GameUnknown
    return _of_seat(case.seat, case)


def _of_seat(seat: SettledSeat, case: RefundCase) -> type[DomainError] | None:
    if seat.guest:
        return GuestsHaveNoRefund
    if seat.vacated:
        return GameLeft
    if not seat.counts:
        return GameNotCounted
    if seat.place == 1:
        return FirstPlace
    return None if case.returns else NothingToRefund


def _not_now(
    case: RefundCase, rule: RefundRule | None, *, vip_day: bool, now: datetime, until: datetime | None
) -> type[DomainError] | None:
    assert case.finish is not None, "a game without one is refused before"
    if rule is None or until is None:
        return RefundsUsedUp
    if case.sealed or now >= until:
        return WeekIsClosed if case.sealed or until < case.finish.finished_at + rule.window else RefundTooLate
    if rule.vip_days_only and not vip_day:
        return NotAVipDay
    if case.used >= rule.a_day:
        return RefundsUsedUp
    return None if _covered(case) else InsufficientToReverse


def _covered(case: RefundCase) -> bool:
    """Whether the balance bears the net of what goes back, asset by asset (X5)."""
    returns = case.returns
    return all(case.owned.get(asset, 0) + returns.get(asset, 0) >= amount for asset, amount in case.takes.items())
