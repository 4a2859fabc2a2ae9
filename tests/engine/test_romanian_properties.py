"""What holds in every game, on random ones: counts, replay, checkpoints, clients' memories."""

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.engine.cards import card_text, cards_in, deck, hand_of
from libs.engine.errors import RuleViolation
from libs.engine.follow import follow
from libs.engine.replay import fold_from_checkpoint
from libs.engine.romanian.events import BidPlaced, CardPlayed, GameEnded, RoundScored, TrickTaken
from tests.engine.builders import GAME, TABLES, run

BRIEF = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
tables = st.sampled_from(TABLES)
seeds = st.integers(0, 2**32)


@BRIEF
@given(tables, seeds)
def test_a_checkpoint_holds_all_that_came_before(table: tuple[str, int], seed: int) -> None:
    deals = 0
    for _, event, after in run(*table, seed):
        alone = GAME.checkpoint(event)
        assert alone is None or alone == after
        deals += alone is not None
    assert deals == len(after.setup.sizes)
    assert fold_from_checkpoint(GAME, []) is None


@BRIEF
@given(tables, seeds)
def test_a_snapshot_reads_back(table: tuple[str, int], seed: int) -> None:
    for at, (_, _, after) in enumerate(run(*table, seed)):
        if at % 7 == 0 or GAME.over(after):
            written = json.loads(json.dumps(GAME.dump_state(after)))
            assert GAME.load_state(written, 1) == after


@settings(BRIEF, max_examples=6)
@given(tables, seeds)
def test_following_the_events_gives_exactly_the_view(table: tuple[str, int], seed: int) -> None:
    mode, players = table
    observers = [None, *range(players)]
    start = GAME.new(players, {"mode": mode})
    views = {observer: GAME.view(start, observer) for observer in observers}
    for at, (_, event, after) in enumerate(run(mode, players, seed)):
        for observer in observers:
            told = GAME.project(event, observer)
            assert told is not None
            if at % 16 == 0:
                kept = copy.deepcopy(views[observer])
                follow(views[observer], told)
                assert views[observer] == kept, "the given view is left alone"
            views[observer] = follow(views[observer], told)
            assert views[observer] == GAME.view(after, observer)
            assert GAME.is_private(event) or told == GAME.project(event, None)
    assert json.loads(json.dumps(views[0])) == views[0]


def seats_seen(state: Any, observer: int | None) -> set[int]:
    """Whose cards the observer sees: its own, and while a card is on the forehead (R11) all but its own."""
    if observer is None:
        return set()
    if not state.concealed:
        return {observer}
    forehead = state.setup.options.one_card == "forehead"
    return set(range(state.setup.players)) - {observer} if forehead else set()


def swap_hidden(state: Any, observer: int | None, shift: int) -> Any:
    """The same table with the cards hidden from the observer dealt otherwise."""
    current, known = state.round, seats_seen(state, observer)
    seen = hand_of(card for trick in current.tricks for card in trick.cards) | hand_of(current.trick)
    seen |= hand_of([] if current.deal.turn_up is None else [current.deal.turn_up])
    for seat in known:
        seen |= current.hands[seat]
    hidden = [card for card in deck(state.setup.players) if not seen >> card & 1]
    hidden = hidden[shift % len(hidden) :] + hidden[: shift % len(hidden)] if hidden else hidden
    hands = []
    for seat, hand in enumerate(current.hands):
        size = hand.bit_count()
        hands.append(hand if seat in known else hand_of(hidden[:size]))
        hidden = hidden if seat in known else hidden[size:]
    return state._replace(round=current._replace(hands=tuple(hands)))


def told_otherwise(event: Any, other: Any) -> Any:
    """The private event, had the hidden cards been those of the other table."""
    return replace(event, **{"reveals" if isinstance(event, BidPlaced) else "hands": other.round.hands})


@settings(BRIEF, max_examples=6)
@given(tables, seeds, st.integers(1, 40), st.sampled_from(["off", "forehead", "hidden"]))
def test_p71_nothing_shown_depends_on_a_hidden_card(
    table: tuple[str, int], seed: int, shift: int, one_card: str
) -> None:
    """No byte of any view or event, of any observer."""
    mode, players = table
    changed = 0
    for at, (_, event, after) in enumerate(run(mode, players, seed, one_card=one_card)):
        if after.round is None or (at % 3 and not GAME.is_private(event) and not after.concealed):
            continue
        for observer in (None, *range(players)):
            other = swap_hidden(after, observer, shift)
            changed += other != after
            assert json.dumps(GAME.view(other, observer)) == json.dumps(GAME.view(after, observer))
            if GAME.is_private(event):
                told = json.dumps(GAME.project(event, observer))
                assert json.dumps(GAME.project(told_otherwise(event, other), observer)) == told
        assert "hand" not in GAME.view(after, None)
    assert changed > 100, "something was hidden"


@BRIEF
@given(tables, seeds)
def test_p71_a_view_holds_no_card_that_is_neither_own_nor_played(table: tuple[str, int], seed: int) -> None:
    mode, players = table
    for at, (_, _, after) in enumerate(run(mode, players, seed)):
        if after.live is None or at % 5:
            continue
        for observer in (None, *range(players)):
            shown = GAME.view(after, observer)
            del shown["score_sheet"]
            text = json.dumps(shown)
            for seat, hand in enumerate(after.round.hands):
                hidden = seat != observer
                assert all((f'"{one}"' not in text) == hidden for one in map(card_text, cards_in(hand)))


@BRIEF
@given(tables, seeds)
def test_legal_is_exactly_what_decide_accepts(table: tuple[str, int], seed: int) -> None:
    mode, players = table
    everything: list[Any] = [{"play": card_text(card)} for card in deck(players)]
    everything += [{"bid": bid} for bid in range(-1, 10)]
    for at, (state, _, _) in enumerate(run(mode, players, seed)):
        seat = GAME.to_act(state)
        if seat is None or at % 11:
            continue
        accepted = []
        for action in everything:
            try:
                GAME.decide(state, seat, action)
            except RuleViolation:
                continue
            accepted.append(action)
        assert sorted(map(str, accepted)) == sorted(map(str, GAME.legal(state)))


def test_one_move_brings_all_that_follows_from_it() -> None:
    events = [event for _, event, _ in run("quick", 6, seed=2)]
    assert [type(event) for event in events[-4:]] == [
        CardPlayed,
        TrickTaken,
        RoundScored,
        GameEnded,
    ]


def test_a_journal_of_rules_version_1_reads_as_it_did() -> None:
    """Written once, never again: what `evolve` must read for ever."""
    golden = json.loads((Path(__file__).parent / "golden" / "romanian_v1.json").read_text())
    state = GAME.new(golden["players"], golden["options"])
    for data in golden["events"]:
        event = GAME.load_event(data, 1)
        assert GAME.dump_event(event) == data
        state = GAME.evolve(state, event)
    assert GAME.result(state).dump() == golden["result"]
    assert GAME.dump_state(state) == golden["state"]


@pytest.mark.parametrize("data", [[], ["played", 1], ["play", 1], ["play", 1, "2Z"]])
def test_what_no_version_wrote_is_not_read(data: list[object]) -> None:
    with pytest.raises(ValueError):
        GAME.load_event(data, 1)


def test_a_view_does_not_follow_what_it_does_not_know() -> None:
    with pytest.raises(ValueError, match="unknown event"):
        follow(GAME.view(GAME.new(4, {"mode": "8-1-8"}), None), {"k": "honours"})
