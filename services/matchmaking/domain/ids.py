"""Ids as types."""

from typing import NewType
from uuid import UUID

AccountId = NewType("AccountId", UUID)
TicketId = NewType("TicketId", UUID)
TableId = NewType("TableId", UUID)
