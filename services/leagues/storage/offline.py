"""Offline games that were credited, and the commitments of games that were played here."""

from datetime import date

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from libs.chassis.db import Transaction
from services.leagues.domain.offline import OfflineGame
from services.leagues.domain.results import AccountId
from services.leagues.storage.tables import offline_game, online_game


class Offline(Transaction):
    """Implements `services.leagues.ports.Offline`."""

    async def keep_commitment(self, commitment: bytes) -> None:
        await self.connection.execute(insert(online_game).values(commitment=commitment).on_conflict_do_nothing())

    async def was_online(self, commitment: bytes) -> bool:
        known = sa.exists().where(online_game.c.commitment == commitment)
        return bool((await self.connection.execute(sa.select(known))).scalar_one())

    async def offline_games(self, account_id: AccountId, day: date) -> int:
        query = sa.select(sa.func.count()).where(
            offline_game.c.account_id == account_id, offline_game.c.day_id == day.isoformat(), offline_game.c.counted
        )
        return int((await self.connection.execute(query)).scalar_one())

    async def insert_offline(self, account_id: AccountId, game: OfflineGame, day: date, experience: int) -> bool:
        insertion = insert(offline_game).values(
            digest=game.digest,
            account_id=account_id,
            game=game.game,
            day_id=day.isoformat(),
            counted=game.counted,
            experience=experience,
            commitment=game.commitment,
        )
        row = await self.connection.execute(insertion.on_conflict_do_nothing().returning(sa.literal(1)))
        return row.first() is not None

    async def offline_experience(self, account_id: AccountId, game: OfflineGame) -> int | None:
        same = offline_game.c.digest == game.digest
        query = (
            sa.select(offline_game.c.experience)
            .where(sa.or_(same, offline_game.c.commitment == game.commitment), offline_game.c.account_id == account_id)
            .order_by(same.desc())
            .limit(1)
        )
        found: int | None = (await self.connection.execute(query)).scalar_one_or_none()
        return found
