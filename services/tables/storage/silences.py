"""Who may not be heard, and until when by the database's clock (P82)."""

from collections.abc import Collection
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA

from libs.chassis.db.database import Transaction

_SILENCE = sa.text("""
insert into tables.silence (account, until) values (:account, clock_timestamp() + :span)
on conflict (account) do update set until = excluded.until
""")
_LIFT = sa.text("delete from tables.silence where account = :account")
_SILENCED = sa.text("""
select account, until from tables.silence where account = any(:accounts) and until > clock_timestamp()
""").bindparams(sa.bindparam("accounts", type_=ARRAY(BYTEA)))


class SilenceRecords(Transaction):
    """The part of a transaction that knows who is silenced."""

    async def silence(self, account: bytes, span: timedelta) -> None:
        """From now on for so long; what stood before is replaced."""
        await self.connection.execute(_SILENCE, {"account": account, "span": span})

    async def lift_silence(self, account: bytes) -> None:
        """Idempotent."""
        await self.connection.execute(_LIFT, {"account": account})

    async def silenced(self, accounts: Collection[bytes]) -> dict[bytes, datetime]:
        """Those of these accounts that nobody hears now, and until when."""
        found = await self.connection.execute(_SILENCED, {"accounts": sorted(set(accounts))})
        return {bytes(row.account): row.until for row in found}
