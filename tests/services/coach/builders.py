"""The service under test as a process would run it, and finished games as tables tell of them."""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from libs.chassis.db import Store
from libs.chassis.entropy import SystemEntropy
from libs.chassis.events.envelope import Event
from libs.chassis.events.memory import MemoryBus
from libs.chassis.rpc.peer import Peer
from libs.chassis.run import running
from libs.chassis.service import Chassis
from libs.engine import fair
from libs.engine.game import GAMES
from libs.engine.protocol import Action, Seat, View
from libs.engine.record.model import By, Move, Record
from libs.engine.record.plain import to_json
from libs.engine.replay import fold, make_draws
from services.coach.settings import CoachSettings
from services.coach.storage.games import CoachTransaction
from services.coach.wiring import SPEC
from tests.services.envelopes import enveloped
from whist.coach.v1.coach_pb2 import AnalysisRequest, HintRequest, HintResponse, StoryRequest, StoryResponse
from whist.coach.v1.coach_pb2_grpc import CoachServiceStub
from whist.coach.v1.events_pb2 import CoachEvent, GameAnalysed
from whist.tables.v1 import tables_pb2
from whist.tables.v1.events_pb2 import GameFinished, GameVoided, SeatResult, TablesEvent
from whist.tables.v1.events_pb2 import Seat as TableSeat
from whist.types.v1.types_pb2 import MODE_CLASSIC, MODE_QUICK, MODE_UNSPECIFIED

ENTROPY = SystemEntropy()
SAMPLES = 100
TABLES = "whist.tables.events.v1"
START_MS = 1_790_000_000_000
MOVE_MS = 1000  # between two moves
MODES = {"quick": MODE_QUICK, "8-1-8": MODE_CLASSIC}
KINDS = {
    "quick": tables_pb2.TABLE_KIND_QUICK,
    "friends": tables_pb2.TABLE_KIND_FRIENDS,
    "bench": tables_pb2.TABLE_KIND_BENCH,
}

Player = Callable[[Seat, View], Action]


def new_id() -> UUID:
    return ENTROPY.uuid7()


def dice(seed: int) -> Player:
    """Any legal move."""
    rng = Random(seed)

    def choose(_: Seat, view: View) -> Action:
        action: Action = rng.choice(view["legal"])
        return action

    return choose


def played(
    people: Mapping[Seat, UUID], *, players: int = 6, game: str = "romanian", options: Mapping[str, Any] | None = None,
    seed: int = 1, player: Player | None = None, by: Callable[[int, Seat], By] | None = None, **about: Any,
) -> Record:  # fmt: skip
    """A finished game, a move a second. `by` says who makes the move of that number; else people do on their seats."""
    rules, secret = GAMES[game], seed.to_bytes(32, "big")
    decide = player or dice(seed)
    chosen = {"mode": "quick"} if options is None else options
    moves: list[Move] = []
    state, _ = make_draws(rules, rules.new(players, chosen), secret)
    while (seat := rules.to_act(state)) is not None:
        action = decide(seat, rules.view(state, seat))
        who = by(len(moves), seat) if by else By.PERSON if seat in people else By.BOT
        moves.append(Move(seat=seat, action=action, by=who, at_ms=START_MS + MOVE_MS * len(moves)))
        state, _ = make_draws(rules, fold(rules, state, rules.decide(state, seat, action)), secret)
    seats = [{"account": people[seat].hex if seat in people else None, "room": 1} for seat in range(players)]
    return Record(
        game=game,
        rules_version=rules.rules_version,
        players=players,
        options=chosen,
        commitment=fair.commitment(secret),
        secret=secret,
        moves=tuple(moves),
        table={"seats": seats, "left": [], "pauses": [], **about},
    )


