"""What auth, matchmaking, wallet, leagues and coach answer a gateway under test."""
# ruff: noqa: N802 - gRPC names its methods

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from libs.chassis.errors import Kind, Refusal
from libs.chassis.tokens import AUDIENCE, ISSUER, TOKEN_TYPE, jwk_of
from tests.services.gateway.operators_world import NOBODY, AccountsDesk, PursesDesk
from whist.auth.v1 import auth_pb2, auth_pb2_grpc
from whist.coach.v1 import coach_pb2, coach_pb2_grpc
from whist.leagues.v1 import leagues_pb2, leagues_pb2_grpc
from whist.matchmaking.v1 import matchmaking_pb2, matchmaking_pb2_grpc
from whist.types.v1 import types_pb2
from whist.wallet.v1 import wallet_pb2, wallet_pb2_grpc

TABLE = "0" * 31 + "1"
GONE = b"d" * 16  # an account that was deleted
ANALYSIS = {
    "v": 1, "table": TABLE, "game": "romanian", "seat": 2, "grade": "A+", "loss": 0.25, "samples": 1000,
    "runs_of_seven": 1, "rounds": [{"round": 0, "cards": 8, "loss": 0.25, "grade": "A+"}], "dearest": [3],
    "decisions": [
        {"turn": 3, "round": 0, "action": {"bid": 2}, "best": {"bid": 1}, "points": 1.5, "loss": 0.25, "error": 0.1,
         "band": "slip"}
    ],
}  # fmt: skip


class Keys:
    """Auth's signing key, and tokens made with it."""

    def __init__(self, kid: str = "k1") -> None:
        self.kid = kid
        self.private = Ed25519PrivateKey.generate()

    @property
    def jwks(self) -> str:
        return json.dumps({"keys": [jwk_of(self.kid, self.private.public_key())]})

    def claims(self, account: UUID, session: UUID | None = None, seconds: float = 600, **more: Any) -> dict[str, Any]:
        now = datetime.now(UTC)
        return {
            "sub": account.hex,
            "sid": (session or uuid4()).hex,
            "jti": uuid4().hex,
            "guest": False,
            "iss": ISSUER,
            "aud": AUDIENCE,
            "iat": int(now.timestamp()),
            "nbf": int(now.timestamp()),
            "exp": int((now + timedelta(seconds=seconds)).timestamp()),
        } | more

    def sign(self, claims: Mapping[str, Any], **headers: Any) -> str:
        return jwt.encode(
            dict(claims), self.private, algorithm="EdDSA", headers={"kid": self.kid, "typ": TOKEN_TYPE} | headers
        )

    def token(self, account: UUID | None = None, session: UUID | None = None, seconds: float = 600) -> str:
        return self.sign(self.claims(account or uuid4(), session, seconds))


