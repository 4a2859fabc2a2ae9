"""X18: in every run of this folder each event comes at least twice, and one test sees to it that it truly does."""

import re
from collections import Counter

import httpx

from libs.client import Whist
from tests.e2e.conftest import Embedded
from tests.e2e.story import arrives, play

HANDLED = re.compile(r'whist_events_handled_total\{consumer="([^"]+)",outcome="([^"]+)",type="([^"]+)"\} (\S+)')


async def test_x18_every_event_that_a_consumer_took_came_again_and_did_nothing(product: Embedded) -> None:
    async with Whist.connect(product.url) as whist, httpx.AsyncClient() as client:
        await play(await whist.quick_game())
        await arrives(whist.me, lambda me: me["experience"] > 0)
        await arrives(lambda: handled(client, product), came_again)


async def handled(client: httpx.AsyncClient, product: Embedded) -> Counter[tuple[str, str, str]]:
    """Events by consumer, type and outcome."""
    text = (await client.get(f"{product.metrics_url}/metrics")).text
    took = Counter[tuple[str, str, str]]()
    for consumer, outcome, kind, number in HANDLED.findall(text):
        took[consumer, kind, outcome] += int(float(number))
    return took


def came_again(took: Counter[tuple[str, str, str]]) -> bool:
    """Each kind that was done has been repeated at least as often, and none was parked."""
    done = {(consumer, kind) for consumer, kind, outcome in took if outcome == "done"}
    assert {("wallet.tables", "game_finished"), ("leagues.tables", "game_finished")} <= done
    assert not any(took[*pair, "parked"] for pair in done)
    return all(took[*pair, "repeated"] >= took[*pair, "done"] for pair in done)
