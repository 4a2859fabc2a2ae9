"""How the strengths of bots stand against each other in the games of 52 cards.

    python -m bench.family_bots [--games english,solo,knockout,german] [--deals 200] [--seed 1] [--json]

English: tricks a hand of a side of one strength, less the other side's. Solo: units a hand and seat, two seats of each.
Knockout: the share of games that one seat wins among others of the other strength, less its even share. German: the
same of two. Each deal is played with all seatings, and their mean is one observation. Then each strength's milliseconds
of CPU a decision. `--json` ends with one line of JSON.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from functools import partial
from statistics import fmean, median, stdev
from time import thread_time

from libs.engine.game import GAMES
from libs.engine.protocol import Action, State, View
from libs.engine.replay import fold, make_draws
from libs.search import choose

Player = Callable[..., Action]
Observation = Callable[[Player, Player, int], float]
KNOCKOUT_PLAYERS = 4


def player(game_name: str, strength: str) -> Player:
    """That strength of the game's bots."""
    return partial(choose, game_name, strength=strength)


def played(game_name: str, start: State, seats: Sequence[Player], secret: bytes, seed: int, hands: int = 0) -> State:
    """The game at its end, or after so many hands."""
    game = GAMES[game_name]
    state, _ = make_draws(game, start, secret)
    while (seat := game.to_act(state)) is not None:
        action = seats[seat](game.view(state, seat), seed=seed + game.turn(state))
        state = fold(game, state, game.decide(state, seat, action))
        if hands and len(state.sheet) == hands:
            break
        state, _ = make_draws(game, state, secret)
    return state


def english(one: Player, other: Player, seed: int) -> float:
    """Tricks of a side of `one` less those of a side of `other`, in one hand."""
    gaps = []
    for side in (0, 1):
        seats = [one if seat % 2 == side else other for seat in range(4)]
        start = GAMES["english"].new(4, {"match": "game"})
        tricks = played("english", start, seats, b"%d" % seed, seed, hands=1).sheet[0].tricks
        gaps.append(tricks[side] - tricks[1 - side])
    return fmean(gaps)


def solo(one: Player, other: Player, seed: int) -> float:
    """Units of a seat of `one` less those of a seat of `other`, in one hand."""
    gaps = []
    for side in (0, 1):
        seats = [one if seat % 2 == side else other for seat in range(4)]
        start = GAMES["solo"].new(4, {"hands": 4})
        units = played("solo", start, seats, b"%d" % seed, seed, hands=1).sheet[0].units
        gaps.append(fmean(units[side::2]) - fmean(units[1 - side :: 2]))
    return fmean(gaps)


def knockout(one: Player, other: Player, seed: int) -> float:
    """Share of games won by `one` among `other`s, less the even share; dog's life in every other game."""
    players, game = KNOCKOUT_PLAYERS, GAMES["knockout"]
    won = 0
    for own in range(players):
        seats = [one if seat == own else other for seat in range(players)]
        start = game.new(players, {"dogs_life": bool(seed % 2)})
        won += game.result(played("knockout", start, seats, b"%d" % seed, seed)).place(own) == 1
    return (won - 1) / players


def german(one: Player, other: Player, seed: int) -> float:
    """Share of deals won by `one`, less one half; all tricks count in every fourth."""
    game = GAMES["german"]
    won = 0
    for own in (0, 1):
        start = game.new(2, {"count_all": seed % 4 == 0})
        seats = [one if seat == own else other for seat in (0, 1)]
        won += game.result(played("german", start, seats, b"%d" % seed, seed)).place(own) == 1
    return (won - 1) / 2


OBSERVED: dict[str, Observation] = {"english": english, "solo": solo, "knockout": knockout, "german": german}


def duel(game_name: str, one: str, other: str, deals: int, seed: int) -> list[float]:
    """One number a deal: what the strength `one` is ahead of `other`."""
    players = player(game_name, one), player(game_name, other)
    return [OBSERVED[game_name](*players, seed + number) for number in range(deals)]


def costs(game_name: str, strength: str, seed: int) -> list[float]:
    """CPU seconds of each decision with a choice, in one game at a table of that strength."""
    spent = []

    def timed(view: View, seed: int) -> Action:
        started = thread_time()
        action = choose(game_name, view, strength, seed)
        if len(view["legal"]) > 1:
            spent.append(thread_time() - started)
        return action

    options: dict[str, dict[str, object]] = {"english": {"match": "game"}, "solo": {"hands": 4}}
    players = {"knockout": KNOCKOUT_PLAYERS, "german": 2}.get(game_name, 4)
    start = GAMES[game_name].new(players, options.get(game_name, {}))
    played(game_name, start, [timed] * players, b"%d" % seed, seed)
    return spent


def measured(games: Sequence[str], deals: int, seed: int) -> dict[str, float]:
    """Means and standard errors by key, and each strength's milliseconds a decision: median and 99th percentile."""
    results: dict[str, float] = {}
    for name in games:
        for one, other in (("keen", "calm"), ("sharp", "keen")):
            numbers = duel(name, one, other, deals, seed)
            key, error = f"{name}_{one}_minus_{other}", stdev(numbers) / len(numbers) ** 0.5
            results |= {key: round(fmean(numbers), 4), f"{key}_se": round(error, 4)}
            print(f"{key}: {results[key]:+.3f} ± {error:.3f}")
        for strength in ("keen", "sharp"):
            spent = sorted(1e3 * one for one in costs(name, strength, seed))
            results |= {
                f"{name}_{strength}_ms_p50": round(median(spent), 3),
                f"{name}_{strength}_ms_p99": round(spent[int(0.99 * len(spent))], 3),
            }
            print(f"{name} {strength}: {median(spent):.2f} ms, p99 {results[f'{name}_{strength}_ms_p99']:.2f} ms")
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", default=",".join(OBSERVED))
    parser.add_argument("--deals", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    results = measured(arguments.games.split(","), arguments.deals, arguments.seed)
    if arguments.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
