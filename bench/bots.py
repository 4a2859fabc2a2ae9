"""How the three strengths of bots stand against each other, in points a round.

    make bench-bots [ARGS="--rounds 2000 --seed 1"]

Rounds of the sizes that an 8-1-8 game has. Two strengths share a table, every other seat each, and the same deal is
played again with the seats exchanged; the difference of the two means is one observation, its standard error follows
from them. The last line is one JSON object. The other games: `python -m bench.family_bots`.
"""

import argparse
import json
from collections.abc import Callable
from functools import partial
from random import Random
from statistics import fmean, stdev

from bench.rounds import GAME, OPTIONS, dealt
from libs.engine.protocol import Action, State
from libs.engine.replay import fold
from libs.engine.romanian.options import parse_options
from libs.engine.romanian.schedule import sizes
from libs.search import choose

SIZES = {players: sizes(parse_options(players, OPTIONS), players) for players in (4, 6)}
Player = Callable[..., Action]


def player(strength: str) -> Player:
    """That strength of the game's bots."""
    return partial(choose, "romanian", strength=strength)


def play(state: State, seats: list[Player], seed: int) -> tuple[tuple[int, ...], list[bool]]:
    """Points by seat, and who made the bid."""
    while (seat := GAME.to_act(state)) is not None:
        action = seats[seat](GAME.view(state, seat), seed=seed)
        state = fold(GAME, state, GAME.decide(state, seat, action))
    scored = state.sheet[-1]
    return scored.scores, [bid == won for bid, won in zip(scored.bids, scored.taken, strict=True)]


def duel(one: Player, other: Player, players: int, rounds: int, seed: int) -> list[float]:
    """`one` less `other`, points a seat and round; one number a deal, both seatings of it."""
    rng = Random(seed)
    differences = []
    for number in range(rounds):
        start = dealt(players, SIZES[players][number % len(SIZES[players])], rng.randrange(players), rng)
        gaps = []
        for first, second in ((one, other), (other, one)):
            scores, _ = play(start, [first if seat % 2 == 0 else second for seat in range(players)], seed + number)
            evens, odds = fmean(scores[::2]), fmean(scores[1::2])
            gaps.append(evens - odds if first is one else odds - evens)
        differences.append(fmean(gaps))
    return differences


def made(one: Player, players: int, rounds: int, seed: int) -> list[float]:
    """Share of bids made at a table of that player alone, deal by deal."""
    rng = Random(seed)
    shares = []
    for number in range(rounds):
        start = dealt(players, SIZES[players][number % len(SIZES[players])], rng.randrange(players), rng)
        _, makes = play(start, [one] * players, seed + number)
        shares.append(fmean(makes))
    return shares


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rounds, seed = arguments.rounds, arguments.seed
    calm, keen, sharp = player("calm"), player("keen"), player("sharp")
    runs: dict[str, Callable[[], list[float]]] = {
        "calm_made_4p": lambda: made(calm, 4, rounds, seed),
        "keen_minus_calm_4p": lambda: duel(keen, calm, 4, rounds, seed),
        "keen_minus_calm_6p": lambda: duel(keen, calm, 6, rounds, seed),
        "sharp_minus_keen_4p": lambda: duel(sharp, keen, 4, rounds, seed),
    }
    results: dict[str, float] = {}
    for name, run in runs.items():
        numbers = run()
        error = stdev(numbers) / len(numbers) ** 0.5
        results |= {name: round(fmean(numbers), 4), f"{name}_se": round(error, 4)}
        print(f"{name}: {results[name]:+.3f} ± {error:.3f}", flush=True)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
