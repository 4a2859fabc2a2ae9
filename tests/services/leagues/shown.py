"""What leagues answer to one person about one week, beside what the model says."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from tests.services.leagues.builders import Leagues
from tests.services.leagues.model import Model, Person, Rank, Score, Week, level_of
from tests.services.leagues.scene import WEEKS, at_once
from whist.leagues.v1.leagues_pb2 import FORM_FIRE, FORM_ICE, FORM_UNSPECIFIED

FORMS = {"": FORM_UNSPECIFIED, "fire": FORM_FIRE, "ice": FORM_ICE}


async def is_shown(who: Person, week: Week, people: Sequence[UUID], model: Model, leagues: Leagues) -> None:
    """Fails where profile, standing, group or leaderboard is not as the model says."""
    account, name = people[who], WEEKS[week]
    profile, standing, group, board = await at_once(
        leagues.profile(account), leagues.standing(account, name), leagues.group(account, name),
        leagues.leaderboard(account, name, 3),
    )  # fmt: skip
    total, place = model.experience(who), model.place_of(who, week)
    level, tier = level_of(total), place[0][1] if place else model.tier[who]
    assert (profile.experience, profile.level, profile.games) == (total, level, model.games(who))
    assert (profile.next_level_at, profile.tier) == (50 * (level + 1) * level, model.tier[who])
    assert profile.form == FORMS[model.form(who)]
    ended = model.ended_for(who, week)
    nothing = Score(who=who, points=0, games=0, reached=None)
    score = ended.score if ended else model.standing(week).get(who, nothing)
    assert (standing.points, standing.games, standing.tier) == (score.points, score.games, tier)
    assert standing.ranked == model.is_ranked(who)
    assert group.tier == tier and bool(group.group_id) == (place is not None)
    if place is not None:
        closed = model.ended.get(place[0])
        assert group.closed == (closed is not None)
        due = model.live(place[0]) if closed is None else [e for e in closed if e.score.who not in model.deleted]
        assert [_member(each, people) for each in group.members] == [_due(each, model) for each in due]
    _board(who, week, board, people, model)


def _member(shown: Any, people: Sequence[UUID]) -> tuple[object, ...]:
    who = people.index(UUID(bytes=shown.account_id))
    moved = shown.next_tier, shown.podium_coins, shown.podium_bars
    return who, shown.rank, shown.points, shown.games, shown.form, shown.level, *moved


def _due(each: Rank, model: Model) -> tuple[object, ...]:
    who = each.score.who
    look = FORMS[model.form(who)], level_of(model.experience(who))
    return who, each.rank, each.score.points, each.score.games, *look, each.next_tier, each.coins, each.bars


def _board(who: Person, week: Week, board: Any, people: Sequence[UUID], model: Model) -> None:
    scores = model.leaderboard(week)
    first = [score for score in scores if model.is_ranked(score.who)]
    shown = [(people.index(UUID(bytes=each.account_id)), each.rank, each.points) for each in board.places]
    assert shown == [(score.who, rank, score.points) for rank, score in enumerate(first[:3], start=1)]
    own = next((score for score in scores if score.who == who), None)
    assert board.HasField("own") == (own is not None)
    if own is not None:
        rank = first.index(own) + 1 if own in first else 0
        assert (board.own.rank, board.own.points, board.own.games) == (rank, own.points, own.games)
