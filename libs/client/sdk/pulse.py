"""Waking whoever waits for a change, without queueing anything for who does not."""

import asyncio


class Pulse:
    """`beat` wakes every task that is in `wait` now. Check first, then wait: nothing in between can be missed."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def beat(self) -> None:
        self._event.set()
        self._event = asyncio.Event()

    async def wait(self) -> None:
        await self._event.wait()
