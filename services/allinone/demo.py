"""``python -m services.allinone.demo``: start the embedded run on a folder of its own, play a whole game, stop it.

`make demo`. The game is played by ``whist demo`` over the public API; its checks decide the exit status.
"""

import argparse
import asyncio
import os
import sys
from pathlib import Path

import httpx

from services.allinone.cluster import free_port

START_SECONDS = 60.0
STOP_SECONDS = 30.0
POLL_SECONDS = 0.1


def main(arguments: list[str]) -> int:
    """Exit status of ``whist demo``; 1 with the server's log when it does not start."""
    parser = argparse.ArgumentParser(prog="demo", description=__doc__)
    parser.add_argument("--mode", choices=("quick", "classic"), default="quick")
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    parser.add_argument("--record", metavar="FILE", help="where the game's record goes")
    chosen = parser.parse_args(arguments)
    folder = Path(os.environ.get("WHIST_DATA_DIR", ".run/demo"))
    folder.mkdir(parents=True, exist_ok=True)
    words = ["--mode", chosen.mode, *(["--json"] if chosen.json else [])]
    words += ["--record", chosen.record] if chosen.record else []
    return asyncio.run(_play(folder, words))


async def _play(folder: Path, words: list[str]) -> int:
    log_path = folder / "server.log"
    url = f"http://127.0.0.1:{free_port()}"
    with log_path.open("wb") as log:
        server = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "services.allinone",
            stdout=log, stderr=log, start_new_session=True,
            env={
                "WHIST_BOT_PACE_SCALE": "0",
                **os.environ,
                "WHIST_DATA_DIR": str(folder),
                "WHIST_HTTP_LISTEN": url.removeprefix("http://"),
                "WHIST_SOCKET_LISTEN": f"127.0.0.1:{free_port()}",
                "WHIST_ADMIN_LISTEN": "",
                "WHIST_METRICS_LISTEN": "",
            },
        )  # fmt: skip
    try:
        if not await _ready(server, url):
            sys.stderr.write(log_path.read_text()[-4000:])
            return 1
        player = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "libs.client.cli", "demo", "--url", url, *words
        )
        return await player.wait()
    finally:
        if server.returncode is None:
            server.terminate()
            try:
                async with asyncio.timeout(STOP_SECONDS):
                    await server.wait()
            except TimeoutError:
                server.kill()
                await server.wait()


async def _ready(server: asyncio.subprocess.Process, url: str) -> bool:
    """Whether the page answers before the time is up or the process ends."""
    try:
        async with asyncio.timeout(START_SECONDS), httpx.AsyncClient() as client:
            while server.returncode is None:
                try:
                    if (await client.get(f"{url}/v1/config")).is_success:
                        return True
                except httpx.HTTPError:
                    pass
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError:
        sys.stderr.write("the server did not become ready in time\n")
    return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
