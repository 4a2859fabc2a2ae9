"""Friends' tables on a real worker: opened, filled, dealt, watched, taken over, played to the end (P20-P25)."""

import asyncio
import json
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest

from libs.chassis.errors import DomainError
from libs.house import platform
from libs.house.bots import Strength
from libs.wire import frames, link
from services.tables.domain import waiting
from services.tables.domain.entries import Drawn, Opened, SeatFacts, decode_body
from services.tables.domain.table import fold
from tests.conftest import MakeDatabase
from tests.services.tables.conftest import Cluster, Gateway, Player, RunningWorker, as_id, clustered, eventually
from whist.tables.v1 import events_pb2, friends_pb2, tables_pb2, tables_pb2_grpc

PLATFORM = Path(__file__).parents[3] / "config" / "platform.toml"
FRIENDS = platform.load().friends


def choices(**changes: Any) -> friends_pb2.FriendsChoices:
    plain: dict[str, Any] = {
        "game": "romanian",
        "options_json": '{"mode":"8-1-8"}',
        "players": 4,
        "bid_seconds": 15,
        "bots": "calm",
        "listed": True,
        "spectators": True,
        "open_chat": True,
    }
    return friends_pb2.FriendsChoices(**(plain | changes))


class Person:
    """Somebody who calls by way of the gateway."""

    def __init__(self, worker: RunningWorker, name: str, *, guest: bool = False) -> None:
        self.account = uuid4().bytes
        self.who = friends_pb2.Friend(account_id=self.account, name=name, guest=guest)
        self._peer = worker.gateway
        self._stub = tables_pb2_grpc.TablesServiceStub(worker.gateway.channel)

    @classmethod
    def of(cls, worker: RunningWorker, other: "Person") -> "Person":
        """The same person by way of another worker."""
        person = cls(worker, other.who.name)
        person.account, person.who = other.account, other.who
        return person

    async def call(self, rpc: str, request: Any) -> Any:
        return await self._peer.call(getattr(self._stub, rpc), request, tries=1)

    async def open(self, req: str = "open", **changes: Any) -> friends_pb2.FriendsTable:
        request = friends_pb2.OpenFriendsTableRequest(who=self.who, request_id=req, choices=choices(**changes))
        answer: friends_pb2.OpenFriendsTableResponse = await self.call("OpenFriendsTable", request)
        return answer.table

    async def change(self, table: bytes, req: str = "", **change: Any) -> friends_pb2.FriendsTable:
        request = friends_pb2.ChangeFriendsTableRequest(
            table_id=table, who=self.who, request_id=req or uuid4().hex, **change
        )
        answer: friends_pb2.ChangeFriendsTableResponse = await self.call("ChangeFriendsTable", request)
        return answer.table

    async def sit(self, table: bytes, seat: int = -1, req: str = "") -> friends_pb2.FriendsTable:
        return await self.change(table, req, sit=friends_pb2.Sit(seat=seat))

    async def deal(self, table: bytes, req: str = "") -> friends_pb2.FriendsTable:
        return await self.change(table, req, deal=friends_pb2.Deal())

    async def take(self, table: bytes, seat: int, req: str = "take") -> int:
        request = friends_pb2.TakeSeatRequest(table_id=table, who=self.who, request_id=req, seat=seat)
        answer: friends_pb2.TakeSeatResponse = await self.call("TakeSeat", request)
        return answer.seq

    async def say(self, table: bytes, words: str, req: str = "") -> int:
        request = friends_pb2.SayRequest(table_id=table, who=self.who, request_id=req or uuid4().hex, words=words)
        answer: friends_pb2.SayResponse = await self.call("Say", request)
        return answer.line

    async def rematch(self, table: bytes) -> friends_pb2.FriendsTable:
        answer: friends_pb2.RematchResponse = await self.call(
            "Rematch", friends_pb2.RematchRequest(table_id=table, who=self.who)
        )
        return answer.table

    async def listed(self) -> list[bytes]:
        answer = await self.call("ListFriendsTables", friends_pb2.ListFriendsTablesRequest(limit=100))
        return [table.table_id for table in answer.tables]

    async def get(self, table: bytes) -> friends_pb2.FriendsTable:
        answer: friends_pb2.GetFriendsTableResponse = await self.call(
            "GetFriendsTable", friends_pb2.GetFriendsTableRequest(table_id=table)
        )
        return answer.table

    def watch(self, table: bytes, since_line: int = 0) -> AsyncIterator[friends_pb2.WatchFriendsTableResponse]:
        request = friends_pb2.WatchFriendsTableRequest(table_id=table, account_id=self.account, since_line=since_line)
        return self._peer.watch(self._stub.WatchFriendsTable, request)


