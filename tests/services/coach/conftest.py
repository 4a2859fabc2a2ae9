"""The running coach, and real views of real games."""

import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from libs.chassis.events.memory import MemoryBus
from libs.chassis.rpc.peer import Peer
from libs.chassis.run import running
from libs.engine.game import GAMES
from services.coach.settings import CoachSettings
from services.coach.wiring import SPEC
from whist.coach.v1.coach_pb2 import HintRequest, HintResponse
from whist.coach.v1.coach_pb2_grpc import CoachServiceStub

GAME = GAMES["romanian"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coach:
    """The running service, seen from the gateway and from a service that may not ask."""

    gateway: Peer
    stranger: Peer

    async def hint(self, view_json: str, game: str = "romanian") -> HintResponse:
        stub = CoachServiceStub(self.gateway.channel)
        answer: HintResponse = await self.gateway.call(stub.Hint, HintRequest(game=game, view_json=view_json))
        return answer


@asynccontextmanager
async def coach_running(folder: Path, **settings: Any) -> AsyncIterator[Coach]:
    target = f"unix:{folder}/coach.sock"
    async with (
        SPEC.open(CoachSettings(grpc_listen=target, **settings), bus=MemoryBus()) as (chassis, service),
        running(SPEC, chassis, service),
    ):
        gateway, stranger = Peer(target, "gateway"), Peer(target, "tables")
        try:
            yield Coach(gateway=gateway, stranger=stranger)
        finally:
            await gateway.close()
            await stranger.close()


@pytest.fixture(scope="session")
async def coach() -> AsyncIterator[Coach]:
    with tempfile.TemporaryDirectory(prefix="whist-coach-") as folder:
        async with coach_running(Path(folder)) as service:
            yield service


def views(mode: str, players: int, seed: int) -> Iterator[dict[str, Any]]:
    """The view of whoever is to act, decision by decision, in a whole game of any legal moves."""
    rng = Random(seed)
    state = GAME.new(players, {"mode": mode})
    while not GAME.over(state):
        if (draw := GAME.draw(state)) is not None:
            events = GAME.decide_draw(state, rng.sample(range(draw.size), draw.size))
        else:
            seat = GAME.to_act(state)
            assert seat is not None
            yield GAME.view(state, seat)
            events = GAME.decide(state, seat, rng.choice(GAME.legal(state)))
        for event in events:
            state = GAME.evolve(state, event)
