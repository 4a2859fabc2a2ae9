"""Where an account sits, waiting or playing: one row an account, written with the fact that it tells (X3, E10)."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA

from libs.chassis.db.database import Transaction
from services.tables.domain.errors import TableUnowned

CLAIM_TRIES = 3  # a seat may be given up between two looks at it, hardly twice

_ACCOUNTS = sa.bindparam("accounts", type_=ARRAY(BYTEA))
# In order of account: two tables that want the same people wait for each other in one direction alone.
_CLAIM = sa.text("""
insert into tables.seat_claim (account, table_id)
select account, :table_id from unnest(cast(:accounts as bytea[])) as wanted(account) order by account
on conflict (account) do nothing
""").bindparams(_ACCOUNTS)
_HELD = sa.text("select account, table_id from tables.seat_claim where account = any(:accounts)").bindparams(_ACCOUNTS)
_FREE = sa.text("""
delete from tables.seat_claim where table_id = :table_id and account = any(:accounts)
""").bindparams(_ACCOUNTS)
_FREE_ALL = sa.text("delete from tables.seat_claim where table_id = :table_id")
_SEAT_OF = sa.text("""
select c.table_id, h.kind from tables.seat_claim c left join tables.table_head h using (table_id)
 where c.account = :account
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
    """Where an account sits. `kind` is None at a friends' table that waits for its deal."""

    table_id: UUID
    kind: int | None


class SeatRecords(Transaction):
    """The part of a transaction that knows who sits where."""

    async def claim_seats(self, table_id: UUID, accounts: Collection[bytes]) -> dict[bytes, UUID]:
        """These accounts sit at this table from the commit on, but for those returned: they sit elsewhere.

        Idempotent. Waits for a transaction that claims, or frees, a seat of the same accounts.
        """
        wanted = sorted(set(accounts))
        for _ in range(CLAIM_TRIES):
            await self.connection.execute(_CLAIM, {"table_id": table_id, "accounts": wanted})
            held = await self.connection.execute(_HELD, {"accounts": wanted})
            sits = {bytes(row.account): UUID(bytes=row.table_id.bytes) for row in held}
            if len(sits) == len(wanted):
                return {account: at for account, at in sits.items() if at != table_id}
        raise TableUnowned

    async def free_seats(self, table_id: UUID, accounts: Collection[bytes]) -> None:
        """These accounts sit there no more. Idempotent."""
        await self.connection.execute(_FREE, {"table_id": table_id, "accounts": sorted(accounts)})

    async def free_table(self, table_id: UUID) -> None:
        """Nobody sits there any more. Idempotent."""
        await self.connection.execute(_FREE_ALL, {"table_id": table_id})

    async def seat_of(self, account: bytes) -> Sitting | None:
        """Where the account sits, waiting or playing."""
        row = (await self.connection.execute(_SEAT_OF, {"account": account})).one_or_none()
        return None if row is None else Sitting(table_id=UUID(bytes=row.table_id.bytes), kind=row.kind)