def chosen(players: int) -> waiting.Choices:
    """`choices` as the domain has them."""
    return waiting.Choices(
        game="romanian", options={"mode": "8-1-8"}, players=players, bid_seconds=15, bots=Strength.CALM, listed=True,
        spectators=True, open_chat=True,
    )  # fmt: skip


def names(table: friends_pb2.FriendsTable) -> list[str]:
    return [seat.who.name for seat in table.seats]


async def refused(call: Any) -> str:
    with pytest.raises(DomainError) as refusal:
        await call
    return refusal.value.reason


@pytest.fixture(scope="module")
async def worker(cluster: Cluster) -> AsyncIterator[RunningWorker]:
    async with cluster.worker() as made:
        yield made


async def test_p20_a_table_is_opened_once_found_in_the_list_and_joined(worker: RunningWorker) -> None:
    ana, radu = Person(worker, "Ana"), Person(worker, "Radu", guest=True)
    opened = await ana.open()
    assert await ana.open() == opened
    assert (names(opened), opened.host, opened.version) == (["Ana", "", "", ""], ana.account, 1)
    assert opened.table_id in await radu.listed()
    joined = await radu.sit(opened.table_id, 2, "sit")
    assert names(joined) == ["Ana", "", "Radu", ""]
    assert await radu.sit(opened.table_id, 2, "sit") == joined == await ana.get(opened.table_id)


async def test_p22_an_unlisted_table_is_found_by_its_link_alone(worker: RunningWorker) -> None:
    ana, radu = Person(worker, "Ana"), Person(worker, "Radu")
    opened = await ana.open(listed=False)
    assert opened.table_id not in await radu.listed()
    assert names(await radu.sit(opened.table_id))[:2] == ["Ana", "Radu"]


async def test_p42_a_guest_opens_no_table(worker: RunningWorker) -> None:
    assert await refused(Person(worker, "Vulpe", guest=True).open()) == "GUESTS_OPEN_NO_TABLE"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"options_json": "[" * 5000}, "BAD_OPTIONS"),
        ({"options_json": "[]"}, "BAD_OPTIONS"),
        ({"options_json": '{"mode":"bench","rounds":9}'}, "BAD_CHOICE"),
        ({"bots": "wild"}, "BAD_CHOICE"),
        ({"game": ""}, "BAD_CHOICE"),
        ({"players": -1}, "BAD_OPTIONS"),
    ],
    ids=str,
)
async def test_p21_a_choice_that_is_not_offered_opens_nothing(
    worker: RunningWorker, cluster: Cluster, change: dict[str, Any], reason: str
) -> None:
    ana = Person(worker, "Ana")
    assert await refused(ana.open(**change)) == reason
    assert not await cluster.query("select 1 from tables.friends_seat where account = :a", a=ana.account)


async def test_of_many_who_want_one_seat_one_has_it(worker: RunningWorker) -> None:
    ana = Person(worker, "Ana")
    table = (await ana.open(players=6)).table_id
    others = [Person(worker, f"P{number}") for number in range(8)]
    answers = await asyncio.gather(*(other.sit(table, 3) for other in others), return_exceptions=True)
    reasons = [answer.reason for answer in answers if isinstance(answer, DomainError)]
    assert reasons == ["SEAT_TAKEN"] * 7
    [winner] = [o.who.name for o, answer in zip(others, answers, strict=True) if not isinstance(answer, BaseException)]
    assert names(await ana.get(table)) == ["Ana", "", "", winner, "", ""]