def finished(
    record: Record | str, people: Mapping[Seat, UUID], *, table_id: UUID | None = None, kind: str = "quick",
    hints: Sequence[Seat] = (), game: str = "romanian", mode: str = "quick", guests: Sequence[Seat] = (),
    players: int = 6,
) -> Event:  # fmt: skip
    """The event that tells of it; people of friends' tables hold hints, others those of the seats named."""
    table = table_id or new_id()
    event = TablesEvent(
        event_id=new_id().bytes,
        game_finished=GameFinished(
            table_id=table.bytes,
            kind=KINDS[kind],
            mode=MODES[mode] if kind == "quick" else MODE_UNSPECIFIED,
            game=game,
            week_id="2026-W48",
            day_id="2026-11-29",
            record_json=record if isinstance(record, str) else json.dumps(to_json(record)),
            seats=[
                SeatResult(
                    seat=TableSeat(
                        seat=seat,
                        account_id=people[seat].bytes if seat in people else b"",
                        hints=seat in people and (kind == "friends" or seat in hints),
                        guest=seat in guests,
                    ),
                    place=seat + 1,
                )
                for seat in range(players)
            ],
        ),
    )
    return enveloped(TABLES, table.bytes, event)


def voided(table_id: UUID, *, had_finished: bool = True) -> Event:
    undone = GameVoided(table_id=table_id.bytes, reason="operator", had_finished=had_finished)
    return enveloped(TABLES, table_id.bytes, TablesEvent(event_id=new_id().bytes, game_voided=undone))


def again(event: Event) -> Event:
    """The same fact under another id."""
    message = TablesEvent.FromString(event.payload)
    message.event_id = new_id().bytes
    return replace(event, event_id=UUID(bytes=message.event_id), payload=message.SerializeToString())


@dataclass(frozen=True, slots=True, kw_only=True)
class Coach:
    """The running service, seen from the gateway and from a service that may not ask."""

    chassis: Chassis[CoachSettings]
    bus: MemoryBus
    gateway: Peer
    stranger: Peer

    @property
    def store(self) -> Store[CoachTransaction]:
        return self.chassis.store(CoachTransaction)

    async def hint(self, view_json: str, game: str = "romanian") -> HintResponse:
        stub = CoachServiceStub(self.gateway.channel)
        answer: HintResponse = await self.gateway.call(stub.Hint, HintRequest(game=game, view_json=view_json))
        return answer

    async def analysis(self, table: UUID | bytes, account: UUID | bytes) -> dict[str, Any]:
        request = AnalysisRequest(table_id=_raw(table), account_id=_raw(account))
        answer = await self.gateway.call(CoachServiceStub(self.gateway.channel).Analysis, request)
        found: dict[str, Any] = json.loads(answer.analysis_json)
        return found

    async def story(self, table: UUID, account: UUID, locale: str = "en") -> StoryResponse:
        request = StoryRequest(table_id=table.bytes, account_id=account.bytes, locale=locale)
        answer: StoryResponse = await self.gateway.call(CoachServiceStub(self.gateway.channel).Story, request)
        return answer

    async def published(self, table: UUID) -> list[GameAnalysed]:
        """Every GameAnalysed of the table."""
        rows = await self.rows("select payload from coach.event where key = :key order by event_id", key=table.bytes)
        return [CoachEvent.FromString(bytes(row.payload)).game_analysed for row in rows]

    async def rows(self, query: str, **values: object) -> list[sa.Row]:  # type: ignore[type-arg]
        async with self.chassis.database.begin() as connection:
            found = await connection.execute(sa.text(query), values)
            return list(found.all()) if found.returns_rows else []


def _raw(some: UUID | bytes) -> bytes:
    return some.bytes if isinstance(some, UUID) else some


@asynccontextmanager
async def coach_running(url: str, folder: Path, **settings: Any) -> AsyncIterator[Coach]:
    """Its own job runs only where `analysis_check_seconds` is given: else tests analyse what they have told it."""
    target = f"unix:{folder}/coach.sock"
    chosen = {"analysis_samples": SAMPLES} | settings
    bus = MemoryBus()
    async with (
        SPEC.open(CoachSettings(database_url=url, grpc_listen=target, **chosen), bus=bus) as (chassis, service),
        running(SPEC, chassis, service if "analysis_check_seconds" in settings else replace(service, jobs=())),
    ):
        gateway, stranger = Peer(target, "gateway"), Peer(target, "tables")
        try:
            yield Coach(chassis=chassis, bus=bus, gateway=gateway, stranger=stranger)
        finally:
            await gateway.close()
            await stranger.close()
