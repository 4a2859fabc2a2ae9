"""Lines that a person types, or a pipe sends, without ever blocking the game."""

import asyncio
import contextlib
import sys
import termios
import threading
from typing import TextIO

LINES_MAX = 1024  # read ahead of the game; a longer script waits in the pipe


class Keyboard:
    """`line` gives the next line, None at the end of input. One reader thread, which ends with the process.

    A thread, and not the event loop: a terminal made non-blocking loses output on the same descriptor, and a plain
    file cannot be watched at all.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdin
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._room = threading.Semaphore(LINES_MAX)
        self._started = False

    async def line(self) -> str | None:
        if not self._started:
            self._started = True
            loop = asyncio.get_running_loop()
            threading.Thread(target=self._read, args=(loop,), name="keyboard", daemon=True).start()
        typed = await self._lines.get()
        self._room.release()
        return None if typed is None else typed.strip()

    def forget(self) -> None:
        """Drop what was typed and not entered yet; nothing to do where the input is no terminal."""
        with contextlib.suppress(OSError, ValueError, termios.error):
            termios.tcflush(self._stream.fileno(), termios.TCIFLUSH)

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        while True:
            self._room.acquire()
            try:
                typed = self._stream.readline() or None
            except (OSError, ValueError):
                typed = None
            try:
                loop.call_soon_threadsafe(self._lines.put_nowait, typed)
            except RuntimeError:
                return  # the game has gone before the input
            if typed is None:
                return
