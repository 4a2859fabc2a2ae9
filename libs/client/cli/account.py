"""One's own account at the terminal: a name, devices, a copy of everything (P41, P42, P45)."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from libs.client.cli import screen
from libs.client.cli.keyboard import Keyboard

CODE: Final = re.compile("[0-9]{8}")  # P40
AGREED: Final = frozenset({"y", "yes", "d", "da"})


def code_asker(keyboard: Keyboard, email: str, say: Callable[[str], None]) -> Callable[[], Awaitable[str]]:
    """Asks for the code that was sent there; empty when nobody types any more."""
    asked = False

    async def ask() -> str:
        nonlocal asked
        say("That was not the code. Try again:" if asked else f"The code that was sent to {email}:")
        asked = True
        while typed := "".join((await keyboard.line() or "").split()):
            if CODE.fullmatch(typed):
                return typed
            say("A code has 8 digits. Try again:")  # no try is lost: it need not be asked for
        return ""

    return ask


def drop_asker(keyboard: Keyboard, say: Callable[[str], None]) -> Callable[[], Awaitable[bool]]:
    """Asks whether the guest that played here may be lost for the account that there is (P42)."""

    async def ask() -> bool:
        say("This address has its account already. What you have won here as a guest would be lost. Go on? (y/n)")
        return (await keyboard.line() or "").lower() in AGREED

    return ask


def claimed(answer: Mapping[str, Any]) -> str:
    """What a claim came to."""
    name = screen.printable(answer["account"]["name"])
    return f"You are {name} ✓; the next change is free on {str(answer['next_change_at'])[:10]}."


def devices(sessions: Sequence[Mapping[str, Any]]) -> str:
    """A line a device."""
    return "\n".join(
        f"{each['session_id']}  last used {str(each['used_at'])[:16]}  "
        f"{screen.printable(each['device'] or 'unnamed')}{' (this one)' if each['current'] else ''}"
        for each in sessions
    )
