"""The `Game` protocol's bad input: any JSON as a move, as options, as a journal or a snapshot, in every game."""

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.engine.cards import CARDS, card_text
from libs.engine.errors import RuleViolation, UnknownRulesVersion
from libs.engine.game import GAMES
from libs.engine.protocol import Game, State
from tests.engine.comparison import choose, random_table

FUZZED = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
every_game = pytest.mark.parametrize("name", GAMES)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
words = st.sampled_from(
    [
        *map(card_text, CARDS),
        *("C", "D", "H", "S", "N", "pass", "acceptance", "proposal", "solo", "misere", "abundance", "points", "tricks"),
        *("quick", "8-1-8", "bench", "club", "rubber", "linear", "2C3C", "qh", "10S", "", 0, 1, 8, -1, 10**30),
    ]
)
KINDS = ["play", "bid", "call", "trumps", "claim", "penalty", "hold", "type"]
near_moves = st.dictionaries(st.sampled_from(KINDS), words | plain, max_size=2)
FIELDS = {
    **dict.fromkeys(("mode", "scoring", "premium", "one_card", "match", "revokes"), str),
    **dict.fromkeys(("rounds", "target", "hands"), int),
    **dict.fromkeys(("honours", "rubber_bonus", "dogs_life", "count_all"), bool),
}
near_options = st.dictionaries(st.sampled_from(list(FIELDS)), words | plain, max_size=3)
ODD: list[Any] = [
    *(None, True, False, 0, 1, 4, 5, -1, 8, 10**30, 0.0, 1.0, 5.0, 16.0, float("nan"), float("inf")),
    *("", "0", "1", "5", "true", "2C", "2c", "C", "pass", "points", "club", "off", "8-1-8"),
    *([], {}, [1], ["2C"], {"play": "2C"}, [[]], [None]),
]


def played(name: str) -> Iterator[tuple[Game, State, list[Any]]]:
    """Random games of that name: each state, and what was written of the events that led to it from the last one."""
    game = GAMES[name]
    for seed in range(4):
        rng = Random(seed)
        _, players, options = random_table(name, rng)
        state = game.new(players, options)
        written: list[Any] = []
        while True:
            yield game, state, written
            if game.over(state):
                break
            if (draw := game.draw(state)) is not None:
                events = game.decide_draw(state, rng.sample(range(draw.size), draw.size))
            else:
                events = game.decide(state, game.to_act(state) or 0, choose(game, state, rng))
            written = [json.loads(json.dumps(game.dump_event(event))) for event in events]
            for event in events:
                state = game.evolve(state, event)


MOMENTS = {name: [state for _, state, _ in played(name)][::23] for name in GAMES}
EVENTS = {name: [one for _, _, written in played(name) for one in written][::17] for name in GAMES}
STATES = {
    name: [json.loads(json.dumps(game.dump_state(state))) for game, state, _ in played(name)][::67] for name in GAMES
}


def move(game: Game, state: State, seat: int, action: Any) -> None:
    """Legal to the letter, so that true is no 1, or refused with a reason and nothing else; the action is kept."""
    kept = repr(action)
    try:
        events = game.decide(state, seat, action)
    except RuleViolation as refused:
        assert refused.reason.isupper()
        json.dumps(refused.facts)
    else:
        assert events and seat == game.to_act(state)
        assert repr(action) in map(repr, game.legal(state))
    assert repr(action) == kept


@every_game
@FUZZED
@given(data=st.data(), action=plain | near_moves)
def test_any_move_of_any_seat_is_legal_or_a_rule_violation_and_changes_nothing(
    name: str, data: st.DataObject, action: Any
) -> None:
    state = data.draw(st.sampled_from(MOMENTS[name]))
    kept = repr(state)
    for seat in range(-1, 8):
        move(GAMES[name], state, seat, action)
    assert repr(state) == kept


@every_game
@pytest.mark.parametrize("kind", KINDS)
def test_every_odd_value_of_every_move_is_refused(name: str, kind: str) -> None:
    game = GAMES[name]
    for state in MOMENTS[name]:
        kept = repr(state)
        for value in ODD:
            for seat in {game.to_act(state) or 0, 1}:
                move(game, state, seat, {kind: value})
        assert repr(state) == kept


