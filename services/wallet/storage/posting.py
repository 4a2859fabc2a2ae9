"""The statements that every seat of every game costs, each one round trip: opening a hold, its end, posting.

Written by hand, since a ledger's pace is the number of its round trips (`bench.services.settling`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncConnection

from services.wallet.domain.holds import GameState, Hold, HoldState
from services.wallet.domain.ledger import House, Transfer

BALANCE_MAX = 10**15  # as the table's CHECK: below 2^53, so that a balance is exact in JSON

# Transfers by key, then balances by account and asset: the order in which everybody locks. A twin in flight is waited
# for. One insertion goes through all balances in that order, those that are there and those that are not: a row that
# another creates meanwhile is met in its place too, where locks taken before could not have known of it.
# The clock is read when all of them are locked: what is told at that moment is told in the order of the balances.
_POST = sa.text(f"""
with given as (
  select * from unnest(:ids, :keys, :reasons, :tables) as g(id, key, reason, table_id)
), written as (
  insert into wallet.transfer (id, key, reason, table_id, at)
  select id, key, reason, table_id, clock_timestamp() from given order by key
  on conflict (key) do nothing returning id, key
), lines as (
  insert into wallet.posting (transfer_id, account_id, house, asset, amount)
  select l.id, l.account_id, l.house, l.asset, l.amount
  from unnest(:line_ids, :accounts, :houses, :assets, :amounts)
    with ordinality as l(id, account_id, house, asset, amount, n)
  join written using (id) order by l.n
  returning account_id, asset, amount
), delta as (
  select account_id, asset, sum(amount)::bigint as amount from lines where account_id is not null
  group by account_id, asset having sum(amount) <> 0
), changed as (
  insert into wallet.balance as b (account_id, asset, amount)
  select account_id, asset, case when amount between 0 and {BALANCE_MAX} then amount else 0 end
  from delta order by account_id, asset
  on conflict (account_id, asset) do update
    set amount = b.amount + (select d.amount from delta d where d.account_id = b.account_id and d.asset = b.asset)
    where b.amount + (select d.amount from delta d where d.account_id = b.account_id and d.asset = b.asset)
      between 0 and {BALANCE_MAX}
  returning account_id, asset, xmax = 0 as made
)
select key, null as asset, null as amount,
  case when (select count(*) from changed) >= 0 then clock_timestamp() end as at
from written
union all
select null, asset, amount, null from delta d
where not exists (
  select from changed c where c.account_id = d.account_id and c.asset = d.asset
    and (d.amount between 0 and {BALANCE_MAX} or not c.made)
)
""").bindparams(  # noqa: S608 - a constant number
    sa.bindparam("ids", type_=ARRAY(sa.Uuid)),
    sa.bindparam("keys", type_=ARRAY(sa.Text)),
    sa.bindparam("reasons", type_=ARRAY(sa.Text)),
    sa.bindparam("tables", type_=ARRAY(sa.Uuid)),
    sa.bindparam("line_ids", type_=ARRAY(sa.Uuid)),
    sa.bindparam("accounts", type_=ARRAY(sa.Uuid)),
    sa.bindparam("houses", type_=ARRAY(sa.Text)),
    sa.bindparam("assets", type_=ARRAY(sa.Text)),
    sa.bindparam("amounts", type_=ARRAY(sa.BigInteger)),
)

# No state: the table was never heard of, and nothing was inserted.
OPEN_HOLD = sa.text(f"""
with known as (
  select state from wallet.game where table_id = :table_id for share
), opened as (
  insert into wallet.hold (table_id, account_id, room, coffee, coins, bars, state, at)
  select :table_id, :account_id, :room, :coffee, :coins, :bars, :state, clock_timestamp()
  from known where known.state = '{GameState.OPEN}'
  on conflict do nothing returning 1
)
select (select state from known) as state, (select count(*) from opened) as inserted
""").bindparams(  # noqa: S608 - a constant word
    sa.bindparam("table_id", type_=sa.Uuid),
    sa.bindparam("account_id", type_=sa.Uuid),
    sa.bindparam("room", type_=sa.SmallInteger),
    sa.bindparam("coffee", type_=sa.Text),
    sa.bindparam("coins", type_=sa.BigInteger),
    sa.bindparam("bars", type_=sa.BigInteger),
    sa.bindparam("state", type_=sa.Text),
)

# Games by id, then holds by table and account: the order in which everybody locks, several tables at once too.
KNOW_GAMES = sa.text(f"""
insert into wallet.game (table_id, state, at)
select table_id, '{GameState.OPEN}', clock_timestamp() from unnest(:tables) as t(table_id) order by table_id
on conflict do nothing
""").bindparams(sa.bindparam("tables", type_=ARRAY(sa.Uuid)))  # noqa: S608 - a constant word
OPEN_HOLDS = sa.text(f"""
with known as (
  select table_id, state from wallet.game where table_id = any(:tables) order by table_id for share
)
insert into wallet.hold (table_id, account_id, room, coffee, coins, bars, state, at)
select h.table_id, h.account_id, h.room, h.coffee, h.coins, h.bars, h.state, clock_timestamp()
from unnest(:tables, :accounts, :rooms, :coffees, :coins, :bars, :states)
  as h(table_id, account_id, room, coffee, coins, bars, state)
