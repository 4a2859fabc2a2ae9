"""What others may know of accounts, and the name that one holds for itself alone (P41)."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from services.auth.domain.accounts import Account, AccountId
from services.auth.domain.errors import (
    AccountSuspended,
    AccountUnknown,
    GuestsClaimNoName,
    NameTaken,
    NameTooSoon,
    TooManyAccounts,
)
from services.auth.domain.names import name_of
from services.auth.domain.skeletons import skeletons
from services.auth.handlers.desk import TOPIC, Desk
from whist.auth.v1.events_pb2 import AuthEvent, NameChanged

ACCOUNTS_MAX = 100  # at once: more than any table, list or leaderboard page shows


async def get_account(account_id: UUID, *, desk: Desk) -> Account:
    """Public facts of one account. Raises AccountUnknown, also for a deleted one."""
    async with desk.registry.transaction() as tx:
        account = await tx.account(AccountId(account_id))
    if account is None:
        raise AccountUnknown
    return account


async def get_accounts(account_ids: Collection[UUID], *, desk: Desk) -> Sequence[Account]:
    """The same of up to a hundred; those unknown or deleted are left out. Raises TooManyAccounts."""
    if len(account_ids) > ACCOUNTS_MAX:
        raise TooManyAccounts(most=ACCOUNTS_MAX)
    async with desk.registry.transaction() as tx:
        return await tx.accounts([AccountId(each) for each in account_ids])


async def claim_name(account_id: UUID, text: str, *, desk: Desk) -> tuple[Account, datetime]:
    """Give the account a name that is nobody else's, and say when it may be changed again (P41, A8).

    The first claim is free at once, then one each `names.change_days`; the name one holds is answered as it is. A name
    given up stays its former holder's for `names.held_days`, so that nobody can pass for them.
    Raises NameInvalid, AccountUnknown, GuestsClaimNoName, AccountSuspended, NameTooSoon, NameTaken.
    """
    name = name_of(text, desk.names)
    keys = skeletons(name)
    async with desk.registry.transaction() as tx:
        account = await tx.hold_account(AccountId(account_id))
        if account is None:
            raise AccountUnknown
        if account.guest:
            raise GuestsClaimNoName
        if account.suspended:
            raise AccountSuspended
        now, named_at = await tx.now(), await tx.named_at(account.account_id)
        if named_at is not None:
            next_change_at = named_at + desk.names.change_after
            if account.name == name:
                return account, next_change_at
            if now < next_change_at:
                raise NameTooSoon(next_change_at=next_change_at.isoformat())
        if not await tx.claim_names(account.account_id, keys):
            raise NameTaken
        await tx.give_up_names(account.account_id, keys, desk.names.held)
        await tx.set_name(account.account_id, name, now)
        changed = NameChanged(account_id=account.account_id.bytes, name=name)
        await tx.publish(TOPIC, account.account_id.bytes, AuthEvent(name_changed=changed))
    return replace(account, name=name, named=True), now + desk.names.change_after
