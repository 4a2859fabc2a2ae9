"""What may be typed in every game, and what is said of a line that means nothing or is against the rules."""

from typing import Any

import pytest

from libs.client.cli import screen
from libs.client.cli.moves import chosen
from libs.client.cli.offline.table import LocalTable
from libs.client.cli.refusals import spoken
from libs.client.sdk.errors import TurnPassed, WhistError
from libs.engine.bots import choose
from libs.engine.game import GAMES
from libs.engine.replay import fold, make_draws
from tests.client.offline import PERSON, SETUPS, each_game

pytestmark = pytest.mark.timeout(120)


def test_w7_a_proven_revoke_is_asked_about_with_what_each_penalty_gains() -> None:
    game, setup = GAMES["english"], SETUPS["club"]
    state, _ = make_draws(game, game.new(4, setup.options), setup.secret)
    while "penalty" not in game.legal(state)[0]:
        seat = game.to_act(state)
        assert seat is not None
        view = game.view(state, seat)
        action = view["legal"][-1] if seat == 1 else choose("english", view)
        state, _ = make_draws(game, fold(game, state, game.decide(state, seat, action)), setup.secret)
    view = game.view(state, game.to_act(state))
    text = screen.render(view, [PERSON] * 4)
    assert f"1 points: 3 points, a swing of {view['penalty']['points']}" in text
    assert f"2 tricks: 3 tricks, a swing of {view['penalty']['tricks']}" in text
    assert "The revoke is proven. What shall it cost them (h hint, q leave):" in text


@each_game
async def test_what_the_rules_refuse_is_told_with_the_rules_reason(played: str) -> None:
    """Every card of the hand and some words at each decision: refused with a sentence, or taken."""
    table = LocalTable(SETUPS[played], pace_s=0.0)
    refused: set[str] = set()
    while table.result is None:
        decision = table.decision
        if decision is None:
            await table.changed(table.version)
            continue
        for line in ("99", "proposal", "y", "hold", *decision.view["hand"]):
            action, before = chosen(decision.view, line), table.view
            if action is None or action in decision.view["legal"]:
                continue
            with pytest.raises(WhistError) as error:
                table.take(decision.turn, action)
            refused.add(error.value.code)
            assert spoken(error.value) != str(error.value), "a sentence, not a code"
            assert len(spoken(error.value)) <= 80
            assert table.view == before
        table.take(decision.turn, decision.view["legal"][0])
        with pytest.raises(TurnPassed):
            table.take(decision.turn, decision.view["legal"][0])
    assert ("MUST_FOLLOW_SUIT" in refused) == (played != "club")


CALLS = [{"call": call} for call in ("pass", "acceptance", "solo", "misere", "abundance", "abundance_declared")]
SUITS = [{"trumps": suit} for suit in "CDHS"]
PENALTIES = [{"penalty": "points"}, {"penalty": "tricks"}]
DOG = [{"play": "QH"}, {"hold": True}]


@pytest.mark.parametrize(
    ("legal", "typed", "meant"),
    [
        (CALLS, "1", {"call": "pass"}),
        (CALLS, "Misère", {"call": "misere"}),
        (CALLS, "MISERE", {"call": "misere"}),
        (CALLS, "abundance", {"call": "abundance"}),
        (CALLS, "abundance-declared", {"call": "abundance_declared"}),
        (CALLS, "ac", {"call": "acceptance"}),
        (CALLS, "a", None),
        (CALLS, "7", None),
        (CALLS, "٣", None),
        (CALLS, "proposal", {"call": "proposal"}),
        (SUITS, "3", {"trumps": "H"}),
        (SUITS, "♥", {"trumps": "H"}),
        (SUITS, "Hearts", {"trumps": "H"}),
        (SUITS, "sp", {"trumps": "S"}),
        (SUITS, "0", None),
        (SUITS, "QH", None),
        ([{"claim": False}, {"claim": True}], "Y", {"claim": True}),
        ([{"claim": False}, {"claim": True}], "no", {"claim": False}),
        ([{"claim": False}, {"claim": True}], "1", None),
        (PENALTIES, "tri", {"penalty": "tricks"}),
        (PENALTIES, "1", {"penalty": "points"}),
        (PENALTIES, "", None),
        (DOG, "hold", {"hold": True}),
        (DOG, "1", {"play": "QH"}),
        (DOG, "qh", {"play": "QH"}),
        (DOG, "pass", None),
        ([{"bid": 0}], "9" * 5000, None),
        ([{"bid": 0}], "8", {"bid": 8}),
    ],
)
def test_a_line_means_what_is_legal_to_say(legal: list[dict[str, Any]], typed: str, meant: dict[str, Any]) -> None:
    assert chosen({"legal": legal, "hand": ["QH"]}, typed) == meant
