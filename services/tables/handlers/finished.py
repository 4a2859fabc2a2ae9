"""Which quick games finished in a week, and whether that is all of them (P55)."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID
from zoneinfo import ZoneInfo

from libs.house.calendar import week_bounds
from services.tables.domain.errors import BadLimit, BadWeek
from services.tables.handlers.games import TablesStore

PAGE_MAX = 5000  # 16 bytes each: a third of what one message may carry


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some of a week's games by id; `complete`: no game can finish in that week any more."""

    tables: Sequence[UUID]
    more: bool
    complete: bool


async def finished_games(week: str, *, after: UUID | None, limit: int, store: TablesStore, zone: ZoneInfo) -> Page:
    """The quick games stamped with the ISO `week`, from the first beyond `after`; `limit` 1..5000, 0: 5000.

    Where a page says `complete`, it and every later page miss none. Raises BadWeek, BadLimit.
    """
    try:
        _, end = week_bounds(week, zone=zone)
    except (ValueError, OverflowError) as error:
        raise BadWeek(week_id=week[:20]) from error
    if not 0 <= limit <= PAGE_MAX:
        raise BadLimit(limit=limit, most=PAGE_MAX)
    size = limit or PAGE_MAX
    # In a transaction of its own, so that games wait for the lock alone and not for the reading after it.
    async with store.transaction() as tx:
        complete = await tx.now() >= end and await tx.stamps_settled()
    async with store.transaction() as tx:
        found = await tx.finished_games(week, after=after, limit=size + 1)
    return Page(tables=found[:size], more=len(found) > size, complete=complete)
