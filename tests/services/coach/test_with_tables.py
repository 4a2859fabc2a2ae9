"""The coach reads what a real table worker shows and tells: every view of a whole game, and then the game's end."""

import json
from pathlib import Path

import pytest

from services.tables.wiring import MIGRATIONS
from tests.conftest import MakeDatabase
from tests.services.coach.builders import TABLES, Coach, new_id
from tests.services.coach.test_games import analyse
from tests.services.envelopes import enveloped
from tests.services.tables.conftest import Cluster, Gateway, Player
from whist.tables.v1 import tables_pb2, tables_pb2_grpc
from whist.tables.v1.events_pb2 import TablesEvent


@pytest.mark.parametrize("options", ['{"mode":"quick"}', '{"mode":"8-1-8"}'])
async def test_p60_p61_every_decision_of_a_game_can_be_hinted_and_is_judged_when_it_has_ended(
    coach: Coach, make_database: MakeDatabase, tmp_path: Path, options: str
) -> None:
    cluster = Cluster(await make_database(MIGRATIONS), tmp_path)
    async with cluster.worker() as worker:
        who = tables_pb2.Player(account_id=new_id().bytes, name="Ana", room=1, hints=True)
        table, _ = await worker.create(options_json=options, players=[who])
        account = who.account_id
        gateway = Gateway(worker.gateway)
        player = Player(gateway, table, account, conn=1)
        tables = tables_pb2_grpc.TablesServiceStub(worker.gateway.channel)
        made = []
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
            made.append(action)
        # One bid a round and one card a trick: a whole game's decisions of one seat.
        assert len(made) == {"quick": 6 + sum(player.view["rounds"]), "8-1-8": 30 + 156}[json.loads(options)["mode"]]
        await gateway.close()
        [row] = await cluster.until(
            "select payload from tables.event where key = :key and type = 'game_finished'", key=table
        )
    finished = TablesEvent.FromString(bytes(row.payload))
    assert [seat.seat.hints for seat in finished.game_finished.seats].count(True) == 1
    await coach.bus.publish([enveloped(TABLES, table, finished)])
    await analyse(coach)
    judged = await coach.analysis(table, account)
    assert [each["action"] for each in judged["decisions"]] == made
    assert judged["grade"] in ("A+", "A"), "it did what the coach said"
