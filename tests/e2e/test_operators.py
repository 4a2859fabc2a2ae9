"""P82 over the public and the operators' API alone: what a void, a suspension and a correction are to the players."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from libs.client import Table, Whist, WhistError
from libs.client.sdk.company import Company
from libs.client.sdk.operators import OperatorsDesk
from tests.e2e.conftest import UNLIMITED, Embedded, embedded, hurried, own_folder
from tests.e2e.story import arrives, mailed_code, play

GAMES_MAX = 12  # the calm policy wins a prize in every second
WHY = "two seats were one person"


@pytest.fixture(scope="module")
async def house() -> AsyncIterator[Embedded]:
    """A run in which room 2, with its entry and its prize, is open to everybody, and codes come one upon the other."""
    with own_folder() as place:
        open_house = hurried(place, {"level = 2": "level = 1", "codes_minute = 1": "codes_minute = 5"})
        async with embedded(
            place / "run", WHIST_PLATFORM_CONFIG=str(open_house), WHIST_LOG_LEVEL="debug", **UNLIMITED
        ) as run:
            yield run


@asynccontextmanager
async def desk_of(house: Embedded) -> AsyncIterator[OperatorsDesk]:
    token = (house.data / "secrets" / "operator-token").read_text()
    async with OperatorsDesk.connect(house.admin_url, token) as desk:
        yield desk


@asynccontextmanager
async def player(house: Embedded, address: str) -> AsyncIterator[Whist]:
    mails = house.data / "mail"
    async with Whist.connect(house.url, email=address, ask_code=lambda: mailed_code(mails, address)) as whist:
        await arrives(whist.coins, lambda coins: coins == 1000)
        yield whist


async def standing(whist: Whist) -> dict[str, Any]:
    """Everything that a game changes."""
    me, league = await whist.me(), await whist.league()
    return {
        "coins": me["wallet"]["coins"], "bars": me["wallet"]["bars"], "cups": me["wallet"]["cups"],
        "experience": me["experience"], "level": me["level"], "points": league["standing"]["points"],
    }  # fmt: skip


async def settled(whist: Whist, table: Table, before: dict[str, Any]) -> dict[str, Any]:
    """What stands once the game's prize and experience have arrived."""
    assert table.result is not None and table.result.place is not None
    prize = {1: 250, 2: 175, 3: 137}.get(table.result.place, 0)
    due = before["coins"] - 100 + prize
    now: dict[str, Any] = await arrives(
        lambda: standing(whist),
        lambda now: (
            now["coins"] == due
            and now["experience"] > before["experience"]
            and now["points"] == before["points"] + prize
            and now["bars"] == 5
        ),
    )
    return now


async def test_p82_a_finished_game_that_is_voided_leaves_nothing_of_itself(house: Embedded) -> None:
    async with player(house, "ana@example.org") as whist, desk_of(house) as desk:
        for _ in range(GAMES_MAX):
            before = await standing(whist)
            table = await whist.quick_game(room=2)
            await play(table)
            after = await settled(whist, table, before)
            if after["points"] > before["points"]:
                break
        assert after["points"] > before["points"], "the policy wins now and then"

        key = "5" * 32
        assert await desk.void(table.id, WHY, key) is True
        assert await arrives(lambda: standing(whist), lambda now: now == before) == before
        assert await desk.void(table.id, WHY, key) is True
        with pytest.raises(WhistError) as refused:
            await desk.void(table.id, WHY)
        assert refused.value.code == "GAME_OVER"
        record = await whist.record(table.id)
        assert (record["table"]["status"], record["table"]["reason"]) == ("voided", "operator")
        assert record["result"] is not None
        [seen] = [each for each in await desk.tables(account=whist.account["account_id"]) if each["table"] == table.id]
        assert (seen["status"], seen["had_finished"]) == ("voided", True)
        [line] = [each for each in await desk.audit() if each["subject"] == table.id]
        assert (line["operator"], line["act"], line["reason"]) == ("admin", "void", WHY)
        assert await desk.ledger_check() == {"ok": True, "differences": [], "unproved": []}
        await play(await whist.quick_game(room=2))  # and one plays on


