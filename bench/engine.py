"""Moves a second through the rules engine: `legal` + `decide` + `evolve`, one core.

    python bench/engine.py [--game romanian] [--games 20] [--json]

Every game is played by a fixed congruential choice among the legal moves (Romanian: a six-handed 8-1-8);
deals are made outside the measured time. `--json` ends with one line of JSON.
"""

import argparse
import json
from time import perf_counter

from libs.engine import fair
from libs.engine.game import GAMES
from libs.engine.replay import fold

TABLES: dict[str, tuple[int, dict[str, object]]] = {
    "romanian": (6, {"mode": "8-1-8"}),
    "english": (4, {}),
    "solo": (4, {}),
    "knockout": (7, {"dogs_life": True}),
    "german": (2, {}),
}


def play(name: str, seed: int) -> tuple[int, float, float]:
    """Moves, seconds in the rules, seconds in what a table worker adds (project + dump)."""
    game, (players, options) = GAMES[name], TABLES[name]
    secret = seed.to_bytes(32, "big")
    state = game.new(players, options)
    moves, rules, shown, dice = 0, 0.0, 0.0, seed
    while not game.over(state):
        if (draw := game.draw(state)) is not None:
            order = fair.permutation(secret, draw.label, draw.size)
            state = fold(game, state, game.decide_draw(state, order))
            continue
        seat = game.to_act(state)
        assert seat is not None
        dice = dice * 1103515245 + 12345 & 0x7FFFFFFF
        started = perf_counter()
        legal = game.legal(state)
        events = game.decide(state, seat, legal[(dice >> 16) % len(legal)])
        for event in events:
            state = game.evolve(state, event)
        decided = perf_counter()
        for event in events:
            game.project(event, None)
            game.dump_event(event)
        rules += decided - started
        shown += perf_counter() - decided
        moves += 1
    return moves, rules, shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", choices=TABLES, default="romanian")
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    play(arguments.game, 0)  # warm
    runs = [play(arguments.game, seed) for seed in range(1, arguments.games + 1)]
    moves = sum(run[0] for run in runs)
    rules = sum(run[1] for run in runs)
    shown = sum(run[2] for run in runs)
    print(f"{moves} moves: {moves / rules:,.0f} moves/s, {rules / moves * 1e6:.2f} us a move")
    print(f"project + dump_event: {shown / moves * 1e6:.2f} us a move")
    if arguments.json:
        print(
            json.dumps(
                {
                    "rules_moves_per_s": round(moves / rules),
                    "rules_us_per_move": round(rules / moves * 1e6, 3),
                    "show_us_per_move": round(shown / moves * 1e6, 3),
                }
            )
        )


if __name__ == "__main__":
    main()
