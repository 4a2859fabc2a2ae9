"""The wallet's RPCs: translation only."""

from collections.abc import Mapping
from datetime import UTC
from typing import Any
from uuid import UUID

from libs.chassis.audit import asked, asked_page, told
from libs.house.modes import Coffee
from libs.house.platform import Platform
from services.wallet.announcements import amounts_of, assets_of
from services.wallet.domain.errors import BadCoffee, BadId, BadPosition
from services.wallet.domain.history import Movement
from services.wallet.domain.ledger import AccountId, TableId
from services.wallet.handlers.entries import HoldEntry, release_entry
from services.wallet.handlers.holding import HoldDesk
from services.wallet.handlers.ledger_check import ledger_check, unproved
from services.wallet.handlers.operators import audit_log, grant
from services.wallet.handlers.purchases import BuyCoffee, buy_coffee
from services.wallet.handlers.reading import balances, history
from services.wallet.handlers.refunds import RefundDesk, refund, refund_offer
from services.wallet.handlers.weeks import seal_week
from services.wallet.ports import Tables, Wallets
from whist.types.v1 import audit_pb2, types_pb2
from whist.wallet.v1 import wallet_pb2
from whist.wallet.v1.wallet_pb2_grpc import WalletServiceServicer

_SERVICE = "/whist.wallet.v1.WalletService/"
ALLOW: Mapping[str, frozenset[str]] = {
    f"{_SERVICE}Balances": frozenset({"gateway", "matchmaking"}),
    f"{_SERVICE}History": frozenset({"gateway"}),
    f"{_SERVICE}HoldEntry": frozenset({"matchmaking"}),
    f"{_SERVICE}ReleaseEntry": frozenset({"matchmaking"}),
    f"{_SERVICE}BuyCoffee": frozenset({"gateway"}),
    f"{_SERVICE}RefundOffer": frozenset({"gateway"}),
    f"{_SERVICE}Refund": frozenset({"gateway"}),
    f"{_SERVICE}SealWeek": frozenset({"leagues"}),
    # The operators' listener lives in the gateway.
    f"{_SERVICE}Grant": frozenset({"gateway"}),
    f"{_SERVICE}CheckLedger": frozenset({"gateway"}),
    f"{_SERVICE}AuditLog": frozenset({"gateway"}),
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

    def __init__(self, desk: RefundDesk, tables: Tables, proofs: Wallets) -> None:
        """`proofs` may take its time over a statement: the ledger's proof reads whole tables."""
        self._desk = desk
        self._wallets = desk.wallets
        self._platform: Platform = desk.platform
        self._tables = tables
        self._holds = HoldDesk(desk.wallets, desk.platform)
        self._proofs = proofs

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
        hold = await self._holds.hold(command)
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

    async def BuyCoffee(self, request: wallet_pb2.BuyCoffeeRequest, context: Any) -> wallet_pb2.BuyCoffeeResponse:  # noqa: N802
        command = BuyCoffee(
            account_id=_account(request.account_id),
            guest=request.guest,
            coffee=_coffee(request.coffee),
            request_id=_id("request_id", request.request_id),
        )
        owned = await buy_coffee(command, wallets=self._wallets, platform=self._platform)
        return wallet_pb2.BuyCoffeeResponse(assets=assets_of(owned))

    async def RefundOffer(  # noqa: N802
        self, request: wallet_pb2.RefundOfferRequest, context: Any
    ) -> wallet_pb2.RefundOfferResponse:
        found = await refund_offer(_account(request.account_id), _table(request.table_id), desk=self._desk)
        response = wallet_pb2.RefundOfferResponse(
            refused="" if found.refused is None else found.refused.reason,
            returns=assets_of(found.returns),
            takes=assets_of(found.takes),
            left_today=found.left_today,
            loses_first_game=found.loses_first_game,
        )
        if found.until is not None:
            response.until.FromDatetime(found.until.astimezone(UTC))
        return response

    async def Refund(self, request: wallet_pb2.RefundRequest, context: Any) -> wallet_pb2.RefundResponse:  # noqa: N802
        done = await refund(_account(request.account_id), _table(request.table_id), desk=self._desk)
        return wallet_pb2.RefundResponse(
            returned=assets_of(done.returned), taken=assets_of(done.taken), assets=assets_of(done.owned)
        )

    async def SealWeek(self, request: wallet_pb2.SealWeekRequest, context: Any) -> wallet_pb2.SealWeekResponse:  # noqa: N802
        page = await seal_week(
            request.week_id,
            after=AccountId(_id("after", request.after)) if request.after else None,
            limit=request.limit,
            wallets=self._wallets,
            tables=self._tables,
            zone=self._platform.zone,
        )
        if page is None:
            return wallet_pb2.SealWeekResponse(sealed=False)
        totals = [
            wallet_pb2.WeekTotal(account_id=each.account_id.bytes, coins=each.coins, prizes=each.prizes)
            for each in page.totals
        ]
        return wallet_pb2.SealWeekResponse(sealed=True, totals=totals, more=page.more)

    async def Grant(self, request: wallet_pb2.GrantRequest, context: Any) -> wallet_pb2.GrantResponse:  # noqa: N802
        account_id, amounts = _account(request.account_id), amounts_of(request.assets)
        act = asked(
            request.act, "correct", account_id.hex, **{asset.value: amount for asset, amount in amounts.items()}
        )
        return wallet_pb2.GrantResponse(assets=assets_of(await grant(act, account_id, amounts, wallets=self._wallets)))

    async def CheckLedger(  # noqa: N802
        self, request: wallet_pb2.CheckLedgerRequest, context: Any
    ) -> wallet_pb2.CheckLedgerResponse:
        found = await ledger_check(wallets=self._proofs)
        return wallet_pb2.CheckLedgerResponse(
            differences=[
                wallet_pb2.LedgerDifference(
                    rule=each.rule, subject=each.subject, expected=each.expected, found=each.found
                )
                for each in found
            ],
            unproved=[
                wallet_pb2.LedgerUnproved(rule=each.rule, count=each.count, why=each.why)
                for each in await unproved(wallets=self._proofs)
            ],
        )

    async def AuditLog(self, request: wallet_pb2.AuditLogRequest, context: Any) -> wallet_pb2.AuditLogResponse:  # noqa: N802
        before, limit = asked_page(request.before, request.limit)
        lines = await audit_log(before=before, limit=limit, wallets=self._wallets)
        return wallet_pb2.AuditLogResponse(lines=[audit_pb2.AuditLine(**told(each)) for each in lines])


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