async def test_p82_a_live_game_that_is_voided_gives_the_entries_back_and_frees_the_seats(house: Embedded) -> None:
    async with player(house, "radu@example.org") as whist, desk_of(house) as desk:
        before = await standing(whist)
        table = await whist.quick_game(room=2)
        await arrives(whist.coins, lambda coins: coins == 900)
        await play(table, moves=3)
        [seen] = await desk.tables(account=whist.account["account_id"], live=True)
        assert (seen["table"], seen["status"], seen["accounts"]) == (table.id, "live", [whist.account["account_id"]])
        assert await desk.void(table.id, WHY) is False
        await play(table)  # until we are told that it is over
        assert table.result is not None
        assert (table.result.status, table.result.place) == ("voided", None)
        assert await arrives(lambda: standing(whist), lambda now: now == before) == before
        record = await whist.record(table.id)
        assert (record["table"]["status"], record["result"]) == ("voided", None)
        again = await whist.quick_game(room=2)
        assert again.id != table.id
        await play(again)
        assert await desk.ledger_check() == {"ok": True, "differences": [], "unproved": []}


async def test_p82_a_suspended_account_is_out_until_it_is_let_in_again(house: Embedded) -> None:
    async with player(house, "zoe@example.org") as whist, desk_of(house) as desk:
        [found] = await desk.accounts("zoe@example.org", "asked by the police")
        assert found["account"] == whist.account["account_id"]
        await desk.suspend(found["account"], "asked by the police")

        async def answer() -> str:
            try:
                await whist.me()
            except WhistError as refused:
                return refused.code
            return ""

        await arrives(answer, lambda code: code != "")
        with pytest.raises(WhistError) as shut_out:
            async with player(house, "zoe@example.org"):
                pass
        assert shut_out.value.code == "ACCOUNT_SUSPENDED"
        await desk.reinstate(found["account"], "a mistake")
        async with player(house, "zoe@example.org") as back:
            assert back.account["account_id"] == found["account"]


async def test_p82_a_balance_is_corrected_by_a_transfer_that_its_owner_sees(house: Embedded) -> None:
    async with player(house, "vlad@example.org") as whist, desk_of(house) as desk:
        account = whist.account["account_id"]
        assert (await desk.correct(account, "lost by a fault", coins=50, cups={"x2": 1}))["coins"] == 1050
        with pytest.raises(WhistError) as refused:
            await desk.correct(account, "too much", coins=-1051)
        assert refused.value.code == "INSUFFICIENT_FUNDS"
        assert (await whist.wallet())["coins"] == 1050
        assert await desk.wallet(account) == await whist.wallet()
        lines = [each for each in await desk.audit() if each["subject"] == account]
        assert [(each["service"], each["act"]) for each in lines] == [("wallet", "correct")]
        assert await desk.ledger_check() == {"ok": True, "differences": [], "unproved": []}


async def test_p82_a_chatter_is_reported_silenced_and_the_table_closed(house: Embedded) -> None:
    async with (
        player(house, "host@example.org") as host, player(house, "rude@example.org") as rude, desk_of(house) as desk
    ):  # fmt: skip
        table = (await host.friends.open(game="romanian", players=4))["table"]
        rude_account = rude.account["account_id"]
        company, theirs = await host.enter(table), await rude.enter(table)
        for each in (company, theirs):
            await arrives(partial(_stage, each), lambda stage: stage == "waiting")
        await theirs.say("so rude")
        await arrives(lambda: _lines(company), lambda lines: lines == ["so rude"])
        await host.friends.report(table, rude_account, "he is rude")
        [report] = await desk.reports(account=rude_account)
        assert (report["table"], report["words"], [line["words"] for line in report["lines"]]) == (
            table, "he is rude", ["so rude"],
        )  # fmt: skip
        until = await desk.silence(rude_account, 60, "rude")
        with pytest.raises(WhistError) as refused:
            await theirs.say("again")
        assert refused.value.code == "SILENCED"
        assert until is not None
        assert datetime.fromisoformat(str(refused.value.facts["until"])) == datetime.fromisoformat(until)
        assert await desk.silence(rude_account, 0, "has said sorry") is None
        await theirs.say("sorry")
        await arrives(lambda: _lines(company), lambda lines: lines == ["so rude", "sorry"])
        [seen] = await desk.tables(account=host.account["account_id"])
        assert (seen["table"], seen["status"]) == (table, "waiting")
        await desk.close(table, "a rude table")
        await arrives(lambda: _stage(company), lambda stage: stage == "closed")
        await host.friends.open(game="romanian", players=4)


async def _lines(company: Company) -> list[str]:
    return [line.words for line in company.lines]


async def _stage(company: Company) -> str:
    return company.table.stage if company.table else ""


async def test_n7_no_operators_word_is_in_the_log(house: Embedded, tmp_path: Path) -> None:
    log = house.log.read_text()
    assert (house.data / "secrets" / "operator-token").read_text() not in log
    assert WHY not in log and "police" not in log
