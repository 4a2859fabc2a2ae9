"""Friends' tables under hostile company (A9, A6, A7, #34, #37): the real gateway before a real worker.

Whatever is said is cleaned or refused by its reason, whoever may not do a thing is told so on socket and in REST, and
nothing has changed.
"""

import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from libs.wire import frames
from tests.conftest import MakeDatabase
from tests.services.gateway.test_rest import is_problem
from tests.services.gateway.world import Player, Stage, staged
from tests.services.tables.conftest import Cluster, RunningWorker, clustered

RACERS = 50
FOUR = {"game": "romanian", "options": {"mode": "8-1-8"}, "players": 4}


@dataclass(frozen=True)
class House:
    cluster: Cluster
    worker: RunningWorker
    stage: Stage
    client: httpx.AsyncClient

    async def ask(self, who: UUID, method: str, path: str, body: Any = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.stage.world.keys.token(who)}"}
        return await self.client.request(method, f"/v1/friends-tables{path}", json=body, headers=headers)

    async def open(self, host: UUID, **choices: Any) -> str:
        answer = await self.ask(host, "POST", "", FOUR | choices)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["table"])

    async def state(self) -> list[Any]:
        """Every row that a refused command could have changed."""
        return await self.cluster.query(
            "select 'table', t::text from tables.friends_table t union all "
            "select 'seat', account::text || seat from tables.friends_seat union all "
            "select 'head', table_id::text || next_seq from tables.table_head union all "
            "select 'report', r::text from tables.chat_report r order by 1, 2"
        )


@pytest.fixture(scope="module")
async def house(make_database: MakeDatabase) -> AsyncIterator[House]:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wg-")))
        cluster = await stack.enter_async_context(clustered(make_database))
        # The bots take their time, so that a game is in play for as long as a test looks at it.
        worker = await stack.enter_async_context(cluster.worker(bot_pace_scale=10.0))
        stage = await stack.enter_async_context(
            staged(folder, tables_target=worker.address, rate_tables="", rate_chat="", socket_rate=0)
        )
        client = await stack.enter_async_context(httpx.AsyncClient(base_url=stage.http_url, timeout=30))
        yield House(cluster, worker, stage, client)


async def hears(player: Player, kind: type[Any]) -> Any:
    """The next frame of that kind; others may come between."""
    async with asyncio.timeout(10):
        while True:
            frame = frames.decode_server.decode(await player.socket.recv())
            if isinstance(frame, kind):
                return frame


# What is said, and what is heard; None: refused.
PAYLOADS: list[tuple[str, str | None]] = [
    ("<script>alert(1)</script>", "‹script›alert(1)‹/script›"),
    ('<img src=x onerror="alert(1)">', '‹img src=x onerror="alert(1)"›'),
    ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
    ("&lt;b&gt;", "&lt;b&gt;"),
    ("{{7*7}} ${7*7} %s %n", "{{7*7}} ${7*7} %s %n"),
    ("'; drop table tables.chat; --", "'; drop table tables.chat; --"),
    ("evil\u202etxt.exe", "eviltxt.exe"),
    ("a\u2066b\u2069c\u200e\u061c", "abc"),
    ("pay\u200bpal\u200d\ufeff\u00ad", "paypal"),
    ("bell\u0007 nul\u0000 esc\u001b[31m", "bell nul esc[31m"),
    ("two\r\nlines\u2028here\u0085now", "two lines here now"),
    ("Z" + "\u0351" * 60, "Z" + "\u0351" * 3),
    ("\ue000private\U000e0041tag", "privatetag"),
    ("ﬁ e\u0301", "ﬁ é"),
    ("x" * 200, "x" * 200),
    ("x" * 201, None),
    ("x" * 2_000, None),
    ("\u200b\u200b\u202e", None),
    (" \t\n ", None),
    ("\u0000", None),
]


