"""The game itself, from first card to record: its coach, and how it ends."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from libs.client.cli.offline.table import LocalTable
from libs.client.cli.play import Front, InputEnded, Lines, Player
from libs.client.cli.records.file import RecordFile
from libs.client.sdk.errors import TurnPassed
from libs.search import ADVISED, advise, choose

LEAVE = "Leave the game? It ends here and its secret is shown. Type y to leave."


class GameLeft(Exception):
    """Nobody types any more; the text says so."""


class LocalHouse:
    """No clock and no line; the coach is here."""

    connected = True

    def seconds_left(self, _table: LocalTable) -> float | None:
        """Nobody is hurried."""
        return None

    async def hint(self, table: LocalTable) -> Mapping[str, Any]:
        """{"action", "advice": [{"action", "points"}, …]}: what the coach would do, from our own view alone.

        `advice` has every legal move's expected points, where a game can tell them (P60). Raises TurnPassed.
        """
        decision = table.decision
        if decision is None:
            raise TurnPassed("NOT_YOUR_TURN")
        view, name = decision.view, table.game.name
        if name not in ADVISED:
            return {"action": await asyncio.to_thread(choose, name, view, "calm"), "advice": []}
        thoughts = await asyncio.to_thread(advise, view, seed=table.thinking_seed())
        best = max(thoughts, key=lambda each: each.points)
        return {
            "action": best.action,
            "advice": [{"action": each.action, "points": each.points} for each in thoughts],
        }


async def play(
    table: LocalTable, lines: Lines, front: Front, *, eager: bool, file: RecordFile | None, say: Callable[[str], None]
) -> None:
    """One game to its end, or until the person leaves; `eager` as `Player` has it.

    However the game ends, an interrupt included, the record is written and the secret told (P70), by `say` where
    `front` has no end to show. Raises GameLeft, CannotWrite.
    """
    message = f"Commitment {table.commitment.hex()}"
    try:
        await Player(LocalHouse(), table, lines, front, eager=eager, message=message, leave=LEAVE).play()
    except InputEnded:
        raise GameLeft("the input has ended before the game") from None
    finally:
        if table.result is None:
            say(f"\nCommitment {table.commitment.hex()}\nSecret     {table.setup.secret.hex()}")
        if file is not None:
            file.write(table.record())
