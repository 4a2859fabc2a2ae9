"""The world around a gateway under test: one gRPC server plays all other services; sockets to the gateway are real."""
# ruff: noqa: N802 - gRPC names its methods

import asyncio
import contextlib
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import grpc
import jwt
import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosedError

from libs.chassis.clock import SystemClock
from libs.chassis.errors import DomainError, Kind, Refusal
from libs.chassis.events.memory import MemoryBus
from libs.chassis.rpc.server import Server
from libs.chassis.run import running
from libs.chassis.service import Chassis
from libs.chassis.tokens import AUDIENCE, ISSUER, TOKEN_TYPE, jwk_of
from libs.wire import frames, link
from services.gateway.settings import GatewaySettings
from services.gateway.wiring import SPEC, Gateway, service_of
from tests.services.gateway.operators_world import NOBODY, AccountsDesk, PursesDesk, TablesDesk
from whist.auth.v1 import auth_pb2, auth_pb2_grpc
from whist.coach.v1 import coach_pb2, coach_pb2_grpc
from whist.leagues.v1 import leagues_pb2, leagues_pb2_grpc
from whist.matchmaking.v1 import matchmaking_pb2, matchmaking_pb2_grpc
from whist.tables.v1 import friends_pb2, tables_pb2, tables_pb2_grpc
from whist.types.v1 import types_pb2
from whist.wallet.v1 import wallet_pb2, wallet_pb2_grpc

ORIGIN = "https://play.example"
TABLE = "0" * 31 + "1"
GONE = b"d" * 16  # an account that was deleted
PATIENCE_SECONDS = 10.0
ANALYSIS = {
    "v": 1, "table": TABLE, "game": "romanian", "seat": 2, "grade": "A+", "loss": 0.25, "samples": 1000,
    "runs_of_seven": 1, "rounds": [{"round": 0, "cards": 8, "loss": 0.25, "grade": "A+"}], "dearest": [3],
    "decisions": [
        {"turn": 3, "round": 0, "action": {"bid": 2}, "best": {"bid": 1}, "points": 1.5, "loss": 0.25, "error": 0.1,
         "band": "slip"}
    ],
}  # fmt: skip


class AllowAll(dict[str, frozenset[str]]):
    """Every method to the gateway alone."""

    def get(self, _method: str, _default: Any = None) -> Any:
        return frozenset({"gateway"})


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
        return auth_pb2.GetAccountResponse(account=auth_pb2.Account(account_id=request.account_id, name="Ana"))

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
            rooms=[matchmaking_pb2.Room(room=1, name="Cottage", prizes=[100, 70, 55], level=1)]
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


