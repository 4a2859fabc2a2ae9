"""The RPCs of friends' tables: translation between protobuf and the use cases."""
# ruff: noqa: N802 - named by the contract

import json
from collections.abc import AsyncIterator, Callable
from typing import Any, assert_never
from uuid import UUID

from libs.house.bots import Strength
from services.tables.domain import waiting
from services.tables.domain.entries import SeatFacts
from services.tables.domain.errors import BadChoice, BadId, BadOptions
from services.tables.domain.table import Table
from services.tables.domain.waiting import Choices, Stage, WaitingTable
from services.tables.handlers import friends, games
from services.tables.handlers.friends import Desk
from services.tables.handlers.games import TablesStore
from services.tables.storage.friends import Line
from services.tables.watching import Watching
from services.tables.worker import Worker
from whist.tables.v1 import friends_pb2 as pb

ID_BYTES = 16
NAME_MAX = 32
LIST_MAX = 100
REQUEST_MAX = 36  # characters, as on the socket
STAGES = {
    Stage.WAITING: pb.FRIENDS_STAGE_WAITING,
    Stage.DEALT: pb.FRIENDS_STAGE_DEALT,
    Stage.CLOSED: pb.FRIENDS_STAGE_CLOSED,
}


class FriendsApi:
    """Each method: decode, one call, encode, and a word to those who watch here."""

    def __init__(self, worker: Worker, store: TablesStore, desk: Desk, watching: Watching) -> None:
        self._worker = worker
        self._store = store
        self._desk = desk
        self._watching = watching

    async def OpenFriendsTable(self, request: pb.OpenFriendsTableRequest, context: Any) -> pb.OpenFriendsTableResponse:
        table = await friends.open_table(
            _person(request.who), _choices(request.choices), _request(request.request_id), desk=self._desk
        )
        return pb.OpenFriendsTableResponse(table=_table(table))

    async def ListFriendsTables(
        self, request: pb.ListFriendsTablesRequest, context: Any
    ) -> pb.ListFriendsTablesResponse:
        found = await friends.list_tables(max(1, min(request.limit, LIST_MAX)), desk=self._desk)
        return pb.ListFriendsTablesResponse(tables=[_table(table) for table in found])

    async def GetFriendsTable(self, request: pb.GetFriendsTableRequest, context: Any) -> pb.GetFriendsTableResponse:
        table = await friends.get_table(id_of(request.table_id, "table_id"), desk=self._desk)
        return pb.GetFriendsTableResponse(table=_table(table))

    async def ChangeFriendsTable(
        self, request: pb.ChangeFriendsTableRequest, context: Any
    ) -> pb.ChangeFriendsTableResponse:
        table_id, who = id_of(request.table_id, "table_id"), _person(request.who)
        req = _request(request.request_id)
        if request.WhichOneof("change") == "deal":
            table = await self._worker.deal(table_id, who.account, req, desk=self._desk)
        else:
            table = await friends.change(table_id, who.account, req, self._decision(request, who), desk=self._desk)
        self._watching.changed(table_id)
        return pb.ChangeFriendsTableResponse(table=_table(table))

    def _decision(
        self, request: pb.ChangeFriendsTableRequest, who: SeatFacts
    ) -> Callable[[WaitingTable], WaitingTable]:
        change = request.WhichOneof("change")
        match change:
            case "sit":
                return lambda table: waiting.sit(table, who, request.sit.seat)
            case "stand":
                return lambda table: waiting.stand(table, who.account)
            case "kick":
                return lambda table: waiting.kick(table, who.account, request.kick.account_id)
            case "choose":
                choices = _choices(request.choose.choices)
                return lambda table: waiting.choose(table, who.account, choices, self._desk.friends)
            case "close":
                return lambda table: waiting.close(table, who.account)
            case "deal" | None:
                raise BadChoice(field="change")
            case _ as never:
                assert_never(never)

    async def Rematch(self, request: pb.RematchRequest, context: Any) -> pb.RematchResponse:
        table_id = id_of(request.table_id, "table_id")
        await friends.get_table(table_id, desk=self._desk)
        played = [seat.account for seat in (await self._live(table_id)).seats]
        table = await friends.rematch(table_id, _person(request.who), desk=self._desk, played=played)
        self._watching.changed(table.table_id)
        return pb.RematchResponse(table=_table(table))

    async def TakeSeat(self, request: pb.TakeSeatRequest, context: Any) -> pb.TakeSeatResponse:
        table_id = id_of(request.table_id, "table_id")
        who, req = _person(request.who), _request(request.request_id)
        await friends.admit(table_id, who.account, desk=self._desk)
        return pb.TakeSeatResponse(seq=await self._worker.take_seat(table_id, who, request.seat, req))

    async def Say(self, request: pb.SayRequest, context: Any) -> pb.SayResponse:
        table_id, who = id_of(request.table_id, "table_id"), _person(request.who)

        async def at_live_table() -> bool:
            return (await self._live(table_id)).sits(who.account) is not None

        line = await friends.say(
            table_id, who, _request(request.request_id), request.words, desk=self._desk, at_live_table=at_live_table
        )
        self._watching.changed(table_id)
        return pb.SayResponse(line=line)

    async def Mute(self, request: pb.MuteRequest, context: Any) -> pb.MuteResponse:
        account, muted = id_of(request.account_id, "account_id").bytes, id_of(request.muted, "muted").bytes
        await friends.mute(account, muted, on=request.mute, desk=self._desk)
        return pb.MuteResponse()

    async def Report(self, request: pb.ReportRequest, context: Any) -> pb.ReportResponse:
        await friends.report(
            id_of(request.table_id, "table_id"),
            id_of(request.account_id, "account_id").bytes,
            _request(request.request_id),
            id_of(request.reported, "reported").bytes,
            request.words,
            desk=self._desk,
        )
        return pb.ReportResponse()

    async def WatchFriendsTable(
        self, request: pb.WatchFriendsTableRequest, context: Any
    ) -> AsyncIterator[pb.WatchFriendsTableResponse]:
        table_id, account = id_of(request.table_id, "table_id"), id_of(request.account_id, "account_id").bytes
        async for told in self._watching.follow(table_id, account, max(0, request.since_line)):
            yield pb.WatchFriendsTableResponse(
                table=None if told.table is None else _table(told.table), lines=[_line(line) for line in told.lines]
            )

    async def _live(self, table_id: UUID) -> Table:
        """The live table, or as it ended. Raises TableUnknown."""
        actor = self._worker.find(table_id.bytes)
        if actor is not None:
            return actor.table
        _, table = await games.load(table_id, store=self._store)
        return table


