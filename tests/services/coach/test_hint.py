"""P60: a hint is a legal move made from the view alone; whatever else is sent is refused by name."""

import asyncio
import copy
import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.chassis.errors import DomainError, Kind
from libs.chassis.run import check
from libs.engine.bots import choose
from services.coach import thinking
from services.coach.domain.errors import BadView, CoachBusy, NothingToDecide
from services.coach.domain.romanian import read_romanian
from services.coach.settings import CoachSettings
from services.coach.thinking import ThreadThinker
from services.coach.wiring import SPEC
from tests.services.coach.conftest import GAME, Coach, coach_running, views
from whist.coach.v1.coach_pb2 import HintRequest
from whist.coach.v1.coach_pb2_grpc import CoachServiceStub

QUICK = list(views("quick", 6, seed=7))
BIDDING = next(view for view in QUICK if view["phase"] == "bid" and view["cards"] < 8)
PLAYING = next(
    view
    for view in QUICK
    if len(view["tricks"]) >= 2 and any(view["trick"]["cards"]) and view["trump"] and len(view["hand"]) >= 2
)
REFUSALS = {"BAD_VIEW", "NOTHING_TO_DECIDE", "UNKNOWN_GAME"}


async def refusal(coach: Coach, view_json: str, game: str = "romanian") -> DomainError:
    with pytest.raises(DomainError) as refused:
        await coach.hint(view_json, game)
    return refused.value


async def test_p60_the_hint_is_the_calm_bots_legal_move_for_the_decision_awaited(coach: Coach) -> None:
    for view in QUICK[::9]:
        found = await coach.hint(json.dumps(view))
        action = json.loads(found.action_json)
        assert action in view["legal"]
        assert action == choose("romanian", view)
        assert found.turn == view["turn"]


@pytest.mark.parametrize(("mode", "players"), [("8-1-8", 4), ("8-8-8", 5), ("1-8-1", 6), ("quick", 6), ("bench", 4)])
def test_every_view_that_a_table_shows_is_read_and_unchanged(mode: str, players: int) -> None:
    if mode == "bench":
        state = GAME.new(4, {"mode": "bench", "rounds": 2})
        draw = GAME.draw(state)
        assert draw is not None
        shown = GAME.view(state, 0)
        with pytest.raises(NothingToDecide):
            read_romanian(json.dumps(shown))
        return
    for view in views(mode, players, seed=players):
        assert read_romanian(json.dumps(view)) == view


async def test_p60_the_same_view_gets_the_same_hint_sent_twice_and_in_parallel(coach: Coach) -> None:
    answers = await asyncio.gather(*(coach.hint(json.dumps(PLAYING)) for _ in range(20)))
    assert len({one.action_json for one in answers}) == 1


async def test_an_observer_who_is_not_to_act_has_nothing_to_decide(coach: Coach) -> None:
    for view in ({**PLAYING, "legal": []}, {name: part for name, part in PLAYING.items() if name != "legal"}):
        error = await refusal(coach, json.dumps(view))
        assert (error.kind, error.reason) == (Kind.CONFLICT, "NOTHING_TO_DECIDE")


@pytest.mark.parametrize("game", ["", "poker", "romanian ", "x" * 1000, "__class__"])
async def test_another_game_is_unknown(coach: Coach, game: str) -> None:
    error = await refusal(coach, json.dumps(PLAYING), game)
    assert (error.kind, error.reason) == (Kind.INVALID, "UNKNOWN_GAME")


def changed(view: Mapping[str, Any], change: Callable[[dict[str, Any]], object]) -> str:
    copied = copy.deepcopy(dict(view))
    change(copied)
    return json.dumps(copied)


def put(*path: Any) -> Callable[[dict[str, Any]], object]:
    """``put("trick", "lead", 7)`` sets view["trick"]["lead"] = 7."""

    def change(view: dict[str, Any]) -> None:
        *way, last, value = path
        place: Any = view
        for step in way:
            place = place[step]
        place[last] = value

    return change


SEAT, OTHER = PLAYING["seat"], (PLAYING["seat"] + 1) % 6


