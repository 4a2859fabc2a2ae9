"""Finished games, for those who played them: the record (P72), and what the coach makes of it (P61, P62)."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from services.gateway.http import models
from services.gateway.http.bearer import Holder
from services.gateway.http.parts import PartsOf
from whist.coach.v1 import coach_pb2
from whist.tables.v1 import tables_pb2

router = APIRouter(prefix="/v1/games", tags=["games"])

TableId = Annotated[models.Id, Path()]
# BCP 47, as far as the stories' languages and what falls back to them need it.
Locale = Annotated[str, Query(pattern="^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$", max_length=35)]


@router.get("/{table_id}", response_class=Response, responses={200: {"content": {"application/json": {}}}})
async def game(parts: PartsOf, holder: Holder, table_id: TableId) -> Response:
    """The record of a finished game, for those who played it (P72)."""
    answer = await parts.clients.tables.call(
        parts.clients.tables_stub.Record,
        tables_pb2.RecordRequest(table_id=bytes.fromhex(table_id), account_id=holder.account_id),
    )
    return Response(answer.record_json, media_type="application/json")


@router.get("/{table_id}/analysis")
async def analysis(parts: PartsOf, holder: Holder, table_id: TableId) -> models.Analysis:
    """One's own decisions in a finished game: what was best, what each cost, the grade (P61).

    ANALYSIS_UNKNOWN (no such finished game, or not one's own), ANALYSIS_NOT_OFFERED (a quick or classic game that was
    dealt on none of one's VIP days), ANALYSIS_NOT_YET (ask again in a second).
    """
    clients = parts.clients
    request = coach_pb2.AnalysisRequest(table_id=bytes.fromhex(table_id), account_id=holder.account_id)
    return models.Analysis.of(await clients.coach.call(clients.coach_stub.Analysis, request))


@router.get("/{table_id}/story")
async def story(parts: PartsOf, holder: Holder, table_id: TableId, locale: Locale = "en") -> models.Story:
    """The game in a few paragraphs, in English, Romanian or Chinese; other languages are told in English (P62).

    Refused as the analysis is.
    """
    clients = parts.clients
    request = coach_pb2.StoryRequest(table_id=bytes.fromhex(table_id), account_id=holder.account_id, locale=locale)
    return models.Story.of(await clients.coach.call(clients.coach_stub.Story, request))
