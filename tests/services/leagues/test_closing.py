"""P50-P55: groups of the weekly league, and the closing of weeks."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from libs.chassis.errors import DomainError
from libs.chassis.rpc.peer import Peer
from libs.house.calendar import week_id
from services.leagues.domain.league import Tier, group_id_of
from services.leagues.domain.results import WeekId
from services.leagues.handlers import closing
from services.leagues.jobs import close_weeks
from services.leagues.metrics import last_closed_week, week_late_seconds
from services.leagues.peers import WalletPeer
from services.leagues.wiring import MIGRATIONS
from tests.conftest import MakeDatabase
from tests.services.leagues.builders import (
    PLATFORM,
    WEEK,
    Leagues,
    account_created,
    account_deleted,
    game_finished,
    guest_upgraded,
    leagues_running,
    minutes,
    new_id,
    seat_result,
)
from tests.services.leagues.wallet import Wallet, a_wallet, wallet_serving
from whist.leagues.v1.leagues_pb2 import TIER_ACE, TIER_JACK, TIER_KING, TIER_QUEEN

NEXT = "2026-W49"


@dataclass(frozen=True, slots=True, kw_only=True)
class League:
    """Leagues over a database of their own, and the wallet they call."""

    leagues: Leagues
    wallet: Wallet
    peer: WalletPeer
    url: str
    folder: Path

    async def accounts(self, count: int) -> list[UUID]:
        people = sorted(new_id() for _ in range(count))
        await self.leagues.bus.publish([account_created(person, guest=False) for person in people])
        return people

    async def win(self, *people: UUID, week: str = WEEK, best: int = 1000) -> None:
        """One prize each, the first the largest."""
        for index, person in enumerate(people):
            await self.leagues.bus.publish([self.wallet.pay(person, best - index, week=week, at=minutes(index))])

    async def close(self, week: str = WEEK) -> bool:
        return await closing.close_week(WeekId(week), books=self.leagues.books, wallet=self.peer, platform=PLATFORM)

    async def ranks(self, week: str = WEEK) -> list[tuple[UUID, int, int, int]]:
        rows = await self.leagues.rows(
            "select * from leagues.week_rank where week_id = :week order by group_id, rank", week=week
        )
        return [(row.account_id, row.rank, row.points, row.next_tier) for row in rows]

    async def weeks(self, count: int) -> list[str]:
        """The last of them is the one that runs."""
        async with self.leagues.books.transaction() as ledger:
            now = await ledger.now()
        return [week_id(now - timedelta(weeks=back)) for back in reversed(range(count))]

    async def tier(self, account: UUID) -> int:
        return (await self.leagues.profile(account)).tier


@asynccontextmanager
async def league_running(make_database: MakeDatabase) -> AsyncIterator[League]:
    url = await make_database(MIGRATIONS)
    with tempfile.TemporaryDirectory(prefix="whist-league-") as name:
        folder, wallet = Path(name), a_wallet()
        target = f"unix:{folder}/wallet.sock"
        async with wallet_serving(wallet, target) as peer, leagues_running(url, folder, wallet_target=target) as run:
            yield League(leagues=run, wallet=wallet, peer=peer, url=url, folder=folder)


@pytest.fixture
async def league(make_database: MakeDatabase) -> AsyncIterator[League]:
    async with league_running(make_database) as running:
        yield running


# ---- groups ----


async def test_p53_groups_hold_twenty_and_are_filled_without_a_gap_by_parallel_consumers(league: League) -> None:
    people = await league.accounts(45)
    events = [league.wallet.pay(person, 100) for person in people]
    await asyncio.gather(*(league.leagues.bus.publish([event]) for event in events))
    rows = await league.leagues.rows(
        "select number, count(*) as taken, max(position) as last from leagues.group_member "
        "join leagues.league_group using (group_id) group by number order by number"
    )
    assert [(row.number, row.taken, row.last) for row in rows] == [(1, 20, 20), (2, 20, 20), (3, 5, 5)]


async def test_p53_a_group_shows_how_it_would_close(league: League) -> None:
    ana, dan, eva, ion = people = await league.accounts(4)
    await league.win(ana, dan, eva, ion)
    table = new_id()
    await league.leagues.bus.publish([league.wallet.pay(dan, 500, table=table)])
    shown = await league.leagues.group(eva)
    assert (shown.week_id, shown.tier, shown.closed) == (WEEK, TIER_JACK, False)
    assert shown.group_id == group_id_of(WeekId(WEEK), Tier.JACK, 1).bytes
    assert [UUID(bytes=each.account_id) for each in shown.members] == [dan, ana, eva, ion]
    assert [each.next_tier for each in shown.members] == [TIER_QUEEN, TIER_QUEEN, TIER_JACK, TIER_JACK]
    assert [each.podium_coins for each in shown.members] == [100_000, 80_000, 60_000, 0]
    await league.leagues.bus.publish([league.wallet.refund(dan, table)])
    shown = await league.leagues.group(eva)
    assert [UUID(bytes=each.account_id) for each in shown.members] == people


async def test_p52_who_has_won_nothing_is_in_no_group(league: League) -> None:
    [ana] = await league.accounts(1)
    await league.leagues.bus.publish([game_finished(seat_result(ana, place=5))])
    shown = await league.leagues.group(ana)
    assert (shown.group_id, list(shown.members), shown.tier) == (b"", [], TIER_JACK)


async def test_p53_ties_go_to_fewer_games_then_to_who_reached_the_sum_first(league: League) -> None:
    first, second, third, fourth = await league.accounts(4)
    for person, minute in ((first, 9), (second, 5), (third, 1), (fourth, 5)):
        await league.leagues.bus.publish([league.wallet.pay(person, 100, at=minutes(minute))])
    await league.leagues.bus.publish([game_finished(seat_result(third)), game_finished(seat_result(third))])
    shown = await league.leagues.group(first)
    assert [UUID(bytes=each.account_id) for each in shown.members] == [second, fourth, first, third]
    assert await league.close()
    assert [who for who, *_ in await league.ranks()] == [second, fourth, first, third]


async def test_p42_guests_are_in_no_group_until_they_sign_in(league: League) -> None:
    guest = new_id()
    await league.leagues.bus.publish([account_created(guest, guest=True), league.wallet.pay(guest, 100)])
    assert not (await league.leagues.group(guest)).group_id
    await league.leagues.bus.publish([guest_upgraded(guest)])
    assert [each.points for each in (await league.leagues.group(guest)).members] == [100]


async def test_p45_a_deleted_account_is_neither_shown_nor_ranked(league: League) -> None:
    ana, dan = await league.accounts(2)
    await league.win(ana, dan)
    await league.leagues.bus.publish([account_deleted(ana)])
    assert [UUID(bytes=each.account_id) for each in (await league.leagues.group(dan)).members] == [dan]
    assert await league.close()
    assert [(who, rank) for who, rank, *_ in await league.ranks()] == [(dan, 1)]


# ---- the close ----


async def test_p51_p53_a_week_is_closed_with_ranks_podium_and_tiers(league: League) -> None:
    people = await league.accounts(12)
    await league.win(*people)
    assert await league.close()
    ranks = await league.ranks()
    assert [(who, rank) for who, rank, *_ in ranks] == list(zip(people, range(1, 13), strict=True))
    assert [next_tier for *_, next_tier in ranks] == [TIER_QUEEN] * 4 + [TIER_JACK] * 8
    closed = await league.leagues.told("week_closed")
    assert [(each.rank, each.ranked, each.points, each.tier, each.next_tier) for each in closed[:1]] == [
        (1, 12, 1000, TIER_JACK, TIER_QUEEN)
    ]
    assert len(closed) == 12
    podium = await league.leagues.told("podium_won")
    assert [(UUID(bytes=each.account_id), each.rank, each.coins, each.bars) for each in podium] == [
        (people[0], 1, 100_000, 50), (people[1], 2, 80_000, 30), (people[2], 3, 60_000, 10),
    ]  # fmt: skip
    moved = await league.leagues.told("tier_changed")
    assert [(UUID(bytes=each.account_id), each.tier) for each in moved] == [(one, TIER_QUEEN) for one in people[:4]]
    assert [await league.tier(person) for person in people[3:5]] == [TIER_QUEEN, TIER_JACK]
    shown = await league.leagues.group(people[0])
    assert shown.closed and [each.rank for each in shown.members] == list(range(1, 13))
    assert (await league.leagues.standing(people[0])).tier == TIER_JACK


async def test_p53_the_last_four_of_a_large_group_fall_and_who_did_not_play_stays(league: League) -> None:
    people = await league.accounts(13)
    await league.leagues.rows("insert into leagues.tier select account_id, 3 from leagues.account")
    await league.win(*people[:12])
    assert await league.close()
    assert [await league.tier(person) for person in people] == [TIER_ACE] * 4 + [TIER_KING] * 4 + [TIER_QUEEN] * 4 + [
        TIER_KING
    ]


async def test_p50_the_totals_are_the_wallets_however_late_its_events_are(league: League) -> None:
    ana, dan, eva, late = await league.accounts(4)
    await league.win(ana, dan, eva)
    unheard = [
        league.wallet.pay(late, 5000),  # the first prize of somebody who has no group yet
        league.wallet.pay(eva, 4000),
        league.wallet.refund(dan, next(iter(league.wallet.paid[WEEK, dan]))),
    ]
    assert await league.close()
    before = await league.ranks()
    assert [(who, rank, points) for who, rank, points, _ in before] == [(late, 1, 5000), (eva, 2, 4998), (ana, 3, 1000)]
    await league.leagues.bus.publish(unheard)
    assert await league.ranks() == before
    assert (await league.leagues.standing(late)).points == 5000
    assert [each.points for each in (await league.leagues.group(ana)).members] == [5000, 4998, 1000]


async def test_p55_a_close_is_once_however_often_and_by_however_many_it_is_started(league: League) -> None:
    people = await league.accounts(70)
    await asyncio.gather(*(league.leagues.bus.publish([league.wallet.pay(who, 100)]) for who in people))
    async with leagues_running(league.url, league.folder) as twin:
        for _ in range(2):
            await asyncio.gather(
                *(
                    closing.close_week(WeekId(WEEK), books=one.books, wallet=league.peer, platform=PLATFORM)
                    for one in (league.leagues, twin) * 3
                )
            )
    assert await league.close()
    assert len(await league.ranks()) == 70
    assert len(await league.leagues.told("week_closed")) == 70
    assert len(await league.leagues.told("podium_won")) == 4 * 3
    assert len(await league.leagues.told("tier_changed")) == 4 * 4


async def test_p55_a_week_waits_until_every_game_of_it_is_settled(league: League) -> None:
    [ana] = await league.accounts(1)
    await league.win(ana)
    league.wallet.unsettled.add(WEEK)
    assert not await league.close()
    assert await league.ranks() == []
    league.wallet.unsettled.clear()
    assert await league.close()
    assert len(await league.ranks()) == 1


async def test_p42_a_week_waits_until_it_is_known_who_is_a_guest(league: League) -> None:
    unknown, guest = new_id(), new_id()
    await league.leagues.bus.publish([account_created(guest, guest=True)])
    await league.win(unknown, guest)
    assert not await league.close()
    await league.leagues.bus.publish([account_created(unknown, guest=False)])
    assert await league.close()
    assert [who for who, *_ in await league.ranks()] == [unknown]


async def test_p53_prizes_of_the_next_week_wait_for_the_tier_that_this_one_gives(league: League) -> None:
    people = await league.accounts(4)
    await league.win(*people)
    await league.win(people[3], people[0], week=NEXT)
    assert not (await league.leagues.group(people[0], NEXT)).group_id
    assert await league.close()
    up, stays = await league.leagues.group(people[0], NEXT), await league.leagues.group(people[3], NEXT)
    assert (up.tier, stays.tier) == (TIER_QUEEN, TIER_JACK)
    assert [each.points for each in up.members] == [999]
    await league.win(people[1], week=NEXT)
    assert (await league.leagues.group(people[1], NEXT)).group_id == up.group_id


async def test_p55_missed_weeks_are_closed_in_order_each_once(league: League) -> None:
    """One without a prize is among them; the week that runs stays open."""
    [ana] = await league.accounts(1)
    *ended, running = await league.weeks(5)
    played = [ended[0], ended[1], ended[3]]
    for week in (*played, running):
        await league.win(ana, week=week)
    await close_weeks(league.leagues.books, league.peer, PLATFORM)
    rows = await league.leagues.rows("select week_id, stage from leagues.week order by week_id")
    assert [(row.week_id, row.stage) for row in rows] == [(week, "closed") for week in ended]
    assert league.wallet.asked == ended
    assert [each.week_id for each in await league.leagues.told("week_closed")] == played
    assert [each.tier for each in await league.leagues.told("tier_changed")] == [TIER_QUEEN, TIER_KING, TIER_ACE]
    assert (await league.leagues.group(ana, running)).tier == TIER_ACE
    assert week_late_seconds._value.get() == 0
    assert last_closed_week._value.get() == int(ended[-1].replace("-W", ""))


@pytest.mark.parametrize(
    ("week", "after"), [("2026-W52", "2026-W53"), ("2026-W53", "2027-W01"), ("2024-W52", "2025-W01")]
)
async def test_x10_the_week_after_the_years_last_is_the_next_that_opens(league: League, week: str, after: str) -> None:
    [ana] = await league.accounts(1)
    await league.win(ana, week=week)
    await league.win(ana, week=after)
    assert await league.close(week)
    async with league.leagues.books.transaction() as ledger:
        assert await ledger.open_week() == after
    assert (await league.leagues.group(ana, after)).tier == TIER_QUEEN


async def test_p55_the_job_says_how_late_a_week_is_while_the_wallet_is_away(league: League) -> None:
    [ana] = await league.accounts(1)
    await league.win(ana, week="2020-W51")
    gone = Peer(f"unix:{league.folder}/gone.sock", "leagues")
    with pytest.raises(DomainError):
        await close_weeks(league.leagues.books, WalletPeer(gone), PLATFORM)
    await gone.close()
    assert week_late_seconds._value.get() > 5 * 365 * 86_400


async def test_p55_the_running_service_closes_by_itself(league: League) -> None:
    [ana] = await league.accounts(1)
    await league.win(ana, week=(await league.weeks(2))[0])
    target = f"unix:{league.folder}/wallet.sock"
    async with leagues_running(league.url, league.folder, wallet_target=target, close_seconds=0.05):
        async with asyncio.timeout(20):
            while not await league.leagues.told("week_closed"):
                await asyncio.sleep(0.02)


async def test_p55_no_prizes_nothing_to_close(league: League) -> None:
    await close_weeks(league.leagues.books, league.peer, PLATFORM)
    assert await league.leagues.rows("select 1 from leagues.week") == []
    assert (week_late_seconds._value.get(), last_closed_week._value.get()) == (0, 0)
