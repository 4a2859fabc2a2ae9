"""How a command runs: as whom, what it says where, and how it ends."""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any

import typer

from libs.client.cli import account, screen
from libs.client.cli.analysis import CannotJudge
from libs.client.cli.keyboard import Keyboard
from libs.client.cli.offline.game import GameLeft
from libs.client.cli.play import InputEnded
from libs.client.cli.records.file import CannotWrite
from libs.client.cli.records.replay import NoSuchRound
from libs.client.cli.records.source import Unreadable
from libs.client.cli.refusals import refused
from libs.client.cli.verify import CheckFailed
from libs.client.sdk.errors import WhistError
from libs.client.sdk.session import FileStore
from libs.client.sdk.whist import Whist
from libs.engine.record.flaws import BadRecord

INTERRUPTED = 130  # as a shell says of SIGINT


def run(asked: Coroutine[Any, Any, None]) -> None:
    guarded(lambda: asyncio.run(asked))


def guarded(command: Callable[[], None]) -> None:
    """Run one command; whatever a server, a line or a file can do wrong ends in one clear line."""
    try:
        command()
    except WhistError as error:
        say(f"whist: {refused(error)}")
        raise typer.Exit(1) from None
    except (CheckFailed, CannotWrite, Unreadable, NoSuchRound, CannotJudge) as error:
        say(f"whist: {error}")
        raise typer.Exit(1) from None
    except BadRecord as flaw:
        say(f"whist: {screen.printable(str(flaw))} ({flaw.reason})")
        raise typer.Exit(1) from None
    except GameLeft as left:
        say(("\n" if sys.stdout.isatty() else "") + f"whist: {left}")  # a terminal's cursor stands behind the prompt
        raise typer.Exit(1) from None
    except InputEnded:
        say("whist: the input has ended before the game; a bot holds your seat, and `whist play` takes it back")
        raise typer.Exit(1) from None
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # whoever read us has gone: nothing to flush to
        raise typer.Exit(1) from None
    except OSError as fault:  # a disk without room, a terminal that has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        say(f"whist: {fault.strerror or fault}")
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        say("")
        raise typer.Exit(INTERRUPTED) from None


def signed_in(url: str, keyboard: Keyboard, email: str, role: str = "player") -> AbstractAsyncContextManager[Whist]:
    """Whoever played here last, or the account of an address after its code; a guest may become it (P42)."""
    return Whist.connect(
        url,
        store=FileStore(url, role),
        email=email,
        ask_code=account.code_asker(keyboard, email, say),
        ask_drop=account.drop_asker(keyboard, say),
    )


def write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
