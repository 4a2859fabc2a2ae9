"""What several end-to-end tests do: play a game by the calm policy, wait for what arrives by events."""

import asyncio
import email
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from email.policy import default as modern
from pathlib import Path
from typing import Any

from libs.client import Table, TurnPassed
from libs.engine.bots import choose

ARRIVES_SECONDS = 20
PLACE_BP = {1: 10_000, 2: 7_000, 3: 5_500}  # P6


@dataclass
class Played:
    """The decisions that the server acknowledged, by turn."""

    acknowledged: dict[int, dict[str, Any]] = field(default_factory=dict)


async def play(table: Table, played: Played | None = None, moves: int | None = None) -> Played:
    """Play to the end, or until so many moves stand."""
    played = played or Played()
    async for decision in table:
        action = choose(table.game, decision.view)
        try:
            await decision.take(action)
        except TurnPassed:
            continue
        played.acknowledged[decision.turn] = action
        if moves is not None and len(played.acknowledged) >= moves:
            break
    return played


async def arrives(
    read: Callable[[], Awaitable[Any]], expected: Callable[[Any], bool], seconds: float = ARRIVES_SECONDS
) -> Any:
    """What `read` gives once it is as expected; fails with the last value after a while."""
    value = await read()
    try:
        async with asyncio.timeout(seconds):
            while not expected(value):
                await asyncio.sleep(0.1)
                value = await read()
    except TimeoutError:
        raise AssertionError(f"did not arrive; last seen: {value}") from None
    return value


async def mailed_code(mails: Path, address: str) -> str:
    """The newest sign-in code sent to `address`, from the folder that stands for a mail server."""

    async def newest() -> str | None:
        for path in sorted(mails.glob("[!.]*.eml"), reverse=True):  # one that begins with a dot is being written
            message = email.message_from_bytes(path.read_bytes(), policy=modern)
            if address in str(message["To"]):
                body = message.get_body(("plain",))
                assert body is not None
                digits = "".join(char if char.isdigit() else " " for char in body.get_content()).split()
                return next((word for word in digits if len(word) == 8), None)
        return None

    code: str = await arrives(newest, lambda value: value is not None)
    return code


def moves_in(record: dict[str, Any], account: str) -> dict[int, dict[str, Any]]:
    """By turn, what the record says this account's person did."""
    seat = next(number for number, each in enumerate(record["table"]["seats"]) if each["account"] == account)
    decisions = enumerate(record["moves"])
    return {turn: action for turn, (who, action, by, _) in decisions if who == seat and by == "person"}
