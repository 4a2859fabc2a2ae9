"""The coach reads what a real table worker shows: every view of a whole game, through both services' contracts."""

import json
from pathlib import Path

import pytest

from services.tables.wiring import MIGRATIONS
from tests.conftest import MakeDatabase
from tests.services.coach.builders import Coach
from tests.services.tables.conftest import Cluster, Gateway, Player
from whist.tables.v1 import tables_pb2, tables_pb2_grpc


@pytest.mark.parametrize("options", ['{"mode":"quick"}', '{"mode":"8-1-8"}'])
async def test_p60_every_decision_of_a_game_can_be_hinted_from_the_seats_view(
    coach: Coach, make_database: MakeDatabase, tmp_path: Path, options: str
) -> None:
    cluster = Cluster(await make_database(MIGRATIONS), tmp_path)
    async with cluster.worker() as worker:
        table, [account] = await worker.create(options_json=options)
        gateway = Gateway(worker.gateway)
        player = Player(gateway, table, account, conn=1)
        tables = tables_pb2_grpc.TablesServiceStub(worker.gateway.channel)
        asked = 0
        while await gateway.until(lambda: player.finished() or player.may_move()) and not player.finished():
            seen = await worker.gateway.call(
                tables.GetTable, tables_pb2.GetTableRequest(table_id=table, account_id=account)
            )
            hint = await coach.hint(seen.view_json, seen.game)
            action = json.loads(hint.action_json)
            assert hint.turn == player.turn
            assert action in player.legal
            player.act(action)
            player.turn = None
            asked += 1
        # One bid a round and one card a trick: a whole game's decisions of one seat.
        assert asked == {"quick": 6 + sum(player.view["rounds"]), "8-1-8": 30 + 156}[json.loads(options)["mode"]]
        await gateway.close()
