"""Every number of the engine in one run, beside OpenSpiel; one core.

    make bench-engine [ARGS="--runs 5"]

Each is taken `--runs` times, all of them in turns; shown are the least, the median and the most, with the bar that the
median has to meet. Times are CPU times of this thread. The last line is one JSON object: the medians by key, and under
"spread" [least, most]. Exit status 1 where a bar is missed.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median

from bench.engine import playouts, rules, thinking
from bench.engine.timing import rate
from libs.search import compiled

# How much each measurement does: a tenth of a second or more of CPU, so that the timer's grain is nothing beside it.
KERNEL_ROUNDS = 300_000
THEIR_ROUNDS = 3_000
STEPPED_ROUNDS = 1_000
RULES_GAMES = 10
THEIR_LEAD = 20.0  # times as many rounds a second as OpenSpiel's own loop

# What the median has to reach; a rate at least, a time at most.
LEAST = {"kernel_moves_per_s_4p": 50e6, "kernel_moves_per_s_6p": 50e6, "rules_moves_per_s": 0.1e6}
MOST = {"keen_us_6p": 150.0, "sharp_us_6p": 1000.0, "advise_1000_ms": 5.0, "grade_classic_s": 1.0}
# ... and beside a peer of the same run, so many times its number.
BESIDE = {
    "kernel_games_per_s_4p": ("openspiel_evaluate_bots_games_per_s", THEIR_LEAD),
    "kernel_step_moves_per_s": ("openspiel_python_moves_per_s", 1.0),
}


def measures() -> dict[str, Callable[[], float]]:
    """How each number is taken, by key; `kernel_games_per_s_4p` follows from the moves."""
    views, record = thinking.decisions(), thinking.classic_record()
    taken: dict[str, Callable[[], float]] = {
        "kernel_moves_per_s_4p": partial(rate, partial(playouts.kernel_moves, 4, KERNEL_ROUNDS)),
        "kernel_moves_per_s_6p": partial(rate, partial(playouts.kernel_moves, 6, KERNEL_ROUNDS)),
        "openspiel_evaluate_bots_games_per_s": partial(rate, partial(playouts.their_rounds, THEIR_ROUNDS)),
        "rules_moves_per_s": partial(rules.moves_per_s, "romanian", RULES_GAMES),
        "kernel_step_moves_per_s": partial(rate, partial(playouts.kernel_steps, STEPPED_ROUNDS)),
        "openspiel_python_moves_per_s": partial(rate, partial(playouts.their_steps, STEPPED_ROUNDS)),
        "keen_us_6p": partial(thinking.decision_us, views, "keen"),
        "sharp_us_6p": partial(thinking.decision_us, views, "sharp"),
        "advise_1000_ms": partial(thinking.advice_ms, views),
        "grade_classic_s": partial(thinking.grade_s, record),
    }
    others = (name for name in rules.TABLES if name != "romanian")
    return taken | {f"{name}_moves_per_s": partial(rules.moves_per_s, name, RULES_GAMES) for name in others}


def missed(medians: Mapping[str, float]) -> list[str]:
    """Each bar that was not met, in words."""
    low = [f"{key} is below {bar:,.0f}" for key, bar in LEAST.items() if medians[key] < bar]
    high = [f"{key} is above {bar:,.0f}" for key, bar in MOST.items() if medians[key] > bar]
    behind = [
        f"{key} is less than {times:g} times {peer}"
        for key, (peer, times) in BESIDE.items()
        if medians[key] < times * medians[peer]
    ]
    return low + high + behind


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    runs: int = parser.parse_args().runs
    print("search kernel:", "machine code" if compiled() else "interpreted, there was no compiler at install")
    taken = measures()
    numbers: dict[str, list[float]] = {key: [] for key in taken}
    for number in range(runs + 1):
        for key, take in taken.items():
            value = take()
            if number:  # the first round of all warms up
                numbers[key].append(value)
    moves_a_round = 4 * (playouts.CARDS + 1)
    numbers["kernel_games_per_s_4p"] = [moves / moves_a_round for moves in numbers["kernel_moves_per_s_4p"]]
    medians = {key: median(values) for key, values in numbers.items()}
    print(f"{'':38}{'least':>16}{'median':>16}{'most':>16}")
    for key, values in numbers.items():
        print(f"{key:38}{min(values):16,.2f}{medians[key]:16,.2f}{max(values):16,.2f}")
    for key, (peer, _) in BESIDE.items():
        print(f"{key} is {medians[key] / medians[peer]:.1f} times {peer}")
    short = missed(medians)
    for said in short:
        print(f"missed: {said}", file=sys.stderr)
    spread = {key: [round(min(values), 3), round(max(values), 3)] for key, values in numbers.items()}
    print(json.dumps({key: round(value, 3) for key, value in medians.items()} | {"spread": spread}), flush=True)
    sys.exit(1 if short else 0)


if __name__ == "__main__":
    main()
