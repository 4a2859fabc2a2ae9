"""From a match to its table: paid, made once, taken back whole; whoever dies where (P3, P5, P8, B17, 39, 46)."""

import asyncio
from datetime import timedelta

import pytest

from libs.chassis.errors import DomainError
from libs.house.modes import Coffee, Mode
from services.matchmaking.domain.ids import AccountId, TableId
from services.matchmaking.domain.tickets import Ticket, TicketState
from tests.services.matchmaking.world import Died, World
from whist.matchmaking.v1.events_pb2 import MatchmakingEvent


async def test_p5_each_pays_the_entry_of_the_own_room_with_the_own_cup(world: World) -> None:
    rooms = {world.account(): (1, Coffee.NONE), await world.experienced(): (2, Coffee.X3)}
    for account_id, (room, coffee) in rooms.items():
        await world.enqueue(account_id, room=room, coffee=coffee, name=f"in {room}")
    world.pass_time(10)
    await world.turn()
    (players,) = world.tables.players.values()
    assert {player.account_id: (player.room, player.coffee) for player in players} == rooms
    assert {player.name for player in players} == {"in 1", "in 2"}
    await world.check_settled()


async def test_p1_modes_never_mix(world: World) -> None:
    for mode in (Mode.QUICK, Mode.CLASSIC) * 3:
        await world.enqueue(world.account(), mode=mode)
    world.pass_time(10)
    await world.turn()
    assert sorted(len(players) for players in world.tables.players.values()) == [3, 3]


async def test_p8_who_cannot_pay_at_the_deal_is_dropped_and_the_others_play(world: World) -> None:
    accounts = await _six(world)
    world.wallet.spent.add(accounts[0])
    await world.turn()
    place = await world.queueing.place(accounts[0])
    assert place.ticket is not None
    assert (place.ticket.state, place.ticket.dropped_reason) == (TicketState.DROPPED, "INSUFFICIENT_FUNDS")
    (players,) = world.tables.players.values()
    assert {player.account_id for player in players} == set(accounts[1:])
    assert await _events(world) == {"match_made": 5, "ticket_dropped": 1}
    await world.check_settled()
    world.wallet.spent.clear()
    again = await world.enqueue(accounts[0])
    assert again.ticket is not None
    assert again.ticket.state is TicketState.WAITING


async def test_p8_who_was_dropped_cannot_be_made_to_pay_by_a_late_hold(world: World) -> None:
    """A matcher that was given up for dead asks once more, when the dropped player has coins again."""
    accounts = await _six(world)
    world.wallet.spent.add(accounts[0])
    (table_id,) = await world.matching.match(Mode.QUICK)
    wish = (await _ticket(world, accounts[0])).wish
    world.tables.refuses_new = True
    await world.seating.carry_on(table_id)
    world.wallet.spent.clear()
    with pytest.raises(DomainError, match="HOLD_RESOLVED"):
        await world.wallet.hold(table_id, wish)
    world.tables.refuses_new = False
    await world.settle(2)
    await world.check_settled()


async def test_x3_44_who_has_sat_down_elsewhere_is_dropped_at_the_deal_and_the_others_play(world: World) -> None:
    accounts = await _six(world)
    world.wallet.spent.add(accounts[2])
    world.tables.friends[accounts[0]] = world.tables.friends[accounts[1]] = TableId(world.entropy.uuid7())
    await world.turn()
    for account_id in accounts[:2]:
        place = await world.queueing.place(account_id)
        assert place.ticket is not None
        assert (place.ticket.state, place.ticket.dropped_reason) == (TicketState.DROPPED, "ALREADY_SEATED")
    (players,) = world.tables.players.values()
    assert {player.account_id for player in players} == set(accounts[3:])
    assert await _events(world) == {"match_made": 3, "ticket_dropped": 3}
    await world.check_settled()


async def test_x3_a_table_whose_people_all_sit_elsewhere_is_taken_back(world: World) -> None:
    accounts = await _six(world)
    world.tables.friends = dict.fromkeys(accounts, TableId(world.entropy.uuid7()))
    await world.turn()
    assert list(world.tables.tables.values()) == ["abandoned"]
    assert set((await _states(world)).values()) == {"dropped"}
    await world.check_settled()


async def test_p8_a_table_without_a_person_left_is_cancelled(world: World) -> None:
    accounts = await _six(world)
    world.wallet.spent.update(accounts)
    await world.turn()
    assert not world.tables.tables
    assert await world.rows("select state from matchmaking.match") == [("cancelled",)]
    assert await _events(world) == {"ticket_dropped": 6}
    await world.check_settled()


