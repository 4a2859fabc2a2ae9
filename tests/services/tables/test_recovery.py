"""What is rebuilt is what was: folds, legality by the rules alone, voids, and repeats of long ago (J6-J9, J15, P32)."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import pytest

from libs.chassis.errors import DomainError
from libs.engine import bots, replay
from libs.engine.cards import cards_in, deck
from libs.engine.game import GAMES
from libs.engine.romanian.events import RoundDealt
from libs.engine.romanian.options import Mode
from libs.wire import frames, link
from services.tables.domain.entries import By, Drawn, Moved, Opened, Resumed, SeatFacts, decode_body, encode_body
from services.tables.domain.table import BrokenJournal, Table, decide_draws, decide_move, fold, opened
from tests.chaos.stand import Stand
from tests.conftest import MakeDatabase
from tests.services.tables.conftest import Cluster, Faulty, Gateway, Player, as_id, clustered
from whist.tables.v1 import events_pb2, tables_pb2, tables_pb2_grpc

CLASSIC: dict[str, Any] = {"mode": 2, "options_json": '{"mode":"8-1-8"}'}
FOLD_EACH = 41  # rows; a fold from row 0 at every row of a long game is quadratic
ROMANIAN = GAMES["romanian"]


@pytest.fixture
async def cluster(make_database: MakeDatabase) -> AsyncIterator[Cluster]:
    """A database for each test: a table left over would be everybody's to take."""
    async with clustered(make_database) as made:
        yield made


async def bodies_of(cluster: Cluster, table: bytes) -> list[Any]:
    return [decode_body(bytes(row.body)) for row in await cluster.rows(table)]


def told_of(cluster_events: list[Any], name: str) -> list[Any]:
    events = [events_pb2.TablesEvent.FromString(bytes(row.payload)) for row in cluster_events]
    return [getattr(event, name) for event in events if event.WhichOneof("event") == name]


def same(table: Table, other: Table) -> bool:
    """All that a fold must bring back; the answers of older rounds are the journal's to remember."""
    return (
        (table.state, table.tallies, table.rounds, table.next_seq)
        == (other.state, other.tallies, other.rounds, other.next_seq)
        and other.answered.items() <= table.answered.items()
    )  # fmt: skip


@pytest.mark.parametrize(("seats", "changes", "rounds"), [(6, {}, 6), (6, CLASSIC, 30)], ids=["quick", "classic"])
async def test_j6_j8_j9_j15_a_whole_game_folds_from_anywhere_and_is_legal_by_its_secret_alone(
    cluster: Cluster, seats: int, changes: dict[str, Any], rounds: int
) -> None:
    async with cluster.worker(dies=True) as first:
        table_id, accounts = await first.create(people=3, seats=seats, **changes)
        before = Gateway(first.gateway)
        players = [Player(before, table_id, account, conn) for conn, account in enumerate(accounts, 1)]
        games = [asyncio.create_task(player.play_on()) for player in players]
        await before.until(lambda: players[0].acks() > rounds)
        for game in games:
            game.cancel()
        await asyncio.gather(*games, return_exceptions=True)
        await before.close()
    async with cluster.worker() as second:
        await cluster.until("select 1 from tables.table_head where table_id = :id and epoch = 2", id=as_id(table_id))
        after = Gateway(second.gateway)
        players = [await Player(after, table_id, account, conn).joined() for conn, account in enumerate(accounts, 11)]
        views: list[dict[int, dict[str, Any]]] = [{} for _ in players]

        async def play(player: Player, seen: dict[int, dict[str, Any]]) -> None:
            while not player.finished():
                await after.until(lambda: player.finished() or player.may_move())
                seen[_seq(player)] = player.view
                if player.turn is not None:
                    player.act()
                    player.turn = None

        await asyncio.gather(*(play(player, seen) for player, seen in zip(players, views, strict=True)))
        await after.close()

    bodies = await bodies_of(cluster, table_id)
    opening = bodies[0]
    assert isinstance(opening, Opened)
    later = list(enumerate(bodies))[1:]
    live = fold(as_id(table_id), opening, [])
    checkpoints = [0]
    for seq, body in later:
        live.apply(body)
        # J7: a fold from the last checkpoint, from row 0, and row by row are one.
        if isinstance(body, Drawn) and any(each[0] == "dealt" for each in body.events):
            checkpoints.append(seq)
        short = fold(as_id(table_id), opening, [each for each in later[:seq] if each[0] >= checkpoints[-1]])
        assert same(live, short)
        if seq % FOLD_EACH == 0 or body is bodies[-1]:
            whole = fold(as_id(table_id), opening, later[:seq])
            assert same(whole, live) and same(live, whole)
        # What the client was told row by row is what it would be shown whole.
        for player, seen in zip(players, views, strict=True):
            if seq in seen:
                assert seen[seq] == live.view(live.seat_of(player.account))
    assert sum(map(len, views)) > rounds
    assert ROMANIAN.over(live.state)
    _legal_by_the_rules_alone(opening, bodies)
    _dealt_from_whole_packs(bodies, seats, rounds)
    [secret] = {over.secret for player in players for over in player.seen.of(frames.Over)}
    assert bytes.fromhex(secret) == opening.secret


