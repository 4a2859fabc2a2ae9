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
from libs.search import advise, choose
from services.coach import thinking
from services.coach.domain.errors import BadView, CoachBusy
from services.coach.domain.romanian import read_romanian
from services.coach.domain.views import read_view
from services.coach.thinking import ThreadThinker
from tests.services.coach.builders import Coach, coach_running
from tests.services.coach.conftest import decisions, views
from whist.coach.v1.coach_pb2 import HintRequest
from whist.coach.v1.coach_pb2_grpc import CoachServiceStub

QUICK = list(views("quick", 6, seed=7))
BIDDING = next(view for view in QUICK if view["phase"] == "bid" and view["cards"] < 8)
PLAYING = next(
    view
    for view in QUICK
    if len(view["tricks"]) >= 2 and any(view["trick"]["cards"]) and view["trump"] and len(view["hand"]) >= 2
)
FOLLOWING = next(view for view in QUICK if len(view["hand"]) > len(view["legal"]) > 1 and view["phase"] == "play")
THIRD = next(view for view in QUICK if view["phase"] == "bid" and view["bids"].count(None) == 4)
EIGHT = next(view for view in QUICK if view["phase"] == "play" and view["trump"] is None)
FOREHEADS, HIDDEN = (
    next(view for view in views("1-8-1", 6, seed=1, one_card=kind) if not view["hand"])
    for kind in ("forehead", "hidden")
)
REFUSALS = {"BAD_VIEW", "NOTHING_TO_DECIDE", "UNKNOWN_GAME"}


async def refusal(coach: Coach, view_json: str, game: str = "romanian") -> DomainError:
    with pytest.raises(DomainError) as refused:
        await coach.hint(view_json, game)
    return refused.value


async def test_p60_the_hint_is_the_legal_move_that_promises_most_and_says_what_each_promises(coach: Coach) -> None:
    uncertain = 0
    for view in QUICK[::9]:
        found = await coach.hint(json.dumps(view))
        assert found.turn == view["turn"]
        assert [json.loads(each.action_json) for each in found.advice] == view["legal"]
        expected = advise(view, 1000, 0)
        for each, right in zip(found.advice, expected, strict=True):
            assert (each.points, each.error, each.chance) == (right.points, right.error, right.chance)
            assert -8 <= each.points <= 13 and 0 <= each.chance <= 1
        best = max(found.advice, key=lambda each: each.points)
        assert found.action_json == best.action_json
        uncertain += any(each.error > 0 for each in found.advice)
    assert uncertain > 10


async def test_p60_a_bids_points_are_those_of_making_it_or_missing_it(coach: Coach) -> None:
    """Made with chance c it brings 5 + bid, missed at least one point less than nothing (R7)."""
    found = await coach.hint(json.dumps(BIDDING))
    for each in found.advice:
        bid = json.loads(each.action_json)["bid"]
        assert each.points <= each.chance * (5 + bid) - (1 - each.chance) + 1e-9


async def test_p60_more_samples_say_it_more_surely(database: str, tmp_path: Path) -> None:
    errors = {}
    for samples in (100, 10_000):
        async with coach_running(database, tmp_path, hint_samples=samples) as coach:
            found = await coach.hint(json.dumps(BIDDING))
            errors[samples] = [each.error for each in found.advice]
    for few, many in zip(errors[100], errors[10_000], strict=True):
        assert 5 * many < few < 20 * many


@pytest.mark.parametrize("premium", ["off", "skip", "reset"])
@pytest.mark.parametrize("scoring", ["linear", "triangular"])
@pytest.mark.parametrize("one_card", ["off", "forehead", "hidden"])
@pytest.mark.parametrize(("mode", "players"), [("8-1-8", 4), ("8-8-8", 5), ("1-8-1", 6), ("quick", 6), ("bench", 4)])
def test_every_view_that_a_table_shows_is_read_and_unchanged(
    mode: str, players: int, one_card: str, scoring: str, premium: str
) -> None:
    options = {"rounds": 3} if mode == "bench" else {}
    read = 0
    rules = {"one_card": one_card, "scoring": scoring, "premium": premium}
    for view in views(mode, players, seed=players, **rules, **options):
        assert read_romanian(json.dumps(view)) == view
        read += 1
    assert read > 100