async def test_an_account_waits_at_one_table(worker: RunningWorker) -> None:
    ana, radu = Person(worker, "Ana"), Person(worker, "Radu")
    one, other = (await ana.open()).table_id, (await radu.open()).table_id
    before = await radu.get(other)
    with pytest.raises(DomainError) as refusal:
        await ana.sit(other)
    assert (refusal.value.reason, refusal.value.facts) == ("ALREADY_SEATED", {"table": one.hex()})
    assert await refused(ana.open("second")) == "ALREADY_SEATED"
    assert await radu.get(other) == before
    await ana.change(one, stand=friends_pb2.Stand())
    assert names(await ana.sit(other))[:2] == ["Radu", "Ana"]


async def test_a_repeated_command_changes_nothing_the_second_time(worker: RunningWorker) -> None:
    ana, radu = Person(worker, "Ana"), Person(worker, "Radu")
    table = (await ana.open()).table_id
    await radu.sit(table, 1)
    await radu.change(table, "stand", stand=friends_pb2.Stand())
    await radu.sit(table, 1)
    again = await radu.change(table, "stand", stand=friends_pb2.Stand())
    assert names(again) == ["Ana", "Radu", "", ""]


async def test_p25_a_silent_host_is_succeeded_and_a_table_without_people_closes(
    worker: RunningWorker, cluster: Cluster
) -> None:
    ana, radu = Person(worker, "Ana"), Person(worker, "Radu")
    table = (await ana.open()).table_id
    await radu.sit(table)
    expire = "update tables.friends_seat set lease_until = clock_timestamp() - interval '1 s' where account = :a"
    await cluster.query(expire, a=ana.account)
    changed = await radu.sit(table, 3)  # at once: whoever comes by next sees to it
    assert (names(changed), changed.host) == (["", "", "", "Radu"], radu.account)
    await cluster.query(expire, a=radu.account)
    await cluster.query(
        "update tables.friends_table set people_until = clock_timestamp() - interval '1 s' where table_id = :t",
        t=as_id(table),
    )
    assert table not in await ana.listed()

    async def is_closed() -> bool:
        return (await ana.get(table)).stage == friends_pb2.FRIENDS_STAGE_CLOSED

    await eventually(is_closed)
    assert await refused(ana.sit(table)) == "TABLE_CLOSED"
    assert names(await ana.open("another"))[0] == "Ana"


async def test_who_watches_keeps_the_seat_and_hears_of_every_change(worker: RunningWorker, cluster: Cluster) -> None:
    ana, radu = Person(worker, "Ana"), Person(worker, "Radu")
    table = (await ana.open()).table_id
    lease = "select lease_until from tables.friends_seat where account = :a"
    [before] = await cluster.query(lease, a=ana.account)
    told = ana.watch(table)
    assert names((await anext(told)).table) == ["Ana", "", "", ""]
    [after] = await cluster.query(lease, a=ana.account)
    assert after.lease_until > before.lease_until
    await radu.sit(table)
    assert names((await anext(told)).table) == ["Ana", "Radu", "", ""]
    line = await radu.say(table, " <b>Salut</b> \u202e")
    heard = await anext(told)
    assert [(each.line, each.name, each.words) for each in heard.lines] == [(line, "Radu", "‹b›Salut‹/b›")]
    assert not heard.HasField("table")
    await ana.change(table, close=friends_pb2.Close())
    assert [each.table.stage async for each in told] == [friends_pb2.FRIENDS_STAGE_CLOSED]


async def test_chat_is_for_those_who_may_and_is_not_heard_by_who_has_muted(worker: RunningWorker) -> None:
    ana, radu, zoe = Person(worker, "Ana"), Person(worker, "Radu"), Person(worker, "Zoe")
    table = (await ana.open(open_chat=False)).table_id
    assert await refused(zoe.say(table, "hello")) == "CHAT_CLOSED"
    assert await refused(ana.say(table, "\u200b")) == "BAD_TEXT"
    await radu.sit(table)
    first = await radu.say(table, "one", "r1")
    assert await radu.say(table, "one", "r1") == first
    await ana.call("Mute", friends_pb2.MuteRequest(account_id=zoe.account, muted=radu.account, mute=True))
    assert [line.words for line in (await anext(ana.watch(table))).lines] == ["one"]
    assert [line.words for line in (await anext(zoe.watch(table))).lines] == []
    await ana.change(table, kick=friends_pb2.Kick(account_id=radu.account))
    assert await refused(radu.say(table, "two")) == "BARRED"
    assert await refused(anext(radu.watch(table))) == "BARRED"


