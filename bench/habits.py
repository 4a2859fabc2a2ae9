"""The habits that rollouts play by (`libs/search/habits.py`), fitted again to games played for it.

    make fit-habits [ARGS="--choices 264000 --seed 1 --write libs/search/habits.py"]

Keen and calm share tables of four and of six, every other seat each, in rounds of two to eight cards; what each of
them plays where habit has a choice is one row. A conditional logit (McFadden 1974) is fitted to ten rounds in eleven;
how often its best candidate is the card that was played is counted on the eleventh. The last line is one JSON object.
`--write` puts the scores into that module in place of its own, which changes how keen and sharp play: `make bench-bots`
says whether for the better. The default takes three to five minutes on one core.
"""

import argparse
import json
import re
import zlib
from base64 import b85decode, b85encode
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from bench.bots import SIZES, player
from bench.rounds import GAME, dealt
from libs.engine.protocol import View
from libs.engine.replay import fold
from libs.search.seeing import codes, look

SCORES: Final = 6192  # in the table; the place after the last stands for a score of zero
CHOICES: Final = 264_000
AT_FOUR: Final = 0.55  # of the choices are of tables of four, the others of six
# Every so many-th round is kept aside, whole, as choices of one round resemble each other. No divisor of the number of
# rounds in a game, so that all sizes are among them.
ASIDE: Final = 11
UNITS: Final = 40  # scores to one of log-odds
SCORE_MAX: Final = 127  # what a byte holds; 3.2 of log-odds
PRIOR: Final = 0.3  # each weight's variance before anything is seen: what is rarely read stays near zero
STEPS_MAX: Final = 300
LINE: Final = 108  # characters of the packed text in a line of the module
PACKED: Final = re.compile(r'^_PACKED = \(\n((?:    "[^"]*"\n)+)\)$', re.MULTILINE)

Places = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One card played where habit had at least two candidates, in the order in which the kernel tries them."""

    number: int  # of the round
    keen: bool  # else calm
    candidates: tuple[Places, ...]  # where each one's score is read
    chosen: tuple[bool, ...]  # worth the same as the card played; none where a card between the candidates was


def choices(wanted: int, seed: int) -> Iterator[Choice]:
    """At least `wanted` choices, and those left of the last round: first at tables of four, then of six."""
    at_four = round(AT_FOUR * wanted)
    yield from _at_tables(4, at_four, seed)
    yield from _at_tables(6, wanted - at_four, seed + 1)


def _at_tables(players: int, wanted: int, seed: int) -> Iterator[Choice]:
    rng = Random(seed)
    keen, calm = player("keen"), player("calm")
    rounds = [cards for cards in SIZES[players] if cards > 1]
    number = met = 0
    while met < wanted:
        state = dealt(players, rounds[number % len(rounds)], rng.randrange(players), rng)
        parity = rng.randrange(2)
        while (seat := GAME.to_act(state)) is not None:
            view = GAME.view(state, seat)
            is_keen = seat % 2 == parity
            action = (keen if is_keen else calm)(view, seed=seed + number)
            if view["phase"] == "play" and len(view["legal"]) > 1:
                made = choice(view, action["play"], number=number, keen=is_keen)
                if made is not None:
                    met += 1
                    yield made
            state = fold(GAME, state, GAME.decide(state, seat, action))
        number += 1


def choice(view: View, card: str, *, number: int, keen: bool) -> Choice | None:
    """What that card says of habits; None where habit has no choice or all legal cards are worth the same."""
    kernel = look(view, 0)
    read = kernel.readings()
    if not read:
        return None
    tried = kernel.play(1, 1, 0)  # of cards that are worth the same, the lowest
    if len(tried) == 1:
        return None

    def lowest(code: int) -> int:
        return max(one for one in tried if one <= code)

    played = lowest(codes(view["players"])[card])
    return Choice(
        number=number,
        keen=keen,
        candidates=tuple((one, two, three) for _, one, two, three in read),
        chosen=tuple(lowest(code) == played for code, *_ in read),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Choices as arrays: one row a candidate, those of one choice in a row."""

    places: NDArray[np.int64]  # [candidates, 3], 0..SCORES
    chosen: NDArray[np.float64]  # [candidates]: shares of one that add up to one a choice, or are all zero
    starts: NDArray[np.int64]  # [choices]: each one's first candidate
    keen: NDArray[np.bool_]  # [choices]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many candidates each choice has."""
        return np.diff(self.starts, append=len(self.places))


