"""The readable rules engine: `legal` + `decide` + `evolve`, of every game."""

from time import thread_time

from libs.engine.game import GAMES
from libs.engine.replay import fold, make_draws

TABLES: dict[str, tuple[int, dict[str, object]]] = {
    "romanian": (6, {"mode": "8-1-8"}),
    "english": (4, {}),
    "solo": (4, {}),
    "knockout": (7, {"dogs_life": True}),
    "german": (2, {}),
}


def moves_per_s(name: str, games: int) -> float:
    """Moves a second of CPU by a congruential choice among the legal ones; draws are made outside the measured time."""
    game, (players, options) = GAMES[name], TABLES[name]
    moves, spent = 0, 0.0
    for seed in range(1, games + 1):
        secret, dice = seed.to_bytes(32, "big"), seed
        state, _ = make_draws(game, game.new(players, options), secret)
        while (seat := game.to_act(state)) is not None:
            dice = dice * 1103515245 + 12345 & 0x7FFFFFFF
            started = thread_time()
            legal = game.legal(state)
            state = fold(game, state, game.decide(state, seat, legal[(dice >> 16) % len(legal)]))
            spent += thread_time() - started
            moves += 1
            state, _ = make_draws(game, state, secret)
    return moves / spent
