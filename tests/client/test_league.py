"""`whist league` and `whist upload`: the weekly league, friends' games, offline games."""

import json
from pathlib import Path

from libs.client.cli.league import told_board
from libs.engine.record.plain import dumps
from tests.client.server import Whistle
from tests.client.test_cli import whist
from tests.services.leagues.offline_games import played


async def test_p53_the_group_is_told_by_rank(server: Whistle, tmp_path: Path) -> None:
    code, out, err = await whist(server, tmp_path, "league", "--week", "2026-W48")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "2026-W48, jack, as it stands",
        "*  1  Ana                     1,250  100,000 coins, 50 bars      -> queen",
        "   2  -                       1,250",
    ]


async def test_p24_friends_games_are_told_with_ones_own_place(server: Whistle, tmp_path: Path) -> None:
    _, out, _ = await whist(server, tmp_path, "league", "--friends")
    assert out.splitlines() == [
        "2026-W49, friends' games",
        "   1  Dan                   9  in 20 games",
        "*  -  Ana                   7  in 2 games",
        "Guests are ranked once they sign in: --email.",
    ]
    _, out, _ = await whist(server, tmp_path, "league", "--friends", "--json")
    assert json.loads(out)["own"]["points"] == 7


def test_p24_a_guest_without_a_name_knows_its_own_line_and_an_empty_week_says_so() -> None:
    guest = {"account_id": "a", "name": None, "rank": None, "points": 0, "games": 1}
    board = {"week": "2026-W49", "places": [], "own": guest}
    assert list(told_board(board, "a")) == [
        "2026-W49, friends' games",
        "No friends' game has scored in this week yet.",
        "*  -  you                   0  in 1 game",
        "Guests are ranked once they sign in: --email.",
    ]


async def test_p44_records_are_uploaded_one_after_the_other(server: Whistle, tmp_path: Path) -> None:
    first, second, broken = (tmp_path / name for name in ("first.json", "second.json", "broken.json"))
    first.write_text(dumps(played("first")))
    second.write_text(dumps(played("second")))
    broken.write_text("{}")
    code, out, err = await whist(server, tmp_path, "upload", str(first), str(second))
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"{first}: 62 experience; 62 in all, level 1",
        f"{second}: 62 experience, credited before; 62 in all, level 1",
    ]
    assert server.uploaded == [json.loads(first.read_text()), json.loads(second.read_text())]
    code, _, err = await whist(server, tmp_path, "upload", str(broken))
    assert code == 1 and "NOT_A_RECORD" in err and len(server.uploaded) == 2
