"""A guest who plays, becomes an account, is named, sees all that is held, and goes (P10, P41, P42, P45)."""

import asyncio
import json

import pytest

from libs.client import Whist, WhistError
from libs.client.sdk.session import MemoryStore
from tests.e2e.conftest import Embedded
from tests.e2e.story import arrives, mailed_code, play


async def test_p42_p41_p45_from_guest_to_account_to_nobody(product: Embedded) -> None:
    address, mails = "cosmina@example.org", product.data / "mail"
    store = MemoryStore()
    async with Whist.connect(product.url, store=store) as guest:
        guest_id = guest.account["account_id"]
        table = await guest.quick_game(room=1)
        await play(table)
        earned = await arrives(guest.me, lambda me: me["experience"] > 0)

    async with Whist.connect(
        product.url, store=store, email=address, ask_code=lambda: mailed_code(mails, address)
    ) as account:
        assert (account.account["account_id"], account.account["guest"]) == (guest_id, False)
        # What the guest has won stays, and the account's own gift comes (P10).
        me = await arrives(account.me, lambda me: me["wallet"]["cups"]["x1.5"] == 10)
        assert me["experience"] == earned["experience"]
        assert me["wallet"]["coins"] >= 1000

        claimed = await account.claim_name("Cosmina")
        assert claimed["account"]["named"]
        with pytest.raises(WhistError) as refused:
            await account.claim_name("Cosmina2")
        assert refused.value.code == "NAME_TOO_SOON"
        assert [each["current"] for each in await account.sessions()] == [True]

        export = await account.export()
        assert (export["account"]["email"], export["account"]["name"]) == (address, "Cosmina")
        assert [game["table"] for game in export["tables"]["games"]] == [table.id]
        assert "signup_gift" in {each["reason"] for each in export["movements"]}
        assert "secret" not in json.dumps(export)

        await account.delete_account()
        assert (await asyncio.gather(account.me(), return_exceptions=True))[0].__class__ is WhistError
