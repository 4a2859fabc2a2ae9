"""Wrong rows, planted in a transaction that is given up: the next finds the wallet as it was."""

from collections.abc import Sequence

import pytest
import sqlalchemy as sa

from services.wallet.domain.history import Difference
from services.wallet.handlers.ledger_check import differences
from tests.services.wallet.builders import Wallet


class _GivenUp(Exception):
    """The proof has been read."""


async def found_after(wallet: Wallet, *statements: str, **values: object) -> Sequence[Difference]:
    """What the whole proof says when these statements got past every guard. Fails where one of them finds no row."""
    found: list[Difference] = []
    with pytest.raises(_GivenUp):
        async with wallet.store.transaction() as ledger:
            await ledger.connection.execute(sa.text("set local session_replication_role = replica"))
            for statement in statements:
                text = sa.text(statement)
                named = {name: values[name] for name in text.compile().params}
                assert (await ledger.connection.execute(text, named)).rowcount > 0, statement
            found += await differences(ledger)
            raise _GivenUp
    return found


async def rules_after(wallet: Wallet, *statements: str, **values: object) -> set[str]:
    return {each.rule for each in await found_after(wallet, *statements, **values)}