def id_of(raw: bytes, field: str) -> UUID:
    """Raises BadId."""
    if len(raw) != ID_BYTES:
        raise BadId(field=field)
    return UUID(bytes=raw)


def options_of(text: str) -> dict[str, object]:
    """A game's options as they were sent; empty: none. Raises BadOptions."""
    try:
        options = json.loads(text or "{}")
    except (ValueError, RecursionError):
        raise BadOptions(options_json="not JSON") from None
    if not isinstance(options, dict):
        raise BadOptions(options_json="not an object")
    return options


def _request(req: str) -> str:
    if not 1 <= len(req) <= REQUEST_MAX:
        raise BadId(field="request_id")
    return req


def _person(who: pb.Friend) -> SeatFacts:
    """P23: everybody at a friends' table may ask the coach."""
    account = id_of(who.account_id, "account_id").bytes
    return SeatFacts(account, who.name[:NAME_MAX], who.guest, hints=True)


def _choices(choices: pb.FriendsChoices) -> Choices:
    options = options_of(choices.options_json)
    try:
        bots = Strength(choices.bots)
    except ValueError:
        raise BadChoice(field="bots", allowed=list(Strength)) from None
    return Choices(
        game=choices.game,
        options=options,
        players=choices.players,
        bid_seconds=choices.bid_seconds,
        bots=bots,
        listed=choices.listed,
        spectators=choices.spectators,
        open_chat=choices.open_chat,
    )


def _table(table: WaitingTable) -> pb.FriendsTable:
    choices = table.choices
    return pb.FriendsTable(
        table_id=table.table_id.bytes,
        stage=STAGES[table.stage],
        version=table.version,
        host=table.host,
        choices=pb.FriendsChoices(
            game=choices.game,
            options_json=json.dumps(choices.options),
            players=choices.players,
            bid_seconds=choices.bid_seconds,
            bots=choices.bots.value,
            listed=choices.listed,
            spectators=choices.spectators,
            open_chat=choices.open_chat,
        ),
        seats=[
            pb.FriendsSeat(
                seat=seat,
                who=None
                if person is None
                else pb.Friend(account_id=person.account, name=person.name, guest=person.guest),
            )
            for seat, person in enumerate(table.chairs)
        ],
    )


def _line(line: Line) -> pb.ChatLine:
    told = pb.ChatLine(line=line.line, account_id=line.account, name=line.name, words=line.words)
    told.at.FromDatetime(line.at)
    return told
