"""The schema's upgrade on a database with accounts in it (P40–P42): everybody stays who they are, and signed in."""

from pathlib import Path
from uuid import UUID

import sqlalchemy as sa

from libs.chassis.db.database import Database, Store
from libs.chassis.entropy import SystemEntropy
from services.auth.domain.accounts import AccountId
from services.auth.domain.refresh import token_hash
from services.auth.storage.register import AuthTransaction
from services.auth.wiring import MIGRATIONS
from tests.conftest import MakeDatabase, first_release

TOKEN = b"t" * 32
GUEST = AccountId(UUID("00000000-0000-7000-8000-000000000002"))
FILL = (
    """
    insert into auth.account (account_id, name, guest, email, locale, opening_key, created_at) values
      ('00000000-0000-7000-8000-000000000001', 'Vulpe 42', false, 'ana@example.com', 'ro', null,
       now() - interval '1 day'),
      ('00000000-0000-7000-8000-000000000002', 'Lup 7', true, null, '', decode(repeat('ab', 32), 'hex'), now())
    """,
    """
    insert into auth.session (session_id, account_id, device, token_hash, created_at, used_at, expires_at) values
      ('00000000-0000-7000-8000-000000000003', '00000000-0000-7000-8000-000000000001', 'Phone', :token, now(), now(),
       now() + interval '30 days')
    """,
)


async def test_accounts_guests_and_sessions_of_the_first_release_are_taken_over(
    make_database: MakeDatabase, tmp_path: Path
) -> None:
    url = await make_database(first_release(MIGRATIONS, tmp_path))
    database = Database.open(url, "auth", pool=1)
    try:
        async with database.begin() as connection:
            for statement in FILL:
                await connection.execute(
                    sa.text(statement), {"token": token_hash(TOKEN)} if ":token" in statement else {}
                )

        for _ in range(2):
            await MIGRATIONS.upgrade(url)

        store = Store(database, AuthTransaction, SystemEntropy())
        async with store.transaction() as tx:
            account = await tx.account_of("ana@example.com")
            assert account is not None and account.since == account.created_at
            assert not (account.named or account.suspended)
            (guest,) = await tx.accounts([GUEST])
            assert guest.guest and guest.since is None
            family = await tx.family_of(token_hash(TOKEN))
            assert family is not None and not family.spent and not family.suspended
            day = (await tx.now()).date()
            assert [await tx.mark_seen(each.account_id, day) for each in (account, guest)] == [True, False]
            assert await tx.claim_names(account.account_id, [b"s" * 32])
    finally:
        await database.close()
