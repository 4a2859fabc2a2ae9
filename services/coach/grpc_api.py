"""gRPC to handlers and back; translation only."""

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from services.coach import handlers
from services.coach.domain.errors import BadId
from services.coach.domain.games import AccountId, TableId
from services.coach.ports import GamesStore, Thinker
from whist.coach.v1 import coach_pb2 as pb
from whist.coach.v1 import coach_pb2_grpc

_SERVICE = "/whist.coach.v1.CoachService/"
ALLOW = {f"{_SERVICE}{rpc}": frozenset({"gateway"}) for rpc in ("Hint", "Analysis", "Story")}


class CoachApi(coach_pb2_grpc.CoachServiceServicer):
    """Hint, Analysis and Story."""

    def __init__(self, thinker: Thinker, store: GamesStore) -> None:
        self._thinker = thinker
        self._store = store

    async def Hint(self, request: pb.HintRequest, context: Any) -> pb.HintResponse:  # noqa: N802
        del context
        found = await handlers.hint(request.game, request.view_json, thinker=self._thinker)
        return pb.HintResponse(
            turn=found.turn,
            action_json=_text(found.action),
            advice=[
                pb.Advice(action_json=_text(each.action), points=each.points, error=each.error, chance=each.chance)
                for each in found.advice
            ],
        )

    async def Analysis(self, request: pb.AnalysisRequest, context: Any) -> pb.AnalysisResponse:  # noqa: N802
        del context
        table, account = _id("table_id", request.table_id), _id("account_id", request.account_id)
        found = await handlers.analysis(TableId(table), AccountId(account), store=self._store)
        return pb.AnalysisResponse(analysis_json=_text(found))

    async def Story(self, request: pb.StoryRequest, context: Any) -> pb.StoryResponse:  # noqa: N802
        del context
        table, account = _id("table_id", request.table_id), _id("account_id", request.account_id)
        told = await handlers.story(TableId(table), AccountId(account), request.locale, store=self._store)
        return pb.StoryResponse(locale=told.locale, paragraphs=told.paragraphs)


def _id(field: str, raw: bytes) -> UUID:
    if len(raw) != 16:
        raise BadId(field=field, size=len(raw))
    return UUID(bytes=raw)


def _text(plain: Mapping[str, Any]) -> str:
    return json.dumps(plain, separators=(",", ":"))