def _seq(player: Player) -> int:
    told = [each.seq for each in player.seen.told if isinstance(each, (frames.Delta, frames.Snapshot))]
    return told[-1]


def _legal_by_the_rules_alone(opening: Opened, bodies: list[Any]) -> None:
    """J8: from the secret and the moves, the engine makes the very events of the journal."""
    assert [seat.account == b"" for seat in opening.seats].count(True) == 3
    moves: list[tuple[int, dict[str, Any]]] = []
    written: list[Any] = []
    for body in bodies:
        if isinstance(body, (Drawn, Moved)):
            written += body.events
        if isinstance(body, Moved):
            kind, seat, value = body.events[0]
            assert seat == body.seat
            assert body.turn == len(moves)
            moves.append((body.seat, {kind: value}))
    made = replay.recompute(ROMANIAN, len(opening.seats), opening.options, opening.secret, moves)
    assert [ROMANIAN.dump_event(event) for event in made] == written


def _dealt_from_whole_packs(bodies: list[Any], seats: int, rounds: int) -> None:
    """J9, J15: distinct cards of the right pack, the turned one too; dealers in turn; bids that do not come out."""
    events = [
        ROMANIAN.load_event(each, 1) for body in bodies if isinstance(body, (Drawn, Moved)) for each in body.events
    ]
    deals = [event for event in events if isinstance(event, RoundDealt)]
    assert len(deals) == rounds
    pack = set(deck(seats))
    for number, deal in enumerate(deals):
        cards = [card for hand in deal.hands for card in cards_in(hand)]
        assert len(cards) == len(set(cards)) == deal.cards * seats
        assert set(cards) <= pack
        assert (deal.turn_up is None) == (deal.cards == 8)
        assert deal.turn_up is None or deal.turn_up in pack - set(cards)
        assert deal.dealer == (deals[0].dealer + number) % seats
        if number:
            last = deal.sheet[-1]
            assert sum(last.bids) != last.cards


def random_rows(seed: int, until_round: int) -> tuple[UUID, Opened, list[Any]]:
    """A quick game's journal, by bots and time-outs, up to a round."""
    secret = seed.to_bytes(32, "big")
    accounts = [bytes([number + 1]) * 16 for number in range(3)]
    seats = [SeatFacts(accounts[n] if n < 3 else b"", f"P{n}") for n in range(6)]
    body = Opened(1, 1, "romanian", 1, {"mode": "quick"}, seats, secret)
    table = opened(UUID(int=seed + 1), body)
    rows: list[Any] = []
    while not ROMANIAN.over(table.state) and table.rounds <= until_round:
        drawn = decide_draws(table)
        entry: Any
        if drawn is not None:
            entry = drawn[0]
        else:
            seat = ROMANIAN.to_act(table.state)
            assert seat is not None
            turn = ROMANIAN.turn(table.state)
            by = By((seed + turn) % 3)
            action = bots.choose("romanian", table.view(seat))
            entry, _ = decide_move(table, seat, turn, action, by, f"r{turn}" if by == By.PERSON else "")
        rows.append(entry)
        table.apply(entry)
    return table.table_id, body, rows


@pytest.mark.parametrize("seed", range(12))
def test_j7_folds_agree_at_every_row_whoever_moved(seed: int) -> None:
    table_id, opening, rows = random_rows(seed, until_round=3)
    later = list(enumerate(rows, 1))
    checkpoint = 0
    whole = fold(table_id, opening, [])
    for seq, body in later:
        whole.apply(body)
        # The bytes are what is read back, so the bytes are what is folded.
        assert decode_body(encode_body(body)) == body
        if isinstance(body, Drawn):
            checkpoint = seq
        assert same(whole, fold(table_id, opening, [each for each in later[:seq] if each[0] >= checkpoint]))
    assert any(tally.own_bids for tally in whole.tallies)


