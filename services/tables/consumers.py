"""Topic to handler. What an event lacks or has wrong raises ValueError, and the bus parks its key."""

from uuid import UUID

from services.tables.handlers import personal
from services.tables.storage.personal import PersonalTransaction
from whist.auth.v1.events_pb2 import AuthEvent

AUTH_TOPIC = "whist.auth.events.v1"


async def on_auth(tx: PersonalTransaction, event: AuthEvent) -> None:
    """`tables.auth`: an account's end (P45)."""
    if event.WhichOneof("event") == "account_deleted":
        await personal.erase(UUID(bytes=event.account_deleted.account_id).bytes, tx=tx)
