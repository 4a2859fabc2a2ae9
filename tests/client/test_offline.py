"""`whist play --game` without a server: every game to its end, its screens, its record, and whatever may be typed."""

import asyncio
import hashlib
import json
import os
import pty
import signal
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from libs.client.cli import lettering, screen
from libs.client.cli.moves import chosen, in_words
from libs.client.cli.offline import GameLeft, LocalHouse, LocalTable, play
from libs.client.cli.play import CLEAR, Said, Seated, hinted, spoken
from libs.client.cli.recordfile import CannotWrite, RecordFile
from libs.client.cli.setup import Bots, GameName, Mode, Setup, WrongUsage, set_up
from libs.client.sdk.errors import TurnPassed, WhistError
from libs.engine.bots import choose
from libs.engine.game import GAMES
from libs.engine.protocol import View
from libs.engine.record import plain
from libs.engine.record.model import By
from libs.engine.replay import fold, make_draws, recompute
from libs.wire.frames import SeatInfo

pytestmark = pytest.mark.timeout(120)

HERE = Path(__file__).parent
COMMAND = (sys.executable, "-m", "libs.client.cli", "play")
# What is typed behind the command; short matches, since every screen of them is looked at.
GAMES_PLAYED = {
    "english": "--game english --option match=game",
    "club": "--game english --option match=game --option revokes=club",
    "american": "--game american --option match=game",
    "solo": "--game solo --option hands=4",
    "knockout": "--game knockout --players 7 --option dogs_life=true",
    "german": "--game german",
    "romanian": "--game romanian",
    "forehead": "--game romanian --players 4 --mode 1-8-1 --option one_card=forehead --bots calm",
}
SETUPS = {
    "english": set_up(GameName.ENGLISH, options=["match=game"], seed="english"),
    "club": set_up(GameName.ENGLISH, options=["match=game", "revokes=club"], seed="club"),
    "american": set_up(GameName.AMERICAN, options=["match=game"], seed="american"),
    "solo": set_up(GameName.SOLO, options=["hands=4"], seed="solo"),
    "knockout": set_up(GameName.KNOCKOUT, players=7, options=["dogs_life=true"], seed="knockout"),
    "german": set_up(GameName.GERMAN, seed="german"),
    "romanian": set_up(GameName.ROMANIAN, seed="romanian"),
    "forehead": set_up(
        GameName.ROMANIAN,
        players=4,
        mode=Mode.ONE_EIGHT_ONE,
        options=["one_card=forehead"],
        bots=Bots.CALM,
        seed="forehead",
    ),
}
PERSON = SeatInfo(name="Ana", kind="person", verified=True, holder="person")
each_game = pytest.mark.parametrize("played", SETUPS)


def typed_for(view: View) -> str:
    """What a person types for the last legal move, any call in turn; a club's cards (W7) are revokes if they can be."""
    action = view["legal"][-1]
    ((kind, value),) = action.items()
    match kind:
        case "play":
            return str(view["hand"].index(value) + 1)
        case "claim":
            return "y" if value else "n"
        case "hold":
            return "hold"
        case "call":
            return str(view["turn"] % len(view["legal"]) + 1)
        case _:
            return str(value)


class Typist:
    """Types a legal move whenever one is asked for, and other lines before the first."""

    def __init__(self, table: LocalTable, *first: str | None) -> None:
        self._table = table
        self._first = list(first)
        self.typed: list[str] = []

    async def line(self) -> str | None:
        if self._first:
            return self._first.pop(0)
        decision = self._table.decision
        assert decision is not None, "a pipe is read for decisions alone"
        self.typed.append(typed_for(decision.view))
        return self.typed[-1]


class Watcher:
    """Sees every change, as a terminal does."""

    def __init__(self) -> None:
        self.views: list[View] = []
        self.messages: list[str] = []
        self.ended = False

    def table(self, table: Seated, said: Said, *, typed: bool) -> None:
        self.views.append(table.view)
        self.messages.append(said.message)

    def end(self, table: Seated) -> None:
        self.ended = True


async def played_out(setup: Setup, *first: str | None, file: RecordFile | None = None) -> tuple[LocalTable, Watcher]:
    table, watcher = LocalTable(setup, pace_s=0.0), Watcher()
    await play(table, Typist(table, *first), watcher, eager=False, file=file)
    return table, watcher


async def script_of(setup: Setup) -> str:
    table = LocalTable(setup, pace_s=0.0)
    typist = Typist(table)
    await play(table, typist, Watcher(), eager=False, file=None)
    return "\n".join(typist.typed) + "\n"