class FriendsDesk(TablesDesk, tables_pb2_grpc.TablesServiceServicer):
    """Friends' tables that know no rules: every request is kept, one table answers."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Any] = []
        self.table = friends_pb2.FriendsTable(
            table_id=bytes.fromhex(TABLE),
            stage=friends_pb2.FRIENDS_STAGE_WAITING,
            version=1,
            host=b"h" * 16,
            choices=friends_pb2.FriendsChoices(
                game="romanian", options_json='{"mode":"8-1-8"}', players=4, bid_seconds=15, bots="calm"
            ),
            seats=[
                friends_pb2.FriendsSeat(seat=0, who=friends_pb2.Friend(account_id=b"h" * 16, name="Ana")),
                *(friends_pb2.FriendsSeat(seat=seat) for seat in (1, 2, 3)),
            ],
        )
        self.told: asyncio.Queue[friends_pb2.WatchFriendsTableResponse] = asyncio.Queue()
        self.entered = 0
        self.left = asyncio.Event()

    def _take(self, request: Any) -> friends_pb2.FriendsTable:
        self.asked.append(request)
        return self.table

    async def OpenFriendsTable(self, request: Any, context: Any) -> friends_pb2.OpenFriendsTableResponse:
        return friends_pb2.OpenFriendsTableResponse(table=self._take(request))

    async def ListFriendsTables(self, request: Any, context: Any) -> friends_pb2.ListFriendsTablesResponse:
        return friends_pb2.ListFriendsTablesResponse(tables=[self._take(request)])

    async def GetFriendsTable(self, request: Any, context: Any) -> friends_pb2.GetFriendsTableResponse:
        return friends_pb2.GetFriendsTableResponse(table=self._take(request))

    async def ChangeFriendsTable(self, request: Any, context: Any) -> friends_pb2.ChangeFriendsTableResponse:
        if request.WhichOneof("change") == "kick":
            raise Refusal(Kind.FORBIDDEN, "NOT_HOST")
        return friends_pb2.ChangeFriendsTableResponse(table=self._take(request))

    async def Rematch(self, request: Any, context: Any) -> friends_pb2.RematchResponse:
        return friends_pb2.RematchResponse(table=self._take(request))

    async def TakeSeat(self, request: Any, context: Any) -> friends_pb2.TakeSeatResponse:
        self._take(request)
        if request.seat == 6:
            raise Refusal(Kind.CONFLICT, "SEAT_TAKEN", seat=6)
        return friends_pb2.TakeSeatResponse(seq=41)

    async def Say(self, request: Any, context: Any) -> friends_pb2.SayResponse:
        self._take(request)
        if request.words == " ":
            raise Refusal(Kind.INVALID, "BAD_TEXT")
        return friends_pb2.SayResponse(line=len(self.asked))

    async def Mute(self, request: Any, context: Any) -> friends_pb2.MuteResponse:
        self._take(request)
        return friends_pb2.MuteResponse()

    async def Report(self, request: Any, context: Any) -> friends_pb2.ReportResponse:
        self._take(request)
        return friends_pb2.ReportResponse()

    async def WatchFriendsTable(
        self, request: Any, context: Any
    ) -> AsyncIterator[friends_pb2.WatchFriendsTableResponse]:
        self._take(request)
        self.entered += 1
        try:
            while True:
                yield await self.told.get()
        finally:
            self.left.set()


class Worker(FriendsDesk, tables_pb2_grpc.TablesServiceServicer):
    """A table worker that knows no rules: a command is a row. `silent` swallows commands, `refusing` owns nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.address = ""
        self.owner = ""  # what Locate answers; empty: this worker
        self.epoch = 1
        self.rows: dict[bytes, list[bytes]] = defaultdict(list)
        self.seen: list[link.Up] = []
        self.done: dict[tuple[bytes, bytes, str], int] = {}
        self.silent = False
        self.refusing = False
        self.finished = False
        self.unowned = 0
        self.strangers: set[bytes] = set()
        # By account: the kind of table at which it sits, and whether that is dealt.
        self.seats: dict[bytes, tuple[tables_pb2.TableKind.ValueType, bool]] = {}
        self.hints = True
        self.created: list[tables_pb2.CreateTableRequest] = []
        self.streams: list[Any] = []
        self.located = 0
        self.asked_where: list[int] = []  # tables of each call
        self.heard = asyncio.Event()

    async def Locate(self, request: Any, context: Any) -> tables_pb2.LocateResponse:
        raise Refusal(Kind.FORBIDDEN, "CALLER_NOT_ALLOWED")

    async def LocateTables(self, request: Any, context: Any) -> tables_pb2.LocateTablesResponse:
        self.asked_where.append(len(request.table_ids))
        return tables_pb2.LocateTablesResponse(tables=[self._place(each) for each in request.table_ids])

    def _place(self, table_id: bytes) -> tables_pb2.TablePlace:
        self.located += 1
        if self.finished:
            return tables_pb2.TablePlace(table_id=table_id, reason="TABLE_FINISHED", status="finished")
        if self.unowned > 0:
            self.unowned -= 1
            return tables_pb2.TablePlace(table_id=table_id, reason="UNAVAILABLE")
        return tables_pb2.TablePlace(table_id=table_id, worker_address=self.owner or self.address, epoch=self.epoch)

    async def Abandon(self, request: Any, context: Any) -> tables_pb2.AbandonResponse:
        raise Refusal(Kind.FORBIDDEN, "CALLER_NOT_ALLOWED")

    async def FinishedGames(self, request: Any, context: Any) -> tables_pb2.FinishedGamesResponse:
        raise Refusal(Kind.FORBIDDEN, "CALLER_NOT_ALLOWED")

    async def GetTable(self, request: Any, context: Any) -> tables_pb2.GetTableResponse:
        if request.account_id in self.strangers:
            raise Refusal(Kind.FORBIDDEN, "NOT_AT_TABLE")
        return tables_pb2.GetTableResponse(
            status=tables_pb2.TABLE_STATUS_LIVE, seat=2, view_json='{"round":0}', hints=self.hints, game="romanian"
        )

    async def SeatOf(self, request: Any, context: Any) -> tables_pb2.SeatOfResponse:
        seat = self.seats.get(request.account_id)
        if seat is None:
            return tables_pb2.SeatOfResponse()
        kind, dealt = seat
        return tables_pb2.SeatOfResponse(table_id=bytes.fromhex(TABLE), kind=kind, dealt=dealt)

    async def ExportAccount(self, request: Any, context: Any) -> tables_pb2.ExportAccountResponse:
        return tables_pb2.ExportAccountResponse(export_json='{"chat":[]}')

    async def Record(self, request: Any, context: Any) -> tables_pb2.RecordResponse:
        return tables_pb2.RecordResponse(record_json='{"v":1,"deals":[]}')

    async def CreateTable(self, request: Any, context: Any) -> tables_pb2.CreateTableResponse:
        self.created.append(request)
        return tables_pb2.CreateTableResponse(worker_address=self.address, epoch=1)

    async def Play(self, requests: Any, context: Any) -> AsyncIterator[tables_pb2.PlayResponse]:
        out: asyncio.Queue[list[link.Down] | None] = asyncio.Queue()
        self.streams.append(out)

        async def read() -> None:
            async for request in requests:
                answers: list[link.Down] = []
                for frame in link.decode_up(request.batch):
                    self.seen.append(frame)
                    answers += self.answer(frame)
                self.heard.set()
                if answers:
                    out.put_nowait(answers)

        reader = asyncio.create_task(read())
        try:
            while (batch := await out.get()) is not None:
                yield tables_pb2.PlayResponse(batch=link.encode_batch(batch))
        finally:
            reader.cancel()
            self.streams.remove(out)
            await asyncio.gather(reader, return_exceptions=True)

    def break_streams(self) -> None:
        for stream in self.streams:
            stream.put_nowait(None)

    def say(self, *batch: link.Down) -> None:
        for stream in self.streams:
            stream.put_nowait(list(batch))

    async def until(self, kind: type[link.Up], count: int = 1) -> list[Any]:
        """The frames of one kind, once there are so many."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(found := [frame for frame in self.seen if isinstance(frame, kind)]) < count:
                self.heard.clear()
                await self.heard.wait()
        return found

    def answer(self, frame: link.Up) -> list[link.Down]:
        if isinstance(frame, link.Unsubscribe):
            return []
        if self.refusing:
            return [link.NotOwner(frame.table, frame.conn, getattr(frame, "req", ""))]
        match frame:
            case link.Subscribe():
                return self._subscribe(frame)
            case link.Command() | link.Vacate():
                return [] if self.silent else self._move(frame)

    def _subscribe(self, frame: link.Subscribe) -> list[link.Down]:
        if frame.account in self.strangers:
            refusal = frames.encode(frames.Error(reason="NOT_AT_TABLE", table=frame.table.hex()))
            return [link.ToSocket(frame.table, frame.conn, self.epoch, refusal)]
        rows = self.rows[frame.table]
        if 0 <= frame.since < len(rows):
            missed = rows[frame.since + 1 :] or rows[-1:]
            return [link.ToSocket(frame.table, frame.conn, self.epoch, row) for row in missed]
        snapshot = frames.Snapshot(
            table=frame.table.hex(), seq=len(rows) - 1, epoch=self.epoch, seat=0, game="romanian", view={}, seats=[],
            deadline=0, commitment="",
        )  # fmt: skip
        return [link.ToSocket(frame.table, frame.conn, self.epoch, frames.encode(snapshot))]

    def _move(self, frame: link.Command | link.Vacate) -> list[link.Down]:
        key = (frame.table, frame.account, frame.req)
        if key in self.done:
            ack = frames.encode(frames.Ack(table=frame.table.hex(), req=frame.req, seq=self.done[key]))
            return [link.ToSocket(frame.table, frame.conn, self.epoch, ack, frame.req)]
        rows = self.rows[frame.table]
        seq = self.done[key] = len(rows)
        delta = frames.Delta(
            table=frame.table.hex(), seq=seq, epoch=self.epoch, events=[getattr(frame, "action", {})], by="person",
            seat=0, turn=seq, to_act=1, deadline=0, req=frame.req,
        )  # fmt: skip
        rows.append(frames.encode(delta))
        private = frames.encode(frames.Private(table=frame.table.hex(), seq=seq, epoch=self.epoch, turn=seq))
        return [
            link.Public(frame.table, self.epoch, seq, rows[-1], frame.conn, frame.req, {frame.account: private}),
        ]


class World:
    """All other services behind one address; a second worker on demand."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.keys = Keys()
        self.auth = Auth(self.keys)
        self.matchmaking = Matchmaking()
        self.purse = Purse()
        self.leagues = Leagues()
        self.purse = Purse()
        self.worker = Worker()
        self._servers: list[Server] = []

    async def start(self) -> str:
        address = await self._serve("all", [
            lambda server: auth_pb2_grpc.add_AuthServiceServicer_to_server(self.auth, server),
            lambda server: matchmaking_pb2_grpc.add_MatchmakingServiceServicer_to_server(self.matchmaking, server),
            lambda server: wallet_pb2_grpc.add_WalletServiceServicer_to_server(self.purse, server),
            lambda server: leagues_pb2_grpc.add_LeaguesServiceServicer_to_server(self.leagues, server),
            lambda server: coach_pb2_grpc.add_CoachServiceServicer_to_server(Coach(), server),
            lambda server: tables_pb2_grpc.add_TablesServiceServicer_to_server(self.worker, server),
        ])  # fmt: skip
        self.worker.address = address
        return address

    async def another_worker(self) -> Worker:
        worker = Worker()
        worker.address = await self._serve(
            f"worker{len(self._servers)}",
            [lambda server: tables_pb2_grpc.add_TablesServiceServicer_to_server(worker, server)],
        )
        return worker

    async def _serve(self, name: str, registrars: list[Any]) -> str:
        address = f"unix:{self._folder}/{name}.sock"
        server = Server(name, AllowAll(), SystemClock())
        await server.start(address, registrars)
        self._servers.append(server)
        return address

    async def close(self) -> None:
        for server in self._servers:
            await server.stop(0)


