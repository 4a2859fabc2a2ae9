"""Finished games: when, by whom, what they won, what took them back, and how much of a day's share is used."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, insert

from libs.chassis.db import Transaction
from libs.house.rooms import Room
from services.wallet.domain.assets import Amounts, Asset
from services.wallet.domain.holds import GameState
from services.wallet.domain.ledger import AccountId, Reason, TableId
from services.wallet.domain.settled import WINNINGS, Analysis, Finish, SettledSeat, Undoing, Won
from services.wallet.storage.tables import (
    analysis,
    balance,
    day_share,
    departure,
    finished_game,
    game,
    posting,
    reversal,
    seat,
    transfer,
)

# Every game costs it once: one round trip, and a text that is not put together anew for each number of seats. Rooms'
# prizes are written down with the first game that is settled by them.
_KEEP_FINISH = sa.text("""
with prices as (
  insert into wallet.tariff (id, room, prize_coins, free)
  select :tariff, r.* from unnest(:rooms, :prizes, :free) as r(room, prize_coins, free)
  where not exists (select from wallet.tariff where id = :tariff)
  on conflict do nothing
), kept as (
  insert into wallet.finished_game (table_id, week_id, day_id, finished_at, classic, tariff)
  values (:table_id, :week_id, :day_id, :finished_at, :classic, :tariff)
)
insert into wallet.seat (table_id, account_id, guest, room, place, counts, vacated)
select :table_id, s.* from unnest(:accounts, :guests, :own_rooms, :places, :counts, :vacated)
  as s(account_id, guest, room, place, counts, vacated)
