"""P63: a table's bots play at the platform's strengths, from the seat's view alone, and cannot stop a game."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import structlog

from libs.chassis.clock import ManualClock
from libs.engine.game import GAMES
from libs.engine.protocol import Action, View
from libs.house.bots import Bots, Strength
from libs.search import choose
from libs.wire import frames
from services.tables import bots
from services.tables.bots import BotPlayers
from services.tables.domain.entries import By, Moved, Opened, decode_body
from services.tables.domain.table import fold, move_id
from services.tables.metrics import bot_failures
from tests.conftest import MakeDatabase
from tests.services.coach.conftest import decisions
from tests.services.tables.conftest import Cluster, Gateway, Player, as_id, clustered

ROMANIAN = GAMES["romanian"]
PLATFORM = (Path(__file__).parents[3] / "config" / "platform.toml").read_text()
FAULTS = "whist_bot_failures_total"


QUICK = list(decisions("romanian", 6, {"mode": "quick"}, seed=3))
BIDDING = [view for view in QUICK if view["phase"] == "bid"]


@asynccontextmanager
async def players(strength: str, stand_in: str, *, compiled: bool = True) -> AsyncIterator[BotPlayers]:
    strengths = Bots(strength=Strength(strength), stand_in=Strength(stand_in))
    made = BotPlayers(strengths, ManualClock(datetime(2026, 1, 1, tzinfo=UTC)), compiled=compiled)
    yield made
    await made.close()


async def answer(
    asked: BotPlayers, view: View, *, game: str = "romanian", stand_in: bool = False, seed: int = 5
) -> Action:
    told: asyncio.Future[Action] = asyncio.get_running_loop().create_future()
    asked.ask(game, view, stand_in=stand_in, seed=seed, done=told.set_result)
    return await told


@pytest.mark.parametrize("strength", [*Strength])
async def test_p63_a_seats_bot_and_a_stand_in_have_each_their_strength(strength: str) -> None:
    other = "calm" if strength != "calm" else "keen"
    async with players(strength, other) as asked:
        seats = [await answer(asked, view) for view in BIDDING]
        stand_ins = [await answer(asked, view, stand_in=True) for view in BIDDING]
    assert seats == [choose("romanian", view, strength, 5) for view in BIDDING]
    assert stand_ins == [choose("romanian", view, other, 5) for view in BIDDING]
    assert seats != stand_ins


async def test_calm_and_keen_answer_at_once_and_sharp_leaves_the_loop_alone() -> None:
    for strength, at_once in (("calm", True), ("keen", True), ("sharp", False)):
        told: list[tuple[int, Action]] = []
        answered = asyncio.Event()

        def done(action: Action, told: list[Any] = told, answered: asyncio.Event = answered) -> None:
            told.append((threading.get_ident(), action))
            answered.set()

        async with players(strength, "calm") as asked:
            asked.ask("romanian", QUICK[0], stand_in=False, seed=5, done=done)
            assert bool(told) == at_once
            await asyncio.wait_for(answered.wait(), 20)
        assert told == [(threading.get_ident(), choose("romanian", QUICK[0], strength, 5))]


@pytest.mark.parametrize("game", sorted(GAMES))
@pytest.mark.parametrize("strength", [*Strength])
async def test_every_game_is_played_whatever_strengths_it_has(game: str, strength: str) -> None:
    tables: dict[str, tuple[int, dict[str, Any]]] = {
        "romanian": (4, {"mode": "1-8-1", "one_card": "hidden"}),
        "english": (4, {}),
        "solo": (4, {}),
        "knockout": (5, {"dogs_life": True}),
        "german": (2, {}),
    }
    before = failures()
    seats, options = tables[game]
    async with players(strength, strength) as asked:
        for view in list(decisions(game, seats, options, seed=3))[:120:4]:
            assert await answer(asked, view, game=game) in view["legal"]
    assert failures() == before


async def test_where_search_is_interpreted_all_play_calm_and_the_log_says_so_once() -> None:
    with structlog.testing.capture_logs() as logged:
        async with players("sharp", "keen", compiled=False) as asked:
            chosen = [await answer(asked, view) for view in BIDDING]
    assert chosen == [choose("romanian", view, "calm") for view in BIDDING]
    assert [(line["event"], line["log_level"]) for line in logged] == [("bots_play_calm", "warning")]


@pytest.mark.parametrize("strength", [*Strength])
async def test_a_bot_that_raises_makes_the_first_legal_move_and_no_card_is_logged(strength: str) -> None:
    view = next(view for view in QUICK if view["phase"] == "play" and len(view["legal"]) > 2)
    broken = {name: part for name, part in view.items() if name not in ("bids", "tricks", "taken")}
    before = failures()
    with structlog.testing.capture_logs() as logged:
        async with players(strength, "calm") as asked:
            assert await answer(asked, broken) == view["legal"][0]
    assert failures() == before + 1
    [line] = logged
    assert (line["event"], line["strength"], line["phase"]) == ("bot_failed", strength, "play")
    assert line["fault"].startswith("KeyError at libs.")
    assert not any(card in str(line) for card in view["hand"])


async def test_a_bot_that_answers_what_is_not_legal_makes_the_first_legal_move() -> None:
    """A view that does not list what keen would play: it goes by the cards."""
    view = next(view for view in QUICK if view["phase"] == "play" and len(view["legal"]) > 2)
    best = choose("romanian", view, "keen", 5)
    without = {**view, "legal": [action for action in view["legal"] if action != best]}
    before = failures()
    async with players("keen", "keen") as asked:
        assert await answer(asked, without) == without["legal"][0]
    assert failures() == before + 1


def failures() -> float:
    [metric] = bot_failures.collect()
    return next(sample.value for sample in metric.samples if sample.name == FAULTS)


# ---- at a table ----


@pytest.fixture
async def cluster(make_database: MakeDatabase) -> AsyncIterator[Cluster]:
    async with clustered(make_database) as made:
        yield made


def platform(folder: Path, strength: str, stand_in: str) -> Path:
    """The platform's file with other bots."""
    file = folder / f"{strength}-{stand_in}.toml"
    changed = PLATFORM.replace('strength = "keen"', f'strength = "{strength}"')
    file.write_text(changed.replace('stand_in = "calm"', f'stand_in = "{stand_in}"'))
    return file


