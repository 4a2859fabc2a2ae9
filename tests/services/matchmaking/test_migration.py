"""A queue as the first revision left it, with tickets in every state, is brought up and goes on (P8)."""

from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import sqlalchemy as sa

from libs.chassis.db import Database
from services.matchmaking.domain.ids import AccountId, TableId
from services.matchmaking.domain.tickets import TicketState
from services.matchmaking.handlers.following import level_reached
from services.matchmaking.wiring import MIGRATIONS
from tests.conftest import MakeDatabase, first_release
from tests.services.matchmaking.world import World

FORMING, LIVE = UUID(int=1), UUID(int=2)
STATES = ("waiting", "matched", "seated", "dropped", "cancelled", "done")
BEFORE = (
    f"""
    insert into matchmaking.match (table_id, mode, state, created_at, next_try_at) values
      ('{FORMING}', 'quick', 'forming', clock_timestamp(), clock_timestamp()),
      ('{LIVE}', 'quick', 'created', clock_timestamp(), clock_timestamp())
    """,
    f"""
    insert into matchmaking.ticket (ticket_id, account_id, guest, name, room, mode, coffee, tier, created_at,
      changed_at, state, table_id, dropped_reason)
    select gen_random_uuid(), ('00000000-0000-0000-0000-00000000001' || n)::uuid, false, 'Ana', 1, 'quick', '', 1,
      clock_timestamp(), clock_timestamp(), state,
      case state when 'matched' then '{FORMING}'::uuid when 'waiting' then null when 'cancelled' then null
        else '{LIVE}'::uuid end,
      case state when 'dropped' then 'INSUFFICIENT_FUNDS' else '' end
    from unnest(array{list(STATES)}) with ordinality as t (state, n)
    """,
    "insert into matchmaking.standing values ('00000000-0000-0000-0000-000000000011', 9, 3)",
)
ACCOUNTS = [AccountId(UUID(f"00000000-0000-0000-0000-00000000001{n}")) for n in range(1, len(STATES) + 1)]


async def test_p8_a_database_with_tickets_is_brought_up_and_goes_on(
    make_database: MakeDatabase, tmp_path: Path
) -> None:
    url = await make_database(first_release(MIGRATIONS, tmp_path))
    database = Database.open(url, "matchmaking")
    async with database.begin() as connection:
        for statement in BEFORE:
            await connection.execute(sa.text(statement))
    await MIGRATIONS.upgrade(url)

    world = World(database)
    world.tables.tables[TableId(LIVE)] = "live"
    places = await world.queueing.places(ACCOUNTS)
    states = [None if (ticket := places[each].ticket) is None else ticket.state.value for each in ACCOUNTS]
    assert states == ["waiting", "matched", "seated", "dropped", None, None]
    async with world.store.transaction() as tx:
        assert (await tx.visit(ACCOUNTS[0])).standing.level == 9
        await level_reached(ACCOUNTS[0], 4, datetime.now(UTC), tx=tx)
    async with world.store.transaction() as tx:
        assert (await tx.visit(ACCOUNTS[0])).standing.level == 4, "whatever is told next is later than what was"
    await world.settle(2)
    places = await world.queueing.places(ACCOUNTS[:3])
    assert {place.ticket.state for place in places.values() if place.ticket is not None} == {TicketState.SEATED}
    await world.ends(TableId(LIVE))
    await world.enqueue(ACCOUNTS[2])
    await database.close()
