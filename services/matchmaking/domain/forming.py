"""Who sits together (P3-P5): groups of waiting tickets of one mode that are dealt now.

A table's clock is its oldest ticket's. With that clock's age the table widens: first the own room and tier, then the
tiers beside it, then every tier and every room. Passes go from the best company to the widest, so that a ticket is
given to strangers only when its own could not make six.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from libs.house.turns import Matchmaking
from services.matchmaking.domain.ids import TicketId
from services.matchmaking.domain.tickets import Tier, Waiting, oldest_first

SEATS = 6
ACROSS_TIERS = len(Tier)


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a table looks: tiers apart, and whether other rooms count."""

    tiers: int
    rooms: bool


def reach_at(age: timedelta, pace: Matchmaking) -> Reach:
    """How far a table looks whose oldest ticket has waited `age` (P4, P5)."""
    age_ms = age / timedelta(milliseconds=1)
    tiers = 0
    if age_ms >= pace.one_tier_apart_after_ms:
        tiers = 1
    if age_ms >= pace.any_tier_after_ms:
        tiers = ACROSS_TIERS
    return Reach(tiers, age_ms >= pace.cross_room_after_ms)


def form(tickets: Iterable[Waiting], now: datetime, pace: Matchmaking) -> list[tuple[Waiting, ...]]:
    """Groups of 1 to 6 that are dealt now, the oldest ticket of each first; who is in none waits on.

    Six who fit are dealt at once; fewer when the oldest has waited `pace.deal_after_ms`.
    """
    waiting = oldest_first(tickets)
    groups, rest = _sixes_of_a_kind(waiting)
    for across_rooms in (False, True):
        more, rest = _sixes(rest, now, pace, across_rooms=across_rooms)
        groups += more
    return groups + _due(rest, now, pace)


def seats_filled(ticket: Waiting, others: Iterable[Waiting], now: datetime, pace: Matchmaking) -> int:
    """People who would sit at this ticket's table if it were dealt now, itself included: 1..6."""
    filled = 1
    for other in others:
        oldest, younger = oldest_first((ticket, other))
        if other.ticket_id != ticket.ticket_id and _fits(oldest, younger, reach_at(now - oldest.created_at, pace)):
            filled += 1
            if filled == SEATS:
                break
    return filled


def _fits(oldest: Waiting, other: Waiting, reach: Reach) -> bool:
    return abs(oldest.tier - other.tier) <= reach.tiers and (reach.rooms or oldest.room == other.room)


def _sixes_of_a_kind(waiting: Sequence[Waiting]) -> tuple[list[tuple[Waiting, ...]], list[Waiting]]:
    """Full tables of one room and tier, which need no waiting; what is left keeps its order."""
    groups: list[tuple[Waiting, ...]] = []
    open_tables: dict[tuple[int, Tier], list[Waiting]] = defaultdict(list)
    for ticket in waiting:
        table = open_tables[ticket.room, ticket.tier]
        table.append(ticket)
        if len(table) == SEATS:
            groups.append(tuple(table))
            table.clear()
    return groups, oldest_first(ticket for table in open_tables.values() for ticket in table)


def _sixes(
    waiting: Sequence[Waiting], now: datetime, pace: Matchmaking, *, across_rooms: bool
) -> tuple[list[tuple[Waiting, ...]], list[Waiting]]:
    """Full tables around each ticket in turn, the oldest first, as far as its age reaches."""
    groups: list[tuple[Waiting, ...]] = []
    seated: set[TicketId] = set()
    for place, oldest in enumerate(waiting):
        if oldest.ticket_id in seated:
            continue
        reach = reach_at(now - oldest.created_at, pace)
        younger = (ticket for ticket in waiting[place + 1 :] if ticket.ticket_id not in seated)
        company = _company(oldest, younger, Reach(reach.tiers, reach.rooms and across_rooms))
        if len(company) == SEATS:
            groups.append(company)
            seated.update(ticket.ticket_id for ticket in company)
    return groups, [ticket for ticket in waiting if ticket.ticket_id not in seated]


def _due(waiting: Sequence[Waiting], now: datetime, pace: Matchmaking) -> list[tuple[Waiting, ...]]:
    """Tables whose time is up, with whoever fits; bots take the other seats (P3)."""
    groups: list[tuple[Waiting, ...]] = []
    left = list(waiting)
    while left and now - left[0].created_at >= timedelta(milliseconds=pace.deal_after_ms):
        company = _company(left[0], left[1:], reach_at(now - left[0].created_at, pace))
        groups.append(company)
        left = [ticket for ticket in left if ticket not in company]
    return groups


def _company(oldest: Waiting, younger: Iterable[Waiting], reach: Reach) -> tuple[Waiting, ...]:
    """The oldest and up to five who fit it: own room first, then near tiers, then who waited longest."""
    fitting = [ticket for ticket in younger if _fits(oldest, ticket, reach)]
    fitting.sort(key=lambda ticket: (ticket.room != oldest.room, abs(ticket.tier - oldest.tier)))
    return (oldest, *fitting[: SEATS - 1])
