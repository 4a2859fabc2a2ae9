"""The `whist` command as a process: exit codes, streams, and what a person sees."""

import asyncio
import json
import os
import pty
import signal
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from libs.client.cli import demo, lettering, screen
from libs.client.cli.keyboard import Keyboard
from libs.client.cli.moves import chosen
from libs.client.cli.play import BACK, CLEAR, SAVE, TIME_WAS_UP, Player, ScreenFront
from libs.client.cli.refusals import spoken
from libs.client.cli.verify import CheckFailed
from libs.client.sdk.backoff import Backoff
from libs.client.sdk.errors import WhistError
from libs.client.sdk.session import FileStore
from libs.client.sdk.table import Table
from libs.client.sdk.whist import Whist
from libs.engine.bots import choose
from libs.wire import frames
from tests.client.server import GAME, TABLE, Truth, Whistle

pytestmark = pytest.mark.timeout(60)

HERE = Path(__file__).parent
REPORT_KEYS = {
    "mode", "players", "rounds", "totals", "ranking", "prize_coins", "coins_before", "coins_after", "xp_gained",
    "game_id",
}  # fmt: skip


async def whist(
    server: Whistle | None, tmp_path: Path, *words: str, typed: str | None = None, url: str = ""
) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of one command."""
    url = url or (server.url if server else "")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "libs.client.cli",
        *words,
        stdin=asyncio.subprocess.PIPE if typed is not None else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"WHIST_URL": url, "XDG_STATE_HOME": str(tmp_path), "COLUMNS": "80"},
    )
    out, err = await process.communicate(None if typed is None else typed.encode())
    assert process.returncode is not None
    assert b"Traceback" not in err
    return process.returncode, out.decode(), err.decode()


# ---- demo ----


async def test_p70_p6_demo_plays_checks_and_reports_as_json(server: Whistle, tmp_path: Path) -> None:
    code, out, err = await whist(server, tmp_path, "demo", "--json")
    assert (code, len(out.splitlines())) == (0, 1), err
    report = json.loads(out)
    assert set(report) == REPORT_KEYS
    assert report["mode"] == "quick"
    assert report["game_id"] == TABLE
    assert len(report["players"]) == 6
    assert len(report["rounds"]) == 6
    for row in report["rounds"]:
        assert set(row) == {"cards", "trump", "dealer", "bids", "taken", "scores"}
        assert sum(row["taken"]) == row["cards"] != sum(row["bids"])
    assert report["totals"] == list(server.truth.state.totals)
    assert report["ranking"] == list(server.truth.state.ranking or ())
    paid = (100, 70, 55, 0, 0, 0)[report["ranking"].index(server.truth.seat)]
    assert report["prize_coins"] == paid == report["coins_after"] - report["coins_before"]
    assert report["xp_gained"] > 0


async def test_p72_a_record_is_fetched_and_checked_after_the_demo(server: Whistle, tmp_path: Path) -> None:
    code, out, _ = await whist(server, tmp_path, "demo")
    assert code == 0
    assert "Checked: bids, tricks" in out
    assert f"Game {TABLE}" in out
    code, out, err = await whist(server, tmp_path, "record", TABLE)
    assert code == 0, err
    assert "every deal follow from the secret" in out
    code, out, _ = await whist(server, tmp_path, "record", TABLE, "--json")
    assert json.loads(out) == json.loads(json.dumps(server.truth.record()))
    code, _, err = await whist(server, tmp_path, "record", "f" * 32)
    assert (code, err) == (1, "whist: There is no such table. (TABLE_UNKNOWN)\n")


async def test_demo_fails_when_the_wallet_pays_the_wrong_prize(
    server: Whistle, soon: Backoff, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "ARRIVES_S", 0.0)
    server.prize_slip = 1
    async with Whist.connect(server.url, backoff=soon) as guest:
        with pytest.raises(CheckFailed, match="are due"):
            await demo.run(guest, "quick", lambda _: None)


async def test_p40_demo_signs_in_by_a_code_from_the_input(server: Whistle, tmp_path: Path) -> None:
    code, out, _ = await whist(server, tmp_path, "demo", "--email", "ana@example.com", "--json", typed="12345678\n")
    assert code == 0
    assert set(json.loads(out)) == REPORT_KEYS
    code, _, err = await whist(server, tmp_path, "demo", "--email", "ana@example.com", typed="87654321\n")
    assert (code, err.splitlines()[-1]) == (1, "whist: Nobody is signed in. (NOT_SIGNED_IN)")


async def test_p40_a_wrong_code_is_asked_for_again(server: Whistle, tmp_path: Path) -> None:
    code, _, err = await whist(
        server, tmp_path, "play", "--email", "ana@example.com", typed="87654321\n12345678\nq\ny\n"
    )
    assert code == 0
    assert "That was not the code. Try again:" in err
    code, _, err = await whist(server, tmp_path, "demo", "--email", "ana@example.com", typed="87654321\n" * 6)
    assert (code, err.splitlines()[-1]) == (1, "whist: That was not the code. (CODE_WRONG)")


async def test_p40_what_is_no_code_costs_no_try(server: Whistle, tmp_path: Path) -> None:
    typed = "123\nabc\n1234 5678 \n"
    code, _, err = await whist(server, tmp_path, "name", "Ana", "--email", "ana@example.com", typed=typed)
    assert (code, err.count("A code has 8 digits. Try again:")) == (0, 2)
    assert server.tries_left == 5


# ---- exit codes ----


async def test_version_and_usage(tmp_path: Path) -> None:
    assert (await whist(None, tmp_path, "--version"))[:2] == (0, "whist 0.1.0\n")
    assert (await whist(None, tmp_path))[0] == 2
    assert (await whist(None, tmp_path, "play", "--mode", "poker"))[0] == 2
    for words in ((), ("admin",)):
        assert "..." not in (await whist(None, tmp_path, *words, "--help"))[1].partition("Commands:")[2]
    for command in ("sit", "watch", "record", "story", "refund"):
        assert (await whist(None, tmp_path, command, "my-table"))[::2] == (
            2,
            "whist: an id has 32 digits of 0-9 and a-f\n",
        )
    assert (await whist(None, tmp_path, "play", "--room", "13"))[0] == 2


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "http://[", "nonsense", "http://no.such.host.invalid"])
async def test_a_server_that_is_not_there_is_one_clear_line(tmp_path: Path, url: str) -> None:
    code, out, err = await whist(None, tmp_path, "demo", url=url)
    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert err.startswith(f"whist: cannot reach {url}")


async def test_an_address_that_is_not_whist_is_one_clear_line(server: Whistle, tmp_path: Path) -> None:
    code, _, err = await whist(None, tmp_path, "demo", url=server.url + "/elsewhere")
    assert (code, len(err.splitlines())) == (1, 1)
    assert "HTTP_404" in err


# ---- play ----


def script(server: Whistle) -> str:
    """What a person would type to play the same game as the policy does, found by playing it beforehand."""
    truth, typed = Truth(), []
    truth.advance()
    while truth.state.ranking is None:
        view = truth.views[-1]
        action = choose("romanian", view)
        typed.append(str(action["bid"]) if "bid" in action else str(view["hand"].index(action["play"]) + 1))
        truth.move(truth.seat, action, by="person", req=str(truth.seq))
        truth.advance()
    return "\n".join(typed) + "\n"


async def test_play_through_a_pipe_to_the_end(server: Whistle, tmp_path: Path) -> None:
    code, out, err = await whist(server, tmp_path, "play", typed="99\nh\nnonsense\n" + script(server))
    assert code == 0, err
    assert "Bid 0 to 8." in out
    assert "The coach helps at friends' tables and on your VIP days only." in out
    assert "'nonsense' is no bid: type a number from 0 to 8." in out
    assert out.count("h hint") < out.count("Bid 0 to"), "a coach that refused is not offered again"
    assert out.rstrip().splitlines()[-8].startswith("1st")
    assert GAME.over(server.truth.state)


async def test_play_for_programs_is_json_lines(server: Whistle, tmp_path: Path) -> None:
    code, out, _ = await whist(server, tmp_path, "play", "--json", typed=script(server))
    *decisions, over = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert {each["t"] for each in decisions} == {"decision"}
    assert all(each["view"]["legal"] for each in decisions)
    assert (over["t"], over["game_id"], over["ranking"]) == ("over", TABLE, list(server.truth.state.ranking or ()))


async def test_p8_leaving_is_confirmed(server: Whistle, tmp_path: Path) -> None:
    code, out, _ = await whist(server, tmp_path, "play", typed="q\nno\nq\ny\n")
    assert code == 0
    assert "Leave for good?" in out
    assert "You stay." in out
    assert out.endswith("You left the game.\n")
    assert server.truth.left


async def test_p31_the_end_of_the_input_keeps_the_seat(server: Whistle, tmp_path: Path) -> None:
    code, _, err = await whist(server, tmp_path, "play", typed="")
    assert code == 1
    assert "a bot holds your seat" in err
    assert not server.truth.left
    again, _, _ = await whist(server, tmp_path, "play", typed="q\ny\n")
    assert again == 0
    assert server.refreshes == 1


async def test_play_on_a_terminal_clears_the_screen_and_leaves_on_q(server: Whistle, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "libs.client.cli", "play",
        stdin=theirs, stdout=theirs, stderr=theirs,
        env=os.environ | {"WHIST_URL": server.url, "XDG_STATE_HOME": str(tmp_path)},
    )  # fmt: skip
    os.close(theirs)
    loop, shown, prompted = asyncio.get_running_loop(), bytearray(), asyncio.Event()

    def read() -> None:
        try:
            data = os.read(ours, 65536)
        except OSError:
            loop.remove_reader(ours)
            return
        shown.extend(data)
        if b"Bid 0 to 8" in shown:
            prompted.set()

    loop.add_reader(ours, read)
    await asyncio.wait_for(prompted.wait(), 20)
    os.write(ours, b"q\n")
    os.write(ours, b"y\n")
    assert await asyncio.wait_for(process.wait(), 20) == 0
    loop.remove_reader(ours)
    os.close(ours)
    assert b"\x1b[H\x1b[2J" in shown
    assert server.truth.left


@pytest.mark.parametrize("never_deals", [True, False])
async def test_an_interrupt_leaves_the_queue_but_keeps_a_seat(
    server: Whistle, tmp_path: Path, never_deals: bool
) -> None:
    server.never_deals = never_deals
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "libs.client.cli", "play",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"WHIST_URL": server.url, "XDG_STATE_HOME": str(tmp_path)},
    )  # fmt: skip
    assert process.stdout is not None and process.stderr is not None
    if never_deals:
        await process.stderr.readuntil(b"1 of 6 seats taken; in 10 s bots take the rest\n")
    else:
        await process.stdout.readuntil(b"Bid 0 to 8")
    process.send_signal(signal.SIGINT)
    _, err = await process.communicate()
    assert process.returncode == 130
    assert server.cancelled == never_deals
    assert (b"A bot holds your seat" in err) != never_deals
    assert not server.truth.left


class Terminal:
    """What a person sees and types; `when` gives the next line once the condition on the screens so far holds."""

    def __init__(self, *lines: tuple[str, str]) -> None:
        self.written: list[str] = []
        self.forgotten = 0
        self._lines = iter(lines)
        self._seen = asyncio.Condition()
        self._telling: set[asyncio.Task[None]] = set()

    def write(self, text: str) -> None:
        self.written.append(text)
        task = asyncio.ensure_future(self._tell())
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _tell(self) -> None:
        async with self._seen:
            self._seen.notify_all()

    def forget(self) -> None:
        self.forgotten += 1

    async def shows(self, text: str) -> None:
        async with self._seen:
            await self._seen.wait_for(lambda: any(text in each for each in self.written))

    async def line(self) -> str | None:
        awaited, typed = next(self._lines)
        await self.shows(awaited)
        return typed

    def player(self, guest: Whist, table: Table) -> Player[Table]:
        return Player(guest, table, self, ScreenFront(self.write, terminal=True, forget=self.forget), eager=True)


async def test_p30_the_server_moving_for_us_is_said_and_what_was_half_typed_is_forgotten(
    server: Whistle, soon: Backoff
) -> None:
    terminal = Terminal((TIME_WAS_UP, "q"), ("Leave for good?", "y"))
    async with Whist.connect(server.url, backoff=soon) as guest:
        table = await guest.quick_game()
        playing = asyncio.create_task(terminal.player(guest, table).play())
        await terminal.shows("Bid 0 to 8")
        assert terminal.forgotten == 0
        server.truth.move(table.seat, choose("romanian", server.truth.views[-1]), by="time_out")
        server.truth.advance()
        await terminal.shows(TIME_WAS_UP)
        assert terminal.forgotten
        await playing


async def test_p30_the_time_left_runs_without_touching_what_is_typed(server: Whistle, soon: Backoff) -> None:
    terminal = Terminal((" 9 s", "q"), ("Leave for good?", "y"))
    async with Whist.connect(server.url, backoff=soon) as guest:
        await terminal.player(guest, await guest.quick_game()).play()
    first, *later = [text for text in terminal.written if CLEAR in text or SAVE in text]
    ticks = [text for text in later if text.startswith(SAVE)]
    assert CLEAR in first and "10 s" in first
    assert " 9 s" in ticks[0] and CLEAR not in ticks[0] and "Bid 0" not in ticks[0]
    assert ticks[0].endswith(" 9 s\x1b[?7h\x1b8"), "nothing is erased after the eightieth column"


async def test_p30_who_is_away_is_told_and_comes_back_with_a_key(server: Whistle, soon: Backoff) -> None:
    terminal = Terminal(("You are away", ""), ("Bid 0 to 8", "q"), ("Leave for good?", "y"))
    async with Whist.connect(server.url, backoff=soon) as guest:
        table = await guest.quick_game()
        playing = asyncio.create_task(terminal.player(guest, table).play())
        await terminal.shows("Bid 0 to 8")
        terminal.written.clear()
        server.truth.presence(away=True)
        await playing
        assert not table.away and not server.truth.away
    assert any(BACK in text for text in terminal.written)


# ---- the screen ----


def seated(truth: Truth) -> tuple[Any, list[frames.SeatInfo]]:
    return truth.views[-1], truth.seats()


def test_the_screen_while_bidding_is_as_agreed() -> None:
    truth = Truth()
    truth.advance()
    view, seats = seated(truth)
    assert screen.render(view, seats, seconds_left=12.0) + "\n" == (HERE / "golden" / "bidding.txt").read_text()


def test_the_screen_while_playing_is_as_agreed() -> None:
    truth = Truth()
    truth.advance()
    while (
        len(truth.views[-1]["score_sheet"]) < 2 or not truth.views[-1]["tricks"] or not truth.views[-1]["trick"]["lead"]
    ):
        truth.move(truth.seat, choose("romanian", truth.views[-1]), by="person", req=str(truth.seq))
        truth.advance()
    view, seats = seated(truth)
    text = screen.render(view, seats, seconds_left=9.6, message="You must follow suit.")
    assert text + "\n" == (HERE / "golden" / "playing.txt").read_text()


def test_every_screen_of_a_game_fits_80_by_24() -> None:
    truth = Truth()
    truth.advance()
    hostile = [
        frames.SeatInfo(name="\x1b[2J牌王" * 6, kind="person", verified=True, holder="bot", left=False)
        for _ in range(6)
    ]
    while truth.state.ranking is None:
        truth.move(truth.seat, choose("romanian", truth.views[-1]), by="person", req=str(truth.seq))
        truth.advance()
    assert len(truth.views) > 200
    for view in truth.views:
        for seats in (truth.seats(), hostile):
            lines = screen.render(view, seats, seconds_left=10, message="x" * 300).split("\n")
            assert len(lines) <= 24
            assert all(lettering.width(line) <= 80 for line in lines)
            assert "\x1b" not in "".join(lines)


def test_the_screen_keeps_its_height_for_a_whole_game_and_says_who_wins() -> None:
    truth = Truth()
    truth.advance()
    while truth.state.ranking is None:
        truth.move(truth.seat, choose("romanian", truth.views[-1]), by="person", req=str(truth.seq))
        truth.advance()
    screens = [screen.render(view, truth.seats()) for view in truth.views if view["round"] is not None]
    assert len({text.count("\n") for text in screens}) == 1
    taken = 0
    for before, after in pairwise(truth.views):
        if after["last_trick"] != before["last_trick"] and after["last_trick"] is not None and after["tricks"]:
            trick = {"lead": after["last_trick"]["lead"], "cards": after["last_trick"]["cards"]}
            shown = screen.render(after | {"trick": trick}, truth.seats()).split("\n")
            (winner,) = [row for row, line in enumerate(shown[3:9]) if line.endswith("wins so far")]
            assert winner == after["last_trick"]["winner"]
            taken += 1
    assert taken == sum(truth.views[-1]["rounds"])


def test_the_round_before_and_the_sum_of_bids_are_in_view() -> None:
    truth = Truth()
    truth.advance()
    view, seats = seated(truth)
    sheet = [{"bids": [2] * 6, "taken": [2, 2, 2, 2, 2, 1], "scores": [7, 7, 7, 7, 7, -1]}]
    text = screen.render(view | {"bids": [1, 2, 0, 3, None, None], "seat": 5, "score_sheet": sheet}, seats)
    assert "Bids so far: 6, tricks: 8 · your round 1: bid 2, took 1, -1" in text
    text = screen.render(view | {"bids": [1, 2, 0, 3, 0, 0]}, seats)
    assert "Bids: 6, tricks: 8" in text


def test_legal_cards_are_marked_and_the_barred_bid_is_said() -> None:
    view: dict[str, Any] = Truth().views[0] | {
        "phase": "play",
        "hand": ["7C", "QH"],
        "legal": [{"play": "QH"}],
        "turn": 3,
    }
    assert "1: 7♣   2:[Q♥]" in screen.render(view, Truth().seats())
    view |= {"phase": "bid", "cards": 3, "round": 0, "barred": 1, "legal": [{"bid": 0}, {"bid": 2}, {"bid": 3}]}
    assert "Bid 0 to 3, but not 1 (barred for the dealer)" in screen.render(view, Truth().seats())


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("1", "TD"),
        ("2", "QH"),
        ("0", None),
        ("3", None),
        ("qh", "QH"),
        ("Q♥", "QH"),
        ("10d", "TD"),
        ("2S", None),
        ("²", None),
    ],
)
def test_a_card_is_meant_by_number_or_name(typed: str, meant: str | None) -> None:
    view = {"phase": "play", "hand": ["TD", "QH"], "legal": [{"play": "QH"}]}
    assert chosen(view, typed) == (None if meant is None else {"play": meant})


def test_refusals_are_said_in_words() -> None:
    assert "hearts" in spoken(WhistError("MUST_FOLLOW_SUIT", facts={"suit": "H"}))
    assert "trump" in spoken(WhistError("MUST_TRUMP", facts={"suit": "H"}))
    assert "may not bid 2" in spoken(WhistError("BID_BARRED", facts={"barred": 2}))
    assert spoken(WhistError("SOMETHING_NEW")) == "SOMETHING_NEW"


# ---- small parts ----


def test_a_session_file_is_private_and_survives_nonsense(tmp_path: Path) -> None:
    store = FileStore("http://here/", folder=tmp_path / "deep")
    assert store.load() is None
    store.save({"refresh_token": "r"})
    assert store.path.stat().st_mode & 0o777 == 0o600
    assert FileStore("http://here", folder=tmp_path / "deep").load() == {"refresh_token": "r"}
    assert FileStore("http://there", folder=tmp_path / "deep").load() is None
    store.path.write_text("{")
    assert store.load() is None
    store.forget()
    store.forget()
    assert list(store.path.parent.iterdir()) == []


async def test_the_keyboard_forgets_what_was_not_entered_and_nothing_where_there_is_no_terminal() -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs) as stream:
        keyboard = Keyboard(stream)
        os.write(ours, b"3")
        keyboard.forget()
        os.write(ours, b"5\n")
        assert await keyboard.line() == "5"
        # Hung up first: the reader waits for the next line inside the stream, which could not be closed meanwhile.
        os.close(ours)
        assert await keyboard.line() is None
    read, write = os.pipe()
    os.write(write, b"4\n")
    os.close(write)
    with os.fdopen(read) as stream:
        keyboard = Keyboard(stream)
        keyboard.forget()
        assert await keyboard.line() == "4"


async def test_the_keyboard_ends_once_and_with_none() -> None:
    read, write = os.pipe()
    os.write(write, b"one\n two \nrest")
    os.close(write)
    with os.fdopen(read) as stream:
        keyboard = Keyboard(stream)
        assert [await keyboard.line() for _ in range(4)] == ["one", "two", "rest", None]


def test_waits_double_up_to_the_most_and_start_over() -> None:
    backoff = Backoff(first_s=0.25, most_s=8.0)
    for longest in (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0):
        assert longest / 2 <= backoff.next_s() <= longest
    backoff.reset()
    assert backoff.next_s() <= 0.25


async def test_the_example_bot_plays_a_game(server: Whistle) -> None:
    example = HERE.parent.parent / "examples" / "calm_bot.py"
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(example), server.url, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await process.communicate()
    assert (process.returncode, err) == (0, b"")
    assert out.startswith(b"Result(status='finished'")
    assert example.read_text() in (HERE.parent.parent / "libs" / "client" / "README.md").read_text()


# ---- the purse ----


async def test_p12_the_purse_is_shown_and_coffee_bought(server: Whistle, tmp_path: Path) -> None:
    code, out, _ = await whist(server, tmp_path, "wallet")
    assert (code, out) == (0, f"{server.coins:,} coins\n" if server.coins else "nothing\n")
    code, out, _ = await whist(server, tmp_path, "coffee", "x1.5")
    assert (code, out) == (0, "1,000 coins, 4 bars, 13 cups x1.5\n")
    code, out, _ = await whist(server, tmp_path, "coffee", "x3", "--json")
    assert (code, json.loads(out)["cups"]["x3"]) == (0, 13)
    code, out, err = await whist(server, tmp_path, "coffee", "x5")
    assert (code, out) == (1, "") and "INSUFFICIENT_FUNDS" in err
    code, _, _ = await whist(server, tmp_path, "coffee", "x4")
    assert code == 2


async def test_p17_the_history_is_told_newest_first(server: Whistle, tmp_path: Path) -> None:
    code, out, _ = await whist(server, tmp_path, "history")
    assert (code, out.splitlines()) == (
        0,
        [
            f"2026-11-30 09:00  entry hold                   -1 cups x1.5  {TABLE}",
            "2026-11-30 09:00  signup gift              +1,000 coins",
        ],
    )
    code, out, _ = await whist(server, tmp_path, "history", "--limit", "1", "--json")
    assert (code, json.loads(out)["reason"]) == (0, "entry_hold")


async def test_p2_the_rooms_are_listed_with_the_reason_why_one_is_closed(server: Whistle, tmp_path: Path) -> None:
    code, out, _ = await whist(server, tmp_path, "rooms")
    assert (code, out.splitlines()) == (
        0,
        [
            "room           level  entry                   1st wins",
            " 1  Cottage        1  free                         100  open",
            "12  Palace    VIP 40  250,000 coins + 20 bars  625,000  your level is lower",
            f"Level 3, {server.experience:,} experience; the next level at 600.",
            "Your VIP days: Monday and Sunday.",
        ],
    )
    code, out, _ = await whist(server, tmp_path, "rooms", "--json")
    assert (code, json.loads(out.splitlines()[1])["closed_reason"]) == (0, "LEVEL_TOO_LOW")


async def test_p11_a_cup_is_chosen_when_queueing(server: Whistle, tmp_path: Path) -> None:
    code, _, _ = await whist(server, tmp_path, "play", "--coffee", "x2", typed="q\ny\n")
    assert (code, server.asked_for["coffee"]) == (0, "x2")
    code, _, err = await whist(server, tmp_path, "play", "--game", "german", "--coffee", "x2")
    assert code == 2 and "--coffee is for online play" in err


async def test_p14_a_refund_is_asked_for_and_done(server: Whistle, tmp_path: Path) -> None:
    code, out, _ = await whist(server, tmp_path, "refund", TABLE, "--ask")
    assert (code, out) == (0, "Returns 100 coins, 1 cup x2; takes back nothing.\n")
    code, out, _ = await whist(server, tmp_path, "refund", TABLE)
    assert (code, out) == (
        0, "Returned 1,100 coins, 1 cup x2; took back nothing. There is 1,100 coins, 1 cup x2.\n",
    )  # fmt: skip
    code, out, _ = await whist(server, tmp_path, "refund", "f" * 32, "--ask")
    assert (code, out) == (0, "No refund: you won it.\n")
    code, out, err = await whist(server, tmp_path, "refund", "f" * 32)
    assert (code, out) == (1, "") and "FIRST_PLACE" in err
    code, _, _ = await whist(server, tmp_path, "refund", "my-last-game")
    assert code == 2
