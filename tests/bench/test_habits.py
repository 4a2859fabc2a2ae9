"""The table of habits: read as the kernel reads it, fitted to choices, and written into its module."""

from pathlib import Path
from random import Random

import pytest

from bench.habits import SCORES, Choice, best, choice, choices, fit, main, matches, packed, sample, unpacked
from libs.search import compiled, habits
from libs.search.habits import habits as committed
from tests.engine.builders import GAME, bid, dealt, play

rounds = pytest.mark.skipif(not compiled(), reason="keen is too slow where its kernel is interpreted")
MODULE = Path(str(habits.__file__)).read_text()


def test_the_committed_table_is_written_back_byte_for_byte() -> None:
    assert unpacked(MODULE) == committed()
    assert packed(MODULE, unpacked(MODULE)) == MODULE


def test_another_table_is_written_in_its_place_and_nothing_else_changes() -> None:
    table = Random(1).randbytes(SCORES)
    written = packed(MODULE, table)
    assert unpacked(written) == table
    assert packed(written, committed()) == MODULE


def test_a_text_without_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match="no table of habits"):
        packed("_PACKED = 7\n", committed())


def test_what_is_chosen_most_is_preferred_and_what_is_never_read_stays_at_zero() -> None:
    def row(number: int, chosen: tuple[bool, ...]) -> Choice:
        return Choice(
            number=number,
            keen=number % 2 == 0,
            candidates=((5, 2900, SCORES), (8, 2900, SCORES), (11, 2932, SCORES)),
            chosen=chosen,
        )

    often, seldom, neither = (False, True, False), (True, False, False), (False, False, False)
    rows = sample([row(number, seldom if number % 4 == 0 else often) for number in range(200)] + [row(200, neither)])
    table = fit(rows)
    assert table[8] > table[5] > table[11]
    assert set(best(table, rows) % 3) == {1}
    assert matches(table, rows) == {"calm": 1.0, "keen": round(50 / 101, 4)}
    assert set(table) - {table[place] for place in (5, 8, 11, 2900, 2932)} == {128}


def test_the_first_of_equals_is_played() -> None:
    row = Choice(number=0, keen=True, candidates=((1, 2, 3), (4, 5, 6)), chosen=(True, False))
    assert list(best(bytes([128]) * SCORES, sample([row, row]))) == [0, 2]


def test_candidates_worth_the_same_as_the_card_played_are_all_chosen() -> None:
    """Seven and eight of clubs touch; the ace of spades is another matter, and so no candidate is both."""
    state = bid(dealt(["7C 8C AS", "AH KH QH", "7D 8D 9D", "7S 8S 9S"], dealer=3, turn_up="9H"), 0, 1, 0, 0)
    view = GAME.view(state, 0)
    clubs, spade = (choice(view, card, number=0, keen=True) for card in ("8C", "AS"))
    assert clubs is not None and spade is not None
    assert clubs.candidates == spade.candidates
    assert (clubs.chosen, spade.chosen) == ((True, True, False), (False, False, True))


def test_where_all_cards_are_worth_the_same_nothing_is_learned() -> None:
    state = bid(dealt(["7C 8C TC", "AH KH QH", "7D 8D 9D", "7S 8S 9S"], dealer=3, turn_up="9C"), 0, 1, 0, 0)
    assert choice(GAME.view(state, 0), "8C", number=0, keen=False) is None
    assert choice(GAME.view(play(state, "7C"), 1), "AH", number=0, keen=False) is None


@rounds
def test_a_seed_gives_the_same_choices_of_both_players_at_both_tables() -> None:
    made = list(choices(200, 5))
    assert made == list(choices(200, 5)) != list(choices(200, 6))
    assert {one.keen for one in made} == {True, False}
    assert all(len(one.candidates) == len(one.chosen) > 1 for one in made)
    assert all(0 <= place <= SCORES for one in made for places in one.candidates for place in places)


def test_a_damaged_table_is_refused() -> None:
    with pytest.raises(ValueError, match="damaged"):
        unpacked('_PACKED = (\n    "c-pO4S&v-D"\n)\n')


@pytest.mark.parametrize("words", [["--choices", "999"], ["--seed", "-1"], ["--write", "no/such/module.py"]])
def test_bad_words_are_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(words)
    assert refused.value.code == 2
    assert words[0] in capsys.readouterr().err


@rounds
def test_a_small_fit_is_written_and_foresees_more_than_chance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "habits.py"
    copy.write_text(MODULE)
    main(["--choices", "1500", "--seed", "2", "--write", str(copy)])
    table = unpacked(copy.read_text())
    assert len(table) == SCORES
    assert table != committed()
    assert matches(table, sample(list(choices(1000, 9))))["calm"] > 0.5
    assert '"choices": 15' in capsys.readouterr().out