async def test_a_report_keeps_what_was_said(worker: RunningWorker, cluster: Cluster) -> None:
    ana, radu = Person(worker, "Ana"), Person(worker, "Radu")
    table = (await ana.open()).table_id
    await radu.say(table, "rude")
    await ana.say(table, "not rude")
    report = friends_pb2.ReportRequest(
        table_id=table, account_id=ana.account, request_id="r", reported=radu.account, words="he is rude"
    )
    await ana.call("Report", report)
    await ana.call("Report", report)
    [kept] = await cluster.query("select words, lines from tables.chat_report where reporter = :a", a=ana.account)
    lines = kept.lines if isinstance(kept.lines, list) else json.loads(kept.lines)
    assert (kept.words, [line[2] for line in lines]) == ("he is rude", ["rude"])


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_is_asked_the_rows_are_what_the_rules_make_of_it(worker: RunningWorker, seed: int) -> None:
    chance = Random(seed)
    people = [Person(worker, f"P{number}") for number in range(6)]
    facts = [SeatFacts(person.account, person.who.name, False, hints=True) for person in people]
    opened = await people[0].open(players=4)
    model = waiting.open_waiting(as_id(opened.table_id), facts[0], chosen(4), FRIENDS)
    carried_out = 0
    for _ in range(150):
        number, other, seat = chance.randrange(6), chance.randrange(6), chance.randint(-1, 6)
        players = chance.choice((4, 5, 6))
        match chance.choice(("sit", "sit", "sit", "stand", "choose", "kick")):
            case "sit":
                change: dict[str, Any] = {"sit": friends_pb2.Sit(seat=seat)}
                due = partial(waiting.sit, model, facts[number], seat)
            case "stand":
                change = {"stand": friends_pb2.Stand()}
                due = partial(waiting.stand, model, facts[number].account)
            case "choose":
                change = {"choose": friends_pb2.Choose(choices=choices(players=players))}
                due = partial(waiting.choose, model, facts[number].account, chosen(players), FRIENDS)
            case _:
                if chance.random() < 0.8:
                    continue  # who is barred does not come back: not too soon
                change = {"kick": friends_pb2.Kick(account_id=facts[other].account)}
                due = partial(waiting.kick, model, facts[number].account, facts[other].account)
        asked = people[number].change(opened.table_id, **change)
        try:
            model = due()
        except DomainError as refusal:
            assert await refused(asked) == refusal.reason
        else:
            stands = await asked
            carried_out += 1
            expected = ["" if person is None else person.name for person in model.chairs]
            assert (names(stands), stands.host) == (expected, model.host)
    assert carried_out > 20


# ---- the game ----


async def test_p21_only_the_host_deals_once_and_the_table_lives_on_under_its_id(
    worker: RunningWorker, cluster: Cluster
) -> None:
    ana, radu = Person(worker, "Ana"), Person(worker, "Radu")
    table = (await ana.open()).table_id
    await radu.sit(table, 2)
    assert await refused(radu.deal(table)) == "NOT_HOST"
    dealt = await asyncio.gather(*(ana.deal(table, "deal") for _ in range(5)))
    assert {each.stage for each in dealt} == {friends_pb2.FRIENDS_STAGE_DEALT}
    assert await cluster.events(table) == ["game_started"]
    assert await refused(radu.sit(table)) == "TABLE_DEALT"
    assert table in await radu.listed()
    gateway = Gateway(worker.gateway)
    player = await Player(gateway, table, radu.account, 1).joined()
    snapshot = player.seen.of(frames.Snapshot)[0]
    assert [(seat.name, seat.kind) for seat in snapshot.seats] == [
        ("Ana", "person"), ("Barbu", "bot"), ("Radu", "person"), ("Corina", "bot"),
    ]  # fmt: skip
    assert snapshot.seat == 2
    await gateway.close()


