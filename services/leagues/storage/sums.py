"""What stored totals must equal: sums over the facts that still count. One place for writing them and for proving them.

A condition on account_id or week_id may stand outside: PostgreSQL carries it down to the facts' indices.
"""

from typing import Any

import sqlalchemy as sa

from services.leagues.storage.tables import (
    friends_standing,
    game_result,
    offline_game,
    prize,
    prize_return,
    standing,
    voided_game,
)

Columns = tuple[Any, ...]


def valid_results() -> sa.Subquery:
    """Results of games that were not voided (P82)."""
    voided = sa.exists().where(voided_game.c.table_id == game_result.c.table_id)
    return sa.select(game_result).where(~voided).subquery("valid")


def earning() -> sa.Subquery:
    """All that gave experience, by account: finished games and uploaded ones; `games` 1 for quick play that counts."""
    valid = valid_results()
    quick = sa.and_(valid.c.counted, valid.c.kind == "quick")
    online = sa.select(valid.c.account_id, valid.c.experience, sa.case((quick, 1), else_=0).label("games"))
    offline = sa.select(offline_game.c.account_id, offline_game.c.experience, sa.literal(0))
    return sa.union_all(online, offline).subquery("earning")


def league_weeks() -> sa.Subquery:
    """Rows of `standing`: points from prizes, games from quick-play results, and when the last point came.

    Of a prize counts what is left when what went back is taken off; the two may come in either order.
    """
    same = sa.and_(prize_return.c.table_id == prize.c.table_id, prize_return.c.account_id == prize.c.account_id)
    kept = prize.c.coins - sa.func.least(prize.c.coins, sa.func.coalesce(prize_return.c.coins, 0))
    prizes = sa.select(
        prize.c.account_id,
        prize.c.week_id,
        kept.label("points"),
        sa.literal(0).label("games"),
        sa.case((kept > 0, prize.c.paid_at)).label("reached_at"),
    ).select_from(prize.outerjoin(prize_return, same))
    valid = valid_results()
    games = sa.select(
        valid.c.account_id, valid.c.week_id, sa.literal(0), sa.literal(1), sa.cast(sa.null(), prize.c.paid_at.type)
    ).where(valid.c.counted, valid.c.kind == "quick")
    return _summed(sa.union_all(prizes, games).subquery("one"), "league_week_sums")


def friends_weeks() -> sa.Subquery:
    """Rows of `friends_standing`: places of friends' games that count (P24)."""
    valid = valid_results()
    one = sa.select(
        valid.c.account_id,
        valid.c.week_id,
        valid.c.score.label("points"),
        sa.literal(1).label("games"),
        valid.c.finished_at.label("reached_at"),
    ).where(valid.c.counted, valid.c.kind == "friends")
    return _summed(one.subquery("one"), "friends_week_sums")


SUMS = {standing: league_weeks, friends_standing: friends_weeks}


def _summed(one: sa.Subquery, name: str) -> sa.Subquery:
    keys: Columns = (one.c.account_id, one.c.week_id)
    return (
        sa.select(
            *keys,
            sa.func.sum(one.c.points).cast(sa.BigInteger).label("points"),
            sa.func.sum(one.c.games).cast(sa.Integer).label("games"),
            sa.func.max(one.c.reached_at).label("reached_at"),
        )
        .group_by(*keys)
        .subquery(name)
    )
