"""What is known of accounts while they queue: shut out, gone, upgraded, renamed (P41, P42, P45, P82), linked (X12)."""

import asyncio
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from libs.chassis.errors import DomainError
from libs.house.modes import Mode
from services.matchmaking.domain.ids import AccountId
from services.matchmaking.domain.tickets import Tier
from services.matchmaking.handlers import following
from tests.services.matchmaking.world import World
from whist.matchmaking.v1.events_pb2 import MatchmakingEvent

SUSPENDED, DELETED = "ACCOUNT_SUSPENDED", "ACCOUNT_DELETED"


async def test_p82_who_is_suspended_loses_the_ticket_and_queues_again_when_reinstated(world: World) -> None:
    account_id = world.account()
    await world.enqueue(account_id)
    at = await _moment(world)
    for _ in range(2):
        await _suspend(world, account_id, at)
    place = await world.queueing.place(account_id)
    assert place.ticket is not None and place.ticket.dropped_reason == SUSPENDED
    assert await _drops(world) == [(account_id, b"", SUSPENDED)]
    assert await _refused(world, account_id) == SUSPENDED
    rooms = await world.queueing.rooms(account_id, guest=False)
    assert {room.closed_reason for room in rooms} == {SUSPENDED}
    await world.settle(2)
    assert not world.tables.tables, "nobody was matched"
    async with world.store.transaction() as tx:
        await following.account_reinstated(account_id, at + timedelta(seconds=1), tx=tx)
    await _suspend(world, account_id, at)  # the old word, once more and late
    assert (await world.enqueue(account_id)).remaining_ms > 0


async def test_p82_who_is_suspended_after_the_match_is_dropped_at_the_deal(world: World) -> None:
    accounts = [await world.experienced() for _ in range(6)]
    for account_id in accounts:
        await world.enqueue(account_id, room=2)
    (table_id,) = await world.matching.match(Mode.QUICK)
    await _suspend(world, accounts[0], await _moment(world))
    await world.seating.carry_on(table_id)
    assert {player.account_id for player in world.tables.players[table_id]} == set(accounts[1:])
    assert await _drops(world) == [(accounts[0], table_id.bytes, SUSPENDED)]
    await world.check_settled()


async def test_p82_a_suspension_that_races_with_the_queue_is_found_at_the_deal_at_the_latest(world: World) -> None:
    for _ in range(20):
        account_id = world.account()
        async with asyncio.TaskGroup() as group:
            group.create_task(_enqueue_if_open(world, account_id))
            group.create_task(_suspend(world, account_id, await _moment(world)))
        world.pass_time(10)
        await world.turn()
        assert not world.tables.seats_of(account_id)
        assert await _refused(world, account_id) == SUSPENDED
    await world.check_settled()


async def test_p45_of_a_deleted_account_no_ticket_no_name_and_no_standing_is_left(world: World) -> None:
    account_id = await world.experienced()
    await world.enqueue(account_id, name="Iordana")
    world.pass_time(10)
    await world.turn()
    await world.ends(world.tables.seats_of(account_id)[0])
    await world.enqueue(account_id, name="Iordana", room=3)
    at = await _moment(world)
    for _ in range(2):
        async with world.store.transaction() as tx:
            await following.account_deleted(account_id, at, tx=tx)
    for table in ("ticket", "standing", "event", "outbox"):
        assert not await world.rows(f"select 1 from matchmaking.{table} as t where t::text like '%Iordana%'"), table
    # A game that it sat at ends after it, and leagues tell what it was worth.
    async with world.store.transaction() as tx:
        await following.level_reached(account_id, 3, at + timedelta(seconds=9), tx=tx)
        await following.tier_changed(account_id, Tier.QUEEN, at + timedelta(seconds=9), tx=tx)
    assert not await world.rows(f"select 1 from matchmaking.standing where account_id = '{account_id}'")
    assert await _refused(world, account_id) == DELETED, "an access token may outlive its account"
    async with world.store.transaction() as tx:
        await following.account_reinstated(account_id, at + timedelta(days=1), tx=tx)
    assert await _refused(world, account_id) == DELETED


async def test_p42_a_guest_who_signs_in_while_waiting_sits_down_as_the_account(world: World) -> None:
    guest = world.account()
    await world.enqueue(guest, guest=True, name="Guest 17")
    for _ in range(2):
        async with world.store.transaction() as tx:
            await following.guest_upgraded(guest, "Iordana", tx=tx)
    world.pass_time(10)
    await world.turn()
    ((player,),) = world.tables.players.values()
    assert (player.name, player.guest) == ("Iordana", False)


@pytest.mark.parametrize("table_fails", [False, True])
async def test_p42_a_guest_who_signs_in_on_the_way_to_a_table_sits_down_as_the_account(
    world: World, table_fails: bool
) -> None:
    guest = world.account()
    await world.enqueue(guest, guest=True, name="Guest 17")
    world.pass_time(10)
    world.tables.refuses_new = table_fails
    await world.turn() if table_fails else await world.matching.match(Mode.QUICK)
    async with world.store.transaction() as tx:
        await following.guest_upgraded(guest, "Iordana", tx=tx)
    if table_fails:  # it is taken back, and the ticket waits again
        await world.settle(4)
        world.tables.refuses_new = False
    await world.settle(2)
    ((player,),) = world.tables.players.values()
    assert (player.name, player.guest) == ("Iordana", False)
    await world.check_settled()


