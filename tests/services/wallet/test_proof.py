"""The ledger defends itself, and its proof finds what a defence was turned off for (P17; E1-E14)."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from libs.chassis.db import Database
from libs.house.modes import Coffee
from services.wallet.domain.history import Unproved
from services.wallet.handlers.ledger_check import ledger_check
from services.wallet.handlers.refunds import refund
from services.wallet.handlers.weeks import seal_week
from services.wallet.jobs import check_ledger
from services.wallet.ledger_check import report
from services.wallet.metrics import ledger_imbalance
from services.wallet.storage.ledger import LedgerStore
from services.wallet.wiring import MIGRATIONS
from tests.conftest import MakeDatabase
from tests.services.wallet.builders import (
    ENTROPY,
    Player,
    Wallet,
    analysed,
    finished,
    new_table,
    podium_won,
    seen,
    started,
    voided,
)
from tests.services.wallet.evenings import Evening
from tests.services.wallet.fake_tables import FakeTables

TRANSFER = "insert into wallet.transfer values (gen_random_uuid(), 'k', 'prize', null, now()) returning id"
LINE = "insert into wallet.posting (transfer_id, account_id, house, asset, amount) "


@pytest.fixture
async def proved(make_database: MakeDatabase) -> AsyncIterator[Wallet]:
    """A wallet of its own with one finished game, one open hold and one of a game that runs."""
    url = await make_database(MIGRATIONS)
    database = Database.open(url, "wallet")
    wallet = Wallet(LedgerStore(database, ENTROPY))
    await a_little_of_everything(wallet)
    assert await ledger_check(wallets=wallet.store) == []
    yield wallet
    await database.close()


async def a_little_of_everything(wallet: Wallet) -> Player:
    player = Player(account_id=await wallet.account(), room=2, coffee=Coffee.X2)
    for events in ((started, finished), (started,), ()):
        table = new_table()
        await wallet.hold_for(table, [player])
        await wallet.take(*(event(table, [player]) for event in events))
    return player


@pytest.fixture(scope="module")
async def rich_proved(make_database: MakeDatabase) -> AsyncIterator[Wallet]:
    """The same, and a refund, a void that cost the house something, a classic reward, gifts, a sealed week."""
    url = await make_database(MIGRATIONS)
    database = Database.open(url, "wallet")
    wallet = Wallet(LedgerStore(database, ENTROPY))
    player = await a_little_of_everything(wallet)
    account = player.account_id
    since = datetime(2026, 11, 1, tzinfo=UTC)
    await wallet.take(seen(account, "2026-11-10", since), podium_won(account, "2026-W48", 5, 5))
    evening = await Evening.of(wallet)
    loser = Player(account_id=await wallet.account(), room=2, coffee=Coffee.X3, place=2)
    await refund(loser.account_id, await evening.played(loser), desk=evening.wallet.desk)
    judged = Player(account_id=account, room=1, rounds=30, own_bids=30, place=6)
    table = await evening.played(judged, classic=True)
    await wallet.take(analysed(table, (account, "A", 1)))
    spent = Player(account_id=await wallet.account(), room=2)
    table = await evening.played(spent)
    await wallet.hold(new_table(), spent.account_id, 5)
    await wallet.take(voided(table, [], had_finished=True))
    tables, over = FakeTables(), "2026-W30"
    table = new_table()
    await wallet.hold_for(table, [judged])
    await wallet.take(finished(table, [Player(account_id=account, place=1)], week=over, day="2026-07-20"))
    tables.finished[over], tables.complete = [table], {over}
    zone = evening.wallet.platform.zone
    assert await seal_week(over, after=None, limit=0, wallets=wallet.store, tables=tables, zone=zone) is not None
    assert await ledger_check(wallets=wallet.store) == []
    yield wallet
    await database.close()


async def run(wallet: Wallet, *statements: str, unguarded: bool = False) -> None:
    async with wallet.store.database.begin() as connection:
        if unguarded:
            await connection.execute(sa.text("set local session_replication_role = replica"))
        for statement in statements:
            await connection.execute(sa.text(statement))


@pytest.mark.parametrize(
    "statement",
    [
        f"with t as ({TRANSFER}) {LINE} select id, null, 'prizes', 'coin', -5 from t",
        f"with t as ({TRANSFER}) {LINE} select id, null, h, a, n from t, "
        "(values ('prizes', 'coin', -5), ('gifts', 'bar', 5)) as v(h, a, n)",
        # Two that only together sum to zero.
        "with t as (insert into wallet.transfer select gen_random_uuid(), k, 'prize', null, now() "
        f"from (values ('a'), ('b')) as v(k) returning id, key) {LINE} "
        "select id, null, 'prizes', 'coin', case key when 'a' then 5 else -5 end from t",
        TRANSFER,
        f"{LINE} select id, null, 'prizes', 'coin', 5 from wallet.transfer where reason = 'entry_paid'",
        f"{LINE} select gen_random_uuid(), null, 'prizes', 'coin', 5",
        f"with t as ({TRANSFER}) {LINE} select id, id, h, 'coin', 5 from t, (values ('prizes'), (null)) as v(h)",
        f"with t as ({TRANSFER}) {LINE} select id, null, h, 'coin', 0 from t, (values ('prizes'), ('gifts')) as v(h)",
        f"with t as ({TRANSFER}) {LINE} select id, null, h, 'euro', n from t, "
        "(values ('prizes', 5), ('gifts', -5)) as v(h, n)",
        "insert into wallet.transfer select gen_random_uuid(), key, reason, table_id, at from wallet.transfer",
        "update wallet.transfer set reason = 'prize'",
        "update wallet.posting set amount = amount * 2",
        "delete from wallet.posting",
        "delete from wallet.transfer",
        "truncate wallet.transfer cascade",
        "truncate wallet.posting",
        "update wallet.balance set amount = -1",
        "update wallet.balance set amount = 1000000000000001",
        "update wallet.hold set state = 'lost'",
        "update wallet.hold set room = 0",
        "update wallet.game set state = 'lost'",
    ],
)
async def test_p17_the_database_refuses_what_no_ledger_has(proved: Wallet, statement: str) -> None:
    before = await proved.state()
    with pytest.raises(DBAPIError):
        await run(proved, statement)
    assert await proved.state() == before
    assert await ledger_check(wallets=proved.store) == []


@pytest.mark.parametrize(
    ("statement", "rules"),
    [
        ("update wallet.posting set amount = amount + 1 where house = 'prizes'", {"E1", "E7"}),
        ("delete from wallet.posting where transfer_id in (select id from wallet.transfer where reason = 'prize')",
         {"E1", "E2", "E7", "E15"}),
        ("delete from wallet.transfer where reason = 'prize'", {"E1", "E7", "E15"}),
        ("update wallet.balance set amount = amount + 1 where asset = 'coin'", {"E2"}),
        ("delete from wallet.balance where asset = 'cup_x5'", {"E2"}),
        ("insert into wallet.balance values (gen_random_uuid(), 'bar', 7)", {"E2"}),
        (f"with t as (insert into wallet.transfer select gen_random_uuid(), 'twice', reason, table_id, at "
         f"from wallet.transfer where reason = 'prize' returning *) {LINE} select t.id, p.account_id, p.house, "
         "p.asset, p.amount from t join wallet.transfer o on o.reason = t.reason "
         "join wallet.posting p on p.transfer_id = o.id",
         {"E2", "E4", "E7", "E9", "E15"}),
        ("update wallet.game set state = 'voided' where state = 'finished'", {"E4", "E5"}),
        ("update wallet.game set state = 'started' where state = 'open'", {"E5"}),
        ("update wallet.game set state = 'abandoned' where state = 'started'", {"E5"}),
        ("delete from wallet.game where state = 'open'", {"E5"}),
        ("update wallet.hold set state = 'paid' where state = 'open'", {"E5", "E15"}),
        ("update wallet.hold set state = 'released' where state = 'open'", {"E5", "E15"}),
        ("update wallet.hold set state = 'open' where state = 'paid'", {"E5", "E15"}),
        ("update wallet.hold set coins = coins + 1 where state = 'open'", {"E5", "E15"}),
    ],
)  # fmt: skip
async def test_the_proof_finds_what_was_planted(proved: Wallet, statement: str, rules: set[str]) -> None:
    await run(proved, statement, unguarded=True)
    assert {difference.rule for difference in await ledger_check(wallets=proved.store)} == rules


class Planted(Exception):
    """Gives the transaction up, and says which rules were broken in it."""


@pytest.mark.parametrize(
    ("statement", "rule"),
    [
        ("delete from wallet.reversal where kind = 'refund'", "E4"),
        ("delete from wallet.reversal where kind = 'void'", "E4"),
        ("delete from wallet.posting where transfer_id in "
         "(select id from wallet.transfer where reason = 'refund_prize')", "E4"),
        ("delete from wallet.posting where transfer_id in "
         "(select id from wallet.transfer where reason = 'void_prize')", "E4"),
        ("update wallet.transfer set key = 'x' where reason = 'refund'", "E4"),
        ("insert into wallet.reversal select table_id, account_id, 'refund', false, now() from wallet.seat s "
         "where not exists (select from wallet.reversal r where r.table_id = s.table_id) limit 1", "E4"),
        ("update wallet.hold set state = 'released' where state = 'paid'", "E5"),
        ("update wallet.seat set counts = false", "E6"),
        ("update wallet.seat set place = 4", "E6"),
        ("update wallet.seat set account_id = gen_random_uuid()", "E6"),
        ("update wallet.week_total set coins = coins + 1", "E8"),
        ("update wallet.week_total set prizes = prizes + 1", "E8"),
        ("delete from wallet.week_total", "E8"),
        ("insert into wallet.week_total select week_id, gen_random_uuid(), 1, 1 from wallet.week "
         "where sealed_at is not null", "E8"),
        ("update wallet.finished_game set week_id = '2026-W30'", "E8"),
        ("update wallet.transfer set key = key || '2' where reason = 'signup_gift'", "E9"),
        ("update wallet.transfer set key = 'weekly_coffee:2026-W46' where key like 'weekly_coffee:2026-W46%'", "E9"),
        ("update wallet.transfer set key = 'first_game:' || id where reason = 'first_game_gift'", "E9"),
        ("update wallet.transfer set key = 'league_prize:' || id where reason = 'podium'", "E9"),
        ("update wallet.transfer set key = 'classic:' || id where reason = 'classic_reward'", "E9"),
        ("update wallet.posting set amount = 2 * amount where asset like 'cup%' and transfer_id in "
         "(select id from wallet.transfer where reason = 'entry_hold')", "E11"),
        ("update wallet.finished_game set day_id = '2001-01-01'", "E12"),
        ("update wallet.day_share set used = used + 1 where kind = 'classic'", "E13"),
        ("delete from wallet.day_share where kind = 'classic'", "E13"),
        ("update wallet.day_share set used = used + 1 where kind = 'refund'", "E14"),
        ("delete from wallet.day_share where kind = 'refund'", "E14"),
    ],
)  # fmt: skip
async def test_the_proof_finds_what_was_planted_in_games_gifts_and_weeks(
    rich_proved: Wallet, statement: str, rule: str
) -> None:
    """Within a transaction that is given up: the next finds the wallet as it was."""
    with pytest.raises(Planted) as found:
        async with rich_proved.store.transaction() as ledger:
            await ledger.connection.execute(sa.text("set local session_replication_role = replica"))
            await ledger.connection.execute(sa.text(statement))
            raise Planted({difference.rule for difference in await ledger.differences(100)})
    assert rule in found.value.args[0]
    assert await ledger_check(wallets=rich_proved.store) == []


@pytest.mark.parametrize("table", ["finished_game", "seat", "reversal", "week_total", "analysis", "audit"])
async def test_p17_what_was_settled_is_never_changed(rich_proved: Wallet, table: str) -> None:
    for statement in (f"delete from wallet.{table}", f"truncate wallet.{table}"):
        with pytest.raises(DBAPIError, match=r"never changed"):
            await run(rich_proved, statement)


async def test_the_proof_finds_a_balance_below_zero(proved: Wallet) -> None:
    await run(proved, "alter table wallet.balance drop constraint balance_amount_check")
    await run(proved, "update wallet.balance set amount = -1 where asset = 'bar'")
    assert {difference.rule for difference in await ledger_check(wallets=proved.store)} == {"E2", "E3"}


async def test_the_job_shows_the_number_of_differences(proved: Wallet) -> None:
    await check_ledger(proved.store)
    assert ledger_imbalance._value.get() == 0
    await run(proved, "update wallet.balance set amount = amount + 1", unguarded=True)
    await check_ledger(proved.store)
    assert ledger_imbalance._value.get() == 6


def command(url: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "services.wallet.ledger_check", *words],
        capture_output=True,
        text=True,
        env={**os.environ, "WHIST_DATABASE_URL": url},
        check=False,
    )


async def test_the_command_says_whether_the_ledger_adds_up(proved: Wallet) -> None:
    url = proved.store.database.engine.url.render_as_string(hide_password=False)
    good = command(url, "--json")
    told = json.loads(good.stdout.splitlines()[-1])
    # Of the game that has finished here nobody has said when it began.
    assert (good.returncode, told["ok"], told["differences"]) == (0, True, [])
    assert [(each["rule"], each["count"]) for each in told["unproved"]] == [("E10", 1)]
    await run(proved, "update wallet.balance set amount = amount + 1 where asset = 'bar'", unguarded=True)
    bad = command(url, "--json")
    verdict = json.loads(bad.stdout.splitlines()[-1])
    assert (bad.returncode, verdict["ok"]) == (1, False)
    [difference] = verdict["differences"]
    assert (difference["rule"], difference["expected"], difference["found"]) == ("E2", "5", "6")


@pytest.mark.parametrize(("url", "words"), [("mysql://x", []), ("postgresql+asyncpg://x", ["--all"])])
def test_the_command_refuses_wrong_settings_and_usage(url: str, words: list[str]) -> None:
    assert command(url, *words).returncode == 2


def test_without_json_the_command_speaks_plainly() -> None:
    assert report([], [], as_json=False) == "the ledger adds up\n"
    older = Unproved(rule="E7", count=3, why="older")
    assert report([], [older], as_json=False) == "E7 says nothing of 3: older\nthe ledger adds up\n"
