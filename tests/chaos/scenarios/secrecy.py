"""B31, H1 (P71): swap the cards that an observer cannot see, and not a byte that the observer is sent changes."""

import re
from collections import Counter

from prometheus_client import REGISTRY

from libs.engine.cards import CARD_BY_TEXT
from libs.engine.game import GAMES
from libs.house.bots import Strength
from services.coach.thinking import ThreadThinker
from tests.chaos.logs import logged
from tests.chaos.scenario import Run, scenario
from tests.chaos.swapping import swap
from tests.chaos.twins import Observer, Plant, as_is, watch
from tests.engine.comparison import random_table

GAMES_EACH_RUN, GAMES_SMALL = 1000, 300
CARD = re.compile(rf"\b({'|'.join(CARD_BY_TEXT)})\b")
IDENTITY = re.compile(r"[0-9a-f]{32}")
HINT_SAMPLES = 10
STRENGTHS = (Strength.CALM, Strength.KEEN)


async def swapped_games(games: int, run: Run, *, plant: Plant = as_is) -> Counter[str]:
    """So many pairs over every game and observer; counts by game, by observer, and of bytes and moves.

    `plant` puts a fault into every table's game, to see it found. Raises Leaked, or AssertionError for logs and labels.
    """
    rng = run.random
    counted: Counter[str] = Counter()
    thinker = ThreadThinker(1, 4, HINT_SAMPLES)
    names, observers = sorted(GAMES), list(Observer)
    try:
        with logged() as lines:
            for number in range(games):
                name = names[number % len(names)]
                observer = observers[number // len(names) % len(observers)]
                table = random_table(name, rng)
                seat = None if observer is Observer.SPECTATOR else rng.randrange(table[1])
                pair = swap(table, seat, rng)
                seen = await watch(
                    pair, observer, rng, plant=plant, strength=rng.choice(STRENGTHS),
                    thinker=thinker if number % 3 == 0 else None,
                )  # fmt: skip
                counted["bytes"] += seen.compared
                counted["moves"] += seen.moves
                counted["told apart"] += seen.told_apart
                counted[name] += 1
                counted[observer] += 1
    finally:
        await thinker.close()
    assert not [line for line in lines if CARD.search(line)], "a card is in the log"
    labels = {value for metric in REGISTRY.collect() for sample in metric.samples for value in sample.labels.values()}
    assert not [label for label in labels if CARD.search(label) or IDENTITY.search(label)], "a card or id is a label"
    run.inject(f"the cards hidden from the observer dealt anew in {games} games: {_by(counted, names)}")
    run.held(
        f"{counted['bytes']:,} bytes of frames, answers, hints, events and errors equal over {counted['moves']:,} "
        f"moves for {_by(counted, observers)}"
    )
    run.held(f"in {counted['told apart']} of them another seat was sent something else, as it must be")
    run.held(f"{len(lines)} log lines without a card; {len(labels)} values of metrics' labels, no card and no id")
    return counted


def _by(counted: Counter[str], names: list[str] | list[Observer]) -> str:
    return ", ".join(f"{name} {counted[name]}" for name in names)


@scenario("B31", "swap what is hidden: every byte to the observer stays the same (H1)")
async def b31(run: Run) -> None:
    games = GAMES_SMALL if run.small else GAMES_EACH_RUN
    counted = await swapped_games(games, run)
    assert counted["told apart"] > games // 2
