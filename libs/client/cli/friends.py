"""A friends' table in the terminal before its deal: who sits, what is said, and the host's word (P20, P21)."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

from libs.client.cli import screen
from libs.client.cli.play import InputEnded, Lines
from libs.client.cli.refusals import spoken
from libs.client.sdk.company import Company
from libs.client.sdk.errors import WhistError
from libs.client.sdk.whist import Whist

HELP: Final = "deal deals (the host), stand leaves the table; all else is said to everybody."
LEAVING: Final = frozenset({"q", "quit", "stand"})


async def wait(whist: Whist, company: Company, lines: Lines, say: Callable[[str], None]) -> bool:
    """Wait with the others: True at the deal, False when we have stood up or the table has closed.

    Raises InputEnded when nobody types any more, and WhistError when the table is lost to us.
    """
    teller = _Teller(say)
    typed = asyncio.ensure_future(lines.line())
    changed = asyncio.ensure_future(company.changed(company.version))
    try:
        while True:
            teller.tell(company)
            if company.table is not None and company.table.stage != "waiting":
                return company.table.stage == "dealt"
            await asyncio.wait({typed, changed}, return_when=asyncio.FIRST_COMPLETED)
            if changed.done():
                changed = asyncio.ensure_future(company.changed(changed.result()))
            if typed.done():
                line = typed.result()
                if line is None:
                    raise InputEnded
                if line.lower() in LEAVING:
                    await whist.friends.stand(company.id)
                    return False
                typed = asyncio.ensure_future(lines.line())
                await _obey(whist, company, line, say)
    finally:
        for task in (typed, changed):
            task.cancel()
        await asyncio.gather(typed, changed, return_exceptions=True)


async def _obey(whist: Whist, company: Company, line: str, say: Callable[[str], None]) -> None:
    try:
        if line.lower() == "deal":
            await whist.friends.deal(company.id)
        elif line in {"", "?"}:
            say(HELP)
        else:
            await company.say(line)
    except WhistError as error:
        say(spoken(error))


class _Teller:
    """Says what is new: the seats when they have changed, and each line of chat once."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._seats = ""
        self._line = 0

    def tell(self, company: Company) -> None:
        """Say what has changed since the last time."""
        if company.table is not None:
            people = (None if seat is None else seat.name for seat in company.table.seats)
            seats = ", ".join("(bot)" if name is None else screen.printable(name) for name in people)
            if seats != self._seats:
                self._seats = seats
                self._say(f"At the table: {seats}")
        for chat in company.lines:
            if chat.line > self._line:
                self._line = chat.line
                self._say(f"{screen.printable(chat.name)}: {screen.printable(chat.words)}")


def listed(table: Mapping[str, Any]) -> str:
    """One row of the table list."""
    names = [screen.printable(seat["name"]) for seat in table["seats"] if seat is not None]
    game = " ".join([table["choices"]["game"], str(table["choices"]["options"].get("mode", ""))]).strip()
    state = "in play" if table["stage"] == "dealt" else f"{len(names)} of {len(table['seats'])} seats taken"
    return f"{table['table']}  {game}, {state}: {', '.join(names)}"