@pytest.mark.parametrize("players", [4, 5, 6])
async def test_p20_p22_p24_a_game_with_a_spectator_a_farewell_and_a_newcomer(
    worker: RunningWorker, cluster: Cluster, players: int
) -> None:
    ana, radu, zoe, vlad = (Person(worker, name) for name in ("Ana", "Radu", "Zoe", "Vlad"))
    table = (await ana.open(players=players)).table_id
    await radu.sit(table, 2)
    await ana.deal(table)
    gateway = Gateway(worker.gateway)
    host = await Player(gateway, table, ana.account, 1).joined()
    leaver = await Player(gateway, table, radu.account, 2).joined()
    watched = gateway.follow(table, zoe.account, 3)
    await gateway.until(lambda: watched.of(frames.Snapshot))
    [spectated] = watched.of(frames.Snapshot)
    assert spectated.seat == -1 and "hand" not in spectated.view
    gateway.send(link.Command(table, zoe.account, 3, "z1", 0, {"bid": 0}))
    await gateway.until(lambda: watched.of(frames.Error))
    assert watched.of(frames.Error)[0].reason == "NOT_AT_TABLE"
    assert await refused(zoe.take(table, 2, "t0")) == "SEAT_TAKEN"
    playing = asyncio.create_task(host.play_on())
    await leaver.play_on(moves=9)
    gateway.send(link.Vacate(table, radu.account, 2, "bye"))
    await gateway.until(lambda: leaver.seen.of(frames.Ack))
    assert not watched.of(frames.Private)
    assert await refused(radu.take(table, 2, "back")) == "SEAT_LEFT"
    assert await refused(ana.take(table, 1, "two")) == "ALREADY_SEATED"
    assert await refused(zoe.take(table, players, "none")) == "NO_SUCH_SEAT"
    rivals = await asyncio.gather(*(each.take(table, 2, "take") for each in (zoe, vlad)), return_exceptions=True)
    [row] = [each for each in rivals if isinstance(each, int)]
    assert [each.reason for each in rivals if isinstance(each, DomainError)] == ["SEAT_TAKEN"]
    newcomer, conn = (zoe, 3) if isinstance(rivals[0], int) else (vlad, 4)
    assert await newcomer.take(table, 2, "take") == row
    assert await refused(newcomer.take(table, 1, "more")) == "ALREADY_SEATED"
    seat = await Player(gateway, table, newcomer.account, conn).joined()
    seat.absorb()
    assert "hand" in seat.view
    await seat.play_on()
    await playing
    assert [over.status for over in host.seen.of(frames.Over)] == ["finished"]
    finished = await told(cluster, table)
    accounts = [result.seat.account_id for result in finished.seats]
    assert (accounts[0], accounts[2]) == (ana.account, newcomer.account)
    assert finished.kind == tables_pb2.TABLE_KIND_FRIENDS and radu.account not in accounts
    rounds = {4: 24, 5: 27, 6: 30}[players]
    mine, theirs = finished.seats[0], finished.seats[2]
    assert (mine.own_bids, mine.rounds, mine.bid_lately) == (rounds, rounds, True)
    assert 0 < theirs.own_bids < rounds and theirs.rounds == rounds and theirs.bid_lately and not theirs.left
    about = json.loads(finished.record_json)["table"]
    assert about["chosen_seats"] and about["seats"][2]["account"] == radu.account.hex()
    assert [each[:2] for each in about["taken_over"]] == [[2, newcomer.account.hex()]]
    assert [each[0] for each in about["left"]] == [2]
    await folds_from_every_checkpoint(cluster, table)
    for person in (ana, radu, newcomer):
        await person.call("Record", tables_pb2.RecordRequest(table_id=table, account_id=person.account))
    await gateway.close()


async def told(cluster: Cluster, table: bytes) -> events_pb2.GameFinished:
    [row] = await cluster.until(
        "select payload from tables.event where key = :key and type = 'game_finished'", key=table
    )
    return events_pb2.TablesEvent.FromString(bytes(row.payload)).game_finished


