"""R1 to R4: who may play what, how long it is, who deals, what is turned up."""

import pytest

from libs.engine.errors import RuleViolation
from libs.engine.romanian.options import Mode, Options, parse_options
from libs.engine.romanian.schedule import sizes
from tests.engine.builders import GAME, TABLES, run

TOTALS = {  # R2: rounds, bids + plays
    ("8-1-8", 4): (24, 584),
    ("8-1-8", 5): (27, 830),
    ("8-1-8", 6): (30, 1116),
    ("8-8-8", 4): (24, 696),
    ("8-8-8", 5): (27, 1005),
    ("8-8-8", 6): (30, 1368),
    ("1-8-1", 4): (24, 472),
    ("1-8-1", 5): (27, 655),
    ("1-8-1", 6): (30, 864),
}


@pytest.mark.parametrize(("mode", "players"), TOTALS)
def test_r2_rounds_and_decisions(mode: str, players: int) -> None:
    rounds, decisions = TOTALS[mode, players]
    steps = list(run(mode, players, seed=1))
    state = steps[-1][2]
    assert len(state.setup.sizes) == len(state.sheet) == rounds
    assert GAME.turn(state) == sum(players * (1 + size) for size in state.setup.sizes) == decisions


def test_r2_8_1_8_for_four_in_full() -> None:
    listed = "8 8 8 8 7 6 5 4 3 2 1 1 1 1 2 3 4 5 6 7 8 8 8 8"
    schedule = sizes(Options(mode=Mode.EIGHT_ONE_EIGHT), 4)
    assert schedule == tuple(int(one) for one in listed.split())


@pytest.mark.parametrize("left_out", range(6))
def test_r2_quick_leaves_one_size_out(left_out: int) -> None:
    schedule = sizes(Options(mode=Mode.QUICK), 6, left_out)
    size = left_out + 2
    assert schedule[0] == 8 and len(schedule) == 6
    assert schedule[1:] == tuple(one for one in (7, 6, 5, 4, 3, 2) if one != size)
    assert sum(6 * (1 + one) for one in schedule) == 246 - 6 * size


def test_r2_quick_shows_its_whole_list_before_the_first_deal() -> None:
    state = GAME.new(6, {"mode": "quick"})
    labels = []
    while GAME.phase(state) == "draw" and (draw := GAME.draw(state)):
        labels.append((draw.label, draw.size))
        for event in GAME.decide_draw(state, range(draw.size)):
            state = GAME.evolve(state, event)
    assert labels == [("dealer", 6), ("left-out", 6), ("deal/1", 48)]
    assert GAME.view(state, None)["rounds"] == [8, 7, 6, 5, 4, 3]


def test_bench_is_that_many_rounds_of_eight_for_four() -> None:
    *_, (_, _, state) = run("bench", 4, seed=1, rounds=3)
    assert state.setup.sizes == (8, 8, 8)
    assert GAME.over(state)


def test_a_bench_game_is_read_back_from_its_journal() -> None:
    for _, event, state in run("bench", 4, seed=1, rounds=2):
        assert GAME.load_event(GAME.dump_event(event), GAME.rules_version) == event
        assert GAME.load_state(GAME.dump_state(state), GAME.rules_version) == state


@pytest.mark.parametrize(("mode", "players"), TABLES)
def test_r3_the_deal_passes_clockwise_and_r4_the_next_card_is_turned(mode: str, players: int) -> None:
    dealers = []
    for _, event, after in run(mode, players, seed=5):
        if GAME.checkpoint(event) is None:
            continue
        deal = after.round.deal
        dealers.append(deal.dealer)
        assert (deal.turn_up is None) == (deal.cards == 8)
        assert deal.turn_up is None or not any(hand >> deal.turn_up & 1 for hand in after.round.hands)
        assert all(hand.bit_count() == deal.cards for hand in after.round.hands)
        assert GAME.to_act(after) == (deal.dealer + 1) % players
    assert dealers == [(dealers[0] + index) % players for index in range(len(dealers))]


def test_r4_cards_go_one_at_a_time_from_the_dealers_left() -> None:
    state = GAME.new(4, {"mode": "1-8-1"})
    for event in GAME.decide_draw(state, [2, 0, 1, 3]):
        state = GAME.evolve(state, event)
    (event,) = GAME.decide_draw(state, range(32))
    assert GAME.view(GAME.evolve(state, event), 3)["hand"] == ["7C"]
    assert GAME.view(GAME.evolve(state, event), 2)["hand"] == ["TC"]
    assert GAME.project(event, None) == {
        "k": "dealt",
        "round": 0,
        "cards": 1,
        "dealer": 2,
        "trump": "JC",
    }


@pytest.mark.parametrize(
    ("players", "options", "field"),
    [
        (3, {"mode": "8-1-8"}, "players"),
        (7, {"mode": "8-1-8"}, "players"),
        (5, {"mode": "quick"}, "players"),
        (6, {"mode": "bench", "rounds": 1}, "players"),
        (True, {"mode": "8-1-8"}, "players"),
        ("4", {"mode": "8-1-8"}, "players"),
        (4, {}, "mode"),
        (4, {"mode": "9-1-9"}, "mode"),
        (4, {"mode": None}, "mode"),
        (4, {"mode": ["8-1-8"]}, "mode"),
        (4, {"mode": "8-1-8", "scoring": "square"}, "scoring"),
        (4, {"mode": "8-1-8", "premium": True}, "premium"),
        (4, {"mode": "8-1-8", "rounds": 3}, "rounds"),
        (4, {"mode": "8-1-8", "one_card": "blind"}, "one_card"),
        (4, {"mode": "bench"}, "rounds"),
        (4, {"mode": "bench", "rounds": 0}, "rounds"),
        (4, {"mode": "bench", "rounds": True}, "rounds"),
        (4, None, "options"),
        (4, [], "options"),
    ],
)
def test_r1_refusals_name_the_field(players: int, options: dict[str, object], field: str) -> None:
    with pytest.raises(RuleViolation) as refused:
        GAME.new(players, options)
    assert refused.value.reason == "BAD_OPTIONS"
    assert refused.value.facts["field"] == field


def test_options_read_back_from_their_plain_form() -> None:
    for plain in (
        {"mode": "8-8-8", "scoring": "triangular"},
        {"mode": "8-1-8", "premium": "skip", "one_card": "hidden"},
    ):
        options = parse_options(5, plain)
        assert parse_options(5, options.dump()) == options


@pytest.mark.parametrize("order", [[], [0, 1, 2], [0, 0, 1, 2], [1, 2, 3, 4]])
def test_only_the_permutation_asked_for_is_taken(order: list[int]) -> None:
    with pytest.raises(ValueError, match="permutation"):
        GAME.decide_draw(GAME.new(4, {"mode": "8-1-8"}), order)