async def whist(*words: str, typed: str = "") -> tuple[int, str, str]:
    """Exit code, standard output and standard error of one command that needs no server."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        *words,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"WHIST_URL": "http://127.0.0.1:9"},
    )
    out, err = await process.communicate(typed.encode(errors="surrogateescape"))
    assert process.returncode is not None
    assert b"Traceback" not in err
    return process.returncode, out.decode(), err.decode()


# ---- whole games ----


@each_game
async def test_p70_p72_each_game_is_played_to_its_end_through_the_command(played: str, tmp_path: Path) -> None:
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


@each_game
async def test_every_screen_fits_80_by_24_and_keeps_its_height(played: str) -> None:
    table, watcher = await played_out(SETUPS[played])
    hostile = [replaced_name(seat, "\x1b[2J牌王" * 6) for seat in table.seats]
    heights = set()
    for view in watcher.views:
        for seats in (table.seats, hostile):
            lines = screen.render(view, seats, message="x" * 300).split("\n")
            heights.add(len(lines))
            assert max(map(lettering.width, lines)) <= 80
            assert lettering.width(lines[-1]) < 80, "the cursor stands behind the prompt"
            assert "\x1b" not in "".join(lines)
    assert len(heights) == 1
    assert heights.pop() <= 24
    assert max(lettering.width(line) for line in screen.final_sheet(table.view, table.names).split("\n")) <= 80


def replaced_name(seat: SeatInfo, name: str) -> SeatInfo:
    return SeatInfo(name=name, kind=seat.kind, verified=True, holder="bot")


@each_game
async def test_moves_come_one_at_a_time_and_every_trick_is_seen_whole(played: str) -> None:
    table, watcher = await played_out(SETUPS[played])
    turns = [view["turn"] for view in watcher.views]
    assert all(after - before <= 1 for before, after in pairwise(turns))
    whole = [tuple(view["trick"]["cards"]) for view in watcher.views if taken_now(view)]
    assert len(dict.fromkeys(whole)) == sum(map(tricks_in, table.view["score_sheet"]))


def tricks_in(row: dict[str, Any]) -> int:
    """English Whist counts tricks by side, the others by seat."""
    return sum(row.get("tricks") or row["taken"])


def taken_now(view: View) -> bool:
    """A trick that waits for its winner: everybody has played who has to."""
    laid = [card for card in view["trick"]["cards"] if card is not None]
    return bool(laid) and view["to_act"] is None


# ---- what is seen ----


GOLDEN = {  # the decision that is shown, counted from 0
    "english": ("english", 17),
    "claim": ("club", 13),
    "auction": ("solo", 28),
    "solo": ("solo", 17),
    "knockout": ("knockout", 10),
    "naming": ("knockout", 13),
    "german": ("german", 7),
}


@pytest.mark.parametrize("golden", GOLDEN)
async def test_the_screens_are_as_agreed(golden: str) -> None:
    played, number = GOLDEN[golden]
    table, watcher = await played_out(replace(SETUPS[played], bots="calm"))
    asked = [view for view in watcher.views if "legal" in view]
    text = screen.render(asked[number], table.seats) + "\n"
    assert text == (HERE / "golden" / f"{golden}.txt").read_text()


async def test_an_empty_hand_says_why() -> None:
    """R11: hidden while bids are made. K2: out of the game."""
    table, watcher = await played_out(SETUPS["forehead"])
    hidden = next(view for view in watcher.views if view["foreheads"])
    text = screen.render(hidden, table.seats)
    assert "Your card is hidden while bids are made." in text
    assert text.count("on the forehead") == 3
    out, seen = await played_out(set_up(GameName.KNOCKOUT, players=7, seed="3"))
    watching = next(view for view in seen.views if not view["alive"][out.seat] and view["phase"] == "play")
    assert "You are out; the others play on." in screen.render(watching, out.seats)


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


# ---- what is typed ----


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
    table = LocalTable(SETUPS["german"], pace_s=0.0)
    with pytest.raises(GameLeft):
        await play(table, Typist(table, None), Watcher(), eager=False, file=None)


@pytest.mark.parametrize(("closed", "code"), [("<&-", 1), ("</dev/null >&-", 1), ("</dev/null 2>&-", 1)])
async def test_a_stream_that_is_closed_is_the_end_of_it(closed: str, code: int) -> None:
    line = f"exec {sys.executable} -m libs.client.cli play --game german {closed}"
    process = await asyncio.create_subprocess_shell(
        line, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=HERE.parents[1]
    )
    _, err = await process.communicate()
    assert process.returncode == code
    assert b"Traceback" not in err


async def test_an_interrupt_ends_the_game_and_keeps_what_was_played(tmp_path: Path) -> None:
    file = tmp_path / "interrupted.json"
    process = await asyncio.create_subprocess_exec(
        *COMMAND, "--game", "knockout", "--record", str(file),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    await process.stdout.readuntil(b"(h hint, q leave):")
    process.send_signal(signal.SIGINT)
    _, err = await process.communicate()
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert plain.loads(file.read_text()).game == "knockout"


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
    await play(table, typist, watcher, eager=True, file=None)
    assert table.result is not None and table.result.status == "left"
    assert "It is not your turn." in watcher.messages
    assert table.moves == []


# ---- what is asked for ----


@pytest.mark.parametrize(
    ("name", "asked", "why"),
    [
        ("english", {"options": ["target=6"]}, "BAD_OPTIONS: --option target: english allows 5, 7"),
        ("english", {"options": ["honours=1"]}, "BAD_OPTIONS: --option honours: english allows true, false"),
        ("english", {"players": 3}, "BAD_OPTIONS: --players: english allows 4"),
        ("knockout", {"players": 10**30}, "BAD_OPTIONS: --players: knockout allows 2, 3, 4, 5, 6, 7"),
        ("german", {"options": ["foo=1"]}, "BAD_OPTIONS: german has no option 'foo'; it has count_all"),
        (
            "romanian",
            {"options": ["x=1"]},
            "BAD_OPTIONS: romanian has no option 'x'; it has scoring, premium, one_card",
        ),
        ("german", {"options": ["foo"]}, "--option 'foo': write it as key=value"),
        ("german", {"options": ["=1"]}, "--option '=1': write it as key=value"),
        ("german", {"options": ["count_all=true", "count_all=true"]}, "--option count_all: said twice"),
        ("german", {"mode": Mode.QUICK}, "--mode is Romanian Whist's; german has none"),
        ("romanian", {"options": ["mode=8-1-8"]}, "--option mode: say it with --mode"),
        ("romanian", {"players": 3}, "BAD_OPTIONS: --players: romanian allows 4, 5, 6"),
        ("romanian", {"players": 4, "mode": Mode.QUICK}, "BAD_OPTIONS: --players: romanian allows 6"),
        ("romanian", {"players": 4, "mode": Mode.CLASSIC}, "--players 4: classic is for six"),
    ],
)
def test_what_a_game_cannot_be_is_told_with_what_it_can(name: str, asked: dict[str, Any], why: str) -> None:
    with pytest.raises(WrongUsage, match="^" + why.replace("?", r"\?")):
        set_up(GameName(name), **asked)


def test_r2_w5_every_mode_and_variant_can_be_asked_for() -> None:
    modes = {mode: set_up(GameName.ROMANIAN, mode=mode) for mode in Mode}
    assert {setup.players for setup in modes.values()} == {6}
    assert {mode: setup.options["mode"] for mode, setup in modes.items()} == {
        mode: "8-1-8" if mode is Mode.CLASSIC else mode.value for mode in Mode
    }
    assert set_up(GameName.ROMANIAN, players=5).options["mode"] == "8-1-8"
    american = set_up(GameName.AMERICAN)
    assert (american.game, american.options["target"], american.options["honours"]) == ("english", 7, False)
    assert [set_up(name).players for name in GameName] == [4, 4, 4, 4, 2, 6]


def test_p63_bots_are_keen_where_the_game_has_them() -> None:
    assert set_up(GameName.ROMANIAN).bots == "keen"
    assert set_up(GameName.ROMANIAN, bots=Bots.SHARP).bots == "sharp"
    assert all(set_up(name, bots=Bots.CALM).bots == "calm" for name in GameName)


async def test_usage_that_cannot_be_meant_is_one_line_and_2(tmp_path: Path) -> None:
    for words, why in (
        (("--seed", "x"), "--seed needs --game, which plays here"),
        (("--game", "solo", "--room", "2"), "--room is for online play"),
        (("--game", "solo", "--record", str(tmp_path)), f"{tmp_path} is no file to write a record to"),
    ):
        assert await whist(*words) == (2, "", f"whist: {why}\n")


# ---- the record's file ----


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
