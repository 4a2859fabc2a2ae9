"""R11: one-card rounds bid with the card on the forehead, or unseen by all."""

import json

import pytest

from libs.engine.cards import card_text, cards_in
from libs.engine.follow import follow
from tests.engine.builders import GAME, run
from tests.engine.test_calm_bot import calm
from tests.engine.test_romanian_properties import swap_hidden

MODES = pytest.mark.parametrize("one_card", ["forehead", "hidden"])


@MODES
def test_own_card_is_hidden_until_the_bids_are_made(one_card: str) -> None:
    seen = 0
    for _, _, after in run("8-1-8", 4, seed=3, one_card=one_card):
        current = after.live
        if current is None or current.deal.cards != 1:
            continue
        for seat, hand in enumerate(current.hands):
            shown = GAME.view(after, seat)["hand"]
            assert shown == ([] if current.bidding else [card_text(card) for card in cards_in(hand)])
            seen += current.bidding
    assert seen == 4 * 4 * 4, "four rounds, four bids, four seats"


def test_forehead_shows_the_others_cards_to_seats_while_bidding() -> None:
    for _, _, after in run("8-1-8", 4, seed=3, one_card="forehead"):
        current = after.live
        concealed = current is not None and current.deal.cards == 1 and current.bidding
        assert "foreheads" not in GAME.view(after, None)
        for seat in range(4):
            shown = GAME.view(after, seat)["foreheads"]
            assert (shown is not None) == concealed
            if concealed:
                texts = [card_text(card) for hand in current.hands for card in cards_in(hand)]
                assert shown == [None if other == seat else texts[other] for other in range(4)]


def test_hidden_shows_a_card_to_nobody_whatever_it_is() -> None:
    for _, event, after in run("8-1-8", 4, seed=4, one_card="hidden"):
        if after.concealed:
            for seat in (None, 0, 1, 2, 3):
                other = swap_hidden(after, None, 3)
                assert json.dumps(GAME.view(after, seat)) == json.dumps(GAME.view(other, seat))
            if GAME.checkpoint(event) is not None:
                assert all("foreheads" not in (GAME.project(event, seat) or {}) for seat in range(4))


@MODES
def test_following_the_events_gives_exactly_the_view_and_the_journal_reads_back(one_card: str) -> None:
    observers = (None, 0, 1, 2, 3)
    start = GAME.new(4, {"mode": "1-8-1", "one_card": one_card})
    views = {observer: GAME.view(start, observer) for observer in observers}
    for _, event, after in run("1-8-1", 4, seed=5, one_card=one_card):
        assert GAME.load_event(json.loads(json.dumps(GAME.dump_event(event))), 1) == event
        assert GAME.load_state(json.loads(json.dumps(GAME.dump_state(after))), 1) == after
        for observer in observers:
            told = GAME.project(event, observer)
            assert told is not None
            views[observer] = follow(views[observer], told)
            assert views[observer] == GAME.view(after, observer)
            assert GAME.is_private(event) or told == GAME.project(event, None)


@MODES
def test_the_calm_player_bids_without_its_card(one_card: str) -> None:
    *_, (_, _, state) = run("1-8-1", 4, 6, calm, one_card=one_card)
    assert GAME.over(state)


def test_without_the_option_nothing_is_hidden_and_the_option_is_not_named() -> None:
    for _, event, after in run("1-8-1", 4, seed=7):
        assert not after.concealed
        assert "one_card" not in GAME.view(after, 0)["options"]
        assert GAME.dump_event(event)[0] != "bid" or len(GAME.dump_event(event)) == 3
