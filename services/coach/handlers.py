"""Use cases of coach, one transaction each; an analysis has two, around the thinking."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from libs.search import Advice
from services.coach.announcements import announce
from services.coach.domain.errors import AnalysisNotOffered, AnalysisNotYet, AnalysisUnknown
from services.coach.domain.games import AccountId, FinishedGame, TableId
from services.coach.domain.telling import Told, tell
from services.coach.domain.views import read_view
from services.coach.ports import Analyst, Games, GamesStore, Kept, Thinker, Waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """The move to make, and what every legal one promises."""

    turn: int  # the decision it answers
    action: Mapping[str, Any]
    advice: tuple[Advice, ...]


async def hint(game: str, view_json: str, *, thinker: Thinker) -> Hint:
    """What this view and nothing else says about the seat's legal moves (P60). Changes nothing; the same view, the
    same hint.

    Raises UnknownGame, BadView, NothingToDecide, CoachBusy.
    """
    view = read_view(game, view_json)
    thought = await thinker.think(game, view)
    return Hint(turn=view["turn"], action=thought.action, advice=thought.advice)


async def game_finished(game: FinishedGame, *, games: Games) -> None:
    """Let a game wait for its analysis. Idempotent by table_id; a game without people is nothing to analyse."""
    if game.people:
        await games.add(game)


async def game_voided(table_id: TableId, *, games: Games) -> None:
    """Drop what was made of a game that is undone (P82), before or after it was heard of. Idempotent."""
    await games.void(table_id)


async def analyse_next(*, store: GamesStore, analyst: Analyst) -> bool:
    """Analyse one game that waits and tell the others in the transaction that keeps it (P61, P15). False: none is due.

    Exactly once by table_id: of two replicas with the same game one keeps it, and a game voided meanwhile is dropped.
    """
    async with store.transaction() as games:
        game = await games.claim()
    if game is None:
        return False
    study = await analyst.study(game)
    async with store.transaction() as games:
        if await games.keep(game.table_id, study):
            await announce(game, study, games=games)
    return True


async def waiting(*, store: GamesStore) -> Waiting:
    """How many games wait, and for how long."""
    async with store.transaction() as games:
        return await games.waiting()


async def analysis(table_id: TableId, account_id: AccountId, *, store: GamesStore) -> Mapping[str, Any]:
    """The account's own part of a finished game (P61), docs/analysis.md.

    Raises AnalysisUnknown, AnalysisNotOffered, AnalysisNotYet.
    """
    _, found = await _offered(table_id, account_id, store)
    return found


async def story(table_id: TableId, account_id: AccountId, locale: str, *, store: GamesStore) -> Told:
    """The game told to one who sat in it (P62), in the nearest language there is.

    Raises what `analysis` raises.
    """
    kept, found = await _offered(table_id, account_id, store)
    return tell(kept.story, found, locale)


async def _offered(table_id: TableId, account_id: AccountId, store: GamesStore) -> tuple[Kept, Mapping[str, Any]]:
    async with store.transaction() as games:
        kept = await games.find(table_id, account_id)
    if kept is None:
        raise AnalysisUnknown
    if not kept.offered:
        raise AnalysisNotOffered
    if kept.analysis is None:
        raise AnalysisNotYet
    return kept, kept.analysis
