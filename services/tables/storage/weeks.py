"""Quick games by the week in which they finished, and when no more can join a week (P55).

Whoever stamps a game with a week holds a lock shared, from before it reads the clock until its commit. Whoever asks
whether a week is complete takes the same lock for itself: then every stamp made before has been committed or given up,
and every later one reads a clock that is past the week's end.
"""

from collections.abc import Sequence
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from libs.chassis.db.database import Transaction

LOCK = "hashtext('tables.finished_game'), 0"
# A finishing game takes milliseconds. One that hangs must not make the others wait behind who asks: that one gives up.
LOCK_SECONDS = 2
LOCK_NOT_TO_BE_HAD = "55P03"

_SHARE = sa.text(f"select pg_advisory_xact_lock_shared({LOCK})")
_WAIT = sa.text(f"set local lock_timeout = '{LOCK_SECONDS}s'")
_ALONE = sa.text(f"select pg_advisory_xact_lock({LOCK})")
_NOTE = sa.text("insert into tables.finished_game (week_id, table_id) values (:week_id, :table_id)")
_PAGE = sa.text("""
select table_id from tables.finished_game
 where week_id = :week_id and table_id > :after order by table_id limit :limit
""")
BEFORE_ALL = UUID(int=0)


class WeekRecords(Transaction):
    """What one transaction can do with weeks."""

    async def share_weeks(self) -> None:
        """Before the clock is read that stamps a game with its week."""
        await self.connection.execute(_SHARE)

    async def note_finished(self, table_id: UUID, week_id: str) -> None:
        await self.connection.execute(_NOTE, {"week_id": week_id, "table_id": table_id})

    async def stamps_settled(self) -> bool:
        """Wait until no stamp is under way; False: one takes too long, and this transaction must be given up."""
        await self.connection.execute(_WAIT)
        try:
            await self.connection.execute(_ALONE)
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) == LOCK_NOT_TO_BE_HAD:
                return False
            raise
        return True

    async def finished_games(self, week_id: str, *, after: UUID | None, limit: int) -> Sequence[UUID]:
        """By id, from the first beyond `after`."""
        values = {"week_id": week_id, "after": after or BEFORE_ALL, "limit": limit}
        return [UUID(bytes=row.table_id.bytes) for row in await self.connection.execute(_PAGE, values)]
