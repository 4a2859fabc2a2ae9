"""The weekly league, the leaderboard of friends' games, and games played offline (P24, P43, P44, P50-P53)."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from libs.chassis.errors import DomainError, Kind
from services.gateway.http import models
from services.gateway.http.bearer import Holder
from services.gateway.http.parts import Parts, PartsOf
from whist.auth.v1 import auth_pb2
from whist.leagues.v1 import leagues_pb2

router = APIRouter(prefix="/v1", tags=["leagues"])

OFFLINE_GAMES = "/v1/offline-games"
RECORD_BYTES_MAX = 200_000

Week = Annotated[str, Query(max_length=20, description="ISO week such as 2026-W48; empty: the one that runs now.")]


class NotText(DomainError):
    """A record is text in UTF-8."""

    kind = Kind.INVALID
    reason = "BAD_RECORD"


@router.get("/leagues/me")
async def league(parts: PartsOf, holder: Holder) -> models.League:
    """Level, form, tier and this week's points."""
    clients = parts.clients
    profile = await clients.leagues.call(
        clients.leagues_stub.Profile, leagues_pb2.ProfileRequest(account_id=holder.account_id)
    )
    standing = await clients.leagues.call(
        clients.leagues_stub.Standing, leagues_pb2.StandingRequest(account_id=holder.account_id)
    )
    return models.League(progress=models.Progress.of(profile), standing=models.Standing.of(standing))


@router.get("/leagues/group")
async def group(parts: PartsOf, holder: Holder, week: Week = "") -> models.LeagueGroup:
    """One's group of a week by rank, as it would close now or as it was closed (P50-P53); empty without a prize."""
    clients = parts.clients
    shown = await clients.leagues.call(
        clients.leagues_stub.Group, leagues_pb2.GroupRequest(account_id=holder.account_id, week_id=week)
    )
    return models.LeagueGroup.of(shown, await _names(parts, (member.account_id for member in shown.members)))


@router.get("/leagues/friends")
async def friends_leaderboard(
    parts: PartsOf, holder: Holder, week: Week = "", limit: Annotated[int, Query(ge=1, le=100)] = 20
) -> models.Leaderboard:
    """The week's leaderboard of friends' games (P24): the first places, and one's own."""
    clients = parts.clients
    shown = await clients.leagues.call(
        clients.leagues_stub.Leaderboard,
        leagues_pb2.LeaderboardRequest(account_id=holder.account_id, week_id=week, limit=limit),
    )
    return models.Leaderboard.of(shown, await _names(parts, (place.account_id for place in shown.places)))


@router.post(
    "/offline-games",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": {"type": "object", "description": "docs/records.md, version 1"}}
            },
        }
    },
)
async def upload_offline_game(request: Request, parts: PartsOf, holder: Holder) -> models.OfflineGame:
    """Have a game that was played offline credited, by its record, of 200 kB at most (P43, P44).

    The record itself is the key: the same game again, however it is written, is answered as the first time.
    """
    try:
        record = (await request.body()).decode()  # as it is: parsing it here would lose what the check must see
    except UnicodeDecodeError:
        raise NotText(problem="NOT_A_RECORD") from None
    clients = parts.clients
    answer = await clients.leagues.call(
        clients.leagues_stub.UploadOffline,
        leagues_pb2.UploadOfflineRequest(account_id=holder.account_id, guest=holder.guest, record_json=record),
    )
    return models.OfflineGame.of(answer)


async def _names(parts: Parts, account_ids: Iterable[bytes]) -> Mapping[bytes, str]:
    """Names of accounts that are there; while auth is away a table without names is better than none."""
    wanted = list(account_ids)
    if not wanted:
        return {}
    clients = parts.clients
    request = auth_pb2.GetAccountsRequest(account_ids=wanted)
    try:
        answer: Any = await clients.auth.call(clients.auth_stub.GetAccounts, request)
    except DomainError as error:
        if error.kind is not Kind.UNAVAILABLE:
            raise
        return {}
    return {account.account_id: account.name for account in answer.accounts}
