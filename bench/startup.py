"""How long `make run` takes on a warm install until its page answers, and what memory it then holds.

    python -m bench.startup [--rounds 3] [--json]

Memory is PSS, PostgreSQL's processes included. The first start, which makes the database, is shown apart.
"""

import argparse
import asyncio
import json
import os
import shutil
import sys
from pathlib import Path
from time import perf_counter

import httpx

from bench.servers import ROOT, family, pss, stopped
from services.allinone.cluster import free_port

PROBE_SECONDS = 0.02
START_SECONDS = 60.0
REST_SECONDS = 3.0  # after the page is there, before memory is read


async def start(folder: Path) -> tuple[float, float]:
    """(seconds until the page answers, PSS in MiB)."""
    url = f"http://127.0.0.1:{free_port()}"
    environment = {
        **os.environ,
        "WHIST_DATA_DIR": str(folder),
        "WHIST_HTTP_LISTEN": url.removeprefix("http://"),
        "WHIST_SOCKET_LISTEN": f"127.0.0.1:{free_port()}",
        "WHIST_ADMIN_LISTEN": "",
        "WHIST_METRICS_LISTEN": f"127.0.0.1:{free_port()}",
    }
    began = perf_counter()
    with (folder.parent / "startup.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "services.allinone", cwd=ROOT, env=environment, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip
    try:
        async with asyncio.timeout(START_SECONDS), httpx.AsyncClient() as client:
            while True:
                try:
                    if (await client.get(url)).is_success:
                        break
                except httpx.TransportError:
                    await asyncio.sleep(PROBE_SECONDS)
        ready = perf_counter() - began
        await asyncio.sleep(REST_SECONDS)
        postmaster = int((folder / "postgres" / "postmaster.pid").read_text().splitlines()[0])
        return ready, sum(map(pss, family([process.pid, postmaster]))) / 1024
    finally:
        await stopped(process)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    folder = ROOT / ".run" / "bench-startup"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    first, _ = await start(folder)
    print(f"first start {first:.1f} s")
    warm = [await start(folder) for _ in range(arguments.rounds)]
    for seconds, mib in warm:
        print(f"warm start {seconds:.1f} s, PSS {mib:.0f} MiB")
    if arguments.json:
        best = min(seconds for seconds, _ in warm)
        print(json.dumps({"first_s": round(first, 2), "ready_s": round(best, 2), "pss_mib": round(warm[-1][1])}))


if __name__ == "__main__":
    asyncio.run(main())
