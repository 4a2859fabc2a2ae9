"""The wallet's RPCs: translation only."""

from collections.abc import Mapping
from datetime import UTC
from typing import Any
from uuid import UUID

from libs.house.modes import Coffee
from libs.house.platform import Platform
from services.wallet.announcements import assets_of
from services.wallet.domain.errors import BadCoffee, BadId, BadPosition
from services.wallet.domain.history import Movement
from services.wallet.domain.ledger import AccountId, TableId
from services.wallet.handlers.entries import HoldEntry, hold_entry, release_entry
from services.wallet.handlers.reading import balances, history
from services.wallet.ports import Wallets
from whist.types.v1 import types_pb2
from whist.wallet.v1 import wallet_pb2
from whist.wallet.v1.wallet_pb2_grpc import WalletServiceServicer

_SERVICE = "/whist.wallet.v1.WalletService/"
ALLOW: Mapping[str, frozenset[str]] = {
    f"{_SERVICE}Balances": frozenset({"gateway", "matchmaking"}),
    f"{_SERVICE}History": frozenset({"gateway"}),
    f"{_SERVICE}HoldEntry": frozenset({"matchmaking"}),
    f"{_SERVICE}ReleaseEntry": frozenset({"matchmaking"}),
}

_COFFEE: Mapping[int, Coffee] = {
    types_pb2.COFFEE_UNSPECIFIED: Coffee.NONE,
    types_pb2.COFFEE_X1_5: Coffee.X1_5,
    types_pb2.COFFEE_X2: Coffee.X2,
    types_pb2.COFFEE_X3: Coffee.X3,
    types_pb2.COFFEE_X5: Coffee.X5,
}
_POSITION_MAX = 2**63 - 1


class WalletApi(WalletServiceServicer):
    """Domain errors pass through to the interceptor."""

    def __init__(self, wallets: Wallets, platform: Platform) -> None:
        self._wallets = wallets
        self._platform = platform

    async def Balances(self, request: wallet_pb2.BalancesRequest, context: Any) -> wallet_pb2.BalancesResponse:  # noqa: N802
        found = await balances(_account(request.account_id), wallets=self._wallets)
        return wallet_pb2.BalancesResponse(assets=assets_of(found.owned), held=assets_of(found.held))

    async def HoldEntry(self, request: wallet_pb2.HoldEntryRequest, context: Any) -> wallet_pb2.HoldEntryResponse:  # noqa: N802
        command = HoldEntry(
            table_id=_table(request.table_id),
            account_id=_account(request.account_id),
            room=request.room,
            coffee=_coffee(request.coffee),
        )
        hold = await hold_entry(command, wallets=self._wallets, platform=self._platform)
        return wallet_pb2.HoldEntryResponse(entry=assets_of(hold.amounts))

    async def ReleaseEntry(  # noqa: N802
        self, request: wallet_pb2.ReleaseEntryRequest, context: Any
    ) -> wallet_pb2.ReleaseEntryResponse:
        await release_entry(_table(request.table_id), _account(request.account_id), wallets=self._wallets)
        return wallet_pb2.ReleaseEntryResponse()

    async def History(self, request: wallet_pb2.HistoryRequest, context: Any) -> wallet_pb2.HistoryResponse:  # noqa: N802
        page = await history(
            _account(request.account_id),
            limit=request.limit,
            before=_position(request.before),
            wallets=self._wallets,
        )
        return wallet_pb2.HistoryResponse(
            movements=[_movement(movement) for movement in page.movements],
            next_before="" if page.next_before is None else str(page.next_before),
        )


def _id(field: str, plain: bytes) -> UUID:
    if len(plain) != 16:
        raise BadId(field=field)
    return UUID(bytes=plain)


def _account(plain: bytes) -> AccountId:
    return AccountId(_id("account_id", plain))


def _table(plain: bytes) -> TableId:
    return TableId(_id("table_id", plain))


def _coffee(number: int) -> Coffee:
    if number not in _COFFEE:
        raise BadCoffee(coffee=number)
    return _COFFEE[number]


def _position(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or len(text) > 19 or int(text) > _POSITION_MAX:
        raise BadPosition
    return int(text)


def _movement(movement: Movement) -> wallet_pb2.Movement:
    message = wallet_pb2.Movement(
        transfer_id=movement.transfer_id.bytes,
        reason=movement.reason,
        asset=movement.asset,
        amount=movement.amount,
        table_id=movement.table_id.bytes if movement.table_id else b"",
    )
    message.at.FromDatetime(movement.at.astimezone(UTC))
    return message