@pytest.mark.parametrize(
    ("field", "view", "change"),
    [
        ("trick", PLAYING, lambda view: view.pop("trick")),
        ("hand", PLAYING, lambda view: view.pop("hand")),
        ("secret", PLAYING, put("secret", "QH")),
        ("hands", PLAYING, put("hands", [["QH"]])),
        ("game", PLAYING, put("game", "english")),
        ("seat", PLAYING, put("seat", "0")),
        ("seat", PLAYING, put("seat", 6)),
        ("seat", PLAYING, put("seat", None)),
        ("seat", PLAYING, put("seat", True)),
        ("players", PLAYING, put("players", 7)),
        ("players", PLAYING, put("players", 2**70)),
        ("bids", PLAYING, put("players", 5)),
        ("turn", PLAYING, put("turn", -1)),
        ("turn", PLAYING, put("turn", 1.5)),
        ("turn", PLAYING, put("turn", 2**31)),
        ("phase", PLAYING, put("phase", "draw")),
        ("to_act", PLAYING, put("to_act", OTHER)),
        ("cards", PLAYING, put("cards", None)),
        ("bids", PLAYING, put("bids", OTHER, None)),
        ("bids", BIDDING, put("bids", BIDDING["seat"], 1)),
        ("bids[0]", PLAYING, put("bids", 0, 9)),
        ("taken", PLAYING, put("taken", [0] * 6)),
        ("trick.lead", PLAYING, put("trick", "lead", None)),
        ("trick.cards", PLAYING, put("trick", "cards", [None] * 6)),
        ("trick.cards", BIDDING, put("trick", "cards", 0, "AH")),
        ("tricks", BIDDING, put("tricks", PLAYING["tricks"])),
        ("tricks[0].winner", PLAYING, put("tricks", 0, "winner", 9)),
        ("tricks[0].cards", PLAYING, put("tricks", 0, "cards", ["AH"])),
        ("trump_suit", PLAYING, put("trump_suit", None)),
        ("hand[0]", PLAYING, put("hand", 0, "1H")),
        ("hand", PLAYING, put("hand", 0, "2H")),
        ("hand", PLAYING, put("hand", 0, PLAYING["hand"][1])),
        ("hand", PLAYING, put("hand", PLAYING["hand"][1:])),
        ("legal[0]", PLAYING, put("legal", 0, {"bid": 1})),
        ("legal[0]", PLAYING, put("legal", 0, {})),
        ("legal[0]", PLAYING, put("legal", 0, {"play": PLAYING["trump"]})),
        ("legal[0].hint", PLAYING, put("legal", 0, {"play": PLAYING["hand"][0], "hint": 1})),
        ("legal[1]", PLAYING, put("legal", [PLAYING["legal"][0]] * 2)),
        ("legal[0]", BIDDING, put("legal", 0, {"bid": 8})),
        ("legal[0]", BIDDING, put("legal", 0, {"play": BIDDING["hand"][0]})),
    ],
)
async def test_a_view_that_no_table_shows_is_refused_by_its_field(
    coach: Coach, field: str, view: Mapping[str, Any], change: Callable[[dict[str, Any]], object]
) -> None:
    error = await refusal(coach, changed(view, change))
    assert (error.kind, error.reason, error.facts["field"]) == (Kind.INVALID, "BAD_VIEW", field)


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "7", "NaN", "{", '{"game": NaN}', "[" * 100_000, '{"options":' * 9000]
)
async def test_b32_what_is_no_view_is_refused(coach: Coach, text: str) -> None:
    assert (await refusal(coach, text)).reason == "BAD_VIEW"


SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=4)
NEAR = st.integers(-1, 8) | st.sampled_from(["AH", "QS", "9C", "bid", "play", "H", None])
GARBAGE = st.recursive(
    SCALARS | NEAR,
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(st.sampled_from([*PLAYING, "x"]), inner, max_size=6),
    max_leaves=20,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=200) | GARBAGE.map(json.dumps), game=st.sampled_from(["romanian", "romanian", "english"]))
async def test_b32_garbage_is_refused_and_never_internal(coach: Coach, text: str, game: str) -> None:
    assert (await refusal(coach, text, game)).reason in REFUSALS