""").bindparams(
    sa.bindparam("table_id", type_=sa.Uuid),
    sa.bindparam("finished_at", type_=sa.DateTime(timezone=True)),
    sa.bindparam("tariff", type_=sa.Text),
    sa.bindparam("rooms", type_=ARRAY(sa.SmallInteger)),
    sa.bindparam("prizes", type_=ARRAY(sa.BigInteger)),
    sa.bindparam("free", type_=ARRAY(sa.Boolean)),
    sa.bindparam("accounts", type_=ARRAY(sa.Uuid)),
    sa.bindparam("guests", type_=ARRAY(sa.Boolean)),
    sa.bindparam("own_rooms", type_=ARRAY(sa.Integer)),
    sa.bindparam("places", type_=ARRAY(sa.Integer)),
    sa.bindparam("counts", type_=ARRAY(sa.Boolean)),
    sa.bindparam("vacated", type_=ARRAY(sa.Boolean)),
)


class GameRecords(Transaction):
    """Part of `services.wallet.ports.Ledger`."""

    async def lock_game(self, table_id: TableId) -> GameState | None:
        query = sa.select(game.c.state).where(game.c.table_id == table_id).with_for_update()
        state = (await self.connection.execute(query)).scalar_one_or_none()
        return None if state is None else GameState(state)

    async def game_state(self, table_id: TableId) -> GameState | None:
        query = sa.select(game.c.state).where(game.c.table_id == table_id)
        state = (await self.connection.execute(query)).scalar_one_or_none()
        return None if state is None else GameState(state)

    async def keep_finish(self, finish: Finish, seats: Sequence[SettledSeat], rooms: Sequence[Room]) -> None:
        await self.connection.execute(
            _KEEP_FINISH,
            {
                "table_id": finish.table_id,
                "week_id": finish.week_id,
                "day_id": finish.day_id,
                "finished_at": finish.finished_at,
                "classic": finish.classic,
                "tariff": _tariff_id(rooms),
                "rooms": [room.number for room in rooms],
                "prizes": [room.prize_coins for room in rooms],
                "free": [room.is_free for room in rooms],
                "accounts": [each.account_id for each in seats],
                "guests": [each.guest for each in seats],
                "own_rooms": [each.room for each in seats],
                "places": [each.place for each in seats],
                "counts": [each.counts for each in seats],
                "vacated": [each.vacated for each in seats],
            },
        )

    async def keep_departure(self, table_id: TableId, account_id: AccountId, at: datetime) -> None:
        known = sa.select(game.c.table_id, sa.literal(account_id, sa.Uuid), sa.literal(at, departure.c.at.type))
        await self.connection.execute(
            insert(departure)
            .from_select(["table_id", "account_id", "at"], known.where(game.c.table_id == table_id))
            .on_conflict_do_nothing()
        )

    async def finish(self, table_id: TableId) -> Finish | None:
        query = sa.select(finished_game).where(finished_game.c.table_id == table_id)
        row = (await self.connection.execute(query)).one_or_none()
        if row is None:
            return None
        return Finish(
            table_id=table_id,
            week_id=row.week_id,
            day_id=row.day_id,
            finished_at=row.finished_at,
            classic=row.classic,
        )

    async def seats(self, table_id: TableId) -> Sequence[SettledSeat]:
        query = sa.select(seat).where(seat.c.table_id == table_id).order_by(seat.c.account_id)
        return [
            SettledSeat(
                account_id=AccountId(row.account_id),
                guest=row.guest,
                room=row.room,
                place=row.place,
                counts=row.counts,
                vacated=row.vacated,
            )
            for row in await self.connection.execute(query)
        ]

    async def won(self, table_id: TableId, accounts: Collection[AccountId]) -> Sequence[Won]:
        query = (
            sa.select(transfer.c.id, transfer.c.reason, posting.c.account_id, posting.c.asset, posting.c.amount)
            .join(posting, posting.c.transfer_id == transfer.c.id)
            .where(
                transfer.c.table_id == table_id,
                transfer.c.reason.in_(WINNINGS),
                posting.c.account_id.in_(list(accounts)),
            )
            .order_by(transfer.c.key, posting.c.n)
        )
        found: dict[object, tuple[AccountId, Reason, dict[Asset, int]]] = {}
        for row in await self.connection.execute(query):
            given = found.setdefault(row.id, (AccountId(row.account_id), Reason(row.reason), {}))
            given[2][Asset(row.asset)] = row.amount
        return [Won(account_id=account, reason=reason, amounts=amounts) for account, reason, amounts in found.values()]

    async def keep_reversals(
        self, table_id: TableId, accounts: Collection[AccountId], undoing: Undoing, *, after_seal: bool
    ) -> None:
        rows = [
            {
                "table_id": table_id,
                "account_id": account_id,
                "kind": undoing,
                "after_seal": after_seal,
                "at": sa.func.clock_timestamp(),
            }
            for account_id in sorted(accounts)
        ]
        if rows:
            await self.connection.execute(insert(reversal).values(rows))

    async def reversals(self, table_id: TableId) -> Mapping[AccountId, Undoing]:
        query = sa.select(reversal.c.account_id, reversal.c.kind).where(reversal.c.table_id == table_id)
        return {AccountId(row.account_id): Undoing(row.kind) for row in await self.connection.execute(query)}

    async def keep_analyses(self, table_id: TableId, analyses: Sequence[Analysis]) -> Sequence[Analysis]:
        rows = [
            {"table_id": table_id, "account_id": each.account_id, "grade": each.grade, "runs": each.runs}
            for each in sorted(analyses, key=lambda each: each.account_id)
        ]
        if not rows:
            return []
        insertion = insert(analysis).values(rows).on_conflict_do_nothing().returning(analysis.c.account_id)
        kept = {row.account_id for row in await self.connection.execute(insertion)}
        return [each for each in analyses if each.account_id in kept]

    async def analyses(self, table_id: TableId) -> Sequence[Analysis]:
        query = sa.select(analysis).where(analysis.c.table_id == table_id)
        return [
            Analysis(account_id=AccountId(row.account_id), grade=row.grade, runs=row.runs)
            for row in await self.connection.execute(query)
        ]

    async def use_share(self, account_id: AccountId, day_id: str, kind: str, *, most: int) -> bool:
        if most < 1:
            return False
        insertion = insert(day_share).values(account_id=account_id, day_id=day_id, kind=kind, used=1)
        row = await self.connection.execute(
            insertion.on_conflict_do_update(
                index_elements=[day_share.c.account_id, day_share.c.day_id, day_share.c.kind],
                set_={"used": day_share.c.used + 1},
                where=day_share.c.used < most,
            ).returning(day_share.c.used)
        )
        return row.first() is not None

    async def used_share(self, account_id: AccountId, day_id: str, kind: str) -> int:
        query = sa.select(day_share.c.used).where(
            day_share.c.account_id == account_id, day_share.c.day_id == day_id, day_share.c.kind == kind
        )
        return (await self.connection.execute(query)).scalar_one_or_none() or 0

    async def lock_balances(self, accounts: Collection[AccountId]) -> Mapping[AccountId, Amounts]:
        query = (
            sa.select(balance)
            .where(balance.c.account_id.in_(list(accounts)))
            .order_by(balance.c.account_id, balance.c.asset)
            .with_for_update()
        )
        owned: dict[AccountId, dict[Asset, int]] = {}
        for row in await self.connection.execute(query):
            owned.setdefault(AccountId(row.account_id), {})[Asset(row.asset)] = row.amount
        return owned


def _tariff_id(rooms: Sequence[Room]) -> str:
    """The same for the same prizes, whichever process settles by them."""
    lines = "".join(f"{room.number} {room.prize_coins} {room.is_free}\n" for room in rooms)
    return hashlib.sha256(lines.encode()).hexdigest()[:16]
