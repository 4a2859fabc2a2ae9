"""What a game played here shows: 80 columns and 24 lines at every moment, and the screens that were agreed."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from libs.client.cli import lettering, screen
from libs.client.cli.offline.setup import GameName, set_up
from libs.engine.protocol import View
from libs.wire.frames import SeatInfo
from tests.client.offline import SETUPS, each_game, played_out

pytestmark = pytest.mark.timeout(120)

HERE = Path(__file__).parent


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
