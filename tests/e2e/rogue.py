"""A client that keeps to no rule: raw frames on sockets of its own, with whatever token, beside an honest client."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import httpx
from websockets.asyncio.client import ClientConnection, connect

from libs.client import Whist
from libs.engine.cards import CARD_BY_TEXT
from libs.wire import frames

HEARS_SECONDS = 10
F = TypeVar("F")


class Rogue:
    """One socket after its Hello."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def say(self, frame: Any) -> None:
        await self.socket.send(frames.encode(frame).decode())

    async def hear(self, kind: type[F], **wanted: object) -> F:
        """The next frame of that kind with these fields; what comes before is for others to look at."""
        async with asyncio.timeout(HEARS_SECONDS):
            while True:
                frame = frames.decode_server.decode(await self.socket.recv())
                if isinstance(frame, kind) and all(getattr(frame, name) == value for name, value in wanted.items()):
                    return frame

    async def answer(self, req: str) -> frames.Delta | frames.Ack | frames.Error:
        """What the command `req` is answered with."""
        async with asyncio.timeout(HEARS_SECONDS):
            while True:
                frame = frames.decode_server.decode(await self.socket.recv())
                if isinstance(frame, (frames.Delta, frames.Ack, frames.Error)) and frame.req == req:
                    return frame

    async def join(self, table: str) -> frames.Snapshot:
        await self.say(frames.Join(table=table))
        return await self.hear(frames.Snapshot, table=table)

    async def act(self, table: str, req: str, turn: int, action: dict[str, Any]) -> None:
        await self.say(frames.Act(table=table, req=req, turn=turn, action=action))

    async def closed(self) -> int:
        """The close code, after everything that comes before it."""
        async with asyncio.timeout(HEARS_SECONDS):
            await self.socket.wait_closed()
        assert self.socket.close_code is not None
        return self.socket.close_code


@asynccontextmanager
async def rogue(url: str, token: str) -> AsyncIterator[Rogue]:
    """A socket that said a good Hello; `url` is the product's."""
    async with connect(await socket_url(url), compression=None, max_queue=None) as socket:
        each = Rogue(socket)
        await each.say(frames.Hello(token=token))
        await each.hear(frames.Welcome)
        yield each


async def socket_url(url: str) -> str:
    async with httpx.AsyncClient() as client:
        return str((await client.get(f"{url}/v1/config")).json()["socket_url"])


async def bearer(whist: Whist) -> dict[str, str]:
    """The header of requests in this account's name."""
    return {"Authorization": f"Bearer {await whist._session.access_token()}"}


def illegal(view: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the seat to act may not do now, with the reason it must be refused for."""
    for nonsense in ({}, {"bid": 1.5}, {"bid": True}, {"bid": "1"}, {"bid": None}, {"play": "1Z"}, {"play": 7},
                     {"bid": 0, "play": "QH"}, {"pass": 1}):  # fmt: skip
        yield "BAD_ACTION", nonsense
    hand = set(view["hand"])
    if view["phase"] == "bid":
        yield "NOT_PLAYING", {"play": view["hand"][0]}
        for bid in (-1, view["cards"] + 1, 2**53, -(2**63), 2**64 - 1):
            yield "BID_OUT_OF_RANGE", {"bid": bid}
        if view["barred"] is not None:
            yield "BID_BARRED", {"bid": view["barred"]}
        return
    yield "NOT_BIDDING", {"bid": 0}
    yield "CARD_NOT_HELD", {"play": next(card for card in CARD_BY_TEXT if card not in hand)}
    legal = {action["play"] for action in view["legal"]}
    lead = view["trick"]["lead"]
    led = view["trick"]["cards"][lead][1] if lead is not None and view["trick"]["cards"][lead] else ""
    follows = led and any(card[1] == led for card in hand)
    for card in sorted(hand - legal)[:1]:
        yield ("MUST_FOLLOW_SUIT" if follows else "MUST_TRUMP"), {"play": card}