def sample(made: list[Choice]) -> Sample:
    """The choices as arrays. There must be at least one."""
    sizes = np.array([len(one.candidates) for one in made])
    return Sample(
        places=np.array([places for one in made for places in one.candidates], dtype=np.int64),
        chosen=np.array([yes / (sum(one.chosen) or 1) for one in made for yes in one.chosen]),
        starts=np.cumsum(sizes) - sizes,
        keen=np.array([one.keen for one in made]),
    )


def fit(seen: Sample) -> bytes:
    """The scores (128 more than each) under which such choices are likeliest, with a normal prior on the weights.

    The likelihood is concave in the weights, so the answer does not hang on where the search begins.
    """
    sizes, explained = seen.sizes, np.add.reduceat(seen.chosen, seen.starts)
    each = np.repeat(explained, sizes)

    def cost(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        values = np.append(weights, 0.0)[seen.places].sum(axis=1)
        best = np.maximum.reduceat(values, seen.starts)
        odds = np.exp(values - np.repeat(best, sizes))
        total = np.add.reduceat(odds, seen.starts)
        surprise = explained @ (np.log(total) + best) - seen.chosen @ values
        missed = each * odds / np.repeat(total, sizes) - seen.chosen
        slope = np.bincount(seen.places.ravel(), np.repeat(missed, 3), SCORES + 1)[:SCORES]
        return float(surprise + weights @ weights / (2 * PRIOR)), slope + weights / PRIOR

    found = minimize(cost, np.zeros(SCORES), jac=True, method="L-BFGS-B", options={"maxiter": STEPS_MAX})
    scores = np.clip(np.rint(UNITS * found.x), -SCORE_MAX, SCORE_MAX)
    return bytes((scores + 128).astype(np.uint8))


def best(table: bytes, seen: Sample) -> NDArray[np.int64]:
    """The candidate (row) that habit plays in each choice: the first of the highest score."""
    values = np.append(np.frombuffer(table, dtype=np.uint8).astype(np.int64) - 128, 0)[seen.places].sum(axis=1)
    top = np.maximum.reduceat(values, seen.starts)
    rows = np.where(values == np.repeat(top, seen.sizes), np.arange(len(values)), len(values))
    return np.minimum.reduceat(rows, seen.starts)


def matches(table: bytes, seen: Sample) -> dict[str, float]:
    """How often habit plays what calm, and keen, played: shares of one."""
    right = seen.chosen[best(table, seen)] > 0
    return {"calm": round(float(right[~seen.keen].mean()), 4), "keen": round(float(right[seen.keen].mean()), 4)}


def unpacked(module: str) -> bytes:
    """The table in the text of `libs/search/habits.py`. Raises ValueError where none is whole."""
    text = "".join(re.findall(r'"([^"]*)"', _block(module).group(1)))
    try:
        return zlib.decompress(b85decode(text))
    except zlib.error as error:
        raise ValueError("the table of habits is damaged") from error


def packed(module: str, table: bytes) -> str:
    """The module's text with that table in place of its own. Raises ValueError where it has none."""
    text = b85encode(zlib.compress(table, 9)).decode()
    lines = "".join(f'    "{text[at : at + LINE]}"\n' for at in range(0, len(text), LINE))
    found = _block(module)
    return module[: found.start(1)] + lines + module[found.end(1) :]


def _block(module: str) -> re.Match[str]:
    found = PACKED.search(module)
    if found is None:
        raise ValueError("no table of habits in the text")
    return found


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--choices", type=int, default=CHOICES, help="how many to fit and count on, 1000 or more")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", type=Path, help="the module whose table is replaced")
    arguments = parser.parse_args(words)
    if arguments.choices < 1000:
        parser.error("--choices: too few to fit and to count on")
    if not 0 <= arguments.seed < 2**32:
        parser.error("--seed: 0 to 4294967295")
    if arguments.write is not None:
        try:
            with arguments.write.open("r+") as module:  # said now, not after all the games
                unpacked(module.read())
        except (OSError, ValueError) as error:
            parser.error(f"--write: {error}")

    made = list(choices(arguments.choices, arguments.seed))
    kept = sample([one for one in made if one.number % ASIDE == 0])
    table = fit(sample([one for one in made if one.number % ASIDE]))
    rates = matches(table, kept)
    if arguments.write is not None:
        arguments.write.write_text(packed(arguments.write.read_text(), table))
    print(f"on {len(kept.keen)} of {len(made)} choices kept aside: calm {rates['calm']:.1%}, keen {rates['keen']:.1%}")
    print(json.dumps({"choices": len(made), "aside": len(kept.keen), **rates}))


if __name__ == "__main__":
    main()
