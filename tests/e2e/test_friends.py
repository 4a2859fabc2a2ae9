"""Friends' tables over the public API: opened, joined, watched, taken over, played out and again (P20-P25)."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from libs.client import Table, Whist, WhistError
from libs.client.sdk.company import Company
from tests.e2e.conftest import Embedded
from tests.e2e.story import mailed_code, play

ROUNDS = {4: 24, 5: 27, 6: 30}
HEARD_SECONDS = 15
ANALYSED_SECONDS = 60  # seconds of CPU where the kernels are interpreted


@asynccontextmanager
async def signed_in(product: Embedded) -> AsyncIterator[Whist]:
    """An account of its own: guests open no table (P42)."""
    address, mails = f"{uuid4().hex}@example.org", product.data / "mail"
    async with Whist.connect(product.url, email=address, ask_code=lambda: mailed_code(mails, address)) as whist:
        yield whist


async def seat_was_left(table: Table, seat: int) -> None:
    version = table.version
    while not table.seats[seat].left:
        version = await table.changed(version)


async def seat_is_ours(table: Table, seat: int) -> None:
    version = table.version
    while table.seat != seat:
        version = await table.changed(version)


@pytest.mark.parametrize("players", [4, 5, 6])
async def test_p20_to_p24_a_friends_game_with_a_spectator_who_takes_a_seat_over(
    product: Embedded, players: int
) -> None:
    async with signed_in(product) as host, Whist.connect(product.url) as guest, Whist.connect(product.url) as third:
        with pytest.raises(WhistError) as refused:
            await guest.friends.open(players=players)
        assert refused.value.code == "GUESTS_OPEN_NO_TABLE"
        opened = await host.friends.open(players=players, options={"mode": "8-1-8"})
        table_id = opened["table"]
        assert table_id in [each["table"] for each in await guest.friends.list()]
        joined = await guest.friends.sit(table_id, 2)
        assert [bool(seat) for seat in joined["seats"]] == [seat in (0, 2) for seat in range(players)]
        assert (await host.friends.deal(table_id))["stage"] == "dealt"

        hosts, guests, watched = await host.join(table_id), await guest.join(table_id), await third.join(table_id)
        assert (hosts.seat, guests.seat, watched.seat) == (0, 2, -1)
        assert "hand" in hosts.view and "hand" not in watched.view
        assert hosts.decision is None or (await host.hint(hosts))["turn"] == hosts.view["turn"]  # P23
        playing = asyncio.create_task(play(hosts))
        await play(guests, moves=5)
        with pytest.raises(WhistError) as refused:
            await third.friends.take_seat(table_id, 2)
        assert refused.value.code == "SEAT_TAKEN"
        await guests.quit()
        await seat_was_left(watched, 2)
        await third.friends.take_seat(table_id, 2)
        await seat_is_ours(watched, 2)
        assert "hand" in watched.view
        await asyncio.gather(playing, play(watched))

        assert hosts.result is not None and watched.result is not None and watched.result.status == "finished"
        record = await third.record(table_id)
        assert len(record["result"]["seats"][0]) == ROUNDS[players]
        about = record["table"]
        accounts = [whist.account["account_id"] for whist in (host, guest, third)]
        assert [about["seats"][0]["account"], about["seats"][2]["account"]] == accounts[:2]
        assert [each[:2] for each in about["taken_over"]] == [[2, accounts[2]]]
        assert (await guest.record(table_id)) == record
        # P23: everybody who sat there is told of their own part, guests and who has left too.
        for whist, moves in ((host, ROUNDS[players]), (guest, 5), (third, 1)):
            judged = await analysed(whist, table_id)
            assert judged["grade"] is not None and len(judged["decisions"]) >= moves
            assert (await whist.story(table_id, "ro"))["locale"] == "ro"
        again = await host.friends.rematch(table_id)
        assert again["host"] == accounts[0] and again["choices"] == opened["choices"]
        assert (await third.friends.rematch(table_id))["table"] == again["table"]
        assert (await host.wallet())["coins"] in (0, 1000)  # no coins move but the first gift


async def analysed(whist: Whist, table_id: str) -> dict[str, Any]:
    """The account's own part, once the coach has come to the game."""
    async with asyncio.timeout(ANALYSED_SECONDS):
        while True:
            try:
                return await whist.analysis(table_id)
            except WhistError as refused:
                # The coach has not heard of the game yet, or it waits; of who has left it knows from the record alone.
                if refused.code not in ("ANALYSIS_NOT_YET", "ANALYSIS_UNKNOWN"):
                    raise
            await asyncio.sleep(0.2)


