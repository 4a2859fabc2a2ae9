"""The public Python SDK and the `whist` command: an online table as one `async for` loop.

    async with Whist.connect("http://localhost:8080") as whist:
        table = await whist.quick_game(room=1)
        async for decision in table:
            await decision.take(choose(table.game, decision.view))
        print(table.result)

It speaks the public REST API and the socket alone, as any other client does.
"""

from libs.client.sdk.errors import TurnPassed, Unreachable, WhistError
from libs.client.sdk.session import FileStore, MemoryStore, TokenStore
from libs.client.sdk.table import Decision, Result, Table
from libs.client.sdk.whist import Whist

__all__ = [
    "Decision",
    "FileStore",
    "MemoryStore",
    "Result",
    "Table",
    "TokenStore",
    "TurnPassed",
    "Unreachable",
    "Whist",
    "WhistError",
]