async def test_a9_every_payload_is_heard_cleaned_or_refused_by_its_reason(house: House) -> None:
    ana, zoe = uuid4(), uuid4()
    table = await house.open(ana)
    async with house.stage.player(ana) as speaker, house.stage.player(zoe) as listener:
        await listener.say(frames.Enter(table=table))
        await hears(listener, frames.Waiting)
        for number, (said, heard) in enumerate(PAYLOADS):
            await speaker.say(frames.Say(table=table, req=f"s{number}", words=said))
            report = await house.ask(zoe, "POST", f"/{table}/report", {"account": ana.hex, "words": said})
            if heard is None:
                error = await hears(speaker, frames.Error)
                assert (error.reason, error.req, error.facts) == ("BAD_TEXT", f"s{number}", {"most": 200}), ascii(said)
                assert is_problem(report, 400, "BAD_TEXT")
            else:
                ack = await hears(speaker, frames.Ack)
                line = await hears(listener, frames.Chat)
                assert (ack.req, line.words, line.line) == (f"s{number}", heard, ack.seq), ascii(said)
                assert report.status_code == 204
        kept = await house.cluster.query("select words from tables.chat_report where reporter = :a", a=zoe.bytes)
        assert {row.words for row in kept} == {heard for _, heard in PAYLOADS if heard is not None}
        # Longer than any frame's field, and than any frame.
        await speaker.say(frames.Say(table=table, req="long", words="x" * 2_001))
        assert (await hears(speaker, frames.Error)).reason == "BAD_FRAME"
        await speaker.say(frames.Say(table=table, req="longer", words="x" * 100_000))
        assert await speaker.closed() == frames.CloseCode.TOO_BIG
        long = await house.ask(zoe, "POST", f"/{table}/report", {"account": ana.hex, "words": "x" * 60_000})
        assert is_problem(long, 422, "INVALID_REQUEST")


async def test_a9_who_is_muted_is_not_heard_by_who_muted_and_is_again_afterwards(house: House) -> None:
    ana, zoe, eve = uuid4(), uuid4(), uuid4()
    table = await house.open(ana)
    headers = {"Authorization": f"Bearer {house.stage.world.keys.token(zoe)}"}
    muted = await house.client.put(f"/v1/mutes/{ana.hex}", headers=headers)
    assert muted.status_code == 204
    async with (
        house.stage.player(ana) as speaker, house.stage.player(zoe) as deaf, house.stage.player(eve) as other,
    ):  # fmt: skip
        for player in (deaf, other):
            await player.say(frames.Enter(table=table))
            await hears(player, frames.Waiting)
        await speaker.say(frames.Say(table=table, req="one", words="one"))
        assert (await hears(other, frames.Chat)).words == "one"
        assert (await house.client.delete(f"/v1/mutes/{ana.hex}", headers=headers)).status_code == 204
        await deaf.say(frames.Enter(table=table, since_line=(await hears(speaker, frames.Ack)).seq))
        await hears(deaf, frames.Waiting)
        await speaker.say(frames.Say(table=table, req="two", words="two"))
        assert (await hears(deaf, frames.Chat)).words == "two"


async def test_a9_a_flood_of_chat_is_refused_line_by_line(short_folder: Path, house: House) -> None:
    ana = uuid4()
    table = await house.open(ana)
    async with (
        staged(short_folder, tables_target=house.worker.address, rate_chat="5/10seconds", socket_rate=0) as stage,
        stage.player(ana) as speaker,
    ):
        for number in range(30):
            await speaker.say(frames.Say(table=table, req=f"s{number}", words="flood"))
        answers = Counter[str]()
        for _ in range(30):
            frame = frames.decode_server.decode(await speaker.socket.recv())
            answers[frame.reason if isinstance(frame, frames.Error) else type(frame).__name__] += 1
        assert answers == {"Ack": 5, "RATE_LIMITED": 25}
    lines = await house.cluster.query("select 1 from tables.chat_line where table_id = :t", t=UUID(table))
    assert len(lines) == 5


