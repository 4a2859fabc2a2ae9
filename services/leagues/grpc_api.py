"""gRPC to handlers and back; translation only."""

from typing import Any
from uuid import UUID

from libs.house.calendar import week_bounds
from libs.house.platform import Platform
from services.leagues.domain.errors import BadAccount, BadLimit, BadWeek
from services.leagues.domain.league import Place, Ranked
from services.leagues.domain.results import AccountId, WeekId
from services.leagues.domain.standing import Form, Look
from services.leagues.handlers import shown as show
from services.leagues.handlers.closing import TIERS
from services.leagues.handlers.offline import Uploads
from services.leagues.ports import Books
from whist.leagues.v1 import leagues_pb2 as pb
from whist.leagues.v1 import leagues_pb2_grpc

_SERVICE = "/whist.leagues.v1.LeaguesService/"
ALLOW = {
    # Matchmaking hears of levels by event (P2).
    f"{_SERVICE}Profile": frozenset({"gateway"}),
    f"{_SERVICE}Standing": frozenset({"gateway"}),
    f"{_SERVICE}Group": frozenset({"gateway"}),
    f"{_SERVICE}UploadOffline": frozenset({"gateway"}),
    f"{_SERVICE}Leaderboard": frozenset({"gateway"}),
}

LEADERBOARD_USUAL = 20
LEADERBOARD_MAX = 100  # what a screen can show; further down one's own place says enough

_FORMS = {Form.NEITHER: pb.FORM_UNSPECIFIED, Form.FIRE: pb.FORM_FIRE, Form.ICE: pb.FORM_ICE}


class LeaguesApi(leagues_pb2_grpc.LeaguesServiceServicer):
    """What players ask of leagues."""

    def __init__(self, books: Books, uploads: Uploads, platform: Platform) -> None:
        self._books = books
        self._uploads = uploads
        self._platform = platform

    async def Profile(self, request: pb.ProfileRequest, context: Any) -> pb.ProfileResponse:  # noqa: N802
        del context
        shown = await show.profile(_account(request.account_id), books=self._books, platform=self._platform)
        return pb.ProfileResponse(
            experience=shown.experience,
            level=shown.level,
            next_level_at=shown.next_level_at,
            form=_FORMS[shown.form],
            tier=TIERS[shown.tier],
            games=shown.games,
        )

    async def Standing(self, request: pb.StandingRequest, context: Any) -> pb.StandingResponse:  # noqa: N802
        del context
        shown = await show.standing(
            _account(request.account_id), _week(request.week_id), books=self._books, platform=self._platform
        )
        return pb.StandingResponse(
            week_id=shown.week_id,
            points=shown.points,
            games=shown.games,
            ranked=shown.ranked,
            tier=TIERS[shown.tier],
        )

    async def Group(self, request: pb.GroupRequest, context: Any) -> pb.GroupResponse:  # noqa: N802
        del context
        shown = await show.group(
            _account(request.account_id), _week(request.week_id), books=self._books, platform=self._platform
        )
        return pb.GroupResponse(
            week_id=shown.week_id,
            group_id=b"" if shown.group_id is None else shown.group_id.bytes,
            tier=TIERS[shown.tier],
            members=[_member(each, shown.looks[each.score.account_id]) for each in shown.ranks],
            closed=shown.closed,
        )

    async def Leaderboard(self, request: pb.LeaderboardRequest, context: Any) -> pb.LeaderboardResponse:  # noqa: N802
        del context
        shown = await show.leaderboard(
            _account(request.account_id),
            _week(request.week_id),
            _limit(request.limit),
            books=self._books,
            platform=self._platform,
        )
        return pb.LeaderboardResponse(
            week_id=shown.week_id,
            places=[_place(each) for each in shown.places],
            own=None if shown.own is None else _place(shown.own),
        )

    async def UploadOffline(self, request: pb.UploadOfflineRequest, context: Any) -> pb.UploadOfflineResponse:  # noqa: N802
        del context
        account_id = _account(request.account_id)
        done = await self._uploads.upload(account_id, request.record_json, guest=request.guest)
        return pb.UploadOfflineResponse(
            credited=done.credited, experience=done.experience, total=done.total, level=done.level
        )


def _member(ranked: Ranked, look: Look) -> pb.GroupMember:
    return pb.GroupMember(
        account_id=ranked.score.account_id.bytes,
        rank=ranked.rank,
        points=ranked.score.points,
        games=ranked.score.games,
        next_tier=TIERS[ranked.next_tier],
        podium_coins=ranked.podium_coins,
        podium_bars=ranked.podium_bars,
        form=_FORMS[look.form],
        level=look.level,
    )


def _place(place: Place) -> pb.LeaderboardPlace:
    return pb.LeaderboardPlace(
        account_id=place.account_id.bytes, rank=place.rank, points=place.points, games=place.games
    )


def _limit(asked: int) -> int:
    if not 0 <= asked <= LEADERBOARD_MAX:
        raise BadLimit(limit=asked, most=LEADERBOARD_MAX)
    return asked or LEADERBOARD_USUAL


def _account(raw: bytes) -> AccountId:
    if len(raw) != 16:
        raise BadAccount(size=len(raw))
    return AccountId(UUID(bytes=raw))


def _week(text: str) -> WeekId | None:
    if not text:
        return None
    try:
        week_bounds(text)
    except (ValueError, OverflowError) as error:
        raise BadWeek(week_id=text[:20]) from error
    return WeekId(text)
