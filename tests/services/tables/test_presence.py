"""Coming back, lateness, and who is told: away seats, deadlines that change, moves at the last moment (P30, P31)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from libs.chassis.clock import SystemClock
from libs.engine.game import GAMES
from libs.wire import frames, link
from services.tables.domain.entries import By, Moved, decode_body
from tests.chaos.stand import STRANGER, Stand, account_of
from tests.conftest import MakeDatabase
from tests.services.tables.conftest import Cluster, Faulty, Gateway, Player, Seen, clustered, eventually

PLATFORM = Path(__file__).parents[3] / "config" / "platform.toml"
FOUR: dict[str, Any] = {"people": 4, "seats": 4, "mode": 2, "options_json": '{"mode":"8-1-8"}'}
# Turns of a second, so that time-outs come by themselves; a stand-in thinks for seven, so that nobody is before us.
SLOW_BOTS: dict[str, Any] = {"turn_limit_scale": 0.1, "bot_pace_scale": 10.0}


@pytest.fixture
async def cluster(make_database: MakeDatabase) -> AsyncIterator[Cluster]:
    """A database for each test: a table left over would go on playing."""
    async with clustered(make_database) as made:
        yield made


def now_ms() -> int:
    return int(SystemClock().now().timestamp() * 1000)


async def when_past(moment_ms: int) -> None:
    async def past() -> bool:
        return now_ms() > moment_ms

    await eventually(past)


def last_turn(seen: Seen) -> frames.Delta | None:
    deltas = seen.of(frames.Delta)
    return deltas[-1] if deltas else None


@asynccontextmanager
async def an_away_seat(cluster: Cluster, *, connected: bool) -> AsyncIterator[tuple[Gateway, Player, Player, bytes]]:
    """(gateway, who plays, the one who is away and whose turn it is, their account): three play, one does not."""
    async with cluster.worker(**SLOW_BOTS) as worker:
        table, accounts = await worker.create(**FOUR)
        gateway = Gateway(worker.gateway)
        players = [Player(gateway, table, account, conn) for conn, account in enumerate(accounts[:3], 1)]
        games = [asyncio.create_task(player.play_on()) for player in players]
        idle = Player(gateway, table, accounts[3], conn=4) if connected else players[0]
        mine = await gateway.until(lambda: players[0].seen.of(frames.Snapshot))
        away = await gateway.until(
            lambda: [each.seat for each in players[0].seen.of(frames.Presence) if each.holder == "bot"]
        )
        assert away[0] != mine[0].seat

        def is_its_turn() -> bool:
            delta = last_turn(players[0].seen)
            # A limit is a second or less: a longer one is the stand-in's pace.
            return delta is not None and delta.to_act == away[0] and delta.deadline - now_ms() > 2_000

        try:
            await gateway.until(is_its_turn)
            yield gateway, players[0], idle, accounts[3]
        finally:
            for game in games:
                game.cancel()
            await asyncio.gather(*games, return_exceptions=True)
            await gateway.close()


@pytest.mark.parametrize("connected", [True, False], ids=["who was silent", "who never came"])
async def test_p31_23_41_who_returns_is_told_in_one_message_and_has_the_running_turn(
    cluster: Cluster, connected: bool
) -> None:
    async with an_away_seat(cluster, connected=connected) as (gateway, other, _, account):
        before, known = last_turn(other.seen), len(other.seen.told)
        assert before is not None
        back = Player(gateway, other.table, account, conn=9)
        await gateway.until(back.may_move)
        [snapshot] = back.seen.of(frames.Snapshot)
        assert snapshot.seats[snapshot.seat].holder == "person" and snapshot.seat == before.to_act
        assert snapshot.deadline < before.deadline  # a person's limit, not the stand-in's pace
        told = await gateway.until(
            lambda: [each for each in other.seen.told[known:] if isinstance(each, frames.Presence)]
        )
        assert (told[0].seat, told[0].holder, told[0].deadline) == (snapshot.seat, "person", snapshot.deadline)
        request = back.act()
        [own] = await gateway.until(lambda: back.deltas(request))
        assert (own.by, own.seq) == ("person", before.seq + 1)
        assert len(back.seen.of(frames.Snapshot)) == 1


async def test_p30_23_who_acts_while_away_has_the_seat_back_and_everybody_is_told(cluster: Cluster) -> None:
    async with an_away_seat(cluster, connected=True) as (gateway, other, idle, _):
        await gateway.until(idle.may_move)
        known = len(other.seen.told)
        request = idle.act({"bid": 99} if "bid" in idle.legal[0] else {"play": "2C"})
        await gateway.until(partial(idle.errors, request))
        told = await gateway.until(
            lambda: [each for each in other.seen.told[known:] if isinstance(each, frames.Presence)]
        )
        assert told[0].holder == "person" and 0 < told[0].deadline - now_ms() < 2_000
        await gateway.until(lambda: told[0] in idle.seen.told)
        assert len(idle.seen.of(frames.Snapshot)) == 1
        [own] = await gateway.until(partial(idle.deltas, idle.act()))
        assert own.by == "person"


async def test_22_a_move_within_the_published_grace_after_its_deadline_counts(cluster: Cluster, tmp_path: Path) -> None:
    file = tmp_path / "platform.toml"
    changed = PLATFORM.read_text().replace("network_grace_ms = 500", "network_grace_ms = 10000")
    file.write_text(changed.replace("bid_ms = 12000", "bid_ms = 1000"))
    async with cluster.worker(platform_config=file) as worker:
        table, [account] = await worker.create()
        gateway = Gateway(worker.gateway)
        player = Player(gateway, table, account, conn=1)
        await gateway.until(player.may_move)
        [snapshot] = player.seen.of(frames.Snapshot)
        assert snapshot.grace_ms == 10_000
        delta = last_turn(player.seen)
        await when_past(snapshot.deadline if delta is None else delta.deadline)
        [late] = await gateway.until(partial(player.deltas, player.act()))
        assert late.by == "person"
        await gateway.close()


async def test_16_20_a_table_at_which_nobody_ever_acts_is_played_to_its_end(cluster: Cluster) -> None:
    async with cluster.worker(turn_limit_scale=0.004) as worker:
        table, accounts = await worker.create(people=6)
        gateway = Gateway(worker.gateway)
        seen = [
            gateway.follow(table, account, conn) for conn, account in enumerate(accounts[:3], 1)
        ]  # three never come
        await gateway.until(lambda: all(each.of(frames.Over) for each in seen), seconds=60)
        rows = [decode_body(bytes(row.body)) for row in await cluster.rows(table)]
        moves = [body for body in rows if isinstance(body, Moved)]
        assert [body.turn for body in moves] == list(range(len(moves)))
        by_seat = {seat: [By(body.by) for body in moves if body.seat == seat] for seat in range(6)}
        assert all(words[0] is By.TIME_OUT and words[-1] is By.BOT for words in by_seat.values())
        await gateway.close()


async def test_b05_17_18_a_move_and_the_time_out_of_its_turn_are_one_row_whichever_is_first(cluster: Cluster) -> None:
    async with cluster.worker(turn_limit_scale=0.004) as worker:
        table, [account] = await worker.create()
        gateway = Gateway(worker.gateway)
        player = Player(gateway, table, account, conn=1)
        asked: list[str] = []
        while not player.finished():
            await gateway.until(lambda: player.finished() or player.may_move())
            if player.turn is not None and not player.finished():
                # At the very end of the time: now the move is first and now the clock.
                await when_past((last_turn(player.seen) or player.seen.of(frames.Snapshot)[0]).deadline)
                asked.append(player.act(player.legal[0]))
                player.turn = None
        rows = [decode_body(bytes(row.body)) for row in await cluster.rows(table)]
        moves = [body for body in rows if isinstance(body, Moved)]
        assert [body.turn for body in moves] == list(range(len(moves)))
        stood = {body.req for body in moves if body.by == By.PERSON}
        refused = {error.req: error.reason for error in player.seen.of(frames.Error)}
        assert stood.isdisjoint(refused) and set(refused.values()) <= {"STALE_TURN", "GAME_OVER"}
        unanswered = [req for req in asked if req not in stood and req not in refused]
        # On their way when the game was over: the last ones, which the gateway answers.
        assert len(asked) > 15 and unanswered == asked[len(asked) - len(unanswered) :]
        await gateway.close()


async def test_14_a_command_that_raises_is_refused_alone_and_the_table_goes_on(
    cluster: Cluster, faulty: Faulty
) -> None:
    faulty.fails = lambda state, seat, action: "planted" in action
    async with cluster.worker() as worker:
        table, [account] = await worker.create()
        gateway = Gateway(worker.gateway)
        player = Player(gateway, table, account, conn=1)
        await gateway.until(player.may_move)
        before = len(await cluster.rows(table))
        player.act({"planted": True}, req="planted")
        [refused] = await gateway.until(partial(player.errors, "planted"))
        assert (refused.reason, refused.turn, len(await cluster.rows(table))) == ("INTERNAL", player.turn, before)
        await player.play_on()
        assert [over.status for over in player.seen.of(frames.Over)] == ["finished"]
        await gateway.close()


async def test_25_26_a_dead_connection_holds_no_seat_against_a_new_one(cluster: Cluster) -> None:
    async with cluster.worker() as worker:
        table, [account] = await worker.create()
        dead, alive = Gateway(worker.gateway), Gateway(worker.gateway)
        first = Player(dead, table, account, conn=1)
        await dead.until(first.may_move)
        again = Player(alive, table, account, conn=1)
        await alive.until(again.may_move)
        assert again.seen.of(frames.Snapshot)[0].seat == first.seen.of(frames.Snapshot)[0].seat
        await dead.close()
        again.gateway.send(link.Unsubscribe(table, account, 7))  # of a socket that this gateway never had here
        await again.play_on()
        assert {delta.by for delta in again.seen.of(frames.Delta)} <= {"person", "bot", "server"}
        await alive.close()


async def test_p22_who_took_a_seat_over_and_missed_the_view_of_it_is_shown_the_whole_table() -> None:
    game = GAMES["german"]
    stand = Stand(game, uuid4(), {}, 2, game.new(2, {}))
    stand.actor.start()
    await stand.quiet()
    stays = stand.table.to_act
    assert stays is not None
    leaves = 1 - stays
    stand.leave(account_of(leaves), "bye")
    await stand.quiet()
    row = await stand.take_seat(STRANGER, leaves, "take")
    stand.act(account_of(stays), "m", stand.table.turn, game.legal(stand.table.state)[0])
    await stand.quiet()
    stand.follow(STRANGER, since=row)  # this row had come, the snapshot behind it had not
    [snapshot] = [frames.decode_server.decode(each) for each in stand.sent_to(STRANGER) if b"snapshot" in each]
    assert isinstance(snapshot, frames.Snapshot)
    assert (snapshot.seat, snapshot.seq, "hand" in snapshot.view) == (leaves, row + 1, True)
    await stand.close()