async def test_p7_who_queued_before_midnight_of_the_vip_day_is_dropped_after_it(world: World) -> None:
    account_id = await world.experienced()
    async with world.store.transaction() as tx:
        today = await tx.now()
    days = world.seating.days
    last = next(
        ahead
        for ahead in range(7)
        if days.today(account_id, today + timedelta(days=ahead), guest=False)
        and not days.today(account_id, today + timedelta(days=ahead + 1), guest=False)
    )
    world.pass_time(86_400 * last)
    await world.enqueue(account_id, room=6)
    world.pass_time(86_400)
    await world.turn()
    place = await world.queueing.place(account_id)
    assert place.ticket is not None
    assert place.ticket.dropped_reason == "NOT_A_VIP_DAY"
    await world.check_settled()


async def test_b17_tables_that_refuse_for_half_a_minute_are_taken_back_and_everybody_waits_again(world: World) -> None:
    accounts = await _six(world)
    before = [await _ticket(world, account_id) for account_id in accounts]
    world.tables.refuses_new = True
    await world.turn()
    for _ in range(5):
        world.pass_time(5)
        await world.turn()
    assert set((await _states(world)).values()) == {"matched"}, "within the half minute the match stands"
    world.pass_time(5)
    due = await world.seating.due()
    for table_id in due:
        await world.seating.carry_on(table_id)
    after = [await _ticket(world, account_id) for account_id in accounts]
    assert {ticket.state for ticket in after} == {TicketState.WAITING}
    assert [ticket.created_at for ticket in after] == [ticket.created_at for ticket in before]
    assert set(world.wallet.holds.values()) == {"released"}
    world.tables.refuses_new = False
    await world.turn()
    assert len(world.tables.players) == 1
    await world.check_settled()


async def test_39_after_two_failed_tables_a_ticket_is_given_up_with_its_reason(world: World) -> None:
    accounts = await _six(world)
    world.tables.refuses_new = True
    await world.settle(12)
    tickets = [await _ticket_row(world, account_id) for account_id in accounts]
    assert tickets == [("dropped", "TABLE_FAILED", 2)] * 6
    assert await _events(world) == {"ticket_dropped": 6}
    assert len(world.tables.tables) == 2
    await world.check_settled()


async def test_46_a_table_whose_answer_was_lost_is_played(world: World) -> None:
    await _six(world)
    world.tables.loses_answers = True
    await world.settle(6)
    assert list(world.tables.tables.values()) == ["live"]
    assert set(world.wallet.holds.values()) == {"paid"}
    await world.check_settled()


async def test_39_while_nobody_answers_nothing_is_given_up(world: World) -> None:
    await _six(world)
    await world.matching.match(Mode.QUICK)
    world.wallet.down = world.tables.down = True
    await world.settle(6)
    assert set((await _states(world)).values()) == {"matched"}
    world.wallet.down = world.tables.down = False
    await world.settle(4)
    assert set((await _states(world)).values()) == {"seated"}
    await world.check_settled()


async def test_39_a_match_that_was_given_up_behind_our_back_is_formed_anew(world: World) -> None:
    """The wallet's own sweep asked the tables to abandon it while every matcher was dead."""
    accounts = await _six(world)
    (table_id,) = await world.matching.match(Mode.QUICK)
    assert await world.tables.abandon(table_id) is False
    for account_id in accounts:
        await world.wallet.release(table_id, account_id)
    await world.settle(3)
    assert set((await _states(world)).values()) == {"seated"}
    assert world.tables.tables[table_id] == "abandoned"
    await world.check_settled()


async def test_p8_a_game_that_ended_before_its_seating_was_noted_leaves_nobody_seated(world: World) -> None:
    accounts = await _six(world)
    (table_id,) = await world.matching.match(Mode.QUICK)
    world.faults.rearm(11)  # 1 look, 6 holds, 1 settling, 1 look, and the table is made
    with pytest.raises((Died, ExceptionGroup)):
        await world.seating.carry_on(table_id)
    world.faults.rearm(None)
    if table_id not in world.tables.tables:
        pytest.fail("the table should have been made just before the crash")
    await world.ends(table_id)
    await world.settle(3)
    assert set((await _states(world)).values()) == {"done"}
    for account_id in accounts:
        assert (await world.queueing.place(account_id)).ticket is None


async def test_39_b17_a_crash_at_any_step_strands_nobody(world: World) -> None:
    """Dies after each commit and each answered call in turn; the next process carries on from the rows alone."""
    died_at = 0
    for step in range(1, 200):
        await _start_over(world)
        accounts = await _six(world, one_per_room=True)
        world.wallet.spent = {accounts[5]}
        world.tables.friends = {accounts[4]: TableId(world.entropy.uuid7())}
        world.faults.rearm(step)
        try:
            await world.turn()
        except (Died, ExceptionGroup):
            died_at = step
        else:
            break
        finally:
            world.faults.rearm(None)
        world.restart()
        await world.check_invariants()
        await world.settle(5)
        await world.check_settled()
        states = await _states(world)
        assert {states[account_id] for account_id in accounts[4:]} == {"dropped"}
        assert {states[account_id] for account_id in accounts[:4]} == {"seated"}
        assert await _events(world) == {"match_made": 4, "ticket_dropped": 2}
    assert died_at >= 15, "every step was tried"


