"""Many workers claim the tables of a dead one at the same instant, and each table is taken once (P33, J14)."""

import asyncio
from collections import Counter
from uuid import UUID, uuid4

import asyncpg

from services.tables.ports import Claimed
from services.tables.storage.ownership import Ownership
from services.tables.wiring import MIGRATIONS
from tests.conftest import MakeDatabase

TABLES = 1500
TAKERS = 6

ORPHANS = """
insert into tables.table_head (table_id, born, kind, status, epoch, next_seq, rules_version, owner, incarnation)
select gen_random_uuid(), current_date, 1, 'live', 1, 2, 1, 'dead', $1 from generate_series(1, $2)
"""


async def test_p33_no_table_is_claimed_twice_by_workers_that_claim_at_once(make_database: MakeDatabase) -> None:
    dsn = (await make_database(MIGRATIONS)).replace("postgresql+asyncpg://", "postgresql://", 1)
    connection = await asyncpg.connect(dsn)
    await connection.execute(ORPHANS, uuid4(), TABLES)
    takers = [Ownership(dsn, f"taker-{number}", uuid4()) for number in range(TAKERS)]
    for taker in takers:
        await taker.register("127.0.0.1:1")

    async def take_all(taker: Ownership) -> list[Claimed]:
        taken: list[Claimed] = []
        # A load of nothing each time, so that nobody lets the others go first.
        while claimed := await taker.claim(0):
            taken += claimed
        return taken

    taken = [claimed for each in await asyncio.gather(*map(take_all, takers)) for claimed in each]
    # A worker that finds nothing stops; what another's open claim had locked away may still be there.
    taken += await take_all(takers[0])
    times: Counter[UUID] = Counter(claimed.table_id for claimed in taken)
    assert len(times) == TABLES
    assert {table: count for table, count in times.items() if count > 1} == {}
    assert {claimed.epoch for claimed in taken} == {2}
    for taker in takers:
        await taker.close()
    await connection.close()
