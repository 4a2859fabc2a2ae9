"""A whole quick game and what follows from it, on the embedded run, over the public API."""

import asyncio
import json
import signal
import sys
from pathlib import Path

import httpx
import pytest

from libs.chassis.entropy import SystemEntropy
from libs.client import Whist, WhistError
from services.allinone.home import Home
from tests.e2e.conftest import Embedded, embedded
from tests.e2e.story import PLACE_BP, Played, arrives, mailed_code, moves_in, play


async def test_p42_a_guest_plays_room_1_and_prize_experience_and_points_are_there(product: Embedded) -> None:
    async with Whist.connect(product.url) as whist:
        assert whist.account["guest"] is True
        table = await whist.quick_game(room=1)
        played = await play(table)
        assert table.result is not None
        place = table.result.place
        assert place is not None
        prize = 100 * PLACE_BP.get(place, 0) // 10_000
        record = await whist.record(table.id)
        assert moves_in(record, whist.account["account_id"]) == played.acknowledged

        me = await arrives(whist.me, lambda me: me["experience"] > 0 and me["wallet"]["coins"] == prize)
        made = sum(1 for _, bid, taken, _ in record["result"]["seats"][table.seat] if bid == taken)
        assert me["experience"] == 6 * 10 + 5 * made + {1: 50, 2: 30, 3: 20}.get(place, 0)
        league = await arrives(whist.league, lambda league: league["standing"]["points"] == prize)
        assert league["standing"]["ranked"] is False
        await arrives(whist.coins, lambda coins: coins == prize)


@pytest.mark.parametrize(("mode", "rounds"), [("quick", 6), ("classic", 30)])
async def test_p1_the_demo_checks_a_whole_game_and_prints_one_object(product: Embedded, mode: str, rounds: int) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "libs.client.cli", "demo", "--url", product.url, "--mode", mode, "--json",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await asyncio.wait_for(process.communicate(), 150)
    assert process.returncode == 0, err.decode()
    report = json.loads(out.decode().splitlines()[-1])
    assert set(report) == {
        "mode", "players", "rounds", "totals", "ranking", "prize_coins", "coins_before", "coins_after", "xp_gained",
        "game_id",
    }  # fmt: skip
    assert report["mode"] == mode
    assert len(report["rounds"]) == rounds
    assert all(sum(each["bids"]) != each["cards"] == sum(each["taken"]) for each in report["rounds"])
    assert report["coins_after"] - report["coins_before"] == report["prize_coins"]


async def test_p40_a_mailed_code_makes_an_account_with_its_gift_and_coffee_multiplies_the_prize(
    product: Embedded,
) -> None:
    address = "maria@example.org"
    mails = product.data / "mail"
    async with Whist.connect(product.url, email=address, ask_code=lambda: mailed_code(mails, address)) as whist:
        assert whist.account["guest"] is False
        gift = await arrives(whist.wallet, lambda wallet: wallet["coins"] == 1000)
        assert gift["cups"] == {"x1.5": 10, "x2": 10, "x3": 10, "x5": 10}
        table = await whist.quick_game(room=1, coffee="x3")
        wallet = await arrives(whist.wallet, lambda wallet: wallet["cups"]["x3"] == 9)
        assert wallet["coins"] == 1000
        await play(table)
        assert table.result is not None and table.result.place is not None
        prize = 100 * PLACE_BP.get(table.result.place, 0) * 30_000 // 10**8
        await arrives(whist.wallet, lambda wallet: (wallet["coins"], wallet["bars"]) == (1000 + prize, 5))
        await arrives(whist.league, lambda league: league["standing"]["points"] == prize)
        assert (await whist.league())["standing"]["ranked"] is True
        with pytest.raises(WhistError) as refused:
            await whist.quick_game(room=3)  # level 4; one game makes at most level 2
        assert refused.value.code == "LEVEL_TOO_LOW"


async def test_p8_one_live_seat_an_account_and_a_second_request_returns_the_first(product: Embedded) -> None:
    async with Whist.connect(product.url) as whist:
        request = whist._session.request
        first = await request("POST", "/v1/queue", {"room": 1, "mode": "quick"})
        twins = await asyncio.gather(*(request("POST", "/v1/queue", {"room": 1, "mode": "classic"}) for _ in range(10)))
        assert {(each["mode"], each["deals_at"]) for each in twins} == {("quick", first["deals_at"])}
        await whist.cancel_queue()
        await whist.cancel_queue()
        assert (await request("GET", "/v1/queue"))["state"] == "idle"
        with pytest.raises(WhistError) as refused:
            await request("POST", "/v1/queue", {"room": 2, "mode": "quick"})
        assert refused.value.code == "GUESTS_ROOM_1_ONLY"


async def test_p81_metrics_are_on_their_own_port_alone_with_every_stage_of_a_turn(product: Embedded) -> None:
    async with httpx.AsyncClient() as client:
        assert (await client.get(f"{product.url}/metrics")).status_code == 404
        text = (await client.get(f"{product.metrics_url}/metrics")).text
    stages = {
        line.split('stage="', 1)[1].split('"', 1)[0]
        for line in text.splitlines()
        if line.startswith("whist_turn_seconds_count")
    }
    assert stages == {"gateway", "queue", "decide", "journal", "fanout", "total"}


async def test_p17_the_ledger_of_all_these_games_proves_itself(product: Embedded) -> None:
    url = Home(product.data, SystemEntropy()).postgres().url()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "services.wallet.ledger_check", "--json",
        env={"WHIST_DATABASE_URL": url, "PATH": ""}, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, _ = await asyncio.wait_for(process.communicate(), 60)
    report = json.loads(out.decode().splitlines()[-1])
    assert process.returncode == 0, report


async def test_p33_kill_9_of_everything_in_mid_game_loses_no_acknowledged_move(folder: Path) -> None:
    data = folder / "run"
    async with embedded(data) as first:
        ports = {
            "WHIST_HTTP_LISTEN": first.url.removeprefix("http://"),
        }
        async with Whist.connect(first.url) as whist:
            table = await whist.quick_game(room=1)
            played = await play(table, moves=9)
            async with httpx.AsyncClient() as client:
                socket = (await client.get(f"{first.url}/v1/config")).json()["socket_url"]
            first.process.send_signal(signal.SIGKILL)
            await first.process.wait()
            ports["WHIST_SOCKET_LISTEN"] = (
                socket.removeprefix("ws://").split("/", 1)[0].replace("localhost", "127.0.0.1")
            )
            async with embedded(data, **ports):
                rest: Played = await asyncio.wait_for(play(table, played), 90)
                record = await whist.record(table.id)
                # The bot may have moved for us while we were away; what was acknowledged stands, each move once.
                mine = moves_in(record, whist.account["account_id"])
                assert rest.acknowledged.items() <= mine.items()
                assert len(rest.acknowledged) > 9