@pytest.mark.parametrize("one_card", ["forehead", "hidden"])
async def test_p60_r11_a_card_that_its_owner_does_not_see_is_bid_on_by_the_cards_in_sight(
    coach: Coach, one_card: str
) -> None:
    concealed = [view for view in views("1-8-1", 4, seed=2, one_card=one_card) if not view["hand"]]
    assert len(concealed) == 4 * 8
    for view in concealed:
        found = await coach.hint(json.dumps(view))
        assert [json.loads(each.action_json) for each in found.advice] == view["legal"]
        assert all(each.error == 0 for each in found.advice)


FAMILY: list[tuple[str, int, dict[str, Any]]] = [
    ("english", 4, {"revokes": "club", "match": "game"}),
    ("english", 4, {"target": 7, "honours": False}),
    ("solo", 4, {"hands": 8}),
    ("knockout", 2, {}),
    ("knockout", 7, {"dogs_life": True}),
    ("german", 2, {"count_all": True}),
    ("german", 2, {}),
]


@pytest.mark.parametrize(("game", "players", "options"), FAMILY)
def test_every_view_of_the_other_games_is_read_and_unchanged(game: str, players: int, options: dict[str, Any]) -> None:
    for seed in range(3):
        for view in decisions(game, players, options, seed):
            assert read_view(game, json.dumps(view)) == json.loads(json.dumps(view))


SOLO, DOGS = (
    next(view for view in decisions(*case, seed=2) if view["phase"] == "play" and any(view["trick"]["cards"]))
    for case in (FAMILY[2], FAMILY[4])
)
LED = SOLO["trick"]["cards"][SOLO["trick"]["lead"]]


@pytest.mark.parametrize(
    ("field", "view", "change"),
    [
        ("secret", SOLO, lambda view: view.update(secret="QH")),
        ("stock", SOLO, lambda view: view.update(stock=3)),
        ("players", SOLO, lambda view: view.update(players=5)),
        ("seat", DOGS, lambda view: view.update(seat=7, to_act=7)),
        ("to_act", SOLO, lambda view: view.update(to_act=(view["seat"] + 1) % 4)),
        ("counts", DOGS, lambda view: view["counts"].pop()),
        ("held", DOGS, lambda view: view["held"].append(False)),
        ("namer", DOGS, lambda view: view.update(namer="1")),
        ("declarer", SOLO, lambda view: view.update(declarer=4)),
        ("calls[0][1]", SOLO, lambda view: view["calls"][0].__setitem__(1, "grand")),
        ("hand", SOLO, lambda view: view.pop("hand")),
        ("hand", SOLO, lambda view: view["hand"].pop()),
        ("hand", SOLO, lambda view: view["hand"].__setitem__(0, LED)),
        ("trick.lead", SOLO, lambda view: view["trick"].update(lead=None)),
        ("legal[0]", SOLO, lambda view: view["legal"].__setitem__(0, {"play": "AS", "hold": True})),
        ("legal[0]", SOLO, lambda view: view["legal"].__setitem__(0, {"play": LED})),
        ("legal[1]", SOLO, lambda view: view.update(legal=[view["legal"][0]] * 2)),
        ("ranking", DOGS, lambda view: view.update(ranking=[0])),
    ],
)  # fmt: skip
async def test_a_view_of_another_game_that_no_table_shows_is_refused_by_its_field(
    coach: Coach, field: str, view: Mapping[str, Any], change: Callable[[dict[str, Any]], object]
) -> None:
    error = await refusal(coach, changed(view, change), view["game"])
    assert (error.kind, error.reason, error.facts["field"]) == (Kind.INVALID, "BAD_VIEW", field)


@pytest.mark.parametrize(("game", "players", "options"), FAMILY)
async def test_p60_other_games_get_the_rule_bots_move_alone(
    coach: Coach, game: str, players: int, options: dict[str, Any]
) -> None:
    for view in list(decisions(game, players, options, seed=5))[:100:7]:
        found = await coach.hint(json.dumps(view), game)
        assert json.loads(found.action_json) == choose(game, view, "calm")
        assert json.loads(found.action_json) in view["legal"]
        assert (found.turn, list(found.advice)) == (view["turn"], [])


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


