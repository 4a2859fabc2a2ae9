"""The ledger rebuilt from the wallet's own events, in SQL where it is many rows (reliability E15)."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from libs.chassis.db import Transaction
from services.wallet.domain.history import Difference
from services.wallet.domain.telling import CAUSES, Telling, Told
from services.wallet.storage.tables import telling

FETCHED = 500  # events at a time: some six milliseconds of decoding, and then others have the loop

# Nothing of ours runs for a day: what is older has been committed, and is not changed any more.
_TELLING = """
select clock_timestamp() as now, opens_at, since,
  date_trunc('day', clock_timestamp() at time zone 'UTC') at time zone 'UTC' - interval '1 day' as until
from wallet.telling
"""

# What each account has gained by causes, by the postings; what lies in open holds is still its owner's.
_CAUSES = ", ".join(f"('{reason}', '{cause}')" for reason, cause in CAUSES.items())
_POSTED = f"""
select p.account_id, coalesce(c.cause, t.reason) as cause, p.asset, sum(p.amount) as amount
from wallet.posting p join wallet.transfer t on t.id = p.transfer_id
left join (values {_CAUSES}) as c(reason, cause) using (reason)
where p.account_id is not null group by p.account_id, coalesce(c.cause, t.reason), p.asset
union all
select account_id, 'entry', asset, amount from wallet.hold h,
  lateral (values ('coin', h.coins), ('bar', h.bars), ('cup_' || h.coffee, (h.coffee <> '')::int)) as v(asset, amount)
where state = 'open' and amount > 0
"""  # noqa: S608 - constant words
_GIVEN = "select * from unnest(:accounts, :causes, :assets, :amounts) as g(account_id, cause, asset, amount)"
_ALL_TOLD = f"""
select account_id, cause, asset, amount from wallet.told union all {_GIVEN}
"""  # noqa: S608 - constant text
_BOTH = f"""
select account_id, cause, asset, sum(told) as told, sum(posted) as posted
from (
  select account_id, cause, asset, 0 as told, amount as posted from ({_POSTED}) as p
  union all select account_id, cause, asset, amount, 0 from ({_ALL_TOLD}) as t
) as lines
group by account_id, cause, asset having sum(told) <> sum(posted)
"""  # noqa: S608 - constant text
_COLUMNS = (
    sa.bindparam("accounts", type_=ARRAY(sa.Uuid)),
    sa.bindparam("causes", type_=ARRAY(sa.Text)),
    sa.bindparam("assets", type_=ARRAY(sa.Text)),
    sa.bindparam("amounts", type_=ARRAY(sa.BigInteger)),
)
_UNTOLD = sa.text(
    f"select account_id || ' ' || cause || ' ' || asset, told::text, posted::text from ({_BOTH}) as b "  # noqa: S608
    "order by 1 limit :limit"
).bindparams(*_COLUMNS)
_TAKE_IN = sa.text(f"""
insert into wallet.told as t (account_id, cause, asset, amount) {_GIVEN}
on conflict (account_id, cause, asset) do update set amount = t.amount + excluded.amount
""").bindparams(*_COLUMNS)
_OPEN = sa.text(f"""
insert into wallet.told (account_id, cause, asset, amount)
select account_id, cause, asset, posted - told from ({_BOTH}) as b
""").bindparams(*_COLUMNS)  # noqa: S608 - constant text


class TellingRecords(Transaction):
    """Part of `services.wallet.ports.Ledger`."""

    async def in_one_snapshot(self, *, alone: bool = False) -> None:
        await self.connection.execute(sa.text("set transaction isolation level repeatable read"))
        if alone:  # LOCK alone waits without having taken the snapshot: a row's lock would be met as it was before
            await self.connection.execute(sa.text("lock table wallet.telling in share update exclusive mode"))

    async def telling(self, *, lock: bool = False) -> Telling:
        row = (await self.connection.execute(sa.text(f"{_TELLING} for update" if lock else _TELLING))).one()
        return Telling(now=row.now, opens_at=row.opens_at, since=row.since, may_take_in_until=row.until)

    async def kept_events(self, since: datetime, until: datetime | None = None) -> AsyncIterator[tuple[UUID, bytes]]:
        statement = "select event_id, payload from wallet.event where occurred_at >= :since"
        values = {"since": since}
        if until is not None:
            statement, values = f"{statement} and occurred_at < :until", {"since": since, "until": until}
        found = await self.connection.stream(sa.text(statement), values, execution_options={"yield_per": FETCHED})
        async for rows in found.partitions():
            for row in rows:
                yield row.event_id, bytes(row.payload)

    async def untold(self, told: Told, limit: int) -> Sequence[Difference]:
        rows = await self.connection.execute(_UNTOLD, {**_columns(told), "limit": limit})
        return [Difference(rule="E15", subject=s, expected=e, found=f) for s, e, f in rows]

    async def take_in(self, told: Told, since: datetime) -> None:
        await self.connection.execute(_TAKE_IN, _columns(told))
        await self.connection.execute(sa.update(telling).values(since=since))

    async def open_telling(self, told: Told, since: datetime) -> None:
        await self.connection.execute(_OPEN, _columns(told))
        await self.connection.execute(sa.update(telling).values(since=since))


def _columns(told: Told) -> Mapping[str, list[Any]]:
    lines = sorted((key, amount) for key, amount in told.items() if amount)
    return {
        "accounts": [account for (account, _, _), _ in lines],
        "causes": [cause.value for (_, cause, _), _ in lines],
        "assets": [asset.value for (_, _, asset), _ in lines],
        "amounts": [amount for _, amount in lines],
    }
