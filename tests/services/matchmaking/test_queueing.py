"""Tickets: one an account, taken back for free, seats that end (P8, X3)."""

import asyncio
from datetime import timedelta

import pytest

from libs.chassis.errors import DomainError, Unavailable
from libs.house.modes import Coffee, Mode
from services.matchmaking.domain.admission import Assets
from services.matchmaking.domain.ids import AccountId, TableId
from services.matchmaking.domain.matches import VipDays
from services.matchmaking.domain.tickets import Place, Ticket, TicketState, Tier
from tests.services.matchmaking.world import KEY, PLATFORM, World


async def test_p8_a_second_request_returns_the_first_ticket(world: World) -> None:
    account_id = world.account()
    first = _ticket(await world.enqueue(account_id))
    again = _ticket(await world.enqueue(account_id, room=2, mode=Mode.CLASSIC, coffee=Coffee.X2))
    assert again == first
    assert first.state is TicketState.WAITING
    assert world.woken == 1


async def test_x3_b16_a_hundred_parallel_requests_make_one_ticket(world: World) -> None:
    for _ in range(3):
        account_id = world.account()
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(world.enqueue(account_id)) for _ in range(100)]
        assert len({_ticket(task.result()).ticket_id for task in tasks}) == 1
    assert len(await world.rows("select 1 from matchmaking.ticket")) == 3


async def test_p8_a_request_while_seated_returns_the_seat(world: World) -> None:
    account_id = await _seated(world)
    place = await world.enqueue(account_id)
    assert _ticket(place).state is TicketState.SEATED
    assert world.tables.seats_of(account_id) == [_ticket(place).table_id]


@pytest.mark.parametrize("news", ["over", "voided", "abandoned"])
async def test_44_a_seat_whose_game_is_over_is_given_up_before_the_news_of_it(world: World, news: str) -> None:
    account_id = await _seated(world)
    old = _ticket(await world.queueing.place(account_id))
    assert old.table_id is not None
    world.tables.tables[old.table_id] = news
    fresh = _ticket(await world.enqueue(account_id))
    assert (fresh.state, fresh.ticket_id != old.ticket_id) == (TicketState.WAITING, True)
    await world.ends(old.table_id)
    assert _ticket(await world.enqueue(account_id)) == fresh, "the late news ends the old seat alone"


async def test_44_a_seat_at_a_table_that_nobody_knows_is_given_up(world: World) -> None:
    account_id = await _seated(world)
    table_id = _ticket(await world.queueing.place(account_id)).table_id
    assert table_id is not None
    del world.tables.tables[table_id], world.tables.players[table_id]
    assert _ticket(await world.enqueue(account_id)).state is TicketState.WAITING


async def test_x3_who_sits_at_a_friends_table_does_not_queue(world: World) -> None:
    account_id, table_id = world.account(), TableId(world.entropy.uuid7())
    world.tables.friends[account_id] = table_id
    with pytest.raises(DomainError) as refusal:
        await world.enqueue(account_id)
    assert (refusal.value.reason, refusal.value.facts) == ("ALREADY_SEATED", {"table": table_id.hex})
    assert not await world.rows("select 1 from matchmaking.ticket")
    world.tables.down = True
    assert _ticket(await world.enqueue(account_id)).state is TicketState.WAITING  # the deal asks again


async def test_p8_while_the_tables_do_not_answer_the_seat_stands(world: World) -> None:
    account_id = await _seated(world)
    world.tables.down = True
    assert _ticket(await world.enqueue(account_id)).state is TicketState.SEATED


async def test_p8_who_left_on_purpose_may_queue_again_at_once(world: World) -> None:
    account_id = await _seated(world)
    table_id = _ticket(await world.queueing.place(account_id)).table_id
    assert table_id is not None
    await world.leaves(table_id, account_id)
    assert (await world.queueing.place(account_id)).ticket is None
    assert _ticket(await world.enqueue(account_id)).state is TicketState.WAITING
    await world.leaves(table_id, account_id)
    await world.ends(table_id)
    assert _ticket(await world.queueing.place(account_id)).state is TicketState.WAITING, "repeated news change nothing"


