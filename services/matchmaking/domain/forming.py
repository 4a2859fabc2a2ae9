"""Who sits together (P3-P5, X12): groups of waiting tickets of one mode that are dealt now.

A table's clock is its oldest ticket's. With that clock's age the table widens: first the own room and tier, then the
tiers beside it, then every tier and every room. Passes go from the best company to the widest, so that a ticket is
given to strangers only when its own could not make six. Each pass looks at kinds of tickets and not at all of them
(`crowd`), so that the whole grows with their number alone.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta

from libs.house.turns import Matchmaking
from services.matchmaking.domain.crowd import SEATS, Crowd, Kind, Ranked, Reach, Tables, apart
from services.matchmaking.domain.ids import TicketId
from services.matchmaking.domain.tickets import Tier, Waiting, oldest_first

ACROSS_TIERS = len(Tier)


def reach_at(age: timedelta, pace: Matchmaking) -> Reach:
    """How far a table looks whose oldest ticket has waited `age` (P4, P5)."""
    age_ms = age / timedelta(milliseconds=1)
    tiers = 0
    if age_ms >= pace.one_tier_apart_after_ms:
        tiers = 1
    if age_ms >= pace.any_tier_after_ms:
        tiers = ACROSS_TIERS
    return Reach(tiers, age_ms >= pace.cross_room_after_ms)


def form(
    tickets: Iterable[Waiting], now: datetime, pace: Matchmaking, free_rooms: Collection[int]
) -> list[tuple[Waiting, ...]]:
    """Groups of 1 to 6 that are dealt now, the oldest ticket of each first; who is in none waits on.

    Six who fit are dealt at once; fewer when the oldest has waited `pace.deal_after_ms`. Two of one linkage meet only
    where all six are of one of `free_rooms`, those without an entry.
    """
    waiting = oldest_first(tickets)
    groups, rest = _sixes_of_a_kind(waiting, free_rooms)
    for across_rooms in (False, True):
        more, rest = _sixes(rest, now, pace, free_rooms, across_rooms=across_rooms)
        groups += more
    return groups + _due(rest, now, pace, free_rooms)


def seats_filled(
    ticket: Waiting, others: Iterable[Waiting], now: datetime, pace: Matchmaking, free_rooms: Collection[int]
) -> int:
    """People who would sit at this ticket's table if it were dealt now, itself included: 1..6."""
    filled, linkages = 1, {ticket.linkage}
    for other in others:
        oldest, younger = oldest_first((ticket, other))
        if other.ticket_id == ticket.ticket_id or not _fits(oldest, younger, reach_at(now - oldest.created_at, pace)):
            continue
        linkage = apart(other, free_rooms) if other.room == ticket.room else other.linkage
        if linkage and linkage in linkages:
            continue
        linkages.add(linkage)
        filled += 1
        if filled == SEATS:
            break
    return filled


def _fits(oldest: Waiting, other: Waiting, reach: Reach) -> bool:
    return abs(oldest.tier - other.tier) <= reach.tiers and (reach.rooms or oldest.room == other.room)


def _sixes_of_a_kind(
    waiting: Sequence[Waiting], free_rooms: Collection[int]
) -> tuple[list[tuple[Waiting, ...]], list[Waiting]]:
    """Full tables of one room and tier, which need no waiting; what is left keeps its order."""
    groups: list[tuple[Waiting, ...]] = []
    open_tables: dict[tuple[int, Tier], Tables] = defaultdict(Tables)
    for ticket in waiting:
        full = open_tables[ticket.room, ticket.tier].seat(ticket, apart(ticket, free_rooms))
        if full is not None:
            groups.append(full)
    return groups, oldest_first(ticket for tables in open_tables.values() for ticket in tables.left())


def _sixes(
    waiting: Sequence[Waiting], now: datetime, pace: Matchmaking, free_rooms: Collection[int], *, across_rooms: bool
) -> tuple[list[tuple[Waiting, ...]], list[Waiting]]:
    """Full tables around each ticket in turn, the oldest first, as far as its age reaches."""
    groups: list[tuple[Waiting, ...]] = []
    seated: set[TicketId] = set()
    crowd = Crowd(waiting, None if across_rooms else free_rooms)
    # Who is younger reaches no farther and finds no more: where one of a kind failed, all behind it would.
    failed: set[Kind] = set()
    for rank, oldest in enumerate(waiting):
        kind = crowd.kind(oldest)
        if oldest.ticket_id in seated or kind in failed:
            continue
        reach = reach_at(now - oldest.created_at, pace)
        company = crowd.company(Ranked(rank, oldest), Reach(reach.tiers, reach.rooms and across_rooms), seated)
        if len(company) == SEATS:
            groups.append(company)
            seated.update(ticket.ticket_id for ticket in company)
        else:
            failed.add(kind)
    return groups, [ticket for ticket in waiting if ticket.ticket_id not in seated]


def _due(
    waiting: Sequence[Waiting], now: datetime, pace: Matchmaking, free_rooms: Collection[int]
) -> list[tuple[Waiting, ...]]:
    """Tables whose time is up, with whoever fits; bots take the other seats (P3)."""
    groups: list[tuple[Waiting, ...]] = []
    seated: set[TicketId] = set()
    alone, mixed = Crowd(waiting, free_rooms), Crowd(waiting, None)
    for rank, oldest in enumerate(waiting):
        age = now - oldest.created_at
        if age < timedelta(milliseconds=pace.deal_after_ms):
            break
        if oldest.ticket_id in seated:
            continue
        reach, ranked = reach_at(age, pace), Ranked(rank, oldest)
        own_room = alone.company(ranked, Reach(reach.tiers, rooms=False), seated)
        company = mixed.company(ranked, reach, seated) if reach.rooms else own_room
        if len(company) <= len(own_room):
            company = own_room
        groups.append(company)
        seated.update(ticket.ticket_id for ticket in company)
    return groups