async def test_x2_of_fifty_who_want_one_seat_before_the_deal_one_has_it(house: House) -> None:
    ana = uuid4()
    table = await house.open(ana)
    racers = [uuid4() for _ in range(RACERS)]
    answers = await asyncio.gather(*(house.ask(each, "POST", f"/{table}/sit", {"seat": 2}) for each in racers))
    assert Counter(each.status_code for each in answers) == {200: 1, 409: RACERS - 1}
    assert {each.json()["code"] for each in answers if each.status_code == 409} == {"SEAT_TAKEN"}
    [winner] = [who for who, each in zip(racers, answers, strict=True) if each.status_code == 200]
    seats = (await house.ask(ana, "GET", f"/{table}")).json()["seats"]
    assert [seat and seat["account"] for seat in seats] == [ana.hex, None, winner.hex, None]


async def test_x2_of_fifty_who_want_one_seat_in_play_one_has_it(house: House) -> None:
    ana = uuid4()
    table = await house.open(ana)
    assert (await house.ask(ana, "POST", f"/{table}/deal")).status_code == 200
    racers = [uuid4() for _ in range(RACERS)]
    answers = await asyncio.gather(*(house.ask(each, "POST", f"/{table}/take-seat", {"seat": 3}) for each in racers))
    assert Counter(each.status_code for each in answers) == {200: 1, 409: RACERS - 1}
    assert {each.json()["code"] for each in answers if each.status_code == 409} <= {"SEAT_TAKEN", "TABLE_BUSY"}
    [winner] = [who for who, each in zip(racers, answers, strict=True) if each.status_code == 200]
    async with house.stage.player(winner) as player:
        assert (await player.joined(table)).seat == 3


async def test_a6_only_the_host_chooses_sends_away_deals_and_closes(house: House) -> None:
    ana, radu, eve = uuid4(), uuid4(), uuid4()
    table = await house.open(ana)
    assert (await house.ask(radu, "POST", f"/{table}/sit", {})).status_code == 200
    before = await house.state()
    for who in (radu, eve):
        for method, path, body in (
            ("PUT", "/choices", FOUR | {"players": 5}), ("POST", "/kick", {"account": ana.hex}),
            ("POST", "/deal", None), ("DELETE", "", None),
        ):  # fmt: skip
            assert is_problem(await house.ask(who, method, f"/{table}{path}", body), 403, "NOT_HOST")
    assert is_problem(await house.ask(eve, "POST", f"/{table}/stand"), 403, "NOT_AT_TABLE")
    assert is_problem(await house.ask(ana, "POST", f"/{table}/kick", {"account": ana.hex}), 400, "BAD_CHOICE")
    assert await house.state() == before


async def test_a6_a_table_of_another_kind_or_of_nowhere_takes_no_command(house: House) -> None:
    ana, eve = uuid4(), uuid4()
    quick, _ = await house.worker.create()
    live = await house.open(ana)
    assert (await house.ask(ana, "POST", f"/{live}/deal")).status_code == 200
    before = await house.state()
    commands: list[tuple[str, str, Any]] = [
        ("PUT", "/choices", FOUR), ("POST", "/sit", {"seat": 1}), ("POST", "/stand", None), ("POST", "/deal", None),
        ("POST", "/kick", {"account": ana.hex}), ("DELETE", "", None),
    ]  # fmt: skip
    for who in (ana, eve):
        for method, path, body in commands:
            for nowhere in (quick.hex(), uuid4().hex, "0" * 32):
                assert is_problem(await house.ask(who, method, f"/{nowhere}{path}", body), 404, "TABLE_UNKNOWN"), path
            assert is_problem(await house.ask(who, method, f"/{live}{path}", body), 409, "TABLE_DEALT"), path
    for nowhere in (quick.hex(), uuid4().hex):
        for method, path, body in (
            ("GET", "", None), ("POST", "/rematch", None), ("POST", "/take-seat", {"seat": 0}),
            ("POST", "/report", {"account": ana.hex, "words": "x"}),
        ):  # fmt: skip
            answer = await house.ask(eve, method, f"/{nowhere}{path}", body)
            assert is_problem(answer, 404, "TABLE_UNKNOWN"), (path, answer.text)
    assert is_problem(await house.ask(eve, "POST", f"/{live}/rematch"), 403, "NOT_AT_TABLE")
    assert is_problem(await house.ask(ana, "POST", f"/{live}/rematch"), 409, "GAME_RUNNING")
    assert await house.state() == before