def unseen(view: Mapping[str, Any]) -> str:
    """A card of the pack of six that the view does not show."""
    shown = json.dumps([view["hand"], view["tricks"], view["trick"]])
    return next(f"{rank}{suit}" for rank in "3456789TJQKA" for suit in "CDHS" if f"{rank}{suit}" not in shown)


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
        ("legal", BIDDING, put("legal", BIDDING["legal"][1:])),
        ("legal", FOLLOWING, put("legal", [{"play": card} for card in FOLLOWING["hand"]])),
        ("mode", PLAYING, put("mode", "9-9-9")),
        ("options.mode", PLAYING, put("options", "mode", "8-1-8")),
        ("options.scoring", PLAYING, put("options", "scoring", "cubic")),
        ("options.one_card", PLAYING, put("options", "one_card", "off")),
        ("rounds[0]", PLAYING, put("rounds", 0, 9)),
        ("round", PLAYING, put("round", 7)),
        ("cards", PLAYING, put("round", PLAYING["round"] - 1)),
        ("ranking", PLAYING, put("ranking", [0, 1, 2, 3, 4, 5])),
        ("last_trick", PLAYING, put("last_trick", None)),
        ("barred", BIDDING, put("barred", 1)),
        ("bids", THIRD, put("bids", [None] * 6)),
        ("bids", PLAYING, lambda view: view.update(bids=[view["cards"], 0, 0, 0, 0, 0])),
        ("dealer", PLAYING, put("dealer", None)),
        ("tricks[0].lead", PLAYING, put("dealer", (PLAYING["dealer"] + 1) % 6)),
        ("trump", PLAYING, lambda view: view.update(trump=None, trump_suit=None)),
        ("trump", EIGHT, lambda view: view.update(trump=unseen(view), trump_suit=unseen(view)[1])),
        ("score_sheet[0].bids", PLAYING, put("score_sheet", 0, "bids", [1])),
        ("score_sheet[0].dealer", PLAYING, put("score_sheet", 0, "dealer", 6)),
        ("foreheads", PLAYING, put("foreheads", None)),
        ("foreheads", FOREHEADS, lambda view: view.pop("foreheads")),
        ("foreheads", FOREHEADS, put("foreheads", None)),
        ("foreheads", FOREHEADS, put("foreheads", ["7C"])),
        ("foreheads[0]", FOREHEADS, put("foreheads", 0, "1C")),
        (f"foreheads[{FOREHEADS['seat']}]", FOREHEADS, put("foreheads", FOREHEADS["seat"], "AS")),
        ("hand", FOREHEADS, put("hand", ["AS"])),
        ("hand", HIDDEN, put("hand", ["AS"])),
        ("hand", BIDDING, put("hand", [])),
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


BENT = [*QUICK, FOREHEADS, HIDDEN, *(view for case in FAMILY for view in list(decisions(*case, seed=1))[:80:5])]


@st.composite
def bent_views(draw: st.DrawFn) -> dict[str, Any]:
    """A real view with one to three of its parts replaced."""
    view: dict[str, Any] = copy.deepcopy(draw(st.sampled_from(BENT)))
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
    game = view["game"] if isinstance(view["game"], str) else "romanian"
    try:
        found = await coach.hint(json.dumps(view), game)
    except DomainError as error:
        assert error.reason in REFUSALS
    else:
        assert json.loads(found.action_json) in view["legal"]


async def test_n5_only_the_gateway_may_ask(coach: Coach) -> None:
    stub = CoachServiceStub(coach.stranger.channel)
    with pytest.raises(DomainError) as refused:
        await coach.stranger.call(stub.Hint, HintRequest(game="romanian", view_json=json.dumps(PLAYING)))
    assert (refused.value.kind, refused.value.reason) == (Kind.FORBIDDEN, "CALLER_NOT_ALLOWED")