class Auth(AccountsDesk, auth_pb2_grpc.AuthServiceServicer):
    def __init__(self, keys: Keys) -> None:
        super().__init__()
        self.keys = keys
        self.jwks_asked = 0
        self.guests: dict[bytes, UUID] = {}
        self.suspended: set[bytes] = set()
        self.networks: list[str] = []
        self.refreshed: list[str] = []
        self.logged_out: list[str] = []
        self.login_requests: list[bytes] = []
        self.lost_answers = 0
        self.down = False
        self.broken = False
        self.finished: list[auth_pb2.FinishLoginRequest] = []
        self.drops_guests = False
        self.claimed: list[auth_pb2.ClaimNameRequest] = []
        self.revoked: list[auth_pb2.RevokeSessionRequest] = []
        self.deleted: list[auth_pb2.DeleteAccountRequest] = []

    def _tokens(self, account: UUID) -> auth_pb2.Tokens:
        tokens = auth_pb2.Tokens(access_token=self.keys.token(account), refresh_token="r" * 43)
        tokens.access_expires_at.FromDatetime(datetime.now(UTC) + timedelta(minutes=10))
        tokens.refresh_expires_at.FromDatetime(datetime.now(UTC) + timedelta(days=30))
        return tokens

    async def Jwks(self, request: Any, context: Any) -> auth_pb2.JwksResponse:
        self.jwks_asked += 1
        if self.down:
            raise Refusal(Kind.UNAVAILABLE, "DATABASE_AWAY")
        return auth_pb2.JwksResponse(jwks_json=self.keys.jwks)

    async def CreateGuest(self, request: Any, context: Any) -> auth_pb2.CreateGuestResponse:
        if self.broken:
            raise RuntimeError("secret detail of a fault")
        self.networks.append(request.network)
        account = self.guests.setdefault(request.request_id, uuid4())
        return auth_pb2.CreateGuestResponse(
            tokens=self._tokens(account),
            account=auth_pb2.Account(account_id=account.bytes, name="Vulpe 42", guest=True),
        )

    def _note_login(self, request_id: bytes) -> None:
        self.login_requests.append(request_id)
        if self.lost_answers:
            self.lost_answers -= 1
            raise Refusal(Kind.UNAVAILABLE, "UNAVAILABLE")

    async def StartLogin(self, request: Any, context: Any) -> auth_pb2.StartLoginResponse:
        self._note_login(request.request_id)
        return auth_pb2.StartLoginResponse(login_id=b"l" * 16)

    async def FinishLogin(self, request: Any, context: Any) -> auth_pb2.FinishLoginResponse:
        self._note_login(request.request_id)
        self.finished.append(request)
        if request.guest_id and self.drops_guests and not request.drop_guest:
            raise Refusal(Kind.CONFLICT, "GUEST_WOULD_BE_DROPPED")
        if request.code != "12345678":
            raise Refusal(Kind.UNAUTHENTICATED, "CODE_WRONG", tries_left=4)
        account = uuid4()
        return auth_pb2.FinishLoginResponse(
            tokens=self._tokens(account), account=auth_pb2.Account(account_id=account.bytes, name="Ana"), created=True
        )

    async def Refresh(self, request: Any, context: Any) -> auth_pb2.RefreshResponse:
        self.refreshed.append(request.refresh_token)
        account = uuid4()
        return auth_pb2.RefreshResponse(
            tokens=self._tokens(account), account=auth_pb2.Account(account_id=account.bytes, name="Ana")
        )

    async def Logout(self, request: Any, context: Any) -> auth_pb2.LogoutResponse:
        self.logged_out.append(request.refresh_token)
        return auth_pb2.LogoutResponse()

    async def GetAccount(self, request: Any, context: Any) -> auth_pb2.GetAccountResponse:
        if request.account_id == NOBODY:
            raise Refusal(Kind.NOT_FOUND, "ACCOUNT_UNKNOWN")
        suspended = request.account_id in self.suspended
        account = auth_pb2.Account(account_id=request.account_id, name="Ana", suspended=suspended)
        return auth_pb2.GetAccountResponse(account=account)

    async def GetAccounts(self, request: Any, context: Any) -> auth_pb2.GetAccountsResponse:
        known = [each for each in request.account_ids if each != GONE]
        return auth_pb2.GetAccountsResponse(accounts=[auth_pb2.Account(account_id=each, name="Ana") for each in known])

    async def ClaimName(self, request: Any, context: Any) -> auth_pb2.ClaimNameResponse:
        self.claimed.append(request)
        if request.name == "Admin":
            raise Refusal(Kind.INVALID, "NAME_INVALID", rule="reserved")
        answer = auth_pb2.ClaimNameResponse(
            account=auth_pb2.Account(account_id=request.account_id, name=request.name, named=True)
        )
        answer.next_change_at.FromDatetime(datetime.now(UTC) + timedelta(days=30))
        return answer

    async def ListSessions(self, request: Any, context: Any) -> auth_pb2.ListSessionsResponse:
        known = [auth_pb2.Session(session_id=b"s" * 16, device="Phone"), auth_pb2.Session(session_id=b"t" * 16)]
        return auth_pb2.ListSessionsResponse(sessions=known)

    async def RevokeSession(self, request: Any, context: Any) -> auth_pb2.RevokeSessionResponse:
        if request.session_id != b"s" * 16:
            raise Refusal(Kind.NOT_FOUND, "SESSION_UNKNOWN")
        self.revoked.append(request)
        return auth_pb2.RevokeSessionResponse()

    async def ExportAccount(self, request: Any, context: Any) -> auth_pb2.ExportAccountResponse:
        return auth_pb2.ExportAccountResponse(export_json='{"email":"ana@example.org"}')

    async def DeleteAccount(self, request: Any, context: Any) -> auth_pb2.DeleteAccountResponse:
        if request.session_id != b"s" * 16:
            raise Refusal(Kind.FORBIDDEN, "SIGN_IN_NOT_FRESH", minutes=10)
        self.deleted.append(request)
        return auth_pb2.DeleteAccountResponse()


