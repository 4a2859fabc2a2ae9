"""A wallet as the first revision left it, with data, is brought up and goes on (P17, P55)."""

from pathlib import Path
from uuid import UUID

import sqlalchemy as sa

from libs.chassis.db import Database
from libs.house.calendar import ZONE
from services.wallet.domain.ledger import AccountId, TableId
from services.wallet.handlers.ledger_check import ledger_check, take_in_events, unproved
from services.wallet.handlers.refunds import refund_offer
from services.wallet.handlers.weeks import seal_week
from services.wallet.storage.ledger import LedgerStore
from services.wallet.wiring import MIGRATIONS
from tests.conftest import MakeDatabase, first_release
from tests.services.wallet.builders import ENTROPY, Player, Wallet, finished, new_table, started, voided
from tests.services.wallet.fake_tables import FakeTables
from tests.services.wallet.planting import rules_after

ACCOUNT, TABLE, RUNNING = (UUID(int=number) for number in (1, 2, 3))
# A first place of room 2 that was settled on Monday 00:00:01 of week 49, and a game that runs.
BEFORE = f"""
insert into wallet.game values ('{TABLE}', 'finished', '2026-11-29T22:00:01Z'), ('{RUNNING}', 'started', now());
insert into wallet.hold values
  ('{TABLE}', '{ACCOUNT}', 2, '', 100, 0, 'paid', now()), ('{RUNNING}', '{ACCOUNT}', 2, '', 100, 0, 'paid', now());
insert into wallet.transfer values
  ('00000000-0000-0000-0000-00000000000a', 'signup:{ACCOUNT}', 'signup_gift', null, now()),
  ('00000000-0000-0000-0000-00000000000b', 'hold:{TABLE}:{ACCOUNT}', 'entry_hold', '{TABLE}', now()),
  ('00000000-0000-0000-0000-00000000000c', 'entry:{TABLE}:{ACCOUNT}', 'entry_paid', '{TABLE}', now()),
  ('00000000-0000-0000-0000-00000000000d', 'prize:{TABLE}:{ACCOUNT}', 'prize', '{TABLE}', now()),
  ('00000000-0000-0000-0000-00000000000e', 'hold:{RUNNING}:{ACCOUNT}', 'entry_hold', '{RUNNING}', now()),
  ('00000000-0000-0000-0000-00000000000f', 'entry:{RUNNING}:{ACCOUNT}', 'entry_paid', '{RUNNING}', now());
insert into wallet.posting (transfer_id, account_id, house, asset, amount)
select ('00000000-0000-0000-0000-00000000000' || t)::uuid, a::uuid, h, 'coin', n from (values
  ('a', '{ACCOUNT}', null, 1000), ('a', null, 'gifts', -1000),
  ('b', '{ACCOUNT}', null, -100), ('b', null, 'holds', 100), ('c', null, 'holds', -100), ('c', null, 'entries', 100),
  ('d', '{ACCOUNT}', null, 250), ('d', null, 'prizes', -250),
  ('e', '{ACCOUNT}', null, -100), ('e', null, 'holds', 100), ('f', null, 'holds', -100), ('f', null, 'entries', 100)
) as v(t, a, h, n);
insert into wallet.balance values ('{ACCOUNT}', 'coin', 1050)
"""


async def test_p17_p55_a_database_with_data_is_brought_up_and_goes_on(
    make_database: MakeDatabase, tmp_path: Path
) -> None:
    url = await make_database(first_release(MIGRATIONS, tmp_path))
    database = Database.open(url, "wallet")
    async with database.begin() as connection:
        for statement in BEFORE.split(";"):
            await connection.execute(sa.text(statement))
    await MIGRATIONS.upgrade(url)
    wallet, account = Wallet(LedgerStore(database, ENTROPY)), AccountId(ACCOUNT)
    assert await ledger_check(wallets=wallet.store) == []
    older = {each.rule: each.count for each in await unproved(wallets=wallet.store)}
    assert older == {"E7": 1, "E10": 1, "E15": 1}

    # What had finished is in its week, and can be voided; its time for a refund is over.
    offered = await refund_offer(account, TableId(TABLE), desk=wallet.desk)
    assert offered.refused is not None and offered.refused.reason == "GAME_UNKNOWN"
    async with wallet.store.transaction() as ledger:
        finish = await ledger.finish(TableId(TABLE))
    assert finish is not None and (finish.week_id, finish.day_id) == ("2026-W49", "2026-11-30")
    await wallet.take(voided(TableId(TABLE), [], had_finished=True))
    assert await wallet.coins(account) == 900

    # What was running finishes, and a week of both kinds can be sealed.
    player, table = Player(account_id=account, room=2), TableId(RUNNING)
    await wallet.take(finished(table, [player], week="2026-W40", day="2026-10-01"))
    new = new_table()
    await wallet.hold_for(new, [player])
    await wallet.take(started(new, [player]), finished(new, [player], week="2026-W40", day="2026-10-01"))
    tables = FakeTables()
    tables.finished["2026-W40"], tables.complete = [table, new], {"2026-W40"}
    sealed = await seal_week("2026-W40", after=None, limit=0, wallets=wallet.store, tables=tables, zone=ZONE)
    assert sealed is not None and [total.coins for total in sealed.totals] == [500]
    assert await ledger_check(wallets=wallet.store) == []

    # Once no process of the release before can be at work, the ledger is what its events tell from there on.
    async with database.begin() as connection:
        await connection.execute(sa.text("update wallet.telling set opens_at = clock_timestamp()"))
    await take_in_events(wallets=wallet.store)
    await wallet.take(voided(new, [], had_finished=True))
    assert {each.rule for each in await unproved(wallets=wallet.store)} == {"E7", "E10"}
    assert await ledger_check(wallets=wallet.store) == []
    assert await rules_after(wallet, "delete from wallet.event where type = 'prize_reversed'") == {"E15"}
    await database.close()
