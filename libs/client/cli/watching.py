"""A friends' game in the terminal without a seat: followed to its end, or until a seat is taken over (P22)."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

from libs.client.cli import screen
from libs.client.cli.moves import number_in
from libs.client.cli.play import TICK_S, Lines, Said, ScreenFront
from libs.client.cli.refusals import spoken
from libs.client.sdk.errors import WhistError
from libs.client.sdk.table import Table
from libs.client.sdk.whist import Whist

HELP: Final = "take and a seat's number takes a bot's seat over, or one that was left; q stops."
TAKING: Final = "You sit down …"
STOPPING: Final = frozenset({"q", "quit"})


async def watch(whist: Whist, table: Table, lines: Lines, front: ScreenFront, *, eager: bool) -> bool:
    """True: a seat is ours. False: the game has ended, which is shown, or nobody wants to see more of it.

    `eager`: a terminal, whose clock runs. Who types no more goes on watching. Raises WhistError when the table is lost.
    """
    message, taking, entered = HELP, False, False
    typed: asyncio.Future[str | None] | None = asyncio.ensure_future(lines.line())
    changed = asyncio.ensure_future(table.changed(table.version))
    try:
        while table.result is None and table.seat < 0:
            said = Said(message=message, seconds_left=whist.seconds_left(table), connected=whist.connected, hints=False)
            front.table(table, said, typed=entered)
            entered = False
            waiting: set[asyncio.Future[Any]] = {changed} if typed is None else {changed, typed}
            await asyncio.wait(waiting, timeout=TICK_S if eager else None, return_when=asyncio.FIRST_COMPLETED)
            if changed.done():
                changed = asyncio.ensure_future(table.changed(changed.result()))
            if typed is None or not typed.done():
                continue
            line, typed, entered = typed.result(), None, True
            if line is None:
                continue
            if line.lower() in STOPPING:
                return False
            message, taking = await _obey(whist, table, line)
            if not taking:  # else what is typed next is for the seat
                typed = asyncio.ensure_future(lines.line())
    finally:
        left = [task for task in (typed, changed) if task is not None]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
    if table.result is not None:
        front.end(table)
    return table.result is None


async def _obey(whist: Whist, table: Table, line: str) -> tuple[str, bool]:
    """(what to say, whether the seat is ours)."""
    word, _, rest = line.strip().partition(" ")
    seat = number_in(rest) if word.lower() == "take" else None
    if seat is None:
        return HELP, False
    try:
        await whist.friends.take_seat(table.id, seat - 1)
    except WhistError as error:
        return spoken(error), False
    return TAKING, True


def vacant(table: Table) -> int | None:
    """A seat that a newcomer may take over, the first one; None: people hold them all."""
    free = (seat for seat, each in enumerate(table.seats) if each.kind == "bot" or each.left)
    return next(free, None)


async def sit_down(whist: Whist, table: Table, seat: int | None, say: Callable[[str], None]) -> bool:
    """Take a seat of a game in play over, `seat` or the first that may be; True when we sit, also as before.

    Raises WhistError as `FriendsTables.take_seat`.
    """
    if table.seat >= 0:
        return True
    chosen = vacant(table) if seat is None else seat
    if chosen is None:
        say("Every seat is held by a person; `whist watch` follows the game.")
        return False
    name = screen.printable(table.seats[chosen].name) if chosen < len(table.seats) else ""
    await whist.friends.take_seat(table.id, chosen)
    say(f"You play on for {name}.")
    while table.seat < 0:
        await table.changed(table.version)
    return True