class Matchmaking(matchmaking_pb2_grpc.MatchmakingServiceServicer):
    def __init__(self) -> None:
        self.enqueued: list[matchmaking_pb2.EnqueueRequest] = []
        self.watches = 0
        self.state = matchmaking_pb2.QUEUE_STATE_IDLE
        self.changes: asyncio.Queue[matchmaking_pb2.QueueStatus] = asyncio.Queue()

    async def Rooms(self, request: Any, context: Any) -> matchmaking_pb2.RoomsResponse:
        return matchmaking_pb2.RoomsResponse(
            rooms=[matchmaking_pb2.Room(room=1, name="Cottage", prizes=[100, 70, 55], level=1)], vip_weekdays=[0, 6]
        )

    async def Enqueue(self, request: Any, context: Any) -> matchmaking_pb2.EnqueueResponse:
        if request.room == 12:
            raise Refusal(Kind.FORBIDDEN, "LEVEL_TOO_LOW", level=40)
        self.enqueued.append(request)
        return matchmaking_pb2.EnqueueResponse(
            status=matchmaking_pb2.QueueStatus(
                state=matchmaking_pb2.QUEUE_STATE_WAITING, room=request.room, mode=request.mode, coffee=request.coffee
            )
        )

    async def Cancel(self, request: Any, context: Any) -> matchmaking_pb2.CancelResponse:
        return matchmaking_pb2.CancelResponse()

    async def Status(self, request: Any, context: Any) -> matchmaking_pb2.StatusResponse:
        return matchmaking_pb2.StatusResponse(status=matchmaking_pb2.QueueStatus(state=self.state))

    async def Watch(self, request: Any, context: Any) -> AsyncIterator[matchmaking_pb2.WatchResponse]:
        self.watches += 1
        while True:
            status = await self.changes.get()
            yield matchmaking_pb2.WatchResponse(status=status)


class Purse(PursesDesk, wallet_pb2_grpc.WalletServiceServicer):
    older_pages = 0  # of the history

    def __init__(self) -> None:
        super().__init__()
        self.orders: list[wallet_pb2.BuyCoffeeRequest] = []
        self.refunds: list[wallet_pb2.RefundRequest] = []

    async def BuyCoffee(self, request: Any, context: Any) -> wallet_pb2.BuyCoffeeResponse:
        if request.guest:
            raise Refusal(Kind.FORBIDDEN, "GUESTS_HAVE_NO_COFFEE")
        self.orders.append(request)
        return wallet_pb2.BuyCoffeeResponse(assets=types_pb2.Assets(bars=4, cups_x2=3))

    async def RefundOffer(self, request: Any, context: Any) -> wallet_pb2.RefundOfferResponse:
        returns, takes = types_pb2.Assets(coins=100, cups_x2=1), types_pb2.Assets(coins=175, bars=5)
        offer = wallet_pb2.RefundOfferResponse(returns=returns, takes=takes, left_today=1, loses_first_game=True)
        offer.until.FromJsonString("2026-11-30T12:15:00Z")
        if self.refunds:
            return wallet_pb2.RefundOfferResponse(refused="ALREADY_REFUNDED")
        return offer

    async def Refund(self, request: Any, context: Any) -> wallet_pb2.RefundResponse:
        if request.table_id.hex() != TABLE:
            raise Refusal(Kind.NOT_FOUND, "GAME_UNKNOWN")
        self.refunds.append(request)
        return wallet_pb2.RefundResponse(
            returned=types_pb2.Assets(coins=100), taken=types_pb2.Assets(bars=5), assets=types_pb2.Assets(coins=1000)
        )

    async def Balances(self, request: Any, context: Any) -> wallet_pb2.BalancesResponse:
        return wallet_pb2.BalancesResponse(
            assets=types_pb2.Assets(coins=1000, cups_x1_5=10), held=types_pb2.Assets(coins=100)
        )

    async def HoldEntry(self, request: Any, context: Any) -> wallet_pb2.HoldEntryResponse:
        raise Refusal(Kind.FORBIDDEN, "CALLER_NOT_ALLOWED")

    async def ReleaseEntry(self, request: Any, context: Any) -> wallet_pb2.ReleaseEntryResponse:
        raise Refusal(Kind.FORBIDDEN, "CALLER_NOT_ALLOWED")

    async def SealWeek(self, request: Any, context: Any) -> wallet_pb2.SealWeekResponse:
        raise Refusal(Kind.FORBIDDEN, "CALLER_NOT_ALLOWED")

    async def History(self, request: Any, context: Any) -> wallet_pb2.HistoryResponse:
        if request.before and not (request.before.isascii() and request.before.isdecimal()):
            raise Refusal(Kind.INVALID, "BAD_POSITION")
        page = int(request.before or 0)
        return wallet_pb2.HistoryResponse(
            movements=[wallet_pb2.Movement(transfer_id=b"t" * 16, reason="signup_gift", asset="coin", amount=1000)],
            next_before=str(page + 1) if page < self.older_pages else "",
        )