async def test_p20_friends_chat_while_they_wait_and_hear_who_comes_and_goes(product: Embedded) -> None:
    async with signed_in(product) as host, Whist.connect(product.url) as guest:
        table_id = (await host.friends.open(listed=False))["table"]
        assert table_id not in [each["table"] for each in await guest.friends.list()]
        company = await host.enter(table_id)
        await until(company, lambda: company.table is not None)
        line = await company.say("  Salut <b>\u202e")
        await until(company, lambda: bool(company.lines))
        assert [(each.line, each.words) for each in company.lines] == [(line, "Salut ‹b›")]
        with pytest.raises(WhistError) as refused:
            await company.say("\u200b")
        assert refused.value.code == "BAD_TEXT"
        await guest.friends.sit(table_id)
        theirs = await guest.enter(table_id)
        await until(theirs, lambda: bool(theirs.lines))
        await until(company, lambda: bool(company.table and company.table.seats[1]))
        await host.friends.kick(table_id, guest.account["account_id"])
        await until(company, lambda: not (company.table and company.table.seats[1]))
        with pytest.raises(WhistError) as refused:
            await until(theirs, lambda: False)
        assert refused.value.code == "BARRED"
        with pytest.raises(WhistError) as refused:
            await guest.friends.sit(table_id)
        assert refused.value.code == "BARRED"
        await host.friends.close(table_id)
        await until(company, lambda: not company.live)


async def until(company: Company, condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(HEARD_SECONDS):
        while not condition():
            await company.changed(company.version)


async def test_p20_a_table_opened_in_the_terminal_is_dealt_and_played_to_its_end(
    product: Embedded, tmp_path: Path
) -> None:
    address = f"{uuid4().hex}@example.org"
    words = ("open", "--game", "german", "--email", address, "--unlisted")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "libs.client.cli", *words,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"WHIST_URL": product.url, "XDG_STATE_HOME": str(tmp_path), "COLUMNS": "80"},
    )  # fmt: skip
    assert process.stdin is not None
    code = await mailed_code(product.data / "mail", address)
    # The first legal card at every decision, which is all that a script need know.
    process.stdin.write("\n".join([code, "deal", *["1"] * 26]).encode() + b"\n")
    await process.stdin.drain()
    async with asyncio.timeout(60):
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    assert "At the table:" in err.decode() and out


async def test_p22_a_game_watched_in_the_terminal_is_played_on_from_a_bots_seat(
    product: Embedded, tmp_path: Path
) -> None:
    async with signed_in(product) as host:
        table_id = (await host.friends.open(game="german", options={}, players=2))["table"]
        await host.friends.deal(table_id)
        table = await host.join(table_id)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "libs.client.cli", "watch", table_id,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env=os.environ | {"WHIST_URL": product.url, "XDG_STATE_HOME": str(tmp_path), "COLUMNS": "80"},
        )  # fmt: skip
        assert process.stdin is not None
        process.stdin.write("\n".join(["take 2", *["1"] * 26]).encode() + b"\n")
        await process.stdin.drain()
        while table.seats[1].kind == "bot":
            await table.changed(table.version)
        shown = (await host.friends.get(table_id))["seats"][1]
        playing = asyncio.create_task(play(table))
        async with asyncio.timeout(60):
            out, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        assert "You are watching" in out.decode() and "shows and checks this game" in out.decode()
        await playing
        assert shown is not None and table.result is not None and table.result.status == "finished"


async def test_x3_a_friends_seat_and_a_quick_one_exclude_each_other(product: Embedded) -> None:
    nowhere = {"table": None, "kind": None, "stage": None}
    async with signed_in(product) as host, Whist.connect(product.url) as guest:
        table_id = (await host.friends.open(game="german", options={}, players=2))["table"]
        assert await host.seat() == {"table": table_id, "kind": "friends", "stage": "waiting"}
        with pytest.raises(WhistError) as refused:
            await host.quick_game()
        assert (refused.value.code, refused.value.facts["table"]) == ("ALREADY_SEATED", table_id)
        await guest._session.request("POST", "/v1/queue", {"room": 1, "mode": "quick"})
        with pytest.raises(WhistError) as refused:
            await guest.friends.sit(table_id)
        assert refused.value.code == "ALREADY_SEATED"
        await guest.cancel_queue()
        await guest.friends.sit(table_id)
        await host.friends.deal(table_id)
        assert (await guest.seat())["stage"] == "dealt"
        table = await guest.join(table_id)
        await table.quit()
        assert await guest.seat() == nowhere
        quick = await guest.quick_game()
        assert await guest.seat() == {"table": quick.id, "kind": "quick", "stage": "dealt"}
        with pytest.raises(WhistError) as refused:
            await guest.friends.rematch(table_id)
        assert refused.value.code in {"GAME_RUNNING", "ALREADY_SEATED"}
        await quick.quit()
        assert await guest.seat() == nowhere
        await play(await host.join(table_id))
