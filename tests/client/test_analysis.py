"""P61, P62 at the terminal: a game's analysis and story from the server, and the analysis of a record at hand."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from libs.client.cli import analysis as judging
from libs.engine.record.model import By
from libs.engine.record.plain import dumps
from libs.search import grade
from tests.client.server import ANALYSIS, TABLE, Whistle
from tests.client.test_cli import whist
from tests.client.test_record_commands import QUICK, refused, told
from tests.engine.records import recorded

pytestmark = pytest.mark.timeout(60)
SAMPLES = 30


@pytest.fixture(autouse=True)
def few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "SAMPLES", SAMPLES)
    monkeypatch.setattr(judging, "INTERPRETED_SAMPLES", SAMPLES)


async def test_p61_p62_a_games_analysis_and_story_are_fetched(server: Whistle, tmp_path: Path) -> None:
    await whist(server, tmp_path, "demo")
    code, out, err = await whist(server, tmp_path, "analysis", TABLE)
    assert code == 0, err
    assert out.splitlines() == [
        "Seat 3: grade B, 0.95 expected points lost a round (2 rounds)",
        "1 run of seven contracts made",
        "  round  1  8 cards  C    1.90",
        "  round  2  1 card   A+   0.00",
        "Dearest:",
        "  round 1, move 4: bid 2; bid 1 promised 1.90 more (blunder)",
    ]
    assert json.loads((await whist(server, tmp_path, "analysis", TABLE, "--json"))[1]) == ANALYSIS
    assert (await whist(server, tmp_path, "story", TABLE))[1] == "A game.\n\nIts?[2J end.\n"
    answer = json.loads((await whist(server, tmp_path, "story", TABLE, "--locale", "ro", "--json"))[1])
    assert answer["locale"] == "ro"
    code, _, err = await whist(server, tmp_path, "analysis", "f" * 32)
    assert (code, err) == (1, "whist: There is no such finished game of yours. (ANALYSIS_UNKNOWN)\n")


def test_p61_a_record_at_hand_is_judged_here_as_by_the_server(tmp_path: Path) -> None:
    record = recorded(QUICK, seed=3)
    file = tmp_path / "game.json"
    file.write_text(dumps(record))
    found = json.loads(told("analysis", str(file), "--seat", "3", "--json"))
    due = grade(record, 2, SAMPLES)
    assert found == {"v": 1, "game": "romanian", "seat": 2, "samples": SAMPLES} | json.loads(json.dumps(due.dump()))
    lines = told("analysis", str(file), "--seat", "3").splitlines()
    assert lines[0].startswith(f"Seat 3: grade {due.mark}, ")
    assert len(lines) == 1 + len(due.rounds) + 1 + len(due.dearest)


def test_a_record_with_one_person_needs_no_seat_named_and_others_do(tmp_path: Path) -> None:
    record = recorded(QUICK, seed=3)
    file = tmp_path / "game.json"
    file.write_text(dumps(record))
    assert refused("analysis", str(file)).startswith("name a seat that a person played, by --seat: 1, 2")
    alone = tuple(replace(move, by=By.PERSON if move.seat == 4 else By.BOT) for move in record.moves)
    file.write_text(dumps(replace(record, moves=alone)))
    assert json.loads(told("analysis", str(file), "--json"))["seat"] == 4
    assert refused("analysis", str(file), "--seat", "1") == "name a seat that a person played, by --seat: 5"
    file.write_text(dumps(replace(record, moves=tuple(replace(move, by=By.BOT) for move in record.moves))))
    assert refused("analysis", str(file)) == "no person played there"


def test_a_record_without_a_judge_or_that_is_none_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    file.write_text(dumps(recorded(("german", 2, {}), seed=1)))
    assert refused("analysis", str(file)).startswith("german has no judge")
    file.write_text("{}")
    assert "(NOT_A_RECORD)" in refused("analysis", str(file))
    assert "No such file" in refused("analysis", str(tmp_path / "none"))
