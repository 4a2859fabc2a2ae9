"""P72 at the terminal: records of every game and form told and checked, and whatever is none refused in one line."""

import asyncio
import json
import os
import pty
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from libs.client.cli.app import app
from libs.client.cli.records import replay
from libs.engine.game import GAMES
from libs.engine.record.link import to_link
from libs.engine.record.model import By, Record
from libs.engine.record.plain import dumps, from_json, to_json
from libs.engine.record.reading import read
from libs.engine.record.text import to_text
from tests.client.server import TABLE, Whistle
from tests.client.test_cli import whist
from tests.engine.family import TABLES, Table, name_of
from tests.engine.records import recorded

pytestmark = pytest.mark.timeout(60)

QUICK: Table = ("romanian", 6, {"mode": "quick"})
HIDDEN: Table = ("romanian", 4, {"mode": "1-8-1", "one_card": "hidden"})
GERMAN: Table = ("german", 2, {})
WRITERS: dict[str, Callable[[Record], str]] = {"json": dumps, "text": to_text, "link": to_link}
every_form = pytest.mark.parametrize("form", WRITERS)
every_table = pytest.mark.parametrize("table", [QUICK, HIDDEN, *TABLES], ids=name_of)


def run(*words: str, typed: bytes | None = None) -> Result:
    return CliRunner().invoke(app, words, input=typed)


def told(*words: str, typed: bytes | None = None) -> str:
    """What a command that went well has said."""
    result = run(*words, typed=typed)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def refused(*words: str, typed: bytes | None = None) -> str:
    """The one line of a command that was refused."""
    result = run(*words, typed=typed)
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert result.stderr.startswith("whist: ")
    return result.stderr.removeprefix("whist: ").strip()


@every_table
@every_form
def test_p72_a_record_of_every_game_is_checked_in_every_form(table: Table, form: str, tmp_path: Path) -> None:
    record = recorded(table, seed=1)
    file = tmp_path / "game"
    file.write_text(WRITERS[form](record))
    lines = told("verify", str(file)).splitlines()
    assert lines[0] == f"{table[0]}, {table[1]} players, as {form}"
    assert f"  {len(record.moves)} moves: by the rules of {table[0]}" in lines
    assert lines[-1] == "The record holds."
    report = json.loads(told("verify", str(file), "--json"))
    assert (report["ok"], report["form"], report["moves"]) == (True, form, len(record.moves))
    assert report["ranking"] == to_json(record)["result"]["ranking"]


@every_table
def test_p72_a_record_of_every_game_is_told_step_by_step(table: Table, tmp_path: Path) -> None:
    record = recorded(table, seed=2)
    file = tmp_path / "game"
    file.write_text(dumps(record))
    game, story = GAMES[table[0]], told("replay", str(file))
    plain = to_json(record)
    plays = [action["play"] for _, action, _, _ in plain["moves"] if "play" in action]
    cards = [line.split(" plays ")[1].split()[0] for line in story.splitlines() if " plays " in line]
    assert [card[0] + "CDHS"["♣♦♥♠".index(card[1])] for card in cards] == plays
    assert story.count("\nRound ") == len(plain["deals"])
    assert story.count(" takes it\n") >= len(plain["deals"])
    end = story.split("The game is over.\n")[1].splitlines()
    totals = plain["result"]["totals"]
    assert [int(line.split()[-1]) for line in end] == [totals[seat] for seat in plain["result"]["ranking"]]
    assert game.name in story.splitlines()[0]
    # A text has all that JSON has; a link has the game without who decided.
    file.write_text(to_text(record))
    assert told("replay", str(file)) == story
    file.write_text(to_link(record))
    assert told("replay", str(file)) == told("replay", "-", typed=dumps(record.bare()).encode())


def test_one_round_alone_and_one_that_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "game"
    file.write_text(dumps(recorded(QUICK, seed=3)))
    story = told("replay", str(file), "--round", "2")
    assert re.findall(r"^Round (\d)", story, re.MULTILINE) == ["2"]
    assert story.count("Score of round") == 1 and "The game is over" not in story
    assert refused("replay", str(file), "--round", "7") == "there is no round 7: the record has 6"
    assert run("replay", str(file), "--round", "0").exit_code == 2


