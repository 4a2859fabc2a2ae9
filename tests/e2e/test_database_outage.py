"""B06: PostgreSQL killed under play, and started again, on the embedded run."""

import asyncio
import os
import signal
from pathlib import Path

import httpx

from libs.chassis.entropy import SystemEntropy
from libs.client import Whist
from services.allinone.home import Home
from tests.e2e.conftest import embedded
from tests.e2e.story import PLACE_BP, arrives, moves_in, play


async def test_b06_kill_9_of_postgresql_under_play_stops_nobody_and_loses_no_acknowledged_move(folder: Path) -> None:
    data = folder / "run"
    async with embedded(data) as run, Whist.connect(run.url) as whist:
        table = await whist.quick_game(room=1)
        played = await play(table, moves=6)
        postmaster = Home(data, SystemEntropy()).postgres().pid()
        assert postmaster > 1, "0 and less name whole groups of processes"
        os.kill(postmaster, signal.SIGKILL)
        async with httpx.AsyncClient() as client:

            async def guest() -> int:
                return (await client.post(f"{run.url}/v1/guests", json={})).status_code

            await arrives(guest, lambda status: status == 503)

        async def logged() -> str:
            return run.log.read_text()

        # The last of all jobs to notice.
        await arrives(logged, lambda text: "parked_retry_failed" in text)
        assert run.process.returncode is None
        await asyncio.to_thread(Home(data, SystemEntropy()).postgres)
        await asyncio.wait_for(play(table, played), 90)
        assert table.result is not None and table.result.place is not None
        mine = moves_in(await whist.record(table.id), whist.account["account_id"])
        assert played.acknowledged.items() <= mine.items()
        prize = 100 * PLACE_BP.get(table.result.place, 0) // 10_000
        await arrives(whist.me, lambda me: me["experience"] and me["wallet"]["coins"] == prize)
