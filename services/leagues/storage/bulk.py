"""Many rows in one statement, an array a column: row by row, the close of a large week is mostly overhead."""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.asyncio import AsyncConnection


async def insert_all(
    connection: AsyncConnection, table: sa.Table, rows: Sequence[Mapping[str, Any]], conflict: str = ""
) -> None:
    """Insert rows that all have the columns of the first. `conflict` is the ON CONFLICT clause."""
    if not rows:
        return
    names = list(rows[0])
    arrays = ", ".join(f"cast(:{name} as {_type(table.c[name])}[])" for name in names)
    statement = f"insert into {table.fullname} ({', '.join(names)}) select * from unnest({arrays}) {conflict}"  # noqa: S608
    await connection.execute(sa.text(statement), {name: [row[name] for row in rows] for name in names})


def _type(column: sa.Column[Any]) -> str:
    return column.type.compile(dialect=postgresql.dialect())  # type: ignore[no-untyped-call] # SQLAlchemy's own
