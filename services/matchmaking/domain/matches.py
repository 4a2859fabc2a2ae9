"""A match: people who were put together, on their way to a table."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from libs.house.modes import Coffee, Mode
from libs.house.platform import Platform
from libs.house.vip import is_vip_day, vip_weekdays
from services.matchmaking.domain.errors import NotAVipDay
from services.matchmaking.domain.ids import AccountId, TableId
from services.matchmaking.domain.tickets import Ticket, TicketState

TABLE_WITHIN = timedelta(seconds=30)  # then it is taken back: nobody waits longer on a table that cannot be made
TABLES_TRIED = 2  # tables that may fail under a ticket before it is dropped


class MatchState(StrEnum):
    """forming → held → created → done; forming or held → releasing → cancelled.

    forming: entries are being held. held: all who stay have theirs held, the table is being asked for. created: the
    table deals. releasing: the table can never be, entries go back. done: its game is over.
    """

    FORMING = "forming"
    HELD = "held"
    CREATED = "created"
    RELEASING = "releasing"
    DONE = "done"
    CANCELLED = "cancelled"


UNFINISHED = (MatchState.FORMING, MatchState.HELD, MatchState.RELEASING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """`tickets` are all that name the table, those dropped from it too. `created_at` counts as the deal's time (P7)."""

    table_id: TableId
    mode: Mode
    state: MatchState
    created_at: datetime
    tickets: tuple[Ticket, ...]

    def staying(self) -> tuple[Ticket, ...]:
        """Who is to sit."""
        return tuple(ticket for ticket in self.tickets if ticket.state is TicketState.MATCHED)

    def dropped(self) -> tuple[Ticket, ...]:
        """Who was taken off."""
        return tuple(ticket for ticket in self.tickets if ticket.state is TicketState.DROPPED)

    def overdue(self, now: datetime) -> bool:
        """Whether the table should have been there by `now`."""
        return now - self.created_at >= TABLE_WITHIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Player:
    """A person as the table is told. `hints`: may ask the coach during the game (P13)."""

    account_id: AccountId
    name: str
    guest: bool
    room: int
    coffee: Coffee
    hints: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VipDays:
    """Whose VIP day it is in the platform's zone, by the key of the hash that spreads them (P13)."""

    key: bytes
    zone: ZoneInfo

    def today(self, account_id: AccountId, at: datetime, *, guest: bool) -> bool:
        """Guests have none (P42)."""
        return not guest and is_vip_day(account_id.bytes, self.key, at, zone=self.zone)

    def weekdays(self, account_id: AccountId, *, guest: bool) -> tuple[int, ...]:
        """The account's two, 0 = Monday; guests have none."""
        return () if guest else vip_weekdays(account_id.bytes, self.key)


def shut_out(match: Match, platform: Platform, days: VipDays) -> dict[AccountId, str]:
    """Who queued on a VIP day and is dealt on another: VIP is read again at the deal (P7). Account → reason."""
    return {
        ticket.wish.account_id: NotAVipDay.reason
        for ticket in match.staying()
        if platform.room(ticket.wish.room).vip
        and not days.today(ticket.wish.account_id, match.created_at, guest=ticket.wish.guest)
    }


def players_of(match: Match, days: VipDays) -> tuple[Player, ...]:
    """The people to sit; the same at every repetition, but for names and for guests who have signed in since.

    VIP days are read at the match's own time.
    """
    return tuple(
        Player(
            account_id=ticket.wish.account_id,
            name=ticket.wish.name,
            guest=ticket.wish.guest,
            room=ticket.wish.room,
            coffee=ticket.wish.coffee,
            hints=days.today(ticket.wish.account_id, match.created_at, guest=ticket.wish.guest),
        )
        for ticket in match.staying()
    )
