"""What tables tell and forget of a person (P45).

Records hold ids and no names. A name stands in the journals of a person's games, as everybody at the table saw it;
there it is struck out after the event, a few games a transaction, and once more a day later for games that were in
play.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec

from libs.chassis.db.database import Store
from libs.house.names import ERASED_NAME
from services.tables.domain.entries import Body, Drawn, Opened, SeatFacts, TakenOver, decode_body, encode_body
from services.tables.storage.personal import PersonalTransaction

PersonalStore = Store[PersonalTransaction]

# What one answer may hold; nobody has said or played as much within the time that it is kept.
LINES_MAX = 2_000
GAMES_MAX = 20_000
TABLES_A_STEP = 20  # a few thousand rows
PASS_AFTER = timedelta(days=1)  # longer than any game is in play


async def export(account: bytes, *, store: PersonalStore) -> Mapping[str, Any]:
    """All that is held of the account, ready for JSON; of an account that was never here, empty lists."""
    async with store.transaction() as tx:
        said, complaints = await tx.said(account, LINES_MAX), await tx.complaints(account)
        muted, games = await tx.muted(account), await tx.games(account, GAMES_MAX)
    return {
        "chat": [{"table": each.table_id.hex, "at": each.at.isoformat(), "words": each.words} for each in said],
        "complaints": [
            {"table": each.table_id.hex, "at": each.at.isoformat(), "words": each.words}
            for each in complaints
            if not each.of_others
        ],
        # Who complained, and in what words, is the other's to know.
        "complained_of": [
            {"table": each.table_id.hex, "at": each.at.isoformat(), "your_lines": [line[-1] for line in each.lines]}
            for each in complaints
            if each.of_others
        ],
        "muted": [each.hex() for each in muted],
        "games": [{"table": table_id.hex, "finished_at": at.isoformat()} for table_id, at in games],
    }


async def erase(account: bytes, *, tx: PersonalTransaction) -> None:
    """Within the consumer's transaction: chat, complaints and mutes go at once, names in journals by `strike_out`."""
    await tx.erase(account, ERASED_NAME)


async def strike_out(*, store: PersonalStore) -> bool:
    """Strike a deleted account's name out of a few ended games' journals. False when there is nothing to do now.

    Any number of workers may do it at once, and one that dies leaves the rest to the others.
    """
    async with store.transaction() as tx:
        erasure = await tx.next_erasure(PASS_AFTER)
        if erasure is None:
            return False
        tables = await tx.ended_tables(erasure.account, erasure.done, TABLES_A_STEP)
        if not tables:
            await tx.end_pass(erasure, PASS_AFTER)
            return True
        for row in await tx.rows_naming(erasure.account, tables):
            body = decode_body(row.body)
            struck = without_name(body, erasure.account)
            if struck != body:
                await tx.rewrite(row, encode_body(struck))
        await tx.gone_through(erasure.account, tables[-1])
    return True


async def strike_out_all(*, store: PersonalStore) -> None:
    """Until nothing is due."""
    while await strike_out(store=store):
        pass


def without_name(body: Body, account: bytes) -> Body:
    """The entry as it is, but for the account's name."""

    def struck(who: SeatFacts) -> SeatFacts:
        return msgspec.structs.replace(who, name=ERASED_NAME) if who.account == account else who

    match body:
        case Opened():
            return msgspec.structs.replace(body, seats=[struck(who) for who in body.seats])
        case Drawn():
            return msgspec.structs.replace(body, sitting=[struck(who) for who in body.sitting])
        case TakenOver():
            return msgspec.structs.replace(body, who=struck(body.who))
        case _:
            return body
