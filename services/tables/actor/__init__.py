"""One live table: who asks what of it, whose turn it is, who follows, and what they are told."""

from services.tables.actor.actor import Keeper, TableActor
from services.tables.actor.asked import TakeSeat
from services.tables.actor.pace import Pace

__all__ = ["Keeper", "Pace", "TableActor", "TakeSeat"]
