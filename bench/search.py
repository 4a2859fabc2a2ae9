"""How fast the search kernel, the bots and the coach are, beside OpenSpiel in the same run; one core.

    python bench/search.py [--rounds 300000] [--json]

Moves are bids and cards; every playout deals, bids, plays and scores. OpenSpiel plays `oh_hell` with seven cards a
player: its C++ loop (`evaluate_bots` with its uniform bots) counts rounds, its Python loop and ours count moves.
Times are CPU times of this thread, so that a busy machine disturbs little. `--json` ends with one line of JSON.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from random import Random
from statistics import median
from time import thread_time
from typing import Any

import pyspiel

from libs.engine.cards import deck
from libs.engine.game import GAMES
from libs.engine.protocol import State, View
from libs.engine.replay import fold, make_draws
from libs.engine.romanian.dealing import deal
from libs.engine.romanian.options import parse_options
from libs.engine.romanian.state import Setup
from libs.engine.romanian.state import State as RomanianState
from libs.search import advise, choose, compiled, grade
from libs.search.playouts import RandomRounds, SteppedRound

GAME = GAMES["romanian"]
CARDS = 7
STEPPED_ROUNDS = 2_000
THEIR_ROUNDS = 3_000


def timed(work: Callable[[], int]) -> float:
    """Units of work a second."""
    started = thread_time()
    done = work()
    return done / (thread_time() - started)


def oh_hell(players: int) -> Any:
    return pyspiel.load_game(
        f"oh_hell(players={players},num_suits=4,num_cards_per_suit={2 * players},"
        f"num_tricks_fixed={CARDS},off_bid_penalty=true,points_per_trick=1)"
    )


def their_rounds(rounds: int) -> int:
    """OpenSpiel's own C++ loop over its uniform bots, chance nodes included."""
    game = oh_hell(4)
    players = [pyspiel.make_uniform_random_bot(seat, seat) for seat in range(4)]
    for seed in range(rounds):
        pyspiel.evaluate_bots(game.new_initial_state(), players, seed)
    return rounds


def their_moves(rounds: int) -> int:
    """OpenSpiel moved from Python; deals are made by chance nodes and not counted."""
    game, rng, moves = oh_hell(4), Random(1), 0
    for _ in range(rounds):
        state = game.new_initial_state()
        while not state.is_terminal():
            moves += not state.is_chance_node()
            state.apply_action(rng.choice(state.legal_actions()))
    return moves


def our_moves(rounds: int) -> int:
    """The kernel moved from Python, one action at a time."""
    rng, moves = Random(1), 0
    for seed in range(rounds):
        state = SteppedRound(4, CARDS, seed)
        while state.position >= 0:
            state.apply(rng.choice(state.legal()))
            moves += 1
    return moves


def decisions(players: int, seed: int) -> Iterator[View]:
    """Every view with a choice in rounds of all sizes, played by calm."""
    rng = Random(seed)
    for number in range(16):
        cards = 1 + number % 8
        setup = Setup(
            players=players,
            options=parse_options(players, {"mode": "8-1-8"}),
            first_dealer=number % players,
            sizes=(cards, cards),
        )
        before = RomanianState(setup=setup, sheet=(), round=None, turn=0, ranking=None)
        state: State = GAME.evolve(before, deal(before, rng.sample(deck(players), 8 * players)))
        while (seat := GAME.to_act(state)) is not None:
            view = GAME.view(state, seat)
            if len(view["legal"]) > 1:
                yield view
            state = fold(GAME, state, GAME.decide(state, seat, choose("romanian", view)))


def microseconds(think: Callable[[View], object], views: list[View]) -> float:
    """Median CPU time of a decision."""
    times = []
    for view in views:
        started = thread_time()
        think(view)
        times.append(thread_time() - started)
    return median(times) * 1e6


def classic_record() -> dict[str, Any]:
    """A six-handed 8-1-8 played by calm, in the form in which tables keep it (P72)."""
    players, options, secret = 6, {"mode": "8-1-8"}, bytes(32)
    log: list[dict[str, Any]] = []

    def write(events: tuple[Any, ...], by: str, seat: int | None) -> None:
        private = [event for event in events if GAME.is_private(event)]
        log.append(
            {
                "by": by,
                "seat": seat,
                "events": [GAME.project(event, None) for event in events],
                "private": {str(at): [GAME.project(event, at) for event in private] for at in range(players)},
            }
        )

    state, events = make_draws(GAME, GAME.new(players, options), secret)
    write(events, "server", None)
    while (seat := GAME.to_act(state)) is not None:
        events = GAME.decide(state, seat, choose("romanian", GAME.view(state, seat)))
        state, drawn = make_draws(GAME, fold(GAME, state, events), secret)
        write((*events, *drawn), "person", seat)
    return {"game": "romanian", "options": options, "seats": [{}] * players, "log": log}


def measure(rounds: int) -> Iterator[tuple[str, float]]:
    """Each number by its key; see the docstring of the module for what they count."""
    four, six = RandomRounds(4, CARDS, 1), RandomRounds(6, CARDS, 1)
    four.run(1000)
    six.run(1000)
    moves = timed(partial(four.run, rounds))
    yield "kernel_moves_per_s_4p", moves
    yield "kernel_moves_per_s_6p", timed(partial(six.run, rounds))
    yield "kernel_games_per_s_4p", moves / (4 * (CARDS + 1))
    yield "openspiel_evaluate_bots_games_per_s", timed(partial(their_rounds, THEIR_ROUNDS))
    yield "kernel_step_moves_per_s", timed(partial(our_moves, STEPPED_ROUNDS))
    yield "openspiel_python_moves_per_s", timed(partial(their_moves, STEPPED_ROUNDS))
    views = list(decisions(6, 1))
    for strength in ("keen", "sharp"):
        think = partial(choose, "romanian", strength=strength)
        for view in views[:20]:
            think(view)
        yield f"{strength}_us_6p", microseconds(think, views)
    seeds = count()
    yield "advise_1000_ms", microseconds(lambda view: advise(view, 1000, next(seeds)), views[::4]) / 1000
    record = classic_record()
    yield "grade_classic_s", 1 / timed(lambda: bool(grade(record, 0)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    print("machine code" if compiled() else "interpreted: no compiler at install")
    results = {}
    for key, value in measure(arguments.rounds):
        results[key] = round(value, 3)
        print(f"{key}: {value:,.3f}")
    if arguments.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
