"""GET /v1/leagues/…, POST /v1/offline-games: the league as clients see it."""

import json
from collections.abc import AsyncIterator
from uuid import UUID

import httpx
import pytest

from libs.chassis.errors import Kind, Refusal
from services.gateway.http.problems import MEDIA_TYPE, of_domain
from tests.services.gateway.fake_peers import GONE
from tests.services.gateway.test_rest import account, is_problem  # noqa: F401 - a fixture
from tests.services.gateway.world import Stage


@pytest.fixture
async def signed_in(account: UUID) -> AsyncIterator[UUID]:  # noqa: F811
    yield account


async def test_p53_the_group_is_shown_by_rank_and_who_is_gone_has_no_name(
    signed_in: UUID, http: httpx.AsyncClient
) -> None:
    answer = await http.get("/v1/leagues/group", params={"week": "2026-W48"})
    assert answer.json() == {
        "week": "2026-W48", "group_id": "67" * 16, "tier": "jack", "closed": False,
        "members": [
            {"account_id": signed_in.hex, "name": "Ana", "rank": 1, "points": 55, "games": 1, "next_tier": "queen",
             "podium_coins": 100_000, "podium_bars": 50, "form": "ice", "level": 2},
            {"account_id": GONE.hex(), "name": None, "rank": 2, "points": 5, "games": 0, "next_tier": "jack",
             "podium_coins": 0, "podium_bars": 0, "form": None, "level": 1},
        ],
    }  # fmt: skip


async def test_p24_the_leaderboard_of_friends_games(signed_in: UUID, http: httpx.AsyncClient) -> None:
    answer = await http.get("/v1/leagues/friends", params={"limit": 7})
    assert answer.json() == {
        "week": "2026-W49",
        "places": [{"account_id": GONE.hex(), "name": None, "rank": 1, "points": 9, "games": 7}],
        "own": {"account_id": signed_in.hex, "name": None, "rank": None, "points": 7, "games": 2},
    }


@pytest.mark.usefixtures("signed_in")
@pytest.mark.parametrize("query", [{"limit": "0"}, {"limit": "101"}, {"limit": "x"}, {"week": "x" * 21}])
async def test_a_wrong_question_is_422(http: httpx.AsyncClient, query: dict[str, str]) -> None:
    assert is_problem(await http.get("/v1/leagues/friends", params=query), 422, "INVALID_REQUEST")


async def test_p44_an_offline_game_is_handed_on_as_it_was_written(
    signed_in: UUID, stage: Stage, http: httpx.AsyncClient
) -> None:
    written = b'{ "v": 1,\n "moves": [], "v": 1e400 }' + b" " * 150_000
    answer = await http.post("/v1/offline-games", content=written)
    assert answer.json() == {"credited": True, "experience": 62, "total": 62, "level": 1}
    [request] = stage.world.leagues.uploaded
    assert (request.record_json.encode(), request.account_id, request.guest) == (written, signed_in.bytes, False)


@pytest.mark.usefixtures("signed_in")
async def test_n2_a_record_over_200_kb_is_413_and_no_text_is_a_problem(http: httpx.AsyncClient) -> None:
    assert is_problem(await http.post("/v1/offline-games", content=b" " * 200_001), 413, "BODY_TOO_BIG")
    assert is_problem(await http.post("/v1/offline-games", content=b"\xff\xfe"), 400, "BAD_RECORD")


def test_x19_a_refusal_that_repeats_half_a_character_is_a_problem_and_no_fault_of_ours() -> None:
    """As `{"game": "\\ud800", …}` is refused by leagues: escaped it is JSON, in UTF-8 it cannot be written."""
    answer = of_domain("1", Refusal(Kind.INVALID, "UNKNOWN_GAME", game="rom\ud800n"))
    assert (answer.status_code, answer.headers["content-type"]) == (400, MEDIA_TYPE)
    assert json.loads(bytes(answer.body))["facts"] == {"game": "rom?n"}
