"""What others are told of tickets, in the transaction in which it becomes so."""

from collections.abc import Sequence
from datetime import timedelta

from services.matchmaking.domain.matches import Match
from services.matchmaking.domain.tickets import Ticket
from services.matchmaking.ports import Records
from whist.matchmaking.v1.events_pb2 import MatchMade, MatchmakingEvent, TicketDropped

TOPIC = "whist.matchmaking.events.v1"


async def publish_drops(tx: Records, tickets: Sequence[Ticket]) -> None:
    """Each of them was given up, with its reason."""
    for ticket in tickets:
        dropped = TicketDropped(
            ticket_id=ticket.ticket_id.bytes,
            account_id=ticket.wish.account_id.bytes,
            table_id=b"" if ticket.table_id is None else ticket.table_id.bytes,
            reason=ticket.dropped_reason,
        )
        await tx.publish(TOPIC, ticket.ticket_id.bytes, MatchmakingEvent(ticket_dropped=dropped))


async def publish_made(tx: Records, match: Match, seated: Sequence[Ticket]) -> None:
    """Each of them sits at the match's table."""
    for ticket in seated:
        made = MatchMade(
            ticket_id=ticket.ticket_id.bytes,
            account_id=ticket.wish.account_id.bytes,
            table_id=match.table_id.bytes,
            waited_ms=(match.created_at - ticket.created_at) // timedelta(milliseconds=1),
        )
        event = MatchmakingEvent(match_made=made)
        event.occurred_at.FromDatetime(ticket.changed_at)  # said here, or each event would ask the database's clock
        await tx.publish(TOPIC, ticket.ticket_id.bytes, event)