@pytest.mark.parametrize("strength", ["keen", "sharp"])
async def test_p63_each_move_is_the_bots_of_its_strength_by_table_turn_and_view(
    cluster: Cluster, tmp_path: Path, strength: str
) -> None:
    """So that a worker that takes the table over makes the very same moves."""
    file = platform(tmp_path, strength, "calm")
    async with cluster.worker(platform_config=file, turn_limit_scale=0.004) as worker:
        table, [account] = await worker.create()
        gateway = Gateway(worker.gateway)
        player = Player(gateway, table, account, conn=1)
        await gateway.until(player.finished, seconds=60)
        await gateway.close()
    opening, *rows = [decode_body(bytes(row.body)) for row in await cluster.rows(table)]
    assert isinstance(opening, Opened)
    live = fold(as_id(table), opening, [])
    compared = {True: 0, False: 0}
    for body in rows:
        if isinstance(body, Moved):
            assert By(body.by) is not By.PERSON
            stand_in = live.is_person(body.seat)
            seed = int.from_bytes(move_id(live.table_id, body.turn).bytes[8:])
            [event, *_] = [ROMANIAN.load_event(each, live.opened.rules_version) for each in body.events]
            expected = choose("romanian", live.view(body.seat), "calm" if stand_in else strength, seed)
            assert ROMANIAN.decision(event) == (body.seat, expected)
            compared[stand_in] += 1
        live.apply(body)
    assert ROMANIAN.over(live.state)
    assert compared[True] > 20 and compared[False] == 5 * compared[True]


async def test_a_game_whose_bots_always_fail_is_played_to_its_end(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("planted")

    monkeypatch.setattr(bots, "choose", broken)
    before = failures()
    async with cluster.worker() as worker:
        table, [account] = await worker.create()
        gateway = Gateway(worker.gateway)
        player = Player(gateway, table, account, conn=1)
        await player.play_on()
        [over] = player.seen.of(frames.Over)
        assert over.status == "finished"
        await gateway.close()
    moved = [body for row in await cluster.rows(table) if isinstance(body := decode_body(bytes(row.body)), Moved)]
    by_server = sum(By(body.by) is not By.PERSON for body in moved)
    # A decision is asked twice when the worker lost its lease meanwhile and took the table again.
    assert failures() - before >= by_server > 100


async def test_p31_a_person_who_is_back_while_the_stand_in_thinks_has_the_turn(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, thinking, ended = threading.Event(), threading.Event(), threading.Event()
    asked = 0

    def slow(game: str, view: View, strength: str, seed: int) -> Action:
        nonlocal asked
        asked += strength == "sharp"
        if strength == "sharp" and asked == 2:  # the first time-out has passed; now the seat is a bot's
            thinking.set()
            assert gate.wait(30)
            ended.set()
        return choose(game, view, strength, seed)

    monkeypatch.setattr(bots, "choose", slow)
    # A person's limit is short enough to be timed out once and long enough to act in when back.
    async with cluster.worker(platform_config=platform(tmp_path, "calm", "sharp"), turn_limit_scale=0.2) as worker:
        table, [account] = await worker.create()
        gateway = Gateway(worker.gateway)
        await asyncio.to_thread(thinking.wait, 60)
        player = Player(gateway, table, account, conn=1)
        await gateway.until(player.may_move)
        gate.set()
        await asyncio.to_thread(ended.wait, 30)
        again = Player(gateway, table, account, conn=2)  # a way there and back: the thought has been delivered
        await gateway.until(again.may_move)
        request = player.act()
        [delta] = await gateway.until(lambda: player.deltas(request))
        assert (delta.by, delta.seat) == ("person", player.view["seat"])
        assert not player.errors(request)
        await gateway.close()
