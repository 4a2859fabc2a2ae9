"""Waiting at a friends' table in the terminal: what is told, what a word does (P20, P21)."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from libs.client.cli import friends
from libs.client.cli.play import InputEnded
from libs.client.sdk.api import Api
from libs.client.sdk.backoff import Backoff
from libs.client.sdk.company import Company
from libs.client.sdk.session import MemoryStore, Session
from libs.client.sdk.whist import Whist
from libs.wire import frames
from tests.client.test_company import CHOICES, TABLE, chat, waiting

REFUSED = {"type": "about:blank", "title": "Forbidden", "status": 403, "code": "NOT_HOST", "request_id": "r"}
LIFE = {"access_token": "a", "access_expires_at": "2099-01-01T00:00:00Z", "refresh_token": "r"}


class Typed:
    """Lines as a person enters them."""

    def __init__(self) -> None:
        self.lines: asyncio.Queue[str | None] = asyncio.Queue()

    async def line(self) -> str | None:
        return await self.lines.get()


class Room:
    """A server's routes for friends' tables, a company, and somebody at the keyboard."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.posted: list[Any] = []
        self.said: list[str] = []
        self.typed = Typed()
        self.company = Company(TABLE, self.post)
        self.refuses = False

    def post(self, frame: frames.ClientFrame) -> None:
        """Every line of chat is taken at once."""
        self.posted.append(frame)
        if isinstance(frame, frames.Say):
            number, ack = len(self.posted), frames.Ack(table=TABLE, req=frame.req, seq=len(self.posted))
            asyncio.get_running_loop().call_soon(self.company.receive, ack)
            asyncio.get_running_loop().call_soon(self.company.receive, chat(number, frame.words))

    def answer(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/guests":
            account = {"account_id": "a" * 32, "name": "Ana", "guest": True}
            return httpx.Response(201, json={"tokens": LIFE, "account": account})
        self.asked.append(f"{request.method} {request.url.path.rpartition('/')[2]}")
        if self.refuses:
            return httpx.Response(403, json=REFUSED)
        return httpx.Response(200, json={"table": TABLE})


@pytest.fixture
async def room() -> Room:
    return Room()


@pytest.fixture
async def whist(room: Room) -> AsyncIterator[Whist]:
    async with httpx.AsyncClient(transport=httpx.MockTransport(room.answer)) as http:
        api = Api("http://here", http, Backoff())
        session = Session(api, MemoryStore())
        await session.become_guest()
        yield Whist(api, session, Backoff())


async def test_people_and_chat_are_told_once_and_the_deal_ends_the_wait(room: Room, whist: Whist) -> None:
    waits = asyncio.create_task(friends.wait(whist, room.company, room.typed, room.said.append))
    room.company.receive(waiting())
    room.company.receive(chat(3, "Salut \x1b[2J"))
    room.typed.lines.put_nowait("hello there")
    room.typed.lines.put_nowait("?")
    async with asyncio.timeout(5):
        while friends.HELP not in room.said:
            await room.company.changed(room.company.version) if not room.posted else await asyncio.sleep(0)
    room.company.receive(waiting("dealt", 2))
    assert await waits is True
    assert room.said.count("At the table: (bot), (bot), (bot), (bot)") == 1
    assert [line for line in room.said if line.startswith("Ana: Salut")] == [room.said[1]] and "\x1b" not in room.said[
        1
    ]
    assert [frame.words for frame in room.posted] == ["hello there"] and not room.asked


@pytest.mark.parametrize(("word", "asked"), [("stand", "POST stand"), ("q", "POST stand")])
async def test_who_stands_up_has_left(room: Room, whist: Whist, word: str, asked: str) -> None:
    room.company.receive(waiting())
    room.typed.lines.put_nowait(word)
    assert await friends.wait(whist, room.company, room.typed, room.said.append) is False
    assert room.asked == [asked]


async def test_a_refused_deal_is_said_and_the_wait_goes_on_until_the_table_closes(room: Room, whist: Whist) -> None:
    room.refuses = True
    waits = asyncio.create_task(friends.wait(whist, room.company, room.typed, room.said.append))
    room.typed.lines.put_nowait("Deal")
    async with asyncio.timeout(5):
        while not any("Only the host may do that." in line for line in room.said):
            await asyncio.sleep(0)
    assert room.asked == ["POST deal"]
    room.company.receive(waiting("closed", 2))
    assert await waits is False


async def test_the_end_of_the_input_ends_the_wait(room: Room, whist: Whist) -> None:
    room.typed.lines.put_nowait(None)
    with pytest.raises(InputEnded):
        await friends.wait(whist, room.company, room.typed, room.said.append)


def test_a_row_of_the_list_says_what_is_played_and_by_whom() -> None:
    seats = [{"account": "a" * 32, "name": "Ana\x1b", "guest": False}, None]
    choices = {"game": CHOICES.game, "options": {"mode": "8-1-8"}}
    row = friends.listed({"table": TABLE, "stage": "waiting", "choices": choices, "seats": seats})
    assert row.startswith(f"{TABLE}  romanian 8-1-8, 1 of 2 seats taken: Ana") and "\x1b" not in row
    assert "in play" in friends.listed({"table": TABLE, "stage": "dealt", "choices": choices, "seats": seats})
