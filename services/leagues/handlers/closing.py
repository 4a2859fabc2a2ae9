"""Weeks that have ended are closed, the oldest first, each exactly once (P52, P53, P55).

Every step is one transaction that finds out where the week stands, so that a close can be broken off between any two
and gone on with by anybody, also by several at once: the wallet's totals are fetched page by page, who has no group yet
gets one, groups are closed some at a time with their events, and at last the week is closed and the next one opens for
grouping. The totals are the wallet's, for ever the same once sealed: what leagues hears later changes nothing.
"""

from collections.abc import Iterator
from datetime import datetime

import structlog

from libs.house.calendar import week_bounds, week_id
from libs.house.platform import Platform
from services.leagues.domain.closing import ClosedGroup, Closing, close
from services.leagues.domain.league import Ranked, Stage, Tier
from services.leagues.domain.results import AccountId, WeekId
from services.leagues.handlers.grouping import seat_all
from services.leagues.handlers.levels import TOPIC
from services.leagues.handlers.shown import running_week
from services.leagues.ports import Books, Wallet
from whist.leagues.v1 import events_pb2 as pb
from whist.leagues.v1 import leagues_pb2

log = structlog.get_logger()

GROUPS_AT_ONCE = 50  # a thousand accounts: a transaction of some hundred milliseconds
NAMED_MAX = 10  # of those who hold a close up

TIERS = {
    Tier.JACK: leagues_pb2.TIER_JACK,
    Tier.QUEEN: leagues_pb2.TIER_QUEEN,
    Tier.KING: leagues_pb2.TIER_KING,
    Tier.ACE: leagues_pb2.TIER_ACE,
}


async def close_weeks(*, books: Books, wallet: Wallet, platform: Platform) -> Closing:
    """Close every week that has ended by the database's clock, in order, until one has to wait; says how late that is.

    A week waits for the wallet (NOT_YET), for auth's word on who is a guest, or for groups that another replica is
    closing. Raises DomainError when the wallet is away.
    """
    while (due := await _due_week(books, platform)) is not None:
        if not await close_week(due, books=books, wallet=wallet, platform=platform):
            break
        log.info("week_closed", week=due)
    return await lateness(books=books, platform=platform)


async def close_week(week: WeekId, *, books: Books, wallet: Wallet, platform: Platform) -> bool:
    """Take the week's close to its end from wherever it stands; False: something has to be waited for.

    The week has ended, and all before it are closed.
    """
    async with books.transaction() as ledger:
        await ledger.begin_week(week, _week_after(week, platform))
    if not await _seal(week, books, wallet) or not await _group(week, books, platform):
        return False
    while await _close_some(week, books, platform):
        pass
    return await _finish(week, books, platform)


async def lateness(*, books: Books, platform: Platform) -> Closing:
    """The last closed week, and for how long the next has ended without being closed."""
    async with books.transaction() as ledger:
        now, opened = await ledger.now(), await ledger.open_week()
        late = 0.0 if opened is None else max(0.0, (now - _end(opened, platform)).total_seconds())
        return Closing(last_closed=await ledger.last_closed_week(), late_seconds=late)


async def _due_week(books: Books, platform: Platform) -> WeekId | None:
    async with books.transaction() as ledger:
        opened = await ledger.open_week()
        return opened if opened is not None and opened < await running_week(ledger, platform) else None


async def _seal(week: WeekId, books: Books, wallet: Wallet) -> bool:
    """Fetch the wallet's totals, from the last that is kept on."""
    while True:
        async with books.transaction() as ledger:
            if await ledger.stage(week) is not Stage.SEALING:
                return True
            after = await ledger.last_total(week)
        page = await wallet.seal_week(week, after)
        if page is None:
            log.info("week_not_settled_yet", week=week)
            return False
        async with books.transaction() as ledger:
            await ledger.keep_totals(week, page.totals)
            if not page.more:
                await ledger.learn_sizes()
                await ledger.advance(week, Stage.SEALING, Stage.GROUPING)


async def _group(week: WeekId, books: Books, platform: Platform) -> bool:
    """A group for everybody in the totals; from here on nobody joins one."""
    async with books.transaction() as ledger:
        await ledger.hold_weeks_alone()
        if await ledger.stage(week) is not Stage.GROUPING:
            return True
        if undecided := await ledger.undecided(week, NAMED_MAX):
            log.warning("week_waits_for_accounts", week=week, accounts=[str(each) for each in undecided])
            return False
        await seat_all(week, sealed=True, ledger=ledger, platform=platform)
        await ledger.learn_sizes()
        await ledger.advance(week, Stage.GROUPING, Stage.RANKING)
    return True


async def _close_some(week: WeekId, books: Books, platform: Platform) -> int:
    """Close some groups with their events; 0: none is left that nobody else is closing."""
    async with books.transaction() as ledger:
        opened = await ledger.take_open_groups(week, GROUPS_AT_ONCE)
        if opened:
            closed = [close(each, platform.league) for each in opened]
            await ledger.close_groups(closed)
            await ledger.publish_all(TOPIC, [told for each in closed for told in _events(each)])
        return len(opened)


async def _finish(week: WeekId, books: Books, platform: Platform) -> bool:
    async with books.transaction() as ledger:
        await ledger.hold_weeks_alone()
        if await ledger.has_open_groups(week):
            return False
        if await ledger.advance(week, Stage.RANKING, Stage.CLOSED):
            # Who has won a prize in the next week already waits for the tier that this one has given.
            await seat_all(_week_after(week, platform), sealed=False, ledger=ledger, platform=platform)
    return True


def _events(closed: ClosedGroup) -> Iterator[tuple[bytes, pb.LeaguesEvent]]:
    for each in closed.ranks:
        account_id = each.score.account_id
        yield account_id.bytes, pb.LeaguesEvent(week_closed=_week_closed(closed, each))
        if each.podium_coins or each.podium_bars:
            yield account_id.bytes, pb.LeaguesEvent(podium_won=_podium_won(closed, each))
        if (moved := closed.moved.get(account_id)) is not None:
            yield account_id.bytes, pb.LeaguesEvent(tier_changed=_tier_changed(account_id, moved))


def _week_closed(closed: ClosedGroup, each: Ranked) -> pb.WeekClosed:
    return pb.WeekClosed(
        account_id=each.score.account_id.bytes,
        week_id=closed.group.week_id,
        tier=TIERS[closed.group.tier],
        group_id=closed.group.group_id.bytes,
        rank=each.rank,
        ranked=each.ranked,
        points=each.score.points,
        next_tier=TIERS[each.next_tier],
    )


def _podium_won(closed: ClosedGroup, each: Ranked) -> pb.PodiumWon:
    return pb.PodiumWon(
        account_id=each.score.account_id.bytes,
        week_id=closed.group.week_id,
        group_id=closed.group.group_id.bytes,
        rank=each.rank,
        tier=TIERS[closed.group.tier],
        coins=each.podium_coins,
        bars=each.podium_bars,
    )


def _tier_changed(account_id: AccountId, moved: Tier) -> pb.TierChanged:
    return pb.TierChanged(account_id=account_id.bytes, tier=TIERS[moved])


def _end(week: WeekId, platform: Platform) -> datetime:
    return week_bounds(week, zone=platform.zone)[1]


def _week_after(week: WeekId, platform: Platform) -> WeekId:
    return WeekId(week_id(_end(week, platform), zone=platform.zone))
