"""The matcher's loop with real time: bursts, idleness, leaving (P2, P3, 47)."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from libs.chassis.clock import SystemClock
from libs.house.modes import Mode
from services.matchmaking.domain.ids import AccountId
from services.matchmaking.domain.tickets import Place, TicketState
from services.matchmaking.handlers.watching import Watching
from services.matchmaking.jobs import Matcher
from tests.services.matchmaking.world import World, until


@asynccontextmanager
async def matching(world: World) -> AsyncIterator[Matcher]:
    matcher = Matcher(world.matching, world.seating)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(matcher.run())
        yield matcher
        running.cancel()


async def test_47_five_hundred_tickets_in_one_burst_are_all_seated(world: World) -> None:
    clock = SystemClock()
    accounts = [world.account() for _ in range(500)]

    async def ask(account_ids: list[AccountId]) -> None:
        for number, account_id in enumerate(account_ids):
            await world.enqueue(account_id, mode=Mode.CLASSIC if number % 5 == 0 else Mode.QUICK)

    async def seated(least: int) -> bool:
        ((count,),) = await world.rows("select count(*) from matchmaking.ticket where state = 'seated'")
        return int(count) >= least

    async with matching(world):
        started = clock.monotonic()
        async with asyncio.TaskGroup() as group:
            for lane in range(8):
                group.create_task(ask(accounts[lane::8]))
        asked = clock.monotonic() - started
        await until(lambda: seated(490))
        most = clock.monotonic() - started
        world.pass_time(10)
        await until(lambda: seated(500))
    assert most < 10 + asked, f"asked in {asked:.1f} s, most seated after {most:.1f} s"
    await world.check_settled()


async def test_p3_six_are_seated_without_waiting_for_the_clock(world: World) -> None:
    async with matching(world) as matcher:
        accounts = [world.account() for _ in range(6)]
        for account_id in accounts:
            await world.enqueue(account_id)
        matcher.wake()
        await until(lambda: _seated(world, accounts[0]))
        await matcher.drain()
        late = world.account()
        await world.enqueue(late)
        world.pass_time(20)
        matcher.wake()
        assert not await world.rows("select 1 from matchmaking.pool_lease"), "left to the others"
    place = await world.queueing.place(late)
    assert place.ticket is not None
    assert place.ticket.state is TicketState.WAITING
    await world.check_settled()


async def test_47_while_tables_are_slow_to_come_people_wait_in_the_queue_and_not_at_tables_to_be(world: World) -> None:
    """A table that is not there within half a minute is taken back, and its people with it."""
    matcher = Matcher(world.matching, world.seating, ahead=1)
    accounts = [world.account() for _ in range(18)]
    world.tables.answers.clear()

    async def states() -> dict[str, int]:
        rows = await world.rows("select state, count(*) from matchmaking.ticket group by state")
        return {str(state): int(count) for state, count in rows}

    async def one_on_its_way() -> bool:
        return (await states()).get("matched") == 6

    async def all_seated() -> bool:
        return await states() == {"seated": 18}

    async with asyncio.TaskGroup() as group:
        for account_id in accounts[:6]:
            await world.enqueue(account_id)
        running = group.create_task(matcher.run())
        await until(one_on_its_way)
        for account_id in accounts[6:]:
            await world.enqueue(account_id)
        # Two tables would fill, and wait all the same while the matcher looks at them again and again.
        before = world.faults.steps
        await until(lambda: _reached(world, before + 6))
        assert await states() == {"matched": 6, "waiting": 12}
        world.tables.answers.set()
        await until(all_seated)
        running.cancel()
    await world.check_settled()


async def test_b17_what_a_dead_matcher_left_is_carried_on_by_the_next(world: World) -> None:
    accounts = [world.account() for _ in range(6)]
    for account_id in accounts:
        await world.enqueue(account_id)
    await world.matching.match(Mode.QUICK)
    world.restart()
    world.pass_time(6)
    async with matching(world):
        await until(lambda: _seated(world, accounts[0]))
    await world.check_settled()


async def test_44_39_three_matchers_share_the_queue_and_one_that_dies_is_missed_by_nobody(world: World) -> None:
    accounts = [world.account() for _ in range(90)]
    matchers = []
    for _ in range(3):
        matchers.append(Matcher(world.matching, world.seating))
        world.restart()

    async def seated(least: int) -> bool:
        ((count,),) = await world.rows("select count(*) from matchmaking.ticket where state = 'seated'")
        return int(count) >= least

    async with asyncio.TaskGroup() as group:
        running = [group.create_task(matcher.run()) for matcher in matchers]
        for account_id in accounts[:45]:
            await world.enqueue(account_id)
        await until(lambda: seated(6))
        running[0].cancel()  # as it stands: nothing is given back
        for account_id in accounts[45:]:
            await world.enqueue(account_id)
        world.pass_time(6)  # its leases are over
        await until(lambda: seated(90))
        for task in running:
            task.cancel()
    assert sorted(len(world.tables.seats_of(account_id)) for account_id in accounts) == [1] * 90
    assert len(world.tables.players) == 15
    await world.check_settled()


async def test_p3_a_watcher_is_told_each_change_until_the_seat(world: World) -> None:
    watching = Watching(world.queueing.places, SystemClock())
    account_id = world.account()
    await world.enqueue(account_id)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(watching.run())
        follower = watching.follow(account_id)
        assert (await anext(follower)).seats_filled == 1
        await world.enqueue(world.account())
        assert (await anext(follower)).seats_filled == 2
        repeated = await anext(follower)
        assert repeated.seats_filled == 2, "told again within a second or so"
        world.pass_time(10)
        await world.turn()
        told = [place.ticket.state async for place in follower if place.ticket is not None]
        assert told[-1] is TicketState.SEATED
        assert [place.ticket async for place in watching.follow(world.account())] == [None]
        running.cancel()


async def test_watchers_share_each_look(world: World) -> None:
    looks: list[int] = []

    async def look_up(account_ids: Sequence[AccountId]) -> Mapping[AccountId, Place]:
        looks.append(len(account_ids))
        return await world.queueing.places(account_ids)

    watching = Watching(look_up, SystemClock())
    accounts = [world.account() for _ in range(30)]
    for account_id in accounts:
        await world.enqueue(account_id, mode=Mode.CLASSIC)
    followers = [watching.follow(account_id) for account_id in (*accounts, *accounts)]
    for follower in followers:
        assert (await anext(follower)).ticket is not None
    looks.clear()
    await watching.look()
    assert looks == [30], "one look, each account once"
    for follower in followers:
        assert isinstance(follower, AsyncGenerator)
        await follower.aclose()
    looks.clear()
    await watching.look()
    assert not looks, "nobody watches"


async def _reached(world: World, steps: int) -> bool:
    """Commits: each of the matcher's turns has two at least."""
    return world.faults.steps >= steps


async def _seated(world: World, account_id: AccountId) -> bool:
    place = await world.queueing.place(account_id)
    return place.ticket is not None and place.ticket.state is TicketState.SEATED