async def folds_from_every_checkpoint(cluster: Cluster, table: bytes) -> None:
    bodies = [decode_body(bytes(row.body)) for row in await cluster.rows(table)]
    opening = bodies[0]
    assert isinstance(opening, Opened)
    whole = fold(as_id(table), opening, enumerate(bodies[1:], 1))
    starts = [seq for seq, body in enumerate(bodies) if isinstance(body, Drawn)]
    for start in starts:
        folded = fold(as_id(table), opening, enumerate(bodies[start:], start))
        assert (folded.seats, folded.gone, folded.tallies, folded.state) == (
            whole.seats, whole.gone, whole.tallies, whole.state,
        )  # fmt: skip


async def test_p33_a_seat_that_was_taken_over_is_the_newcomers_at_the_next_owner_too(
    make_database: MakeDatabase,
) -> None:
    async with clustered(make_database) as cluster, cluster.life(dies=True) as life:
        first = await life.born
        ana, radu = Person(first, "Ana"), Person(first, "Radu")
        table = (await ana.open()).table_id
        await ana.deal(table)
        row = await radu.take(table, 3)
        gateway = Gateway(first.gateway)
        await Player(gateway, table, radu.account, 1).joined()
        await gateway.close()
        await life.end()
        async with cluster.worker() as second:
            later = Gateway(second.gateway)
            player = await Player(later, table, radu.account, 2).joined()
            assert player.seen.of(frames.Snapshot)[0].seat == 3
            assert await Person.of(second, radu).take(table, 3) == row
            await later.close()


async def test_who_was_sent_away_neither_watches_nor_sits_down_later(worker: RunningWorker) -> None:
    ana, radu = Person(worker, "Ana"), Person(worker, "Radu")
    table = (await ana.open()).table_id
    await radu.sit(table)
    await ana.change(table, kick=friends_pb2.Kick(account_id=radu.account))
    await ana.deal(table)
    gateway = Gateway(worker.gateway)
    seen = gateway.follow(table, radu.account, 1)
    await gateway.until(lambda: seen.told)
    assert [error.reason for error in seen.of(frames.Error)] == ["BARRED"]
    look = tables_pb2.GetTableRequest(table_id=table, account_id=radu.account)
    assert await refused(radu.call("GetTable", look)) == "BARRED"
    assert await refused(radu.take(table, 2)) == "BARRED"
    await gateway.close()


async def test_commands_by_two_workers_come_one_after_the_other_and_are_heard_at_both(
    make_database: MakeDatabase,
) -> None:
    async with clustered(make_database) as cluster, cluster.worker() as one, cluster.worker() as other:
        ana = Person(one, "Ana")
        table = (await ana.open(players=6)).table_id
        told = ana.watch(table)
        await anext(told)
        people = [Person(worker, f"P{number}") for number, worker in enumerate((one, other) * 3)]
        answers = await asyncio.gather(*(person.sit(table, 4) for person in people), return_exceptions=True)
        assert sum(isinstance(answer, DomainError) and answer.reason == "SEAT_TAKEN" for answer in answers) == 5
        assert (await anext(told)).table.seats[4].HasField("who")
        elsewhere = Person.of(other, ana)
        both = await asyncio.gather(*(each.deal(table, "deal") for each in (ana, elsewhere, ana, elsewhere)))
        assert {each.stage for each in both} == {friends_pb2.FRIENDS_STAGE_DEALT}
        assert await cluster.events(table) == ["game_started"]
        assert (await cluster.head(table)).epoch == 1


async def test_p22_no_more_people_watch_than_may(cluster: Cluster, tmp_path: Path) -> None:
    file = tmp_path / "platform.toml"
    file.write_text(PLATFORM.read_text().replace("spectators = 50", "spectators = 2"))
    async with cluster.worker(platform_config=file) as worker:
        ana = Person(worker, "Ana")
        table = (await ana.open()).table_id
        await ana.deal(table)
        gateway = Gateway(worker.gateway)
        seen = [gateway.follow(table, uuid4().bytes, conn) for conn in (1, 2, 3)]
        await gateway.until(lambda: all(each.told for each in seen))
        assert [type(each.told[0]) for each in seen] == [frames.Snapshot, frames.Snapshot, frames.Error]
        assert seen[2].of(frames.Error)[0].reason == "SPECTATORS_FULL"
        gateway.send(link.Unsubscribe(table, seen[0].account, 1))
        third = gateway.follow(table, seen[2].account, 4)
        await gateway.until(lambda: third.of(frames.Snapshot))
        await gateway.close()


