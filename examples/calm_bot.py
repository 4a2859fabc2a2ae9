"""A bot in twenty lines: a guest who plays one quick game in the cottage. ``python examples/calm_bot.py [URL]``"""

import asyncio
import contextlib
import sys

from libs.client import TurnPassed, Whist
from libs.engine.bots import choose


async def main(url: str) -> None:
    async with Whist.connect(url) as whist:
        table = await whist.quick_game(room=1)
        async for decision in table:
            with contextlib.suppress(TurnPassed):  # too late: the server moved for us, the next turn comes by itself
                await decision.take(choose(table.game, decision.view))
        print(table.result)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8080"))
