"""P61, P62: analysis and story of a finished game over REST."""

from collections.abc import AsyncIterator
from uuid import uuid4

import httpx
import pytest

from tests.services.gateway.fake_peers import ANALYSIS, TABLE
from tests.services.gateway.world import Stage

pytestmark = pytest.mark.usefixtures("account")
OTHER = "0" * 31 + "2"


@pytest.fixture
async def account(stage: Stage, http: httpx.AsyncClient) -> AsyncIterator[None]:
    """A signed-in client."""
    http.headers["Authorization"] = f"Bearer {stage.world.keys.token(uuid4())}"
    yield


async def test_p61_a_games_analysis_is_read(http: httpx.AsyncClient) -> None:
    assert (await http.get(f"/v1/games/{TABLE}/analysis")).json() == ANALYSIS


async def test_p62_a_games_story_is_told_in_the_readers_language(http: httpx.AsyncClient) -> None:
    told = (await http.get(f"/v1/games/{TABLE}/story", params={"locale": "ro-RO"})).json()
    assert told == {"locale": "ro", "paragraphs": ["Jucătorul 1 a câștigat.", "…"]}
    assert (await http.get(f"/v1/games/{TABLE}/story")).json()["locale"] == "en"


async def test_refusals_are_problems_with_the_coachs_reason(http: httpx.AsyncClient) -> None:
    unknown = await http.get(f"/v1/games/{OTHER}/analysis")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "ANALYSIS_UNKNOWN")
    waiting = await http.get(f"/v1/games/{OTHER}/story")
    assert (waiting.status_code, waiting.json()["code"], waiting.headers["Retry-After"]) == (
        503,
        "ANALYSIS_NOT_YET",
        "1",
    )


@pytest.mark.parametrize("locale", ["", "e", "ro RO", "../en", "x" * 40, "ro-", "ро"])
async def test_a_locale_that_is_none_is_refused(http: httpx.AsyncClient, locale: str) -> None:
    refused = await http.get(f"/v1/games/{TABLE}/story", params={"locale": locale})
    assert (refused.status_code, refused.json()["code"]) == (422, "INVALID_REQUEST")


@pytest.mark.parametrize("what", ["analysis", "story"])
async def test_a6_neither_is_for_one_without_a_token(stage: Stage, what: str) -> None:
    async with httpx.AsyncClient(base_url=stage.http_url) as client:
        refused = await client.get(f"/v1/games/{TABLE}/{what}")
        assert (refused.status_code, refused.json()["code"]) == (401, "TOKEN_INVALID")