def test_open_shows_every_hand_and_what_a_card_was_chosen_from_even_one_that_its_holder_could_not_see() -> None:
    record = recorded(HIDDEN, seed=4)
    closed, opened = (told("replay", "-", *words, typed=dumps(record).encode()) for words in ((), ("--open",)))
    first = to_json(record)["deals"][0]["hands"]
    assert [len(hand) for hand in first] == [1, 1, 1, 1]
    for seat, (card,) in enumerate(first, start=1):
        sign = card[0] + "♣♦♥♠"["CDHS".index(card[1])]
        assert f"  Seat {seat}: {sign}\n" in opened and f"  Seat {seat}: " not in closed
    plays = [line for line in opened.splitlines() if " plays " in line]
    assert all(re.search(r"plays (\S+).*   of .*\1", line) for line in plays) and len(plays) > 50
    assert "   of " not in closed


def test_each_deal_bid_card_trick_and_score_is_a_step_of_its_own() -> None:
    record = recorded(QUICK, seed=5)
    scenes = list(replay.scenes(record))
    asked = iter([""] * 9 + ["q"])
    written: list[str] = []
    replay.tell(record, written.append, ask=lambda: next(asked))
    assert written == [scene.text for scene in scenes[:10]]
    replay.tell(record, written.append, ask=lambda: None)
    assert written[10:] == [scenes[0].text]
    tricks = sum(to_json(record)["result"]["seats"][0][round_][0] for round_ in range(6))
    # The heading, first dealer, schedule; deals, decisions, tricks, scores; the end.
    assert len(scenes) == 3 + 6 + len(record.moves) + tricks + 6 + 1


def test_a_game_broken_off_ends_where_its_record_ends() -> None:
    record = recorded(GERMAN, seed=6, most=7)
    story = told("replay", "-", typed=to_link(record).encode())
    assert story.endswith("The record ends here: the game was not played to its end.\n")
    assert "not played to its end" in told("verify", "-", typed=to_link(record).encode())


def test_bots_and_time_outs_are_marked_and_names_cannot_command_the_terminal() -> None:
    plain = to_json(recorded(GERMAN, seed=7))
    plain["names"] = ["Ana\x1b[2J", "Mihai"]
    for move in plain["moves"]:
        move[2] = "bot" if move[0] else "person"
    next(move for move in plain["moves"] if not move[0])[2] = "time_out"
    story = told("replay", "-", typed=json.dumps(plain).encode())
    assert "\x1b" not in story and "  seat 1  Ana?[2J\n" in story
    assert "  seat 2  Mihai (bot)\n" in story
    assert story.count(" (time-out)") == 1


def test_a_link_is_taken_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    link = to_link(recorded(GERMAN, seed=8))
    assert "as link" in told("verify", link)
    assert refused("verify", link[:-1] + ("A" if link[-1] != "A" else "B")).startswith("the link is damaged or cut off")
    Path("A" * 64).write_text(dumps(recorded(GERMAN, seed=8)))
    assert "as json" in told("verify", "A" * 64)


GOOD = dumps(recorded(GERMAN, seed=9))
TEXT = to_text(recorded(GERMAN, seed=9))


def exchanged(old: str, new: str, written: str = GOOD) -> bytes:
    assert old in written
    return written.replace(old, new, 1).encode()


def changed(**fields: object) -> bytes:
    return json.dumps(json.loads(GOOD) | fields).encode()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (b"", "neither JSON nor text, and no link"),
        (b"\x00\xff\x80junk", "not text in UTF-8: byte 2"),
        (b"\x00" * 100, "character 1: neither JSON nor text"),
        (b"{", "line 1 column 2: not JSON"),
        (b'\xef\xbb\xbf\n{"v": 1,\n "game": german}', "line 3 column 10: not JSON"),
        (b'{"a":' * 100_000, "nested too deep"),
        (b"[" * 100_000, "line 1: not a row of decisions"),
        (b"{}", "commitment: a record has this field"),
        (exchanged('"v":1', '"v":2'), "v: no version known here: the record says 2, due is 1 (UNKNOWN_VERSION)"),
        (exchanged('"v":1', '"v":true'), "UNKNOWN_VERSION"),
        (exchanged('[Version "1"]', '[Version "2"]', TEXT), "UNKNOWN_VERSION"),
        (exchanged('"german"', '"bridge"'), "game: no such game: the record says bridge"),
        (exchanged('"players":2', '"players":3'), "options: BAD_OPTIONS"),
        (exchanged('"players":2', '"players":NaN'), "line 1 column 52: NaN is no number of JSON"),
        (exchanged('"players":2', '"players":' + "9" * 5000), "line 1 column 52: an integer of too many digits"),
        (exchanged('"players":2', '"players":2,"players":2'), "the key players stands twice in one object"),
        (exchanged('"moves":[[', '"moves":[[1'), "move 1, round 1, trick 1, seat"),
        (exchanged('"moves":[[', '"moves":[[null],['), "moves[0]: a list of 4 is due"),
        (changed(moves=[["0", {}, None, None]]), "moves[0][0]: an integer is due, not a text"),
        (changed(moves=[[0, {}, "ghost", None]]), "moves[0][2]: decided by ghost, which is nobody"),
        (changed(moves=[[0, {"play": "ZZ"}, None, None]]), "BAD_ACTION"),
        (changed(table=[]), "table: an object is due, not a list"),
        (changed(more=1), "more: a record has no such field"),
        (exchanged('"dealer":', '"dealer":1'), "round 1, deals[0].dealer: another dealer: the record says 1"),
        (exchanged('[Totals "', '[Totals "1', TEXT), "seat 1, tag Totals: does not follow"),
        (exchanged('[Players "2"]', '[Players "two"]', TEXT), "line 5: not a number: two"),
    ],
)  # fmt: skip
def test_what_is_no_record_is_refused_with_its_place_and_reason(written: bytes, said: str) -> None:
    for command in ("verify", "replay"):
        assert said in refused(command, "-", typed=written)
    failed = run("verify", "-", "--json", typed=written)
    if failed.stdout:
        report = json.loads(failed.stdout)
        assert report["ok"] is False and report["reason"] in failed.stderr


