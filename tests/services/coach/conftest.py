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


def views(mode: str, players: int, seed: int, **options: Any) -> Iterator[dict[str, Any]]:
    """`decisions` of Romanian Whist."""
    return decisions("romanian", players, {"mode": mode, **options}, seed)


def decisions(name: str, players: int, options: dict[str, Any], seed: int) -> Iterator[dict[str, Any]]:
    """The view of whoever is to act, decision by decision, in a whole game of any legal moves."""
    game, rng = GAMES[name], Random(seed)
    state = game.new(players, options)
    while not game.over(state):
        if (draw := game.draw(state)) is not None:
            events = game.decide_draw(state, rng.sample(range(draw.size), draw.size))
        else:
            seat = game.to_act(state)
            assert seat is not None
            yield game.view(state, seat)
            events = game.decide(state, seat, rng.choice(game.legal(state)))
        for event in events:
            state = game.evolve(state, event)
