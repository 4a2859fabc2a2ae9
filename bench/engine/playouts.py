"""The search kernel's random rounds beside OpenSpiel's `oh_hell`, seven cards a player, one core."""

from random import Random
from typing import Any

import pyspiel

from libs.search.playouts import RandomRounds, SteppedRound

CARDS = 7


def kernel_moves(players: int, rounds: int) -> int:
    """Whole rounds without the interpreter: deal, bid, play and score at random."""
    kernel = RandomRounds(players, CARDS, 1)
    kernel.run(rounds)
    return rounds * players * (CARDS + 1)


def kernel_steps(rounds: int) -> int:
    """The kernel moved from Python, one action at a time, as research and training do."""
    rng, moves = Random(1), 0
    for seed in range(rounds):
        state = SteppedRound(4, CARDS, seed)
        while state.position >= 0:
            state.apply(rng.choice(state.legal()))
            moves += 1
    return moves


def oh_hell() -> Any:
    """OpenSpiel's game for four; the pack of R1."""
    return pyspiel.load_game(
        f"oh_hell(players=4,num_suits=4,num_cards_per_suit=8,num_tricks_fixed={CARDS},"
        "off_bid_penalty=true,points_per_trick=1)"
    )


def their_rounds(rounds: int) -> int:
    """OpenSpiel's own C++ loop over its uniform bots, chance nodes included."""
    game = oh_hell()
    players = [pyspiel.make_uniform_random_bot(seat, seat) for seat in range(4)]
    for seed in range(rounds):
        pyspiel.evaluate_bots(game.new_initial_state(), players, seed)
    return rounds


def their_steps(rounds: int) -> int:
    """OpenSpiel moved from Python; deals are made by its chance nodes and not counted."""
    game, rng, moves = oh_hell(), Random(1), 0
    for _ in range(rounds):
        state = game.new_initial_state()
        while not state.is_terminal():
            moves += not state.is_chance_node()
            state.apply_action(rng.choice(state.legal_actions()))
    return moves
