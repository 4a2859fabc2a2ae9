"""H1 (P71) at the socket and in REST: the real gateway before a real worker and the real coach, every game.

Two houses hold one table each whose deals the observer cannot tell apart. What comes over the observer's socket and
what REST answers (the table, the hint, the record while the game runs, the list) is compared byte by byte.
"""

import re
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from libs.engine import fair
from libs.wire import frames
from services.coach.wiring import MIGRATIONS as COACH_MIGRATIONS
from tests.conftest import MakeDatabase
from tests.engine.family import Table, name_of
from tests.services.coach.builders import coach_running
from tests.services.gateway.world import Player, Stage, staged
from tests.services.tables.conftest import Cluster, clustered
from tests.services.tables.test_secrecy import ACCOUNTS, STRANGER, TABLES, Pair, World, pair, plant

# What the clock alone decides.
TIMES = re.compile(rb'"(deadline|now|token_expires)":\d+')
SAMPLES = 10
MOVES_MAX = 8  # of the common game; how long games are told the same is tested without sockets


@dataclass(frozen=True)
class House:
    """A worker with its gateway."""

    cluster: Cluster
    stage: Stage


@pytest.fixture(scope="module")
async def houses(make_database: MakeDatabase) -> AsyncIterator[list[House]]:
    """Two with nothing in common but the coach, so that a table can stand in both under one id."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wg-")))
        database = await make_database(COACH_MIGRATIONS)
        await stack.enter_async_context(coach_running(database, folder, hint_samples=SAMPLES))
        made = []
        for name in ("one", "other"):
            cluster = await stack.enter_async_context(clustered(make_database))
            worker = await stack.enter_async_context(cluster.worker())
            place = folder / name
            place.mkdir()
            stage = await stack.enter_async_context(
                staged(place, tables_target=worker.address, coach_target=f"unix:{folder}/coach.sock", socket_rate=0)
            )
            made.append(House(cluster, stage))
        yield made


class Told:
    """All that one account hears, as bytes, over its socket and from REST."""

    def __init__(self, player: Player, client: httpx.AsyncClient, headers: dict[str, str], table: str) -> None:
        self.player, self.client, self.headers, self.table = player, client, headers, table
        self.heard: list[bytes] = []
        self.answers: list[tuple[str, int, bytes]] = []

    async def until(self, kind: type[Any], **wanted: object) -> None:
        """Hear everything up to a frame like this."""
        while True:
            raw = await self.player.socket.recv()
            payload = raw if isinstance(raw, bytes) else raw.encode()
            self.heard.append(TIMES.sub(rb'"\1":0', payload))
            frame = frames.decode_server.decode(payload)
            if isinstance(frame, kind) and all(getattr(frame, name) == value for name, value in wanted.items()):
                return

    async def ask(self) -> None:
        for method, path in (
            ("GET", f"/v1/tables/{self.table}"),
            ("POST", f"/v1/tables/{self.table}/hint"),
            ("GET", f"/v1/games/{self.table}"),
            ("GET", f"/v1/games/{self.table}/analysis"),
            ("GET", f"/v1/games/{self.table}/story"),
            ("GET", "/v1/friends-tables"),
            ("GET", f"/v1/friends-tables/{self.table}"),
        ):
            answer = await self.client.request(method, path, headers=self.headers)
            body = re.sub(rb'"request_id":"\w+"', b"", answer.content)
            self.answers.append((f"{method} {path}", answer.status_code, body))


async def watched(house: House, world: World, both: Pair) -> tuple[Told, Told]:
    """(the observer, a stranger) after the whole common game, with the observer's mischief before each move."""
    await plant(house.cluster, world)
    table, game, state = world.table_id.hex, both.game, world.dealt
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(httpx.AsyncClient(base_url=house.stage.http_url))

        async def sit(account: bytes) -> Told:
            token = house.stage.world.keys.token(UUID(bytes=account))
            player = await stack.enter_async_context(house.stage.player(UUID(bytes=account)))
            told = Told(player, client, {"Authorization": f"Bearer {token}"}, table)
            await player.say(frames.Join(table=table))
            return told

        seats = [await sit(ACCOUNTS[seat]) for seat in range(both.table[1])]
        stranger, observer = await sit(STRANGER), seats[both.observer]
        for told in seats:
            await told.until(frames.Snapshot)
        for number, (seat, action) in enumerate(both.moves[:MOVES_MAX]):
            turn = game.turn(state)
            tries: list[tuple[Told, dict[str, Any]]] = [
                (observer, {"play": "??"}), (observer, {"bid": 99}), (stranger, {"play": "AS"}),
            ]  # fmt: skip
            for at, (told, wrong) in enumerate(tries):
                req = f"x{number}-{at}"
                await told.player.act(req, table=table, turn=turn, **wrong)
                await told.until(frames.Error, req=req)
            if seat == both.observer or number == 0:
                await observer.ask()
                await stranger.ask()
            await seats[seat].player.act(f"m{number}", table=table, turn=turn, **action)
            await observer.until(frames.Delta, req=f"m{number}")
            if seat != both.observer:
                await seats[seat].until(frames.Delta, req=f"m{number}")
            for event in game.decide(state, seat, action):
                state = game.evolve(state, event)
        for told in (observer, stranger):
            await told.player.say(frames.Join(table=table))
            await told.player.say(frames.Ping(n=9))
            await told.until(frames.Pong, n=9)
        return observer, stranger


@pytest.mark.parametrize("table", TABLES, ids=name_of)
async def test_h1_socket_and_rest_tell_an_observer_the_same_whatever_is_hidden(
    houses: list[House], table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = pair(5, table)
    seen = []
    for house, world in zip(houses, (both.one, both.other), strict=True):
        monkeypatch.setattr(fair, "permutation", world.permutation)
        seen.append(await watched(house, world, both))
    for mine, theirs in zip(*seen, strict=True):
        assert mine.heard == theirs.heard
        assert mine.answers == theirs.answers
    (observer, stranger), _ = seen
    assert b'"hand"' in b"".join(observer.heard) and b'"t":"private"' not in b"".join(stranger.heard)
    assert {status for path, status, _ in observer.answers if path.startswith("GET /v1/tables")} == {200}
    games = {
        (path.endswith(("/analysis", "/story")), status, b"GAME_RUNNING" in body, b"ANALYSIS_UNKNOWN" in body)
        for path, status, body in observer.answers
        if "/v1/games" in path
    }
    assert games == {(False, 409, True, False), (True, 404, False, True)}
    assert any(status == 200 for path, status, _ in observer.answers if path.endswith("/hint"))
