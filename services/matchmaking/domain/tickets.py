"""A ticket: one player's wish for a seat, from the queue to the end of the game."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum

from libs.house.modes import Coffee, Mode
from libs.house.turns import Matchmaking
from services.matchmaking.domain.ids import AccountId, TableId, TicketId

DROP_SHOWN = timedelta(minutes=1)  # long enough to be read on a phone that slept through it, short of haunting


class Tier(IntEnum):
    """League tiers in order (P50); guests and new accounts count as Jack (P3)."""

    JACK = 1
    QUEEN = 2
    KING = 3
    ACE = 4


class TicketState(StrEnum):
    """waiting → matched → seated → done; matched → waiting when its table failed; cancelled and dropped are ends.

    Dropped is off a table, cancelled out of the queue: by the player, or with a reason.
    """

    WAITING = "waiting"
    MATCHED = "matched"
    SEATED = "seated"
    DROPPED = "dropped"
    CANCELLED = "cancelled"
    DONE = "done"


LIVE = (TicketState.WAITING, TicketState.MATCHED, TicketState.SEATED)
ENDED = (TicketState.DROPPED, TicketState.CANCELLED, TicketState.DONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a player asks for. `name` is shown at the table."""

    account_id: AccountId
    guest: bool
    name: str
    room: int
    mode: Mode
    coffee: Coffee
    # Equal for wishes from one network, empty where it is not known; forgotten once the ticket is seated or ends (X12).
    linkage: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A wish with its place in the queue. `created_at` is the database's time and survives a failed table."""

    ticket_id: TicketId
    wish: Wish
    tier: Tier
    created_at: datetime
    changed_at: datetime
    state: TicketState = TicketState.WAITING
    table_id: TableId | None = None
    # Tables that were abandoned under it.
    failures: int = 0
    dropped_reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """As much of a waiting ticket as matching needs."""

    ticket_id: TicketId
    room: int
    tier: Tier
    created_at: datetime
    linkage: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What leagues said about an account last; the defaults are those of an account it never named."""

    level: int = 1
    tier: Tier = Tier.JACK


@dataclass(frozen=True, slots=True, kw_only=True)
class InLine:
    """A waiting ticket among those who wait for the same room and mode: `position` 1 is the oldest of `waiting`."""

    position: int = 0
    waiting: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an account stands in the queue. `ticket` None: idle. All numbers are 0 unless it waits."""

    ticket: Ticket | None = None
    deals_at: datetime | None = None
    seats_filled: int = 0
    # These change all the time: a change of them alone is no news.
    in_line: InLine = field(default=InLine(), compare=False)
    remaining_ms: int = field(default=0, compare=False)


IDLE = Place()


def place_of(
    ticket: Ticket | None, now: datetime, pace: Matchmaking, *, seats_filled: int = 0, in_line: InLine | None = None
) -> Place:
    """What the account is told. A drop is told for `DROP_SHOWN`, other ends at once read as idle."""
    if ticket is None or (ticket.state not in LIVE and not _fresh_drop(ticket, now)):
        return IDLE
    if ticket.state is not TicketState.WAITING:
        return Place(ticket=ticket)
    deals_at = ticket.created_at + timedelta(milliseconds=pace.deal_after_ms)
    return Place(
        ticket=ticket,
        deals_at=deals_at,
        seats_filled=seats_filled,
        in_line=in_line or InLine(),
        remaining_ms=max(0, (deals_at - now) // timedelta(milliseconds=1)),
    )


def _fresh_drop(ticket: Ticket, now: datetime) -> bool:
    return bool(ticket.dropped_reason) and now - ticket.changed_at < DROP_SHOWN


def waiting_of(ticket: Ticket) -> Waiting:
    """The part of a ticket that decides with whom it sits."""
    return Waiting(
        ticket_id=ticket.ticket_id,
        room=ticket.wish.room,
        tier=ticket.tier,
        created_at=ticket.created_at,
        linkage=ticket.wish.linkage,
    )


def oldest_first(tickets: Iterable[Waiting]) -> list[Waiting]:
    """By age; the id settles equal ages, so that every matcher sees one order."""
    return sorted(tickets, key=lambda ticket: (ticket.created_at, ticket.ticket_id))


def tier_of(standing: Standing, wish: Wish) -> Tier:
    """Guests have no league: they are seated as Jacks whatever was said of them (P3)."""
    return Tier.JACK if wish.guest else standing.tier