@st.composite
def bent_views(draw: st.DrawFn) -> dict[str, Any]:
    """A real view with one to three of its parts replaced."""
    view: dict[str, Any] = copy.deepcopy(draw(st.sampled_from(QUICK)))
    for _ in range(draw(st.integers(1, 3))):
        place: Any = view
        for _ in range(draw(st.integers(1, 3))):
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(place[key], (dict, list)) and draw(st.booleans()):
                place = place[key]
                continue
            place[key] = draw(
                NEAR | st.just(copy.deepcopy(draw(st.sampled_from(QUICK)))).map(lambda other: other["hand"])
            )
            break
    return view


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(view=bent_views())
async def test_b32_a_bent_view_gets_a_legal_action_or_a_refusal_never_internal(
    coach: Coach, view: dict[str, Any]
) -> None:
    try:
        found = await coach.hint(json.dumps(view))
    except DomainError as error:
        assert error.reason in REFUSALS
    else:
        assert json.loads(found.action_json) in view["legal"]


async def test_n5_only_the_gateway_may_ask(coach: Coach) -> None:
    stub = CoachServiceStub(coach.stranger.channel)
    with pytest.raises(DomainError) as refused:
        await coach.stranger.call(stub.Hint, HintRequest(game="romanian", view_json=json.dumps(PLAYING)))
    assert (refused.value.kind, refused.value.reason) == (Kind.FORBIDDEN, "CALLER_NOT_ALLOWED")


async def test_a_full_queue_says_so_and_frees_its_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, started = threading.Event(), threading.Event()

    def slow(game: str, view: Any) -> Any:
        started.set()
        assert gate.wait(30)
        return choose(game, view)

    monkeypatch.setattr(thinking, "choose", slow)
    async with coach_running(tmp_path, hint_workers=1, hint_queue=0) as busy:
        first = asyncio.create_task(busy.hint(json.dumps(PLAYING)))
        await asyncio.to_thread(started.wait)
        error = await refusal(busy, json.dumps(PLAYING))
        assert (error.kind, error.reason) == (Kind.EXHAUSTED, "COACH_BUSY")
        gate.set()
        assert (await first).turn == PLAYING["turn"]
        assert (await busy.hint(json.dumps(PLAYING))).turn == PLAYING["turn"]


async def test_as_many_wait_as_the_queue_has_places(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()

    def slow(game: str, view: Any) -> Any:
        assert gate.wait(30)
        return choose(game, view)

    monkeypatch.setattr(thinking, "choose", slow)
    thinker = ThreadThinker(workers=1, queue=2)
    tasks = [asyncio.create_task(thinker.choose("romanian", PLAYING)) for _ in range(5)]
    done, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    gate.set()
    assert [type(one.exception()) for one in done] == [CoachBusy] * 2
    assert [await one for one in waiting] == [choose("romanian", PLAYING)] * 3
    await thinker.close()


async def test_a_caller_that_gave_up_holds_its_place_until_the_thread_has_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate, started = threading.Event(), threading.Event()

    def slow(game: str, view: Any) -> Any:
        started.set()
        assert gate.wait(30)
        return choose(game, view)

    monkeypatch.setattr(thinking, "choose", slow)
    thinker = ThreadThinker(workers=1, queue=0)
    first = asyncio.create_task(thinker.choose("romanian", PLAYING))
    await asyncio.to_thread(started.wait)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    with pytest.raises(DomainError) as refused:
        await thinker.choose("romanian", PLAYING)
    assert refused.value.reason == "COACH_BUSY"
    gate.set()
    await thinker.close()


async def test_a_bot_that_fails_is_a_refusal_not_a_fault(coach: Coach, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(game: str, view: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(thinking, "choose", fails)
    error = await refusal(coach, json.dumps(PLAYING))
    assert (error.reason, error.facts["problem"]) == ("BAD_VIEW", "no game leads to this view")


async def test_check_needs_no_database() -> None:
    await check(SPEC, CoachSettings(database_url="postgresql+asyncpg://nobody@127.0.0.1:1/none"))


def test_the_refusal_names_the_field_and_the_problem() -> None:
    with pytest.raises(BadView) as refused:
        read_romanian(changed(PLAYING, put("hand", 0, "1H")))
    assert refused.value.facts["field"] == "hand[0]"
    assert "regex" in str(refused.value.facts["problem"])