async def test_p8_cancelling_is_free_and_may_be_repeated(world: World) -> None:
    account_id = world.account()
    await world.queueing.cancel(account_id)
    await world.enqueue(account_id)
    await world.queueing.cancel(account_id)
    await world.queueing.cancel(account_id)
    assert (await world.queueing.place(account_id)).ticket is None
    await world.settle()
    assert not world.wallet.holds
    assert not world.tables.tables


async def test_p8_a_matched_ticket_cannot_be_taken_back(world: World) -> None:
    account_id = world.account()
    await world.enqueue(account_id)
    world.pass_time(10)
    await world.matching.match(Mode.QUICK)
    assert _ticket(await world.queueing.place(account_id)).state is TicketState.MATCHED
    for _ in range(2):
        with pytest.raises(DomainError) as refused:
            await world.queueing.cancel(account_id)
        assert refused.value.reason == "ALREADY_MATCHED"
    await world.settle()
    await world.check_settled()


async def test_p8_cancelling_and_matching_have_one_winner(world: World) -> None:
    accounts = [world.account() for _ in range(60)]
    for account_id in accounts:
        await world.enqueue(account_id)
    world.pass_time(10)

    async def cancel(account_id: AccountId) -> bool:
        try:
            await world.queueing.cancel(account_id)
        except DomainError as error:
            assert error.reason == "ALREADY_MATCHED"
            return False
        return True

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(cancel(account_id)) for account_id in accounts]
        await asyncio.sleep(0)
        group.create_task(world.matching.match(Mode.QUICK))
    cancelled = {account_id for account_id, task in zip(accounts, tasks, strict=True) if task.result()}
    await world.settle()
    await world.check_settled()
    playing = {account_id for account_id in accounts if world.tables.seats_of(account_id)}
    assert playing == set(accounts) - cancelled


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        ({"room": 0}, "UNKNOWN_ROOM"),
        ({"room": 13}, "UNKNOWN_ROOM"),
        ({"room": -(2**31)}, "UNKNOWN_ROOM"),
        ({"name": ""}, "BAD_NAME"),
        ({"guest": True, "room": 2}, "GUESTS_ROOM_1_ONLY"),
        ({"guest": True, "coffee": Coffee.X2}, "GUESTS_HAVE_NO_COFFEE"),
        ({"room": 3}, "LEVEL_TOO_LOW"),
    ],
)
async def test_x20_a_refused_wish_leaves_nothing(world: World, choice: dict[str, object], reason: str) -> None:
    with pytest.raises(DomainError) as refused:
        await world.enqueue(world.account(), **choice)
    assert refused.value.reason == reason
    assert not await world.rows("select 1 from matchmaking.ticket")


async def test_p2_rooms_open_with_the_level_that_leagues_tell(world: World) -> None:
    account_id = world.account()
    for level in (9, 4):
        async with world.store.transaction() as tx:
            await tx.set_level(account_id, level, await tx.now())
    assert _ticket(await world.enqueue(account_id, room=3)).wish.room == 3


async def test_p8_who_cannot_pay_is_told_before_queueing(world: World) -> None:
    account_id = await world.experienced()
    world.wallet.assets[account_id] = Assets(coins=99)
    with pytest.raises(DomainError) as refused:
        await world.enqueue(account_id, room=2)
    assert refused.value.reason == "INSUFFICIENT_FUNDS"
    assert _ticket(await world.enqueue(account_id, room=1)).wish.room == 1


