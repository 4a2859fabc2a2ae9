"""What coach does again and again."""

from services.coach import handlers
from services.coach.metrics import games_waiting, oldest_game_seconds
from services.coach.ports import Analyst, GamesStore


async def analyse_games(store: GamesStore, analyst: Analyst) -> None:
    """Analyse what waits, one game after the other. A game that raises is tried again later, after all others."""
    while True:
        waiting = await handlers.waiting(store=store)
        games_waiting.set(waiting.games)
        oldest_game_seconds.set(waiting.oldest_seconds)
        if not await handlers.analyse_next(store=store, analyst=analyst):
            return
