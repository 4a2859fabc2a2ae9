"""The purse of the account that asks: what is there, what it buys, the games it gives back."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Header, Path, Query

from services.gateway.http import models
from services.gateway.http.bearer import Holder
from services.gateway.http.parts import PartsOf
from whist.wallet.v1 import wallet_pb2

router = APIRouter(prefix="/v1", tags=["wallet"])

GameId = Annotated[models.Id, Path()]
# Whatever spends needs one: a purchase whose answer was lost must not be made again.
PurchaseKey = Annotated[
    models.Uuid, Header(alias="Idempotency-Key", description="A random UUID of yours: the same one again buys once.")
]


@router.get("/wallet")
async def wallet(parts: PartsOf, holder: Holder) -> models.Wallet:
    """Coins, bars and cups."""
    answer = await parts.clients.wallet.call(
        parts.clients.wallet_stub.Balances, wallet_pb2.BalancesRequest(account_id=holder.account_id)
    )
    return models.Wallet.of_balances(answer)


@router.get("/wallet/history")
async def history(
    parts: PartsOf,
    holder: Holder,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
    before: Annotated[str, Query(max_length=200)] = "",
) -> models.History:
    """Every movement of one's purse, newest first (P17)."""
    answer = await parts.clients.wallet.call(
        parts.clients.wallet_stub.History,
        wallet_pb2.HistoryRequest(account_id=holder.account_id, limit=limit, before=before),
    )
    return models.History.of(answer)


@router.post("/wallet/coffee")
async def buy_coffee(
    parts: PartsOf, holder: Holder, body: models.CoffeeOrder, idempotency_key: PurchaseKey
) -> models.Assets:
    """Buy cups of one kind for gold bars (P12). Answers what is there now."""
    answer = await parts.clients.wallet.call(
        parts.clients.wallet_stub.BuyCoffee,
        wallet_pb2.BuyCoffeeRequest(
            account_id=holder.account_id,
            guest=holder.guest,
            coffee=models.COFFEE_OF[body.coffee],
            request_id=UUID(idempotency_key).bytes,
        ),
    )
    return models.Assets.of(answer.assets)


@router.get("/games/{game_id}/refund")
async def refund_offer(parts: PartsOf, holder: Holder, game_id: GameId) -> models.RefundOffer:
    """What giving the game back would return and take, or why it cannot be given back (P14)."""
    answer = await parts.clients.wallet.call(
        parts.clients.wallet_stub.RefundOffer,
        wallet_pb2.RefundOfferRequest(account_id=holder.account_id, table_id=bytes.fromhex(game_id)),
    )
    return models.RefundOffer.of(answer)


@router.post("/games/{game_id}/refund")
async def refund(parts: PartsOf, holder: Holder, game_id: GameId) -> models.Refunded:
    """Give the game back: entry and coffee return, all that it won goes (P14). Once a game, and answered as then."""
    answer = await parts.clients.wallet.call(
        parts.clients.wallet_stub.Refund,
        wallet_pb2.RefundRequest(account_id=holder.account_id, table_id=bytes.fromhex(game_id)),
    )
    return models.Refunded.of(answer)