def test_where_nothing_can_be_read_is_said(tmp_path: Path) -> None:
    long = tmp_path / "long"
    with long.open("wb") as file:
        file.truncate(100_000_000)
    assert refused("verify", str(long)) == "more than 4000000 bytes (TOO_LONG)"
    assert "Is a directory" in refused("verify", str(tmp_path))
    assert "No such file" in refused("replay", str(tmp_path / "nothing"))
    assert "File name too long" in refused("verify", "é" * 300)
    assert "null" in refused("verify", "a\0b")


async def test_p72_what_record_and_demo_save_is_what_verify_checks(server: Whistle, tmp_path: Path) -> None:
    saved, fetched = tmp_path / "demo.json", tmp_path / "game.json"
    code, out, err = await whist(server, tmp_path, "demo", "--json", "--record", str(saved))
    assert (code, err.count("Traceback")) == (0, 0)
    assert json.loads(out)["game_id"] == TABLE
    code, out, _ = await whist(server, tmp_path, "record", TABLE, "--json")
    assert code == 0
    fetched.write_text(out)
    assert read(saved.read_text()) == read(fetched.read_text()) == from_json(server.truth.record())
    for file in (saved, fetched):
        assert "seats: as the secret draws them" in told("verify", str(file))
    assert sum(move.by is By.PERSON for move in read(saved.read_text()).moves) > 6
    code, _, err = await whist(server, tmp_path, "demo", "--record", str(tmp_path))
    assert (code, len(err.splitlines())) == (1, 1)


async def test_p70_the_record_of_a_game_that_was_called_off_is_checked_and_has_no_result(
    server: Whistle, tmp_path: Path
) -> None:
    code, _, _ = await whist(server, tmp_path, "demo", "--json")
    assert code == 0
    del server.truth.moves[50:]
    code, out, err = await whist(server, tmp_path, "record", TABLE)
    assert (code, err) == (0, "")
    assert out.startswith("The game was not played to its end; there is no result.\n")


async def test_on_a_terminal_each_step_waits_for_enter(tmp_path: Path) -> None:
    file = tmp_path / "game"
    file.write_text(dumps(recorded(GERMAN, seed=10)))
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "libs.client.cli", "replay", str(file), stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    loop, shown, grown = asyncio.get_running_loop(), bytearray(), asyncio.Event()

    def take() -> None:
        try:
            shown.extend(os.read(ours, 65536))
        except OSError:
            loop.remove_reader(ours)
        grown.set()

    async def until(text: str) -> None:
        while text.encode() not in shown:
            grown.clear()
            await asyncio.wait_for(grown.wait(), 20)

    loop.add_reader(ours, take)
    await until("seat 2  Seat 2")
    for expected in ("first dealer", "Round 1", " plays ", " plays "):
        assert expected == " plays " or expected.encode() not in shown
        before = shown.count(b" plays ")
        os.write(ours, b"\n")
        await until(expected)
        if expected == " plays ":
            while shown.count(b" plays ") == before:
                grown.clear()
                await asyncio.wait_for(grown.wait(), 20)
    assert shown.count(b" plays ") == 2
    os.write(ours, b"q\n")
    assert await asyncio.wait_for(process.wait(), 20) == 0
    loop.remove_reader(ours)
    os.close(ours)
    assert b"takes it" not in shown