def open_table(game: Game, players: Any, options: Any) -> None:
    """Opened as asked to the letter, or refused with the field."""
    kept = repr((players, options))
    try:
        state = game.new(players, options)
    except RuleViolation as refused:
        assert refused.reason == "BAD_OPTIONS"
        assert isinstance(json.loads(json.dumps(refused.facts))["field"], str)
    else:
        opened = game.view(state, None)
        assert repr(opened["players"]) == repr(players)
        for field, value in options.items():
            assert type(value) is FIELDS[field]
            assert repr(opened["options"].get(field, "off")) == repr(value), "a house rule that is off may go unnamed"
    assert repr((players, options)) == kept


@every_game
@FUZZED
@given(players=st.integers(-1, 9) | plain, options=near_options | plain)
def test_any_options_open_a_table_or_are_refused_with_the_field(name: str, players: Any, options: Any) -> None:
    open_table(GAMES[name], players, options)


@every_game
@pytest.mark.parametrize("field", [*FIELDS, "players", "options"])
def test_every_odd_value_of_every_option_is_refused_with_the_field(name: str, field: str) -> None:
    game = GAMES[name]
    needed = {"mode": "8-1-8"} if name == "romanian" else {}
    for value in ODD:
        if field == "players":
            open_table(game, value, needed)
        elif field == "options":
            open_table(game, 4, value)
        else:
            for players in (2, 4):
                open_table(game, players, needed | {field: value})
                open_table(game, players, {"mode": "bench", "rounds": 1} | {field: value})


def spoilt(data: st.DataObject, written: Any) -> Any:
    """What was written, with one of its values, or one that is nested in it, put in place of another or left out."""
    if not isinstance(written, (list, dict)) or not written or data.draw(st.integers(0, 3)) == 0:
        return data.draw(words | plain)
    changed: Any = copy.copy(written)
    at = data.draw(st.sampled_from(range(len(written)) if isinstance(written, list) else sorted(written)))
    if data.draw(st.integers(0, 5)) == 0:
        del changed[at]
    else:
        changed[at] = spoilt(data, written[at])
    return changed


@every_game
@FUZZED
@given(data=st.data(), junk=st.none() | plain)
def test_a_spoilt_event_is_read_as_one_that_could_be_written_or_refused(
    name: str, data: st.DataObject, junk: Any
) -> None:
    game = GAMES[name]
    for one in (junk, spoilt(data, data.draw(st.sampled_from(EVENTS[name])))):
        try:
            event = game.load_event(one, game.rules_version)
        except ValueError as refused:
            assert str(refused)
        else:
            assert game.load_event(json.loads(json.dumps(game.dump_event(event))), game.rules_version) == event


@every_game
@FUZZED
@given(data=st.data(), junk=st.none() | plain)
def test_a_spoilt_state_is_read_as_one_that_could_be_written_or_refused(
    name: str, data: st.DataObject, junk: Any
) -> None:
    game = GAMES[name]
    for one in (junk, spoilt(data, data.draw(st.sampled_from(STATES[name])))):
        try:
            state = game.load_state(one, game.rules_version)
        except ValueError as refused:
            assert str(refused)
        else:
            assert game.load_state(json.loads(json.dumps(game.dump_state(state))), game.rules_version) == state


def mistyped(written: Any) -> Iterator[Any]:
    """What was written, each time with one of its values of another type."""
    if isinstance(written, list):
        for at, value in enumerate(written):
            yield from ([*written[:at], other, *written[at + 1 :]] for other in mistyped(value))
    elif isinstance(written, dict):
        for field, value in written.items():
            yield from (written | {field: other} for other in mistyped(value))
    elif written is not None:
        yield {}
        yield -1 if isinstance(written, (str, bool)) else f"{written}"


@every_game
def test_no_value_of_another_type_is_read(name: str) -> None:
    game, tried = GAMES[name], 0
    by_kind = {written[0]: written for written in EVENTS[name]}
    for load, samples in ((game.load_event, by_kind.values()), (game.load_state, STATES[name][:5])):
        for written in samples:
            for one in mistyped(written):
                tried += 1
                with pytest.raises(ValueError):
                    load(one, game.rules_version)
    assert tried > 100


@every_game
@pytest.mark.parametrize("version", [0, 2, -1, None, "1"])
def test_what_other_rules_wrote_is_not_read(name: str, version: Any) -> None:
    game = GAMES[name]
    with pytest.raises(UnknownRulesVersion):
        game.load_event(EVENTS[name][0], version)
    with pytest.raises(UnknownRulesVersion):
        game.load_state(STATES[name][0], version)
