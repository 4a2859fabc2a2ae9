"""R1 to R11 against a second model that shares nothing with the engine, in every mode with every house rule.

`make fuzz-engine` compares a million decisions (`WHIST_FUZZ`).
"""

from itertools import permutations, product
from random import Random

import pytest

from libs.engine.romanian.ranking import decided_by, ranking
from tests.engine.builders import TABLES, sheet_of
from tests.engine.comparison import CHUNKS, DECISIONS, TIMEOUT, compare_chunk, compare_game
from tests.engine.reference.romanian import Round, compare, rank

HOUSE_RULES = list(product(("linear", "triangular"), ("off", "skip", "reset"), ("off", "forehead", "hidden")))


@pytest.mark.timeout(TIMEOUT)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_r1_to_r11_agree_with_the_second_model(chunk: int) -> None:
    assert compare_chunk("romanian", chunk) >= DECISIONS / CHUNKS


@pytest.mark.parametrize(("mode", "players"), TABLES)
def test_r2_agrees_with_the_second_model_in_every_mode(mode: str, players: int) -> None:
    assert compare_game(("romanian", players, {"mode": mode}), Random(players)) > 0


@pytest.mark.parametrize(("scoring", "premium", "one_card"), HOUSE_RULES)
def test_r11_agrees_with_the_second_model_under_every_house_rule(scoring: str, premium: str, one_card: str) -> None:
    options = {"mode": "1-8-1", "scoring": scoring, "premium": premium, "one_card": one_card}
    assert compare_game(("romanian", 4, options), Random(11)) > 0


def test_r9_agrees_with_the_second_model_on_sheets_that_are_nearly_level() -> None:
    rng, seen = Random(9), set()
    for _ in range(3_000):
        players = rng.choice([4, 5, 6])
        sheet: list[tuple[int, list[int], list[int]]] = [
            (
                rng.choice([7, 8]),
                [rng.choice([0, 2]) for _ in range(players)],
                [rng.choice([0, 1, 2, 7]) for _ in range(players)],
            )
            for _ in range(rng.randint(1, 4))
        ]
        ours = sheet_of(sheet, players)
        theirs = [Round(one.cards, list(one.bids), list(one.taken), list(one.scores)) for one in ours]
        assert list(ranking(ours)) == rank(theirs, players)
        for a, b in permutations(range(players), 2):
            step, _ = compare(theirs, a, b)
            assert decided_by(ours, a, b) == step
            seen.add(step)
    assert seen == {1, 2, 3, 4, 5, 6, 7}
