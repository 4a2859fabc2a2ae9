"""The proof that the ledger adds up (P17; reliability E1-E15)."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from uuid import UUID

from google.protobuf.message import DecodeError

from services.wallet.announcements import fact_of
from services.wallet.domain.history import Difference, Unproved
from services.wallet.domain.telling import Told, rebuilt
from services.wallet.ports import Ledger, Wallets

SHOWN_MAX = 100  # a rule; a broken ledger is not made clearer by more


async def ledger_check(*, wallets: Wallets) -> Sequence[Difference]:
    """Everything that does not add up; empty when all is well. All of it is read in one snapshot.

    E1 transfers sum to zero. E2 balances are the sums of their postings. E3 nothing is below zero. E4 a table takes
    and gives each thing at most once, and nothing is left of a game that was refunded or voided. E5 holds, their
    transfers and their tables agree. E6 prizes are for who counts and was among the first three. E7 each prize is that
    of the winner's own room, cup and place, and a table gives what they come to. E8 a sealed week's totals are its
    prizes. E9 each gift's key names whom and what it was for, so that it was given once. E10 nobody was at two paid
    tables at once. E11 a game takes one cup. E12 the first game's bars are of its day. E13, E14 the day's shares are
    what was given. E15 what events have told comes to what was posted, account by account and cause by cause.
    """
    async with wallets.transaction() as ledger:
        await ledger.in_one_snapshot()
        return await differences(ledger)


async def differences(ledger: Ledger) -> Sequence[Difference]:
    """The same by what this transaction sees."""
    found = list(await ledger.differences(SHOWN_MAX))
    telling = await ledger.telling()
    if telling.since is not None:
        told, unreadable = await _told(ledger.kept_events(telling.since))
        found += unreadable[:SHOWN_MAX]
        found += await ledger.untold(told, SHOWN_MAX)
    return found


async def unproved(*, wallets: Wallets) -> Sequence[Unproved]:
    """How much of the ledger `ledger_check` can say nothing of; empty when it speaks of all of it."""
    async with wallets.transaction() as ledger:
        found = list(await ledger.unproved())
        telling = await ledger.telling()
    if telling.since is None:
        why = f"events are compared from {telling.opens_at:%Y-%m-%d %H:%M} UTC on"
        found.append(Unproved(rule="E15", count=1, why=why))
    return found


async def take_in_events(*, wallets: Wallets) -> None:
    """Sum up the days that are over, so that events are read once and may be dropped. Idempotent (E15).

    Where the ledger is older than events that tell all, that is where they begin, once nobody writes the old ones.
    A day with an event that cannot be read is not summed up: the check goes on naming it.
    """
    async with wallets.transaction() as ledger:
        telling = await ledger.telling(lock=True)
        until = telling.may_take_in_until
        if telling.since is not None and telling.since < until:
            told, unreadable = await _told(ledger.kept_events(telling.since, until))
            if not unreadable:
                await ledger.take_in(told, until)
    if telling.opens:
        await _open(wallets)


async def _open(wallets: Wallets) -> None:
    """Events and ledger are read in one snapshot; of two processes at once the second finds it done."""
    async with wallets.transaction() as ledger:
        await ledger.in_one_snapshot(alone=True)
        telling = await ledger.telling()
        if telling.opens:
            told, _ = await _told(ledger.kept_events(telling.may_take_in_until))
            await ledger.open_telling(told, telling.may_take_in_until)


async def _told(events: AsyncIterator[tuple[UUID, bytes]]) -> tuple[Told, list[Difference]]:
    """What they say in all, and those that say nothing that can be understood."""
    told: Told = Counter()
    unreadable = []
    async for event_id, payload in events:
        try:
            rebuilt(fact_of(payload), told)
        except (ValueError, DecodeError) as error:
            unreadable.append(Difference(rule="E15", subject=f"event {event_id}", expected="a fact", found=str(error)))
    return told, unreadable