def test_j7_a_gap_without_a_checkpoint_is_refused_and_not_folded_over() -> None:
    table_id, opening, rows = random_rows(1, until_round=1)
    later = list(enumerate(rows, 1))
    gap = next(seq for seq, body in later if isinstance(body, Moved))
    with pytest.raises(BrokenJournal) as broken:
        fold(table_id, opening, [each for each in later if each[0] != gap])
    assert broken.value.args == (gap,)


async def test_b22_a_journal_that_cannot_be_folded_is_voided_once_and_the_players_are_told(cluster: Cluster) -> None:
    async with cluster.worker(dies=True) as first:
        table, [account] = await first.create()
        gateway = Gateway(first.gateway)
        player = Player(gateway, table, account, conn=1)
        await player.play_on(moves=2)
        await gateway.until(lambda: player.acks() == 2)
        healthy, _ = await first.create()
        await gateway.close()
    broken = encode_body(Moved(0, 0, 0, "", [["no such event"]]))
    await cluster.query(
        "update tables.table_log set body = :body where table_id = :id and seq = 3", body=broken, id=as_id(table)
    )
    async with cluster.worker() as second, cluster.worker():
        voided_head = "select 1 from tables.table_head where table_id = :id and status = 'voided'"
        await cluster.until(voided_head, id=as_id(table))
        events = await cluster.query("select payload from tables.event where key = :key", key=table)
        [voided] = told_of(events, "game_voided")
        assert voided.reason == "unfoldable_journal"
        assert {seat.account_id for seat in voided.seats if seat.account_id} == {account}
        stub = tables_pb2_grpc.TablesServiceStub(second.gateway.channel)
        seen = await second.gateway.call(stub.GetTable, tables_pb2.GetTableRequest(table_id=table, account_id=account))
        assert seen.status == tables_pb2.TABLE_STATUS_VOIDED
        with pytest.raises(DomainError, match="TABLE_FINISHED"):
            await second.gateway.call(stub.Locate, tables_pb2.LocateRequest(table_id=table))
        # The table beside it goes on.
        await cluster.until("select 1 from tables.table_head where table_id = :id and epoch = 2", id=as_id(healthy))


async def test_b22_a_journal_whose_very_first_row_is_unreadable_is_voided_too(cluster: Cluster) -> None:
    async with cluster.worker(dies=True) as first:
        table, [account] = await first.create()
    await cluster.query(
        "update tables.table_log set body = :body where table_id = :id and seq = 0", body=b"\xc1", id=as_id(table)
    )
    async with cluster.worker() as second:
        await cluster.until(
            "select 1 from tables.table_head where table_id = :id and status = 'voided'", id=as_id(table)
        )
        [voided] = told_of(
            await cluster.query("select payload from tables.event where key = :k", k=table), "game_voided"
        )
        assert (voided.kind, voided.reason, list(voided.seats)) == (
            tables_pb2.TABLE_KIND_QUICK, "unfoldable_journal", [],
        )  # fmt: skip
        assert not await cluster.query("select 1 from tables.seat_claim where account = :a", a=account)
        stub = tables_pb2_grpc.TablesServiceStub(second.gateway.channel)
        with pytest.raises(DomainError, match="TABLE_FINISHED"):
            await second.gateway.call(stub.Locate, tables_pb2.LocateRequest(table_id=table))


async def test_b22_a_fault_in_the_servers_own_move_voids_this_game_and_no_other(
    cluster: Cluster, faulty: Faulty
) -> None:
    async with cluster.worker() as worker:
        table, [account] = await worker.create()
        other, [somebody] = await worker.create(**CLASSIC)
        gateway = Gateway(worker.gateway)
        player, neighbour = Player(gateway, table, account, 1), Player(gateway, other, somebody, 2)
        await gateway.until(lambda: player.may_move() and neighbour.may_move())
        [own] = [snapshot.seat for snapshot in player.seen.of(frames.Snapshot)]
        faulty.fails = lambda state, seat, action: state.setup.options.mode is Mode.QUICK and seat != own
        player.act(player.legal[0])
        over = await gateway.until(lambda: player.seen.of(frames.Over))
        assert [each.status for each in over] == ["voided"]
        await neighbour.play_on(moves=4)
        assert not neighbour.finished()
        assert await cluster.events(table) == ["game_started", "game_voided"]
        events = await cluster.query("select payload from tables.event where key = :key", key=table)
        [voided] = told_of(events, "game_voided")
        assert voided.reason == "fault"
        assert (await cluster.head(table)).status == "voided"
        await gateway.close()


