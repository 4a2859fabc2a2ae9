"""Accounts: found, shut out and let in again, silenced; their purses looked into and corrected; the ledger proved."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from services.gateway.admin import models
from services.gateway.admin.gate import ActKey, Corrects, Looks, Proves, Rules, Silences, act
from services.gateway.http.models import Id
from services.gateway.http.models.wallet import Assets, History, Wallet
from services.gateway.http.parts import Parts, PartsOf
from whist.auth.v1 import auth_pb2
from whist.tables.v1 import tables_pb2
from whist.wallet.v1 import wallet_pb2

router = APIRouter(prefix="/admin/v1/accounts", tags=["accounts"])
ledger = APIRouter(prefix="/admin/v1", tags=["ledger"])

PROOF_SECONDS = 300.0  # it reads every posting there is

AccountId = Annotated[Id, Path()]


@router.post("/search")
async def search(parts: PartsOf, operator: Looks, body: models.Search, key: ActKey) -> models.Accounts:
    """Accounts by id, name or address. A body and not a query: an address belongs in no log of addresses asked for."""
    answer = await parts.clients.auth.call(
        parts.clients.auth_stub.FindAccounts,
        auth_pb2.FindAccountsRequest(act=act(operator, key, body.reason), words=body.words),
    )
    return models.Accounts(accounts=[models.Account.of(each) for each in answer.accounts])


@router.post("/{account_id}/suspend")
async def suspend(parts: PartsOf, operator: Rules, account_id: AccountId, body: models.Why, key: ActKey) -> models.Done:
    """Shut the account out: its sessions end, its sockets close, and it signs in no more."""
    await parts.clients.auth.call(
        parts.clients.auth_stub.Suspend,
        auth_pb2.SuspendRequest(act=act(operator, key, body.reason), account_id=bytes.fromhex(account_id)),
    )
    return models.Done()


@router.post("/{account_id}/reinstate")
async def reinstate(
    parts: PartsOf, operator: Rules, account_id: AccountId, body: models.Why, key: ActKey
) -> models.Done:
    """Let it in again."""
    await parts.clients.auth.call(
        parts.clients.auth_stub.Reinstate,
        auth_pb2.ReinstateRequest(act=act(operator, key, body.reason), account_id=bytes.fromhex(account_id)),
    )
    return models.Done()


@router.post("/{account_id}/silence")
async def silence(
    parts: PartsOf, operator: Silences, account_id: AccountId, body: models.SilenceFor, key: ActKey
) -> models.Silenced:
    """Let nobody hear its chat, at any table, for so many minutes from now; 0 lifts it."""
    await _require_account(parts, account_id)
    answer = await parts.clients.table_call(
        "Silence",
        tables_pb2.SilenceRequest(
            act=act(operator, key, body.reason), account_id=bytes.fromhex(account_id), minutes=body.minutes
        ),
    )
    return models.Silenced(until=models.moment(answer.until) if answer.HasField("until") else None)


@router.get("/{account_id}/wallet")
async def wallet(parts: PartsOf, operator: Looks, account_id: AccountId) -> Wallet:
    """What it owns."""
    answer = await parts.clients.wallet.call(
        parts.clients.wallet_stub.Balances, wallet_pb2.BalancesRequest(account_id=bytes.fromhex(account_id))
    )
    return Wallet.of_balances(answer)


@router.get("/{account_id}/history")
async def history(
    parts: PartsOf,
    operator: Looks,
    account_id: AccountId,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
    before: Annotated[str, Query(max_length=200)] = "",
) -> History:
    """Every movement of its purse, newest first."""
    answer = await parts.clients.wallet.call(
        parts.clients.wallet_stub.History,
        wallet_pb2.HistoryRequest(account_id=bytes.fromhex(account_id), limit=limit, before=before),
    )
    return History.of(answer)


@router.post("/{account_id}/correct")
async def correct(
    parts: PartsOf, operator: Corrects, account_id: AccountId, body: models.Correction, key: ActKey
) -> models.Corrected:
    """Correct its balance by a transfer; no balance goes below nothing."""
    await _require_account(parts, account_id)
    answer = await parts.clients.wallet.call(
        parts.clients.wallet_stub.Grant,
        wallet_pb2.GrantRequest(
            act=act(operator, key, body.reason), account_id=bytes.fromhex(account_id), assets=body.assets()
        ),
    )
    return models.Corrected(assets=Assets.of(answer.assets))


@ledger.post("/ledger-check")
async def ledger_check(parts: PartsOf, operator: Proves) -> models.LedgerCheck:
    """Prove the ledger as it stands now (P17). Changes nothing; on a large one it takes a minute or more."""
    answer = await parts.clients.wallet.call(
        parts.clients.wallet_stub.CheckLedger, wallet_pb2.CheckLedgerRequest(), seconds=PROOF_SECONDS, tries=1
    )
    found = [
        models.Difference(rule=each.rule, subject=each.subject, expected=each.expected, found=each.found)
        for each in answer.differences
    ]
    beyond = [models.Unproved(rule=each.rule, count=each.count, why=each.why) for each in answer.unproved]
    return models.LedgerCheck(ok=not found, differences=found, unproved=beyond)


async def _require_account(parts: Parts, account_id: str) -> None:
    """Raises ACCOUNT_UNKNOWN, also for a deleted one: wallet and tables keep what they are told by ids alone."""
    request = auth_pb2.GetAccountRequest(account_id=bytes.fromhex(account_id))
    await parts.clients.auth.call(parts.clients.auth_stub.GetAccount, request)
