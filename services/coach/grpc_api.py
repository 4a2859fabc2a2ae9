"""gRPC to handlers and back; translation only."""

import json
from collections.abc import Mapping
from typing import Any

from services.coach import handlers
from services.coach.ports import Thinker
from whist.coach.v1 import coach_pb2 as pb
from whist.coach.v1 import coach_pb2_grpc

ALLOW = {"/whist.coach.v1.CoachService/Hint": frozenset({"gateway"})}


class CoachApi(coach_pb2_grpc.CoachServiceServicer):
    """Hint."""

    def __init__(self, thinker: Thinker) -> None:
        self._thinker = thinker

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


def _text(action: Mapping[str, Any]) -> str:
    return json.dumps(action, separators=(",", ":"))