async def test_p22_a_host_may_let_nobody_watch_and_quick_tables_never_do(worker: RunningWorker) -> None:
    ana = Person(worker, "Ana")
    table = (await ana.open(spectators=False)).table_id
    await ana.deal(table)
    quick, _ = await worker.create()
    gateway = Gateway(worker.gateway)
    seen = [gateway.follow(each, uuid4().bytes, conn) for conn, each in enumerate((table, quick), 1)]
    await gateway.until(lambda: all(each.told for each in seen))
    assert [each.of(frames.Error)[0].reason for each in seen] == ["NOT_AT_TABLE", "NOT_AT_TABLE"]
    assert await refused(Person(worker, "Zoe").call(
        "TakeSeat", friends_pb2.TakeSeatRequest(table_id=quick, who=ana.who, request_id="t", seat=0)
    )) == "TABLE_UNKNOWN"  # fmt: skip
    await gateway.close()


async def test_p22_who_has_left_sees_no_hand_and_watches_within_what_the_host_allows(
    cluster: Cluster, tmp_path: Path
) -> None:
    file = tmp_path / "platform.toml"
    file.write_text(PLATFORM.read_text().replace("spectators = 50", "spectators = 1"))
    async with cluster.worker(platform_config=file) as worker:
        ana, radu, zoe = (Person(worker, name) for name in ("Ana", "Radu", "Zoe"))
        table = (await ana.open(players=4)).table_id
        await radu.sit(table, 1)
        await zoe.sit(table, 2)
        await ana.deal(table)
        gateway = Gateway(worker.gateway)
        host = await Player(gateway, table, ana.account, 1).joined()
        leavers = [await Player(gateway, table, each.account, conn).joined() for conn, each in ((2, radu), (3, zoe))]
        for leaver, person in zip(leavers, (radu, zoe), strict=True):
            gateway.send(link.Vacate(table, person.account, leaver.conn, "bye"))
            await gateway.until(partial(leaver.seen.of, frames.Ack))
        first, second = leavers
        [watched] = await gateway.until(lambda: [each for each in first.seen.of(frames.Snapshot) if each.seat == -1])
        assert "hand" not in watched.view
        [refused_] = await gateway.until(lambda: second.seen.of(frames.Error))
        assert (refused_.reason, refused_.req) == ("SPECTATORS_FULL", "")
        look = await radu.call("GetTable", tables_pb2.GetTableRequest(table_id=table, account_id=radu.account))
        assert look.left and not look.hints and "hand" not in json.loads(look.view_json)
        told = [len(leaver.seen.of(frames.Private)) for leaver in leavers]
        await host.play_on(moves=12)  # past the first round: its next deal is not the leavers' to see
        assert [len(leaver.seen.of(frames.Private)) for leaver in leavers] == told
        later = gateway.follow(table, zoe.account, 4)
        await gateway.until(lambda: later.of(frames.Error))
        await gateway.close()


async def test_p22_who_has_left_a_game_without_spectators_is_shown_no_more_of_it(worker: RunningWorker) -> None:
    table, accounts = await worker.create(people=2)
    gateway = Gateway(worker.gateway)
    leaver = Player(gateway, table, accounts[0], 1)
    await gateway.until(leaver.may_move)
    gateway.send(link.Vacate(table, accounts[0], 1, "bye"))
    [refused_] = await gateway.until(lambda: leaver.seen.of(frames.Error))
    assert (refused_.reason, refused_.req) == ("SEAT_LEFT", "")
    again = gateway.follow(table, accounts[0], 2)
    await gateway.until(lambda: again.of(frames.Error))
    assert not again.of(frames.Snapshot)
    asked = tables_pb2.GetTableRequest(table_id=table, account_id=accounts[0])
    look = await Person(worker, "Ana").call("GetTable", asked)
    assert look.left and not look.view_json
    await gateway.close()


