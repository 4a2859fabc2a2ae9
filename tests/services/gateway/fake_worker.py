"""A table worker for a gateway under test: it knows no rules, and keeps what it is asked."""
# ruff: noqa: N802 - gRPC names its methods

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Any

from libs.chassis.errors import Kind, Refusal
from libs.wire import frames, link
from tests.services.gateway.fake_peers import TABLE
from tests.services.gateway.operators_world import TablesDesk
from whist.tables.v1 import friends_pb2, tables_pb2, tables_pb2_grpc

PATIENCE_SECONDS = 10.0


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