async def test_a_full_queue_says_so_and_frees_its_places(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, started = threading.Event(), threading.Event()

    def slow(view: Any, samples: int, seed: int) -> Any:
        started.set()
        assert gate.wait(30)
        return advise(view, samples, seed)

    monkeypatch.setattr(thinking, "advise", slow)
    async with coach_running(database, tmp_path, hint_workers=1, hint_queue=0) as busy:
        first = asyncio.create_task(busy.hint(json.dumps(PLAYING)))
        await asyncio.to_thread(started.wait)
        error = await refusal(busy, json.dumps(PLAYING))
        assert (error.kind, error.reason) == (Kind.EXHAUSTED, "COACH_BUSY")
        gate.set()
        assert (await first).turn == PLAYING["turn"]
        assert (await busy.hint(json.dumps(PLAYING))).turn == PLAYING["turn"]


async def test_as_many_wait_as_the_queue_has_places(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()

    def slow(view: Any, samples: int, seed: int) -> Any:
        assert gate.wait(30)
        return advise(view, samples, seed)

    monkeypatch.setattr(thinking, "advise", slow)
    thinker = ThreadThinker(workers=1, queue=2, samples=50)
    tasks = [asyncio.create_task(thinker.think("romanian", PLAYING)) for _ in range(5)]
    done, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    gate.set()
    assert [type(one.exception()) for one in done] == [CoachBusy] * 2
    assert [(await one).advice for one in waiting] == [advise(PLAYING, 50, 0)] * 3
    await thinker.close()


async def test_a_caller_that_gave_up_holds_its_place_until_the_thread_has_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate, started = threading.Event(), threading.Event()

    def slow(view: Any, samples: int, seed: int) -> Any:
        started.set()
        assert gate.wait(30)
        return advise(view, samples, seed)

    monkeypatch.setattr(thinking, "advise", slow)
    thinker = ThreadThinker(workers=1, queue=0, samples=50)
    first = asyncio.create_task(thinker.think("romanian", PLAYING))
    await asyncio.to_thread(started.wait)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    with pytest.raises(DomainError) as refused:
        await thinker.think("romanian", PLAYING)
    assert refused.value.reason == "COACH_BUSY"
    gate.set()
    await thinker.close()


async def test_a_view_that_no_deal_agrees_with_is_refused(coach: Coach) -> None:
    """Each part may be: but seven clubs are left, and everybody else has shown to have none."""
    first_lead = {"lead": 0, "cards": ["AC", "7D", "8D", "9D"], "winner": 0}
    hand = [f"{rank}S" for rank in "789TJQK"]
    view = next(views("8-8-8", 4, seed=1)) | {
        "phase": "play",
        "seat": 0,
        "to_act": 0,
        "dealer": 3,
        "bids": [1, 1, 1, 1],
        "barred": None,
        "taken": [1, 0, 0, 0],
        "trick": {"lead": 0, "cards": [None] * 4},
        "tricks": [first_lead],
        "last_trick": first_lead,
        "hand": hand,
        "legal": [{"play": card} for card in hand],
    }
    assert read_romanian(json.dumps(view)) == view
    error = await refusal(coach, json.dumps(view))
    assert (error.reason, error.facts["problem"]) == ("BAD_VIEW", "no game leads to this view")
    hand[0] = "KC"  # with the pack's other clubs still nowhere to go
    assert (await refusal(coach, json.dumps(view))).reason == "BAD_VIEW"


async def test_a_seat_that_holds_again_what_it_lacked_is_refused_by_the_card(coach: Coach) -> None:
    lacked = next(
        (view, at, seat)
        for view in views("8-1-8", 4, seed=3)
        for at, trick in enumerate(view["tricks"][:-1])
        for seat, card in enumerate(trick["cards"])
        if card[1] != trick["cards"][trick["lead"]][1] and view["trump"] is None and view["legal"]
    )
    view, at, seat = lacked
    suit = view["tricks"][at]["cards"][view["tricks"][at]["lead"]][1]
    later = at + 1
    spare = next(f"{rank}{suit}" for rank in "789TJQKA" if f"{rank}{suit}" not in json.dumps(view))
    error = await refusal(coach, changed(view, put("tricks", later, "cards", seat, spare)))
    assert error.reason == "BAD_VIEW"
    assert error.facts["field"] in {f"tricks[{later}].cards", f"tricks[{later}].winner", "last_trick"}


def test_the_refusal_names_the_field_and_the_problem() -> None:
    with pytest.raises(BadView) as refused:
        read_romanian(changed(PLAYING, put("hand", 0, "1H")))
    assert refused.value.facts["field"] == "hand[0]"
    assert "regex" in str(refused.value.facts["problem"])
