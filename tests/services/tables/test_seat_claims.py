"""One seat an account over quick play and friends' tables, waiting or playing (X3, E10, 44, B16)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa

from libs.chassis.db.database import Database, Store
from libs.chassis.entropy import SystemEntropy
from libs.chassis.errors import DomainError
from libs.wire import frames, link
from services.tables.domain import waiting
from services.tables.domain.entries import SeatFacts
from services.tables.domain.errors import AlreadySeated
from services.tables.handlers import friends, games
from services.tables.handlers.friends import Desk
from services.tables.handlers.games import OpenTable, Owner
from services.tables.storage.friends import FriendsTransaction
from services.tables.storage.store import TablesTransaction
from services.tables.wiring import MIGRATIONS
from tests.conftest import MakeDatabase
from tests.services.tables.conftest import Cluster, Gateway, Player, RunningWorker, clustered
from tests.services.tables.test_friends import FRIENDS, Person, chosen, names, refused, told
from whist.tables.v1 import friends_pb2, tables_pb2

RACES = 1000
AT_ONCE = 5  # races side by side


@pytest.fixture(scope="module")
async def worker(cluster: Cluster) -> AsyncIterator[RunningWorker]:
    async with cluster.worker() as made:
        yield made


def quick(worker: RunningWorker, *people: Person) -> Awaitable[Any]:
    """A quick table of these people is asked for."""
    players = [tables_pb2.Player(account_id=person.account, name=person.who.name, room=1) for person in people]
    return worker.create(players=players, table_id=uuid4().bytes)


async def seat_of(person: Person) -> tables_pb2.SeatOfResponse:
    answer: tables_pb2.SeatOfResponse = await person.call("SeatOf", tables_pb2.SeatOfRequest(account_id=person.account))
    return answer


async def leave(worker: RunningWorker, table: bytes, person: Person) -> None:
    """On purpose, for good."""
    gateway = Gateway(worker.gateway)
    seen = gateway.follow(table, person.account, 1)
    await gateway.until(lambda: seen.of(frames.Snapshot))
    gateway.send(link.Vacate(table, person.account, 1, uuid4().hex))
    await gateway.until(lambda: seen.of(frames.Ack))
    await gateway.close()


async def test_x3_who_sits_at_a_friends_table_is_not_dealt_into_a_quick_game_and_is_named(
    worker: RunningWorker, cluster: Cluster
) -> None:
    ana, radu, zoe = (Person(worker, name) for name in ("Ana", "Radu", "Zoe"))
    waiting = (await ana.open()).table_id
    playing = (await radu.open()).table_id
    await radu.deal(playing)
    before = await cluster.query("select count(*) as heads from tables.table_head")
    with pytest.raises(DomainError) as refusal:
        await quick(worker, ana, radu, zoe)
    elsewhere = sorted([ana.account.hex(), radu.account.hex()])
    assert (refusal.value.reason, refusal.value.facts) == ("ALREADY_SEATED", {"accounts": elsewhere})
    assert await cluster.query("select count(*) as heads from tables.table_head") == before
    assert (await seat_of(ana)).table_id == waiting and not (await seat_of(ana)).dealt
    assert (await seat_of(radu)).table_id == playing and (await seat_of(radu)).dealt
    assert await seat_of(zoe) == tables_pb2.SeatOfResponse()


async def test_x3_who_plays_a_quick_game_sits_at_no_friends_table(worker: RunningWorker) -> None:
    ana, radu = Person(worker, "Ana"), Person(worker, "Radu")
    table, _ = await quick(worker, ana)
    other = (await radu.open()).table_id
    with pytest.raises(DomainError) as refusal:
        await ana.sit(other)
    assert (refusal.value.reason, refusal.value.facts) == ("ALREADY_SEATED", {"table": table.hex()})
    assert await refused(ana.open()) == "ALREADY_SEATED"
    await radu.deal(other)
    assert await refused(ana.take(other, 2)) == "ALREADY_SEATED"
    assert names(await radu.get(other)) == ["Radu", "", "", ""]
    seat = await seat_of(ana)
    assert (seat.table_id, seat.kind, seat.dealt) == (table, tables_pb2.TABLE_KIND_QUICK, True)


async def test_p8_who_has_left_a_quick_game_may_sit_down_at_once(worker: RunningWorker) -> None:
    ana = Person(worker, "Ana")
    table, _ = await quick(worker, ana)
    await leave(worker, table, ana)
    assert names(await ana.open())[0] == "Ana"


async def test_44_a_seat_is_given_back_by_standing_up_by_being_sent_away_and_by_closing(worker: RunningWorker) -> None:
    ana, radu, zoe = (Person(worker, name) for name in ("Ana", "Radu", "Zoe"))
    table = (await ana.open()).table_id
    await radu.sit(table)
    await zoe.sit(table)
    await radu.change(table, stand=friends_pb2.Stand())
    await ana.change(table, kick=friends_pb2.Kick(account_id=zoe.account))
    await ana.change(table, close=friends_pb2.Close())
    await quick(worker, ana, radu, zoe)


async def test_44_a_seat_taken_over_is_the_newcomers_one_seat_and_the_list_shows_who_sits_now(
    worker: RunningWorker,
) -> None:
    ana, radu, zoe = (Person(worker, name) for name in ("Ana", "Radu", "Zoe"))
    table = (await ana.open()).table_id
    await radu.sit(table, 2)
    await ana.deal(table)
    await leave(worker, table, ana)
    vacated = await radu.get(table)
    assert (names(vacated), vacated.host) == (["", "", "Radu", ""], radu.account)  # P25: the next person clockwise
    await ana.open()
    await zoe.take(table, 0)
    shown = await radu.get(table)
    assert (names(shown), shown.version) == (["Zoe", "", "Radu", ""], vacated.version + 1)
    assert await refused(zoe.open()) == "ALREADY_SEATED"
    assert await refused(quick(worker, zoe)) == "ALREADY_SEATED"


async def test_44_the_end_of_a_game_frees_everybody_and_a_rematch_seats_them(
    worker: RunningWorker, cluster: Cluster
) -> None:
    ana, radu, zoe = (Person(worker, name) for name in ("Ana", "Radu", "Zoe"))
    table = (await ana.open(game="german", options_json="{}", players=2)).table_id
    await radu.sit(table)
    await ana.deal(table)
    await leave(worker, table, radu)
    await zoe.take(table, 1)
    gateway = Gateway(worker.gateway)
    for conn, person in enumerate((ana, zoe), 1):
        gateway.send(link.Vacate(table, person.account, conn, "bye"))
    await told(cluster, table)
    await gateway.close()
    again = await zoe.rematch(table)
    assert names(again) == ["", "Zoe"]
    assert (await seat_of(zoe)).table_id == again.table_id
    assert names(await ana.rematch(table)) == ["Ana", "Zoe"]
    assert await refused(quick(worker, ana)) == "ALREADY_SEATED"


async def test_44_a_deserted_game_that_is_called_off_frees_everybody(cluster: Cluster) -> None:
    async with cluster.worker(bot_pace_scale=1.0, turn_limit_scale=0.001) as worker:
        ana = Person(worker, "Ana")
        table = (await ana.open()).table_id
        await ana.deal(table)
        await cluster.until("select 1 from tables.event where key = :key and type = 'game_voided'", key=table)
        assert names(await ana.open("another"))[0] == "Ana"


async def test_44_seats_outlive_their_worker_and_are_freed_by_the_next(make_database: MakeDatabase) -> None:
    async with clustered(make_database) as cluster, cluster.life(dies=True) as life:
        first = await life.born
        ana, radu, zoe = (Person(first, name) for name in ("Ana", "Radu", "Zoe"))
        table = (await ana.open(game="german", options_json="{}", players=2)).table_id
        await ana.deal(table)
        await radu.take(table, 1)
        dead, _ = await quick(first, zoe)
        await life.end()
        async with cluster.worker() as second:
            assert await refused(quick(second, radu)) == "ALREADY_SEATED"
            assert await refused(Person.of(second, zoe).open()) == "ALREADY_SEATED"
            gateway = Gateway(second.gateway)
            for conn, (at, person) in enumerate(((table, ana), (table, radu), (dead, zoe)), 1):
                await Player(gateway, at, person.account, conn).joined()
                gateway.send(link.Vacate(at, person.account, conn, "bye"))
            for at in (table, dead):
                await told(cluster, at)
            await gateway.close()
            assert not await cluster.query("select 1 from tables.seat_claim")
            await quick(second, ana, radu, zoe)


async def test_x3_44_of_a_quick_seat_and_a_friends_seat_at_once_one_is_had_a_thousand_times(
    make_database: MakeDatabase,
) -> None:
    """The two transactions side by side on connections of their own, as two workers would hold them."""
    url, entropy = await make_database(MIGRATIONS), SystemEntropy()
    databases = [Database.open(url, "tables", pool=AT_ONCE) for _ in range(2)]
    quick_store = Store(databases[0], TablesTransaction, entropy)
    desk = Desk(store=Store(databases[1], FriendsTransaction, entropy), friends=FRIENDS, entropy=entropy)
    owner = Owner(worker_id="nobody", incarnation=entropy.uuid7(), address="")
    gate = asyncio.Semaphore(AT_ONCE)

    async def race(number: int) -> str:
        who = SeatFacts(entropy.uuid7().bytes, "Ana")
        host = SeatFacts(entropy.uuid7().bytes, "Host")
        game = OpenTable(
            table_id=entropy.uuid7(), kind=tables_pb2.TABLE_KIND_QUICK, mode=1, game="romanian",
            options={"mode": "quick"}, players=[who], seats=6,
        )  # fmt: skip
        async with gate:
            table = await friends.open_table(host, chosen(4), "host", desk=desk)
            sit = friends.change(table.table_id, who.account, "sit", lambda each: waiting.sit(each, who), desk=desk)
            opened = friends.open_table(who, chosen(4), "open", desk=desk)
            friendly, unused = (sit, opened) if number % 2 else (opened, sit)
            unused.close()
            sides = [games.open_table(game, store=quick_store, entropy=entropy, owner=owner), friendly]
            answers = await asyncio.gather(*(sides if number % 4 < 2 else reversed(sides)), return_exceptions=True)
        [lost] = [answer for answer in answers if isinstance(answer, BaseException)]
        assert isinstance(lost, AlreadySeated), lost
        return "friends" if "accounts" in lost.facts else "quick"

    won = await asyncio.gather(*(race(number) for number in range(RACES)))
    assert min(won.count("quick"), won.count("friends")) > RACES // 20, "both have won"
    async with databases[0].begin() as connection:
        seats = await connection.scalar(sa.text("select count(*) from tables.friends_seat"))
        heads = await connection.scalar(sa.text("select count(*) from tables.table_head"))
        claims = await connection.scalar(sa.text("select count(*) from tables.seat_claim"))
    assert (seats, heads) == (RACES + won.count("friends"), won.count("quick"))
    assert claims == 2 * RACES, "each account sits once: the hosts, and who was in two minds"
    for database in databases:
        await database.close()


async def test_x3_of_two_seats_to_be_taken_over_at_once_one_is_had(make_database: MakeDatabase) -> None:
    async with clustered(make_database) as cluster, cluster.worker() as one, cluster.worker() as other:
        tables = []
        for worker in (one, other):
            host = Person(worker, "Host")
            tables.append((await host.open()).table_id)
            await host.deal(tables[-1])
        for _ in range(50):
            ana = Person(one, "Ana")
            same = Person.of(other, ana)
            answers = await asyncio.gather(ana.take(tables[0], 1), same.take(tables[1], 1), return_exceptions=True)
            [row] = [answer for answer in answers if isinstance(answer, int)]
            [lost] = [answer for answer in answers if isinstance(answer, DomainError)]
            assert row > 0 and lost.reason == "ALREADY_SEATED"
            [at] = [table for table, answer in zip(tables, answers, strict=True) if answer is not lost]
            assert (await seat_of(ana)).table_id == at
            await leave(one if at == tables[0] else other, at, ana)


async def test_p25_a_deal_and_the_renewal_of_its_seats_at_once_wait_for_each_other_in_one_order(
    make_database: MakeDatabase,
) -> None:
    """Found by many accounts that did anything at all at once: PostgreSQL ended one of the two as a deadlock."""
    url, entropy = await make_database(MIGRATIONS), SystemEntropy()
    database = Database.open(url, "tables", pool=2)
    desk = Desk(store=Store(database, FriendsTransaction, entropy), friends=FRIENDS, entropy=entropy)
    host = SeatFacts(entropy.uuid7().bytes, "Host")
    table_id = (await friends.open_table(host, chosen(4), "host", desk=desk)).table_id

    async def renew() -> None:
        async with desk.store.transaction() as tx:
            await tx.renew([(table_id, host.account)], desk.lease)

    async with desk.store.transaction() as tx:
        locked = await tx.lock_waiting(table_id)
        assert locked is not None
        renewal = asyncio.create_task(renew())
        await asyncio.wait([renewal], timeout=0.3)
        assert not renewal.done()
        await tx.keep_waiting(locked[0], waiting.deal(locked[0], host.account, FRIENDS), desk.lease)
    await renewal
    assert (await friends.get_table(table_id, desk=desk)).stage is waiting.Stage.DEALT
    await database.close()