class Stage:
    """A running gateway in a world of fakes."""

    def __init__(self, world: World, gateway: Gateway, bus: MemoryBus) -> None:
        self.world = world
        self.gateway = gateway
        self.bus = bus

    @property
    def http_url(self) -> str:
        return f"http://127.0.0.1:{self.gateway.http_port}"

    @property
    def socket_url(self) -> str:
        return f"ws://127.0.0.1:{self.gateway.socket_port}/v1/ws"

    @contextlib.asynccontextmanager
    async def player(
        self, account: UUID | None = None, session: UUID | None = None, *, binary: bool = False, seconds: float = 600
    ) -> AsyncIterator["Player"]:
        """A socket that has been welcomed."""
        async with connect(self.socket_url, compression=None, ping_interval=None) as socket:
            player = Player(socket, binary=binary)
            await player.say(frames.Hello(token=self.world.keys.token(account, session, seconds)))
            await player.hear(frames.Welcome)
            yield player


class Player:
    """A client of the socket."""

    def __init__(self, socket: ClientConnection, *, binary: bool = False) -> None:
        self.socket = socket
        self.binary = binary

    async def say(self, frame: Any) -> None:
        payload = frames.encode(frame)
        await self.socket.send(payload if self.binary else payload.decode())

    async def hear(self, kind: type[Any]) -> Any:
        """The next frame, which must be of that kind."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            frame = frames.decode_server.decode(await self.socket.recv())
        assert isinstance(frame, kind), frame
        return frame

    async def closed(self) -> int:
        """The close code, after reading what is left."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            with contextlib.suppress(ConnectionClosedError):
                async for _ in self.socket:
                    pass
        assert self.socket.close_code is not None
        return self.socket.close_code

    async def joined(self, table: str = TABLE, since: int | None = None) -> Any:
        await self.say(frames.Join(table=table, since=msgspec.UNSET if since is None else since))
        return await self.hear(frames.Snapshot if since is None else frames.Delta)

    async def act(self, req: str, table: str = TABLE, turn: int = 0, **action: Any) -> None:
        await self.say(frames.Act(table=table, req=req, turn=turn, action=action or {"bid": 1}))


@contextlib.asynccontextmanager
async def staged(folder: Path, **settings: Any) -> AsyncIterator[Stage]:
    """A world and a gateway in it, both on free places."""
    world = World(folder)
    address = await world.start()
    known: dict[str, Any] = {
        "http_listen": "127.0.0.1:0",
        "socket_listen": "127.0.0.1:0",
        "grpc_listen": f"unix:{folder}/gateway.sock",
        "allowed_origins": (ORIGIN,),
        "drain_seconds": 5,
        "rate_network": "",
        "rate_account": "",
        "rate_guests": "",
        "rate_login": "",
        **{f"{name}_target": address for name in ("auth", "matchmaking", "tables", "wallet", "leagues", "coach")},
    }
    bus = MemoryBus()
    chassis = Chassis("gateway", GatewaySettings(**(known | settings)), bus=bus)
    gateway = Gateway(chassis)
    try:
        service = service_of(gateway)
        chassis.subscribe(service)
        async with running(SPEC, chassis, service):
            yield Stage(world, gateway, bus)
    finally:
        await chassis.close()
        await world.close()


__all__ = ["ORIGIN", "TABLE", "DomainError", "Keys", "Player", "Stage", "Worker", "World", "grpc", "staged"]
