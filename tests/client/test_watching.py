"""A friends' game without a seat in the terminal: what is shown, how a seat is taken over (P22)."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from libs.client.cli import watching
from libs.client.cli.play import ScreenFront
from libs.client.sdk.api import Api
from libs.client.sdk.backoff import Backoff
from libs.client.sdk.session import MemoryStore, Session
from libs.client.sdk.table import Table
from libs.client.sdk.whist import Whist
from libs.engine.game import GAMES
from libs.engine.replay import make_draws
from libs.wire import frames
from tests.client.server import SECRET, TABLE
from tests.client.test_friends import LIFE, Typed

GERMAN = GAMES["german"]
TAKEN = {"type": "about:blank", "title": "Conflict", "status": 409, "code": "SEAT_TAKEN", "request_id": "r"}


def snapshot(seat: int, *, left: bool = False) -> frames.Snapshot:
    state, _ = make_draws(GERMAN, GERMAN.new(2, {}), SECRET)
    seats = [
        frames.SeatInfo(name="Ana", kind="person", verified=True, holder="person"),
        frames.SeatInfo(name="Radu\x1b", kind="person", verified=True, holder="bot" if left else "person", left=left),
    ]
    return frames.Snapshot(
        table=TABLE, seq=1, epoch=1, seat=seat, game="german", view=GERMAN.view(state, None if seat < 0 else seat),
        seats=seats, deadline=0, commitment="",
    )  # fmt: skip


class Gallery:
    """A table that is watched, its server's answer to whoever sits down, and what was shown."""

    def __init__(self) -> None:
        self.table = Table(TABLE, lambda _: None)
        self.typed = Typed()
        self.shown: list[str] = []
        self.asked: list[Any] = []
        self.refuses = False

    def answer(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/guests":
            account = {"account_id": "a" * 32, "name": "Zoe", "guest": True}
            return httpx.Response(201, json={"tokens": LIFE, "account": account})
        self.asked.append((request.url.path.rpartition("/")[2], request.content))
        if self.refuses:
            return httpx.Response(409, json=TAKEN)
        asyncio.get_running_loop().call_soon(self.table.receive, snapshot(1))
        return httpx.Response(200, json={"seq": 7})

    def front(self, *, terminal: bool) -> ScreenFront:
        return ScreenFront(self.shown.append, terminal=terminal)

    async def until(self, text: str) -> None:
        async with asyncio.timeout(5):
            while not any(text in each for each in self.shown):
                await asyncio.sleep(0)


@pytest.fixture
async def gallery() -> Gallery:
    made = Gallery()
    made.table.receive(snapshot(-1, left=True))
    return made


@pytest.fixture
async def whist(gallery: Gallery) -> AsyncIterator[Whist]:
    async with httpx.AsyncClient(transport=httpx.MockTransport(gallery.answer)) as http:
        api = Api("http://here", http, Backoff())
        session = Session(api, MemoryStore())
        await session.become_guest()
        yield Whist(api, session, Backoff())


async def test_p22_a_game_is_shown_without_a_hand_until_a_seat_is_taken_over(gallery: Gallery, whist: Whist) -> None:
    watched = asyncio.create_task(
        watching.watch(whist, gallery.table, gallery.typed, gallery.front(terminal=True), eager=True)
    )
    await gallery.until("You are watching")
    assert "Radu? ✓ (left)" in gallery.shown[0] and "Your hand" not in gallery.shown[0]
    gallery.typed.lines.put_nowait("what now")
    await gallery.until(watching.HELP)
    gallery.refuses = True
    gallery.typed.lines.put_nowait("take 1")
    await gallery.until("Somebody else holds that seat.")
    gallery.refuses = False
    gallery.typed.lines.put_nowait("TAKE 2")
    gallery.typed.lines.put_nowait("1")  # for the seat, not for who watches
    assert await watched is True
    assert gallery.asked == [("take-seat", b'{"seat":0}'), ("take-seat", b'{"seat":1}')]
    assert await gallery.typed.line() == "1"


async def test_p22_a_pipe_shows_each_trick_and_the_end_of_its_input_is_not_the_games(
    gallery: Gallery, whist: Whist
) -> None:
    watched = asyncio.create_task(
        watching.watch(whist, gallery.table, gallery.typed, gallery.front(terminal=False), eager=False)
    )
    gallery.typed.lines.put_nowait(None)
    await gallery.until("You are watching")
    for holder in ("person", "bot", "person"):
        gallery.table.receive(frames.Presence(table=TABLE, seat=0, holder=holder, left=False))
    gallery.table.receive(frames.Over(table=TABLE, seq=1, epoch=1, status="voided", secret=""))
    assert await watched is False
    assert sum("You are watching" in each for each in gallery.shown) == 1
    assert "called off" in gallery.shown[-1]


async def test_who_watches_stops_when_they_like(gallery: Gallery, whist: Whist) -> None:
    gallery.typed.lines.put_nowait("q")
    front = gallery.front(terminal=True)
    assert await watching.watch(whist, gallery.table, gallery.typed, front, eager=True) is False
    assert not gallery.asked


async def test_p22_sitting_down_in_a_game_takes_the_first_seat_that_no_person_holds(
    gallery: Gallery, whist: Whist
) -> None:
    said: list[str] = []
    assert await watching.sit_down(whist, gallery.table, None, said.append) is True
    assert gallery.asked == [("take-seat", b'{"seat":1}')] and said == ["You play on for Radu?."]
    assert await watching.sit_down(whist, gallery.table, None, said.append) is True and len(gallery.asked) == 1


async def test_p22_where_people_hold_every_seat_nothing_is_asked(gallery: Gallery, whist: Whist) -> None:
    full = Table(TABLE, lambda _: None)
    full.receive(snapshot(-1))
    said: list[str] = []
    assert await watching.sit_down(whist, full, None, said.append) is False
    assert not gallery.asked and "whist watch" in said[0]