async def test_39_b17_a_crash_at_any_step_of_taking_back_strands_nobody(world: World) -> None:
    died_at = 0
    for step in range(1, 200):
        await _start_over(world)
        accounts = await _six(world)
        world.tables.refuses_new = True
        await world.turn()
        world.pass_time(31)
        world.faults.rearm(step)
        try:
            for table_id in await world.seating.due():
                await world.seating.carry_on(table_id)
        except (Died, ExceptionGroup):
            died_at = step
        else:
            break
        finally:
            world.faults.rearm(None)
        world.restart()
        world.tables.refuses_new = False
        await world.check_invariants()
        await world.settle(5)
        await world.check_settled()
        assert {(await _states(world))[account_id] for account_id in accounts} == {"seated"}
    assert died_at >= 10, "every step was tried"


async def test_39_two_matchers_at_one_match_make_one_table(world: World) -> None:
    for _ in range(5):
        accounts = await _six(world)
        world.wallet.spent = {accounts[0]}
        (table_id,) = await world.matching.match(Mode.QUICK)
        async with asyncio.TaskGroup() as group:
            for _ in range(4):
                group.create_task(world.seating.carry_on(table_id))
        await world.settle(3)
        await world.check_settled()
        assert world.tables.tables[table_id] == "live"
        await world.ends(table_id)
        await _start_over(world)


async def test_44_several_matchers_never_match_a_ticket_twice(world: World) -> None:
    for _ in range(120):
        await world.enqueue(world.account())
    owners = [world.entropy.uuid7() for _ in range(4)]

    async def match() -> tuple[TableId, ...]:
        world.restart()
        return await world.matching.match(Mode.QUICK)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(match()) for _ in owners]
    made = [table_id for task in tasks for table_id in task.result()]
    assert len(made) == len(set(made)) == 20
    assert len([task for task in tasks if task.result()]) == 1, "one active matcher a pool"
    counts = await world.rows("select count(*) from matchmaking.ticket group by table_id")
    assert {count for (count,) in counts} == {6}


async def test_39_a_dead_matchers_pool_is_taken_over_after_its_lease_and_a_leaving_ones_at_once(world: World) -> None:
    await world.enqueue(world.account())
    await world.matching.match(Mode.QUICK)
    leaving = world.matching
    world.restart()
    world.pass_time(2.5)
    await leaving.match(Mode.QUICK)
    world.pass_time(2.5)
    await _six(world)
    assert await world.matching.match(Mode.QUICK) == (), "renewed by its owner"
    world.pass_time(1)
    assert len(await world.matching.match(Mode.QUICK)) >= 1, "lease run out"
    world.restart()
    await _six(world)
    assert await world.matching.match(Mode.QUICK) == ()
    await world.matching.leave()
    assert await world.matching.match(Mode.QUICK) == (), "nobody else's lease is given back"


async def _six(world: World, *, one_per_room: bool = False) -> list[AccountId]:
    accounts = [await world.experienced() for _ in range(6)]
    for number, account_id in enumerate(accounts):
        await world.enqueue(account_id, room=1 + number % 2 if one_per_room else 1)
    if one_per_room:
        world.pass_time(1)
    return accounts


async def _start_over(world: World) -> None:
    await world.clear()
    for remembered in (world.wallet.holds, world.tables.tables, world.tables.players, world.wallet.spent):
        remembered.clear()
    world.tables.friends.clear()
    world.tables.refuses_new = False


async def _states(world: World) -> dict[AccountId, str]:
    rows = await world.rows("select account_id, state from matchmaking.ticket")
    return {AccountId(account_id): str(state) for account_id, state in rows}


async def _ticket(world: World, account_id: AccountId) -> Ticket:
    ticket = (await world.queueing.place(account_id)).ticket
    assert ticket is not None
    return ticket


async def _ticket_row(world: World, account_id: AccountId) -> tuple[object, ...]:
    query = f"select state, dropped_reason, failures from matchmaking.ticket where account_id = '{account_id}'"
    (row,) = await world.rows(query)
    return tuple(row)


async def _events(world: World) -> dict[str, int]:
    found: dict[str, int] = {}
    for key, payload in await world.rows("select key, payload from matchmaking.event"):
        event = MatchmakingEvent.FromString(payload)
        kind = event.WhichOneof("event")
        assert kind is not None
        assert getattr(event, kind).ticket_id == key
        found[kind] = found.get(kind, 0) + 1
    return found