class Leagues(leagues_pb2_grpc.LeaguesServiceServicer):
    down = False

    def __init__(self) -> None:
        self.uploaded: list[leagues_pb2.UploadOfflineRequest] = []

    async def Profile(self, request: Any, context: Any) -> leagues_pb2.ProfileResponse:
        if self.down:
            raise Refusal(Kind.UNAVAILABLE, "DATABASE_AWAY")
        return leagues_pb2.ProfileResponse(experience=120, level=2, next_level_at=300, form=leagues_pb2.FORM_FIRE)

    async def Standing(self, request: Any, context: Any) -> leagues_pb2.StandingResponse:
        return leagues_pb2.StandingResponse(week_id="2026-W49", points=55, games=1, tier=leagues_pb2.TIER_JACK)

    async def Group(self, request: Any, context: Any) -> leagues_pb2.GroupResponse:
        member = leagues_pb2.GroupMember(
            account_id=request.account_id, rank=1, points=55, games=1, next_tier=leagues_pb2.TIER_QUEEN,
            podium_coins=100_000, podium_bars=50, form=leagues_pb2.FORM_ICE, level=2,
        )  # fmt: skip
        gone = leagues_pb2.GroupMember(account_id=GONE, rank=2, points=5, next_tier=leagues_pb2.TIER_JACK, level=1)
        return leagues_pb2.GroupResponse(
            week_id=request.week_id or "2026-W49",
            group_id=b"g" * 16,
            tier=leagues_pb2.TIER_JACK,
            members=[member, gone],
        )

    async def Leaderboard(self, request: Any, context: Any) -> leagues_pb2.LeaderboardResponse:
        place = leagues_pb2.LeaderboardPlace(account_id=request.account_id, rank=0, points=7, games=2)
        first = leagues_pb2.LeaderboardPlace(account_id=GONE, rank=1, points=9, games=request.limit)
        return leagues_pb2.LeaderboardResponse(week_id=request.week_id or "2026-W49", places=[first], own=place)

    async def UploadOffline(self, request: Any, context: Any) -> leagues_pb2.UploadOfflineResponse:
        self.uploaded.append(request)
        return leagues_pb2.UploadOfflineResponse(credited=True, experience=62, total=62, level=1)


class Coach(coach_pb2_grpc.CoachServiceServicer):
    async def Hint(self, request: Any, context: Any) -> coach_pb2.HintResponse:
        advice = coach_pb2.Advice(action_json='{"bid":2}', points=4.5, error=0.125, chance=0.75)
        return coach_pb2.HintResponse(turn=3, action_json='{"bid":2}', advice=[advice])

    async def Analysis(self, request: Any, context: Any) -> coach_pb2.AnalysisResponse:
        if request.table_id.hex() != TABLE:
            raise Refusal(Kind.NOT_FOUND, "ANALYSIS_UNKNOWN")
        return coach_pb2.AnalysisResponse(analysis_json=json.dumps(ANALYSIS))

    async def Story(self, request: Any, context: Any) -> coach_pb2.StoryResponse:
        if request.table_id.hex() != TABLE:
            raise Refusal(Kind.UNAVAILABLE, "ANALYSIS_NOT_YET")
        return coach_pb2.StoryResponse(locale=request.locale[:2], paragraphs=["Jucătorul 1 a câștigat.", "…"])
