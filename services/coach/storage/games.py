"""One transaction over games and analyses."""

import json
import zlib
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from libs.chassis.db import Transaction
from services.coach.domain.games import AccountId, FinishedGame, Kind, Mode, Person, TableId
from services.coach.domain.story import Passage
from services.coach.domain.study import Study
from services.coach.ports import Kept, Waiting
from services.coach.storage.tables import analysis, game

WAITING, ANALYSED, VOIDED = "waiting", "analysed", "voided"

# A claim lasts beyond any study, and doubles from try to try: a game that cannot be studied holds up no other, and one
# whose process died is taken up again.
_CLAIM = sa.text(
    """
    update coach.game set tries = tries + 1,
      due_at = clock_timestamp() + least(interval '1 minute' * power(2, least(tries, 6)), interval '10 minutes')
    where table_id = (
      select table_id from coach.game where state = 'waiting' and due_at <= clock_timestamp()
      order by due_at limit 1 for update skip locked
    )
    returning table_id, kind, mode, game, week_id, day_id, people, record
    """
)
_WAITING = sa.text(
    """
    select count(*) as games, coalesce(extract(epoch from clock_timestamp() - min(heard_at)), 0) as oldest
    from coach.game where state = 'waiting'
    """
)


class CoachTransaction(Transaction):
    """Implements `services.coach.ports.Games` on PostgreSQL."""

    async def add(self, finished: FinishedGame) -> bool:
        row = await self.connection.execute(
            insert(game)
            .values(
                table_id=finished.table_id,
                state=WAITING,
                kind=finished.kind.value,
                mode=finished.mode.value,
                game=finished.game,
                week_id=finished.week_id,
                day_id=finished.day_id,
                people=[[one.seat, one.account_id.hex, one.hints] for one in finished.people],
                record=zlib.compress(finished.record.encode()),
            )
            .on_conflict_do_nothing()
            .returning(sa.literal(1))
        )
        return row.first() is not None

    async def void(self, table_id: TableId) -> None:
        insertion = insert(game).values(table_id=table_id, state=VOIDED)
        await self.connection.execute(
            insertion.on_conflict_do_update(
                index_elements=[game.c.table_id], set_={"state": VOIDED, "record": None, "story": sa.null()}
            )
        )
        await self.connection.execute(sa.delete(analysis).where(analysis.c.table_id == table_id))

    async def claim(self) -> FinishedGame | None:
        row = (await self.connection.execute(_CLAIM)).one_or_none()
        return None if row is None else _finished(row)

    async def keep(self, table_id: TableId, study: Study) -> bool:
        change = (
            sa.update(game)
            .where(game.c.table_id == table_id, game.c.state == WAITING)
            .values(state=ANALYSED, record=None, story=list(study.story))
            .returning(sa.literal(1))
        )
        if (await self.connection.execute(change)).first() is None:
            return False
        rows = [
            {
                "table_id": table_id,
                "account_id": one.account_id,
                "seat": one.seat,
                "offered": one.offered,
                "grade": one.grade,
                "runs_of_seven": one.runs_of_seven,
                "analysis": zlib.compress(json.dumps(one.analysis, separators=(",", ":")).encode()),
            }
            for one in study.seats
        ]
        if rows:
            await self.connection.execute(sa.insert(analysis), rows)
        return True

    async def find(self, table_id: TableId, account_id: AccountId) -> Kept | None:
        query = sa.select(game.c.state, game.c.kind, game.c.people, game.c.story).where(game.c.table_id == table_id)
        known = (await self.connection.execute(query)).one_or_none()
        if known is None or known.state == VOIDED:
            return None
        if known.state == WAITING:
            # Who left and was followed by another is told only when the record has been read.
            person = next((one for one in _people(known.people) if one.account_id == account_id), None)
            if person is None:
                return None
            return Kept(offered=person.hints or known.kind == Kind.FRIENDS, analysis=None)
        query = sa.select(analysis.c.offered, analysis.c.analysis).where(
            analysis.c.table_id == table_id, analysis.c.account_id == account_id
        )
        row = (await self.connection.execute(query)).one_or_none()
        if row is None:
            return None
        story = tuple(Passage(name=one["name"], values=one["values"]) for one in known.story)
        return Kept(offered=row.offered, analysis=json.loads(zlib.decompress(bytes(row.analysis))), story=story)

    async def waiting(self) -> Waiting:
        row = (await self.connection.execute(_WAITING)).one()
        return Waiting(games=row.games, oldest_seconds=float(row.oldest))


def _finished(row: Any) -> FinishedGame:
    return FinishedGame(
        table_id=TableId(row.table_id),
        kind=Kind(row.kind),
        mode=Mode(row.mode),
        game=row.game,
        week_id=row.week_id,
        day_id=row.day_id,
        people=_people(row.people),
        record=zlib.decompress(bytes(row.record)).decode(),
    )


def _people(plain: list[Any]) -> tuple[Person, ...]:
    return tuple(
        Person(seat=seat, account_id=AccountId(UUID(hex=account)), hints=hints) for seat, account, hints in plain
    )
