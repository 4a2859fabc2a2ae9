"""What may be asked for behind `whist play --game`, and one clear line for what may not."""

from pathlib import Path
from typing import Any

import pytest

from libs.client.cli.offline.setup import Bots, GameName, Mode, WrongUsage, set_up
from tests.client.offline import whist

pytestmark = pytest.mark.timeout(120)


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