@pytest.mark.parametrize(("room", "coins", "bars"), [(11, 100_000, 10), (12, 250_000, 20)])
async def test_p7_the_last_rooms_ask_for_bars_besides(world: World, room: int, coins: int, bars: int) -> None:
    account_id = await world.experienced()
    async with world.store.transaction() as tx:
        today = await tx.now()
    days = VipDays(key=KEY, zone=PLATFORM.zone)
    world.shift = next(
        timedelta(days=ahead)
        for ahead in range(7)
        if days.today(account_id, today + timedelta(days=ahead), guest=False)
    )
    for short in (Assets(coins=coins, bars=bars - 1), Assets(coins=coins - 1, bars=bars)):
        world.wallet.assets[account_id] = short
        with pytest.raises(DomainError) as refused:
            await world.enqueue(account_id, room=room)
        assert (refused.value.reason, refused.value.facts["bars"]) == ("INSUFFICIENT_FUNDS", bars)
    assert not await world.rows("select 1 from matchmaking.ticket")
    world.wallet.assets[account_id] = Assets(coins=coins, bars=bars)
    assert _ticket(await world.enqueue(account_id, room=room)).wish.room == room


async def test_p2_room_1_opens_without_the_wallet(world: World) -> None:
    world.wallet.down = True
    assert _ticket(await world.enqueue(world.account())).state is TicketState.WAITING
    with pytest.raises(Unavailable):
        await world.enqueue(await world.experienced(), room=2)
    rooms = await world.queueing.rooms(await world.experienced(2), guest=False)
    assert [room.closed_reason for room in rooms[:3]] == ["", "", "LEVEL_TOO_LOW"]
    assert [room.waiting for room in rooms[:2]] == [1, 0]


async def test_p7_vip_rooms_open_on_the_accounts_own_days(world: World) -> None:
    account_id = await world.experienced()
    days = VipDays(key=KEY, zone=PLATFORM.zone)
    async with world.store.transaction() as tx:
        today = await tx.now()
    opened = []
    for ahead in range(7):
        world.shift = timedelta(days=ahead)
        try:
            await world.enqueue(account_id, room=6)
            opened.append(True)
            await world.queueing.cancel(account_id)
        except DomainError as error:
            assert error.reason == "NOT_A_VIP_DAY"
            opened.append(False)
    assert sum(opened) == 2
    assert opened == [days.today(account_id, today + timedelta(days=ahead), guest=False) for ahead in range(7)]
    told = days.weekdays(account_id, guest=False)
    local = today.astimezone(PLATFORM.zone)
    assert {(local.weekday() + ahead) % 7 for ahead in range(7) if opened[ahead]} == set(told)
    assert days.weekdays(account_id, guest=True) == ()


async def test_p3_p4_tickets_carry_the_tier_that_leagues_told_but_guests_are_jacks(world: World) -> None:
    account_id, guest = world.account(), world.account()
    for each in (account_id, guest):
        async with world.store.transaction() as tx:
            await tx.set_tier(each, Tier.KING, await tx.now())
    assert _ticket(await world.enqueue(account_id)).tier is Tier.KING
    assert _ticket(await world.enqueue(guest, guest=True)).tier is Tier.JACK


async def test_p3_the_place_tells_when_the_table_deals_and_how_full_it_is(world: World) -> None:
    account_id = world.account()
    first = await world.enqueue(account_id)
    assert first.seats_filled == 1
    assert first.deals_at == _ticket(first).created_at + timedelta(seconds=10)
    await world.enqueue(world.account())
    await world.enqueue(world.account(), mode=Mode.CLASSIC)
    assert (await world.queueing.place(account_id)).seats_filled == 2


async def test_ended_tickets_are_forgotten_and_live_ones_kept(world: World) -> None:
    gone, seated = world.account(), await _seated(world)
    await world.enqueue(gone)
    await world.queueing.cancel(gone)
    async with world.store.transaction() as tx:
        now = await tx.now()
        assert await tx.forget_ended(now - timedelta(days=1)) == 0
        assert await tx.forget_ended(now + timedelta(days=1)) == 1
    assert _ticket(await world.queueing.place(seated)).state is TicketState.SEATED


def _ticket(place: Place) -> Ticket:
    assert place.ticket is not None
    return place.ticket


async def _seated(world: World) -> AccountId:
    account_id = world.account()
    await world.enqueue(account_id)
    world.pass_time(10)
    await world.turn()
    await world.check_settled()
    return account_id