async def test_p25_a_game_that_nobody_is_at_is_called_off_and_its_secret_shown(cluster: Cluster) -> None:
    # A thousandth of the limits: 0.3 s for five minutes; the bots take their time, so that the game is not over.
    async with cluster.worker(bot_pace_scale=1.0, turn_limit_scale=0.001) as worker:
        ana = Person(worker, "Ana")
        table = (await ana.open()).table_id
        await ana.deal(table)
        await cluster.until("select 1 from tables.event where key = :key and type = 'game_voided'", key=table)
        answer = await ana.call("Record", tables_pb2.RecordRequest(table_id=table, account_id=ana.account))
        record = json.loads(answer.record_json)
        assert (record["table"]["status"], record["table"]["reason"]) == ("voided", "deserted")
        assert record["secret"] and record["result"] is None


async def test_p25_a_game_with_people_goes_on(cluster: Cluster) -> None:
    async with cluster.worker(bot_pace_scale=0.01, turn_limit_scale=0.001) as worker:
        ana = Person(worker, "Ana")
        table = (await ana.open(options_json='{"mode":"8-1-8"}')).table_id
        await ana.deal(table)
        gateway = Gateway(worker.gateway)
        host = await Player(gateway, table, ana.account, 1).joined()
        await gateway.until(host.finished, 60)
        assert [over.status for over in host.seen.of(frames.Over)] == ["finished"]
        await gateway.close()


async def test_p42_a_guest_joins_a_rematch_and_opens_none(worker: RunningWorker, cluster: Cluster) -> None:
    ana, guest = Person(worker, "Ana"), Person(worker, "Musafir", guest=True)
    table = (await ana.open(game="german", options_json="{}", players=2)).table_id
    await guest.sit(table)
    await ana.deal(table)
    gateway = Gateway(worker.gateway)
    for conn, person in enumerate((ana, guest), 1):
        gateway.send(link.Vacate(table, person.account, conn, "bye"))
    await told(cluster, table)
    await gateway.close()
    assert await refused(guest.rematch(table)) == "GUESTS_OPEN_NO_TABLE"
    again = await ana.rematch(table)
    assert names(again) == ["Ana", ""]
    assert names(await guest.rematch(table)) == ["Ana", "Musafir"]


async def test_a_rematch_seats_the_same_people_once_each_asks(worker: RunningWorker, cluster: Cluster) -> None:
    ana, radu, zoe = (Person(worker, name) for name in ("Ana", "Radu", "Zoe"))
    table = (await ana.open(game="german", options_json="{}", players=2)).table_id
    await radu.sit(table)
    await ana.deal(table)
    assert await refused(ana.rematch(table)) == "GAME_RUNNING"
    gateway = Gateway(worker.gateway)
    for conn, person in enumerate((ana, radu), 1):
        gateway.send(link.Vacate(table, person.account, conn, "bye"))
    await told(cluster, table)
    again = await radu.rematch(table)
    assert (names(again), again.host) == (["", "Radu"], radu.account)
    assert again.table_id != table and again.choices.game == "german"
    both = await ana.rematch(table)
    assert (both.table_id, names(both)) == (again.table_id, ["Ana", "Radu"])
    assert await ana.rematch(table) == both
    assert await refused(zoe.rematch(table)) == "NOT_AT_TABLE"
    assert (await radu.deal(again.table_id)).stage == friends_pb2.FRIENDS_STAGE_DEALT
    await gateway.close()


@pytest.mark.parametrize(
    ("game", "options", "players"),
    [
        ("english", {"revokes": "club", "match": "game"}, 4),
        ("solo", {}, 4),
        ("knockout", {"dogs_life": True}, 7),
        ("german", {}, 2),
        ("romanian", {"mode": "8-8-8"}, 4),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_p21_every_game_is_played_to_its_end_by_those_who_stay(
    worker: RunningWorker, cluster: Cluster, game: str, options: dict[str, Any], players: int
) -> None:
    ana = Person(worker, "Ana")
    table = (await ana.open(game=game, options_json=json.dumps(options), players=players)).table_id
    await ana.deal(table)
    gateway = Gateway(worker.gateway)
    gateway.send(link.Vacate(table, ana.account, 1, "bye"))
    finished = await told(cluster, table)
    assert finished.game == game and finished.seats[0].left and finished.record_json
    assert sorted(result.place for result in finished.seats)[0] == 1
    await gateway.close()
