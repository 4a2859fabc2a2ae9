"""Who fits whom, found without looking at everybody for everybody.

Tickets of one kind (room, tier, linkage) are alike but for their age, so a table looks at the first few of each kind.
Two tickets with one linkage come from one network (X12): they share no table at which an entry is paid.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

from services.matchmaking.domain.ids import TicketId
from services.matchmaking.domain.tickets import Tier, Waiting

SEATS = 6


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a table looks: tiers apart, and whether other rooms count."""

    tiers: int
    rooms: bool


class Kind(NamedTuple):
    """All that company depends on besides age. `linkage` is empty where nobody is kept from anybody."""

    room: int
    tier: Tier
    linkage: bytes


class Ranked(NamedTuple):
    """A ticket with its place by age, 0 for the oldest."""

    rank: int
    ticket: Waiting


def apart(ticket: Waiting, free_rooms: Collection[int]) -> bytes:
    """The linkage that counts at a table of the ticket's own room alone: none where the room is free.

    Friends who queue for a free table together may meet there; a mixed table is no free table for everybody.
    """
    return b"" if ticket.room in free_rooms else ticket.linkage


class Tables:
    """Tables of one room and tier while they fill, first fit: a linkage sits at each of them once at most.

    First fit leaves few kinds behind: a ticket that opened a table found its linkage at every open one before, so the
    tables left open hold at most five linkages among them.
    """

    def __init__(self) -> None:
        self._tables: list[list[Waiting]] = []
        # From each table to one at or behind it that may be open; a path to the first that is (union by halving).
        self._open: list[int] = []
        # Behind the last table at which each linkage sits; those before are full or have it.
        self._behind: dict[bytes, int] = {}

    def seat(self, ticket: Waiting, linkage: bytes) -> tuple[Waiting, ...] | None:
        """Seat one, the oldest first. The table, when it became full."""
        place = self._first_open(self._behind.get(linkage, 0))
        if place == len(self._tables):
            self._tables.append([])
            self._open.append(place)
        table = self._tables[place]
        table.append(ticket)
        if linkage:
            self._behind[linkage] = place + 1
        if len(table) < SEATS:
            return None
        self._open[place] = place + 1
        return tuple(table)

    def left(self) -> Iterator[Waiting]:
        """Who sits at a table that did not fill."""
        for table in self._tables:
            if len(table) < SEATS:
                yield from table

    def _first_open(self, place: int) -> int:
        opens = self._open
        while place < len(opens) and opens[place] != place:
            if opens[place] < len(opens):
                opens[place] = opens[opens[place]]
            place = opens[place]
        return place


class Alike:
    """Tickets of one kind, the oldest first, seen from ever younger ones."""

    __slots__ = ("_start", "tickets")

    def __init__(self) -> None:
        self.tickets: list[Ranked] = []
        self._start = 0

    def first(self, older: int, seated: Collection[TicketId], most: int) -> list[Ranked]:
        """The first `most` that are younger than the ticket at rank `older` and not seated yet."""
        tickets, start = self.tickets, self._start
        while start < len(tickets) and (tickets[start].rank <= older or tickets[start].ticket.ticket_id in seated):
            start += 1
        self._start = start
        found: list[Ranked] = []
        while start < len(tickets) and len(found) < most:
            if tickets[start].ticket.ticket_id not in seated:
                found.append(tickets[start])
            start += 1
        return found


class Crowd:
    """Waiting tickets by kind. `free_rooms` set: for tables of one room alone; None: for mixed tables."""

    def __init__(self, waiting: Sequence[Waiting], free_rooms: Collection[int] | None) -> None:
        self._free_rooms = free_rooms
        self._queues: dict[Kind, Alike] = defaultdict(Alike)
        for rank, ticket in enumerate(waiting):
            self._queues[self.kind(ticket)].tickets.append(Ranked(rank, ticket))

    def kind(self, ticket: Waiting) -> Kind:
        linkage = ticket.linkage if self._free_rooms is None else apart(ticket, self._free_rooms)
        return Kind(ticket.room, ticket.tier, linkage)

    def company(self, oldest: Ranked, reach: Reach, seated: Collection[TicketId]) -> tuple[Waiting, ...]:
        """`oldest` and up to five younger ones who fit it: own room first, then near tiers, then who waited longest.

        To be asked from the oldest ticket to the youngest: who is older than this one is not looked at again.
        """
        own = self.kind(oldest.ticket)
        found: list[tuple[bool, int, int, bytes, Waiting]] = []
        for (room, tier, linkage), queue in self._queues.items():
            distance = abs(tier - own.tier)
            if distance > reach.tiers or (room != own.room and not reach.rooms) or (linkage and linkage == own.linkage):
                continue
            for rank, ticket in queue.first(oldest.rank, seated, 1 if linkage else SEATS - 1):
                found.append((room != own.room, distance, rank, linkage, ticket))
        found.sort(key=itemgetter(0, 1, 2))
        company, linkages = [oldest.ticket], set()
        for *_, linkage, ticket in found:
            if linkage not in linkages:
                company.append(ticket)
                if linkage:
                    linkages.add(linkage)
            if len(company) == SEATS:
                break
        return tuple(company)