async def test_37_a_spectator_who_tries_every_command_moves_nothing(house: House) -> None:
    ana, eve = uuid4(), uuid4()
    table = await house.open(ana, open_chat=False)
    assert (await house.ask(ana, "POST", f"/{table}/deal")).status_code == 200
    async with house.stage.player(ana) as host, house.stage.player(eve) as watcher:
        seated = await host.joined(table)
        shown = await watcher.joined(table)
        assert (shown.seat, "hand" in shown.view, "hand" in seated.view) == (-1, False, True)
        before = await house.state()
        moves: list[dict[str, Any]] = [{"bid": 0}, {"bid": 3}, {"play": "AS"}, {"claim": True}, {"x": 1}]
        for number, action in enumerate(moves):
            await watcher.act(f"a{number}", table=table, turn=shown.view["turn"], **action)
            assert (await hears(watcher, frames.Error)).reason == "NOT_AT_TABLE"
        await watcher.say(frames.Quit(table=table, req="q"))
        assert (await hears(watcher, frames.Error)).reason == "NOT_AT_TABLE"
        await watcher.say(frames.Say(table=table, req="s", words="psst"))
        assert (await hears(watcher, frames.Error)).reason == "CHAT_CLOSED"
        refused = await house.ask(eve, "POST", f"/{table}/take-seat", {"seat": 0})
        assert is_problem(refused, 409, "SEAT_TAKEN")
        assert await house.state() == before
        await watcher.say(frames.Leave(table=table))
        await watcher.act("late", table=table, turn=0, bid=0)
        assert (await hears(watcher, frames.Error)).reason == "JOIN_FIRST"


async def test_b30_every_command_of_a_socket_at_a_table_that_is_not_ones_own_says_why_and_changes_nothing(
    house: House,
) -> None:
    ana, eve = uuid4(), uuid4()
    waiting = await house.open(ana, open_chat=False)
    quick, _ = await house.worker.create()
    before = await house.state()
    reasons = {
        uuid4().hex: ("TABLE_UNKNOWN", "TABLE_UNKNOWN", "TABLE_UNKNOWN"),
        "0" * 32: ("TABLE_UNKNOWN", "TABLE_UNKNOWN", "TABLE_UNKNOWN"),
        quick.hex(): ("NOT_AT_TABLE", "TABLE_UNKNOWN", "TABLE_UNKNOWN"),
        # It may be looked at by whoever has its link; it is not in play, and its chat is not open.
        waiting: ("TABLE_UNKNOWN", "", "CHAT_CLOSED"),
    }
    async with house.stage.player(eve) as player:
        for number, (table, (join, enter, say)) in enumerate(reasons.items()):
            await player.say(frames.Leave(table=table))
            for req, frame in (
                ("act", frames.Act(table=table, req="act", turn=0, action={"bid": 0})),
                ("quit", frames.Quit(table=table, req="quit")),
            ):
                await player.say(frame)
                error = await player.hear(frames.Error)
                assert (error.reason, error.req, error.table) == ("JOIN_FIRST", req, table)
            for since in (None, 0, 2**53 - 1):
                await player.say(frames.Join(table=table) if since is None else frames.Join(table=table, since=since))
                assert (await player.hear(frames.Error)).reason == join, table
            await player.say(frames.Say(table=table, req=f"say{number}", words="x"))
            assert (await player.hear(frames.Error)).reason == say, table
            await player.say(frames.Enter(table=table))
            if enter:
                assert (await player.hear(frames.Error)).reason == enter, table
            else:
                assert (await player.hear(frames.Waiting)).host == ana.hex
    assert await house.state() == before
