"""`whist play --game` without a server: every game to its end, how it may be left, and its record."""

import asyncio
import hashlib
import json
import os
import pty
import signal
import sys
from pathlib import Path

import pytest

from libs.client.cli import lettering, screen
from libs.client.cli.moves import in_words
from libs.client.cli.offline.game import GameLeft, LocalHouse, play
from libs.client.cli.offline.setup import GameName, set_up
from libs.client.cli.offline.table import LocalTable
from libs.client.cli.play import CLEAR, hinted
from libs.client.cli.records.file import CannotWrite, RecordFile
from libs.client.sdk.errors import TurnPassed
from libs.engine.game import GAMES
from libs.engine.record import plain
from libs.engine.record.model import By
from libs.engine.replay import recompute
from tests.client.offline import (
    COMMAND,
    GAMES_PLAYED,
    SETUPS,
    Typist,
    Watcher,
    each_game,
    played_out,
    script_of,
    whist,
)

pytestmark = pytest.mark.timeout(120)

ROOT = Path(__file__).parents[2]


@each_game
async def test_p44_p70_p72_each_game_is_played_to_its_end_through_the_command(played: str, tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    words = [*GAMES_PLAYED[played].split(), "--seed", played, "--record", str(file)]
    code, out, err = await whist(*words, typed=await script_of(SETUPS[played]))
    assert code == 0, err
    assert max(map(lettering.width, out.split("\n"))) <= 80
    record = plain.loads(file.read_text())
    assert record.secret == hashlib.sha256(played.encode()).digest()
    assert f"Commitment {record.commitment.hex()}" in err, "said before the first card"
    assert out.rstrip().split("\n")[-1] == f"Secret     {record.secret.hex()}"
    table, _ = await played_out(SETUPS[played])
    assert [(one.seat, one.action) for one in record.moves] == [(one.seat, one.action) for one in table.moves]
    result = json.loads(file.read_text())["result"]
    assert table.result is not None
    assert result["ranking"] == list(table.result.ranking)
    assert result["totals"] == list(table.result.totals)


@each_game
async def test_a_record_plays_again_to_the_same_state(played: str, tmp_path: Path) -> None:
    """P72: who moved is kept; the state from the written file's moves is the one that was seen last."""
    file = RecordFile(tmp_path / "game.json")
    table, watcher = await played_out(SETUPS[played], file=file)
    record = plain.loads(file.path.read_text())
    game, state = GAMES[record.game], GAMES[record.game].new(record.players, record.options)
    assert record.secret is not None
    moves = ((one.seat, one.action) for one in record.moves)
    for event in recompute(game, record.players, record.options, record.secret, moves):
        state = game.evolve(state, event)
    assert game.view(state, table.seat) == table.view
    assert watcher.ended
    assert {one.seat for one in record.moves if one.by is By.PERSON} <= {table.seat}
    assert all((one.by is By.PERSON) == (one.seat == table.seat) for one in record.moves)
    assert [path.name for path in tmp_path.iterdir()] == ["game.json"]


async def test_p70_a_program_is_told_the_commitment_first_and_the_secret_last() -> None:
    typed = "h\n\udcff\n" + await script_of(SETUPS["german"])  # a byte that is no text is a line like another
    code, out, _ = await whist(*GAMES_PLAYED["german"].split(), "--seed", "german", "--json", typed=typed)
    start, *decisions, over = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert (start["t"], start["game"], start["options"]) == ("start", "german", {"count_all": False})
    assert start["commitment"] == hashlib.sha256(bytes.fromhex(over["secret"])).hexdigest()
    assert {each["t"] for each in decisions} == {"decision"}
    assert all(each["view"]["legal"] and each["view"]["seat"] == start["seat"] for each in decisions)
    assert decisions[1]["message"].startswith("The coach would play ")
    assert "is no card of yours" in decisions[2]["message"]
    assert (over["t"], over["status"], sorted(over["places"])) == ("over", "finished", [1, 2])
    assert over["place"] == over["places"][start["seat"]]


async def test_partners_share_a_place_in_what_is_told() -> None:
    """P24."""
    table, _ = await played_out(SETUPS["english"])
    assert table.result is not None
    places = table.result.places
    assert places[0] == places[2] != places[1] == places[3]
    lines = screen.ranking(table.result.ranking, table.result.totals, table.names, table.seat, places).split("\n")
    assert [line[:3] for line in lines] == ["1st", "1st", "2nd", "2nd"]


async def test_the_same_seed_is_the_same_game_and_no_seed_is_another(tmp_path: Path) -> None:
    for played in ("knockout", "romanian"):
        (one, _), (two, _) = await played_out(SETUPS[played]), await played_out(SETUPS[played])
        assert [(move.seat, move.action) for move in one.moves] == [(move.seat, move.action) for move in two.moves]
    assert set_up(GameName.GERMAN).secret != set_up(GameName.GERMAN).secret
    assert set_up(GameName.GERMAN, seed="a").secret != set_up(GameName.GERMAN, seed="b").secret


async def test_p60_the_coach_tells_every_moves_points_where_it_can_and_its_own_move_elsewhere() -> None:
    table = LocalTable(SETUPS["romanian"], pace_s=0.0)
    while table.decision is None:
        await table.changed(table.version)
    hint = await LocalHouse().hint(table)
    points = {each["action"]["bid"]: each["points"] for each in hint["advice"]}
    assert list(points) == [action["bid"] for action in table.decision.view["legal"]]
    assert points[hint["action"]["bid"]] == max(points.values())
    told = hinted(hint)
    assert told.startswith(f"Coach: {hint['action']['bid']} ")
    assert len(told) <= 80
    calm = LocalTable(SETUPS["solo"], pace_s=0.0)
    while calm.decision is None:
        await calm.changed(calm.version)
    assert hinted(await LocalHouse().hint(calm)) in {
        f"The coach would {in_words(action)}." for action in calm.decision.view["legal"]
    }
    table.take(table.decision.turn, hint["action"])
    with pytest.raises(TurnPassed):
        await LocalHouse().hint(table)


async def test_bad_input_says_why_and_changes_nothing() -> None:
    lines = ("", "?", "nonsense", "²", "٣", "9" * 5000, "0", "14", "-1", "\x1b[2J", "2C 3C", "🂡")
    table, watcher = await played_out(SETUPS["english"], *lines)
    told = watcher.messages[: watcher.messages.index("", 1)]
    assert told[0] == f"Commitment {table.commitment.hex()}", "until the first line is typed"
    assert "'nonsense' is no card of yours: type its number, 1 to 13, or its name." in told
    assert "'999999999999999…' is no card of yours: type its number, 1 to 13, or its name." in told
    assert "'?[2J' is no card of yours: type its number, 1 to 13, or its name." in told
    assert all(len(each) <= 80 for each in told)
    assert [move.action for move in table.moves] == [
        move.action for move in (await played_out(SETUPS["english"]))[0].moves
    ]


async def test_leaving_is_confirmed_and_the_record_ends_there(tmp_path: Path) -> None:
    file = tmp_path / "left.json"
    code, out, err = await whist("--game", "solo", "--seed", "solo", "--record", str(file), typed="q\nno\npass\nq\ny\n")
    assert code == 0, err
    assert "Leave the game?" in out and "You stay." in out
    assert "You left the game." in out
    written = json.loads(file.read_text())
    assert out.endswith(f"Secret     {written['secret']}\n")
    assert written["result"] is None
    assert [row[2] for row in written["moves"]].count("person") == 1
    assert plain.loads(file.read_text()).moves


async def test_the_end_of_the_input_is_told_and_what_was_played_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "ended.json"
    first = (await script_of(SETUPS["german"])).split("\n")[0]
    code, _, err = await whist("--game", "german", "--seed", "german", "--record", str(file), typed=first)
    assert (code, err.split("\n")[-2]) == (1, "whist: the input has ended before the game")
    assert [row[2] for row in json.loads(file.read_text())["moves"]].count("person") == 1
    table, told = LocalTable(SETUPS["german"], pace_s=0.0), list[str]()
    with pytest.raises(GameLeft):
        await play(table, Typist(table, None), Watcher(), eager=False, file=None, say=told.append)
    assert [f"Secret     {table.setup.secret.hex()}" in each for each in told] == [True], "P70: whoever left is told"


@pytest.mark.parametrize(("closed", "code"), [("<&-", 1), ("</dev/null >&-", 1), ("</dev/null 2>&-", 1)])
async def test_a_stream_that_is_closed_is_the_end_of_it(closed: str, code: int) -> None:
    line = f"exec {sys.executable} -m libs.client.cli play --game german {closed}"
    process = await asyncio.create_subprocess_shell(
        line, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=ROOT
    )
    _, err = await process.communicate()
    assert process.returncode == code
    assert b"Traceback" not in err


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_an_interrupt_ends_the_game_and_keeps_what_was_played(tmp_path: Path, ending: signal.Signals) -> None:
    file = tmp_path / "interrupted.json"
    # Under nohup, as some machines run tests, a hang-up is ignored from birth on.
    heard = (
        f"import os, signal, sys; signal.signal({int(ending)}, signal.SIG_DFL); os.execv(sys.executable, sys.argv[1:])"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", heard, *COMMAND, "--game", "knockout", "--record", str(file),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    await process.stdout.readuntil(b"(h hint, q leave):")
    process.send_signal(ending)
    _, err = await process.communicate()
    assert process.returncode == 130
    assert b"Traceback" not in err
    record = plain.loads(file.read_text())
    assert record.game == "knockout" and record.secret is not None
    assert f"Secret     {record.secret.hex()}".encode() in err


async def test_a_full_disk_ends_the_game_in_words_and_keeps_what_was_played(tmp_path: Path) -> None:
    file = tmp_path / "full.json"
    with Path("/dev/full").open("wb") as full:
        process = await asyncio.create_subprocess_exec(
            *COMMAND, "--game", "german", "--record", str(file),
            stdin=asyncio.subprocess.DEVNULL, stdout=full, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
    _, err = await process.communicate()
    assert process.returncode == 1
    assert err.splitlines()[-1] == b"whist: No space left on device" and b"Traceback" not in err
    assert plain.loads(file.read_text()).game == "german"


async def test_on_a_terminal_the_screen_is_cleared_and_the_coach_and_leaving_are_heard() -> None:
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *COMMAND, "--game", "german", "--seed", "german", "--pace", "0", stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    loop, shown, answers = asyncio.get_running_loop(), bytearray(), [(b"(h hint, q leave):", b"h\n")]
    answers += [(b"The coach would play", b"q\n"), (b"Leave the game?", b"y\n")]

    def read() -> None:
        try:
            shown.extend(os.read(ours, 65536))
        except OSError:
            loop.remove_reader(ours)
            return
        while answers and answers[0][0] in shown:
            os.write(ours, answers.pop(0)[1])

    loop.add_reader(ours, read)
    assert await asyncio.wait_for(process.wait(), 60) == 0
    loop.remove_reader(ours)
    os.close(ours)
    assert not answers
    assert CLEAR.encode() in shown


async def test_leaving_while_bots_play_needs_no_turn() -> None:
    """A person who listens at any time is heard between two moves of bots."""
    table = LocalTable(SETUPS["knockout"], pace_s=3600.0)
    assert table.decision is None
    typist, watcher = Typist(table, "1", "q", "y"), Watcher()
    await play(table, typist, watcher, eager=True, file=None, say=watcher.told.append)
    assert table.result is not None and table.result.status == "left"
    assert "It is not your turn." in watcher.messages
    assert table.moves == []


async def test_a_record_replaces_a_file_whole_or_leaves_it(tmp_path: Path) -> None:
    record = (await played_out(SETUPS["german"]))[0].record()
    file = RecordFile(tmp_path / "game.json")
    file.path.write_text("what was there before" * 1000)
    file.write(record)
    assert plain.loads(file.path.read_text()) == record
    folder = tmp_path / "gone"
    folder.mkdir()
    lost = RecordFile(folder / "game.json")
    folder.rmdir()
    with pytest.raises(CannotWrite, match="No such file"):
        lost.write(record)
    assert [path.name for path in tmp_path.iterdir()] == ["game.json"]


@pytest.mark.parametrize("name", ["/dev/null", "/", "nowhere/game.json", "x" * 300, "a\0b"])
def test_what_is_no_place_for_a_record_is_told_before_the_game(name: str) -> None:
    with pytest.raises(CannotWrite):
        RecordFile(Path(name))