join known using (table_id) where known.state = '{GameState.OPEN}' order by h.table_id, h.account_id
on conflict do nothing returning *
""").bindparams(  # noqa: S608 - a constant word
    sa.bindparam("tables", type_=ARRAY(sa.Uuid)),
    sa.bindparam("accounts", type_=ARRAY(sa.Uuid)),
    sa.bindparam("rooms", type_=ARRAY(sa.SmallInteger)),
    sa.bindparam("coffees", type_=ARRAY(sa.Text)),
    sa.bindparam("coins", type_=ARRAY(sa.BigInteger)),
    sa.bindparam("bars", type_=ARRAY(sa.BigInteger)),
    sa.bindparam("states", type_=ARRAY(sa.Text)),
)

# A table may be told of for the first time by any of its events.
ADVANCE = sa.text("""
insert into wallet.game as g (table_id, state, at, started_at, ended_at)
values (:table_id, :state, clock_timestamp(), :started_at, :ended_at)
on conflict (table_id) do update set state = excluded.state, at = excluded.at,
  started_at = coalesce(g.started_at, excluded.started_at), ended_at = excluded.ended_at
where g.state = any(:before)
returning 1
""").bindparams(
    sa.bindparam("table_id", type_=sa.Uuid),
    sa.bindparam("before", type_=ARRAY(sa.Text)),
    sa.bindparam("started_at", type_=sa.DateTime(timezone=True)),
    sa.bindparam("ended_at", type_=sa.DateTime(timezone=True)),
)
_HOLDS = "select * from wallet.hold where table_id = :table_id order by account_id"
HOLDS = sa.text(_HOLDS).bindparams(sa.bindparam("table_id", type_=sa.Uuid))
LOCK_HOLDS = sa.text(f"{_HOLDS} for update").bindparams(sa.bindparam("table_id", type_=sa.Uuid))
# Each hold as it is from now on, and what it was. The rows are locked first: one released meanwhile is met as it
# is. The game must be locked before, in a statement of its own: this one sees the holds that were opened until then.
RESOLVE_ENTRIES = sa.text(f"""
with locked as materialized (
  select * from wallet.hold where table_id = :table_id order by account_id for update
), resolved as (
  update wallet.hold h
  set state = case when h.account_id = any(:seated) then '{HoldState.PAID}' else '{HoldState.RELEASED}' end
  from locked l
  where h.table_id = :table_id and h.account_id = l.account_id and l.state = '{HoldState.OPEN}'
  returning h.account_id, h.state
)
select l.table_id, l.account_id, l.room, l.coffee, l.coins, l.bars, coalesce(r.state, l.state) as state, l.state as was
from locked l left join resolved r on r.account_id = l.account_id order by l.account_id
""").bindparams(  # noqa: S608 - constant words
    sa.bindparam("table_id", type_=sa.Uuid), sa.bindparam("seated", type_=ARRAY(sa.Uuid))
)
RESOLVE = sa.text("""
update wallet.hold set state = :target where table_id = :table_id and account_id = any(:accounts) and state = :source
returning *
""").bindparams(sa.bindparam("table_id", type_=sa.Uuid), sa.bindparam("accounts", type_=ARRAY(sa.Uuid)))


def hold_values(new: Hold) -> Mapping[str, Any]:
    """The parameters of `OPEN_HOLD`."""
    return {
        "table_id": new.table_id,
        "account_id": new.account_id,
        "room": new.room,
        "coffee": new.coffee.value,
        "coins": new.coins,
        "bars": new.bars,
        "state": new.state.value,
    }


def holds_values(holds: Sequence[Hold]) -> Mapping[str, Any]:
    """The parameters of `OPEN_HOLDS`."""
    rows = [hold_values(each) for each in holds]
    columns = {
        "tables": "table_id",
        "accounts": "account_id",
        "rooms": "room",
        "coffees": "coffee",
        "coins": "coins",
        "bars": "bars",
        "states": "state",
    }
    return {name: [row[column] for row in rows] for name, column in columns.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """`written`: the keys of the transfers that were new. `short`: changes (asset, amount) that a balance did not bear;
    where there is any, the transaction must be given up. `at`: when all balances were locked; None: nothing was new.
    """

    written: frozenset[str]
    short: Sequence[tuple[str, int]]
    at: datetime | None


async def post(connection: AsyncConnection, transfers: Sequence[tuple[UUID, Transfer]]) -> Posted:
    """One round trip, whatever is to be written."""
    lines = [(new_id, line) for new_id, each in transfers for line in each.postings]
    rows = await connection.execute(
        _POST,
        {
            "ids": [new_id for new_id, _ in transfers],
            "keys": [each.key for _, each in transfers],
            "reasons": [each.reason.value for _, each in transfers],
            "tables": [each.table_id for _, each in transfers],
            "line_ids": [new_id for new_id, _ in lines],
            "accounts": [None if isinstance(line.owner, House) else line.owner for _, line in lines],
            "houses": [line.owner.value if isinstance(line.owner, House) else None for _, line in lines],
            "assets": [line.asset.value for _, line in lines],
            "amounts": [line.amount for _, line in lines],
        },
    )
    found = rows.all()
    return Posted(
        written=frozenset(row.key for row in found if row.key is not None),
        short=[(row.asset, row.amount) for row in found if row.key is None],
        at=max((row.at for row in found if row.at is not None), default=None),
    )