async def test_p41_who_waits_or_is_on_the_way_to_a_table_sits_down_under_the_new_name(world: World) -> None:
    waiting, matched = world.account(), world.account()
    await world.enqueue(matched, name="old")
    world.pass_time(10)
    (table_id,) = await world.matching.match(Mode.QUICK)
    await world.enqueue(waiting, name="old")
    for account_id in (waiting, matched):
        async with world.store.transaction() as tx:
            await following.name_changed(account_id, "new", tx=tx)
    await world.settle(2)
    assert [player.name for player in world.tables.players[table_id]] == ["new"]
    assert [player.name for players in world.tables.players.values() for player in players] == ["new", "new"]


async def test_p41_a_table_whose_answer_was_lost_is_made_once_whatever_its_people_are_called_since(
    world: World,
) -> None:
    account_id = world.account()
    await world.enqueue(account_id, name="old")
    world.pass_time(10)
    world.tables.loses_answers = True
    await world.turn()
    world.tables.loses_answers = False
    async with world.store.transaction() as tx:
        await following.name_changed(account_id, "new", tx=tx)
    await world.settle(2)
    ((player,),) = world.tables.players.values()
    assert player.name == "old"
    await world.check_settled()


async def test_p82_a_level_is_what_was_told_last_and_may_fall_in_whatever_order_it_is_told(world: World) -> None:
    account_id, at = world.account(), await _moment(world)
    told = [(4, 0), (9, 1), (6, 2)]
    for level, second in (*told, *reversed(told)):
        async with world.store.transaction() as tx:
            await following.level_reached(account_id, level, at + timedelta(seconds=second), tx=tx)
            await following.tier_changed(account_id, Tier(second + 1), at + timedelta(seconds=second), tx=tx)
    async with world.store.transaction() as tx:
        standing = (await tx.visit(account_id)).standing
    assert (standing.level, standing.tier) == (6, Tier.KING)


async def test_x12_accounts_of_one_network_are_dealt_at_tables_of_their_own(world: World) -> None:
    accounts = [await world.experienced() for _ in range(8)]
    for number, account_id in enumerate(accounts):
        await world.enqueue(account_id, room=2, linkage=bytes(16) if number < 2 else b"%016d" % number)
    world.pass_time(10)
    await world.turn()
    first, second = (world.tables.seats_of(account_id) for account_id in accounts[:2])
    assert first and second and first != second
    assert not await world.rows("select 1 from matchmaking.ticket where linkage <> ''"), "forgotten once seated"
    await world.check_settled()


@pytest.mark.parametrize("way", ["cancelled", "dropped", "table failed"])
async def test_x12_where_a_ticket_came_from_is_forgotten_with_it(world: World, way: str) -> None:
    account_id = await world.experienced()
    await world.enqueue(account_id, room=2, linkage=bytes(16))
    if way == "cancelled":
        await world.queueing.cancel(account_id)
    elif way == "dropped":
        world.wallet.spent.add(account_id)
        await world.settle(2)
    else:
        world.tables.refuses_new = True
        await world.settle(12)
    assert await world.rows("select linkage from matchmaking.ticket") == [(b"",)]


async def test_p3_position_is_the_place_by_age_among_the_same_room_and_mode(world: World) -> None:
    accounts = [world.account() for _ in range(3)]
    for account_id in accounts:
        await world.enqueue(account_id)
    other = await world.experienced()
    assert (await world.enqueue(other, room=2)).in_line.position == 1
    await world.enqueue(world.account(), mode=Mode.CLASSIC)
    places = await world.queueing.places([*accounts, other])
    lines = [(places[each].in_line.position, places[each].in_line.waiting) for each in (*accounts, other)]
    assert lines == [(1, 3), (2, 3), (3, 3), (1, 1)]
    await world.queueing.cancel(accounts[0])
    place = await world.queueing.place(accounts[2])
    assert (place.in_line.position, place.in_line.waiting) == (2, 2)


async def _moment(world: World) -> datetime:
    async with world.store.transaction() as tx:
        return await tx.now()


async def _suspend(world: World, account_id: AccountId, at: datetime) -> None:
    async with world.store.transaction() as tx:
        await following.account_suspended(account_id, at, tx=tx)


async def _enqueue_if_open(world: World, account_id: AccountId) -> None:
    try:
        await world.enqueue(account_id)
    except DomainError as error:
        assert error.reason == SUSPENDED


async def _refused(world: World, account_id: AccountId) -> str:
    with pytest.raises(DomainError) as refused:
        await world.enqueue(account_id)
    return refused.value.reason


async def _drops(world: World) -> list[tuple[AccountId, bytes, str]]:
    events = [
        MatchmakingEvent.FromString(payload) for (payload,) in await world.rows("select payload from matchmaking.event")
    ]
    drops = [event.ticket_dropped for event in events if event.HasField("ticket_dropped")]
    return [(AccountId(UUID(bytes=drop.account_id)), drop.table_id, drop.reason) for drop in drops]
