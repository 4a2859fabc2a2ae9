"""The wallet and the tables over gRPC: translation only."""

import json
from collections.abc import Mapping, Sequence
from typing import cast
from uuid import UUID

from libs.chassis.errors import DomainError
from libs.chassis.rpc.peer import Peer
from libs.house.modes import Coffee, Mode
from services.matchmaking.domain.admission import Assets
from services.matchmaking.domain.errors import AlreadySeated, SeatedElsewhere
from services.matchmaking.domain.ids import AccountId, TableId
from services.matchmaking.domain.matches import Player
from services.matchmaking.domain.tickets import Wish
from whist.tables.v1 import tables_pb2
from whist.tables.v1.tables_pb2_grpc import TablesServiceStub
from whist.types.v1 import types_pb2
from whist.wallet.v1 import wallet_pb2
from whist.wallet.v1.wallet_pb2_grpc import WalletServiceStub

CALL_SECONDS = 2.0  # with its repetitions still within a match's step lease
GONE = frozenset({"TABLE_UNKNOWN", "TABLE_FINISHED", "NOT_AT_TABLE"})

MODES: Mapping[Mode, types_pb2.Mode.ValueType] = {
    Mode.QUICK: types_pb2.MODE_QUICK,
    Mode.CLASSIC: types_pb2.MODE_CLASSIC,
}
COFFEES: Mapping[Coffee, types_pb2.Coffee.ValueType] = {
    Coffee.NONE: types_pb2.COFFEE_UNSPECIFIED,
    Coffee.X1_5: types_pb2.COFFEE_X1_5,
    Coffee.X2: types_pb2.COFFEE_X2,
    Coffee.X3: types_pb2.COFFEE_X3,
    Coffee.X5: types_pb2.COFFEE_X5,
}


class WalletPeer:
    """Implements `ports.Wallet`."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._stub = WalletServiceStub(peer.channel)

    async def balances(self, account_id: AccountId) -> Assets:
        request = wallet_pb2.BalancesRequest(account_id=account_id.bytes)
        assets = (await self._peer.call(self._stub.Balances, request, seconds=CALL_SECONDS)).assets
        cups = {
            Coffee.X1_5: assets.cups_x1_5,
            Coffee.X2: assets.cups_x2,
            Coffee.X3: assets.cups_x3,
            Coffee.X5: assets.cups_x5,
        }
        return Assets(coins=assets.coins, bars=assets.bars, cups=cups)

    async def hold(self, table_id: TableId, wish: Wish) -> None:
        request = wallet_pb2.HoldEntryRequest(
            table_id=table_id.bytes,
            account_id=wish.account_id.bytes,
            room=wish.room,
            coffee=COFFEES[wish.coffee],
        )
        await self._peer.call(self._stub.HoldEntry, request, seconds=CALL_SECONDS)

    async def release(self, table_id: TableId, account_id: AccountId) -> None:
        request = wallet_pb2.ReleaseEntryRequest(table_id=table_id.bytes, account_id=account_id.bytes)
        await self._peer.call(self._stub.ReleaseEntry, request, seconds=CALL_SECONDS)


class TablesPeer:
    """Implements `ports.Tables`; any worker may answer."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._stub = TablesServiceStub(peer.channel)

    async def create(self, table_id: TableId, mode: Mode, players: Sequence[Player]) -> None:
        request = tables_pb2.CreateTableRequest(
            table_id=table_id.bytes,
            kind=tables_pb2.TABLE_KIND_QUICK,
            mode=MODES[mode],
            game=mode.game,
            options_json=json.dumps(dict(mode.options)),
            players=[_player(player) for player in players],
            seats=mode.seats,
        )
        try:
            await self._peer.call(self._stub.CreateTable, request, seconds=CALL_SECONDS)
        except DomainError as error:
            if error.reason != AlreadySeated.reason:
                raise
            accounts = cast("Sequence[str]", error.facts["accounts"])
            raise SeatedElsewhere(frozenset(AccountId(UUID(account)) for account in accounts)) from error

    async def seat_of(self, account_id: AccountId) -> TableId | None:
        request = tables_pb2.SeatOfRequest(account_id=account_id.bytes)
        answer = await self._peer.call(self._stub.SeatOf, request, seconds=CALL_SECONDS)
        return TableId(UUID(bytes=answer.table_id)) if answer.table_id else None

    async def abandon(self, table_id: TableId) -> bool:
        request = tables_pb2.AbandonRequest(table_id=table_id.bytes)
        answer = await self._peer.call(self._stub.Abandon, request, seconds=CALL_SECONDS)
        return bool(answer.outcome == tables_pb2.ABANDON_OUTCOME_DEALT)

    async def is_seated(self, table_id: TableId, account_id: AccountId) -> bool:
        request = tables_pb2.GetTableRequest(table_id=table_id.bytes, account_id=account_id.bytes)
        try:
            answer = await self._peer.call(self._stub.GetTable, request, seconds=CALL_SECONDS)
        except DomainError as error:
            if error.reason in GONE:
                return False
            raise
        return bool(answer.status == tables_pb2.TABLE_STATUS_LIVE and answer.seat >= 0 and not answer.left)


def _player(player: Player) -> tables_pb2.Player:
    return tables_pb2.Player(
        account_id=player.account_id.bytes,
        name=player.name,
        guest=player.guest,
        room=player.room,
        coffee=COFFEES[player.coffee],
        hints=player.hints,
    )