class NeverMovesOn:
    """A game that takes in its deals and no decision."""

    def __init__(self, game: Any) -> None:
        self._game = game

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def evolve(self, state: Any, event: Any) -> Any:
        if self._game.phase(state) == "play":
            raise RuntimeError("planted")
        return self._game.evolve(state, event)


async def test_b22_a_move_of_the_servers_own_that_leads_to_no_state_is_the_games_fault_and_freezes_nothing() -> None:
    game = NeverMovesOn(GAMES["german"])
    stand = Stand(game, uuid4(), {}, 2, game.new(2, {}))
    stand.pace.hurried.update((0, 1))
    stand.actor.start()
    await stand.quiet()
    seat = stand.table.to_act
    assert seat is not None
    await stand.passed(seat)
    assert [str(fault) for fault in stand.keeper.faults] == ["planted"]
    assert len(stand.journal.rows) == 1, "the deal"
    await stand.actor.quiet()
    await stand.close()


async def test_p32_a_move_of_long_ago_is_acknowledged_at_its_row_also_after_a_takeover(cluster: Cluster) -> None:
    async with cluster.worker(dies=True) as first:
        table, [account] = await first.create()
        gateway = Gateway(first.gateway)
        player = Player(gateway, table, account, conn=1)
        await gateway.until(player.may_move)
        turn, action = player.turn, bots.choose("romanian", {**player.view, "legal": player.legal})
        old = player.act(action)
        player.turn = None
        await gateway.until(lambda: player.deltas(old))
        [row] = player.deltas(old)
        # Two rounds later the fold remembers nothing of it.
        while len(player.view["score_sheet"]) < 3:
            await player.play_on(moves=1)
            player.absorb()
        player.act(action, turn=turn, req=old)
        [ack] = await gateway.until(lambda: player.seen.of(frames.Ack))
        assert (ack.req, ack.seq) == (old, row.seq)
        before = len(await cluster.rows(table))
        await gateway.close()
    async with cluster.worker() as second:
        await cluster.until("select 1 from tables.table_head where table_id = :id and epoch = 2", id=as_id(table))
        gateway = Gateway(second.gateway)
        again = await Player(gateway, table, account, conn=2).joined()
        await gateway.until(lambda: again.seen.of(frames.Snapshot))
        again.act(action, turn=turn, req=old)
        [ack] = await gateway.until(lambda: again.seen.of(frames.Ack))
        assert (ack.req, ack.seq) == (old, row.seq)
        # A move that was never made is stale and not acknowledged.
        never = again.act(action, turn=turn, req="never")
        [refused] = await gateway.until(lambda: again.errors(never))
        assert refused.reason == "STALE_TURN"
        # The old number with a new turn is a repeat and not a second move.
        await gateway.until(again.may_move)
        again.act(req=old)
        acks = await gateway.until(lambda: len(again.seen.of(frames.Ack)) == 2 and again.seen.of(frames.Ack))
        assert {each.seq for each in acks} == {row.seq}
        rows = await cluster.rows(table)
        assert len(rows) > before
        assert [each.seq for each in rows if each.command_id == rows[row.seq].command_id] == [row.seq]
        await again.play_on()
        assert again.seen.of(frames.Over)[0].status == "finished"
        await gateway.close()


def _deadline(frame: frames.ServerFrame) -> int:
    return frame.deadline if isinstance(frame, (frames.Delta, frames.Snapshot)) else 0


async def test_the_pause_of_a_takeover_is_in_nobodys_turn(cluster: Cluster) -> None:
    async with cluster.worker(dies=True) as first:
        table, [account] = await first.create()
        gateway = Gateway(first.gateway)
        player = Player(gateway, table, account, conn=1)
        await gateway.until(player.may_move)
        deadline = [_deadline(frame) for frame in player.seen.told if _deadline(frame)][-1]
        await gateway.close()
    async with cluster.worker() as second:
        gateway = Gateway(second.gateway)
        await gateway.until(lambda: [each for each in gateway.down if isinstance(each, link.Owned)])
        again = await Player(gateway, table, account, conn=2).joined()
        await gateway.until(again.may_move)
        assert again.turn == player.turn
        last = await gateway.until(lambda: [_deadline(frame) for frame in again.seen.told if _deadline(frame)])
        assert last[-1] > deadline
        [resumed] = [body for body in await bodies_of(cluster, table) if isinstance(body, Resumed)]
        assert resumed.pause_ms > 0
        await gateway.close()
