"""Migrations that come later find a database with data, and keep what it says."""

from pathlib import Path

import sqlalchemy as sa

from libs.chassis.db.database import Database
from services.leagues.check import differences
from services.leagues.settings import LeaguesSettings
from services.leagues.wiring import MIGRATIONS
from tests.conftest import MakeDatabase, first_release
from tests.services.leagues.builders import new_id

ROWS = """
insert into leagues.account (account_id, guest, experience, level, games) values (:ana, false, 125, 2, 1);
insert into leagues.game_result values (:table, :ana, '2026-W47', '2026-11-20 20:00Z', 1, 6, 3, 6, true, 125);
insert into leagues.prize values (:table, :ana, '2026-W47', 100);
insert into leagues.prize values (:other, :ana, '2026-W47', 70);
insert into leagues.standing values (:ana, '2026-W47', 170, 1)
"""


async def test_a_database_of_the_first_release_is_brought_up_with_all_it_holds(
    make_database: MakeDatabase, tmp_path: Path
) -> None:
    url = await make_database(first_release(MIGRATIONS, tmp_path))
    database, values = Database.open(url, "leagues"), {"ana": new_id(), "table": new_id(), "other": new_id()}
    async with database.begin() as connection:
        for statement in ROWS.split(";"):
            used = {name: value for name, value in values.items() if f":{name}" in statement}
            await connection.execute(sa.text(statement.replace(":00Z", "\\:00Z")), used)
    await MIGRATIONS.upgrade(url)
    async with database.begin() as connection:
        [row] = (await connection.execute(sa.text("select * from leagues.standing"))).all()
        known = (await connection.execute(sa.text("select finished_at from leagues.game_result"))).scalar_one()
    await database.close()
    # A prize without a known game is not the later one.
    assert (row.points, row.games, row.reached_at) == (170, 1, known)
    assert await differences(LeaguesSettings(database_url=url)) == 0
