"""Records that are asked for at the very moment in which the game ends."""

from uuid import UUID

import pytest

from libs.chassis.db.database import Database, Store
from libs.chassis.entropy import SystemEntropy
from services.tables import handlers
from services.tables.domain.errors import GameRunning
from services.tables.storage.store import TablesTransaction
from tests.services.tables.conftest import Cluster


async def test_p72_a_record_asked_for_while_the_game_ends_is_not_there_yet_but_never_unknown(cluster: Cluster) -> None:
    database = Database.open(cluster.url, "tables")

    class Overtaken(TablesTransaction):
        """Another transaction ends the game between two looks of this one."""

        async def record(self, asked: UUID) -> tuple[list[bytes], bytes] | None:
            found = await super().record(asked)
            async with Store(database, TablesTransaction, SystemEntropy()).transaction() as other:
                await other.end(asked, 1, handlers.PLAYED_OUT)
            return found

    try:
        async with cluster.worker() as worker:
            table, accounts = await worker.create()
            with pytest.raises(GameRunning):
                await handlers.fetch_record(
                    UUID(bytes=table), accounts[0], store=Store(database, Overtaken, SystemEntropy())
                )
    finally:
        await database.close()
