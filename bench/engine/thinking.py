"""What bots and coach need for a decision, at six players and over rounds of every size."""

from collections.abc import Iterator
from functools import partial
from itertools import count
from random import Random

from bench.engine.timing import median_seconds
from bench.rounds import GAME, OPTIONS, dealt
from libs.engine import fair
from libs.engine.protocol import View
from libs.engine.record.model import By, Move, Record
from libs.engine.record.plain import to_json
from libs.engine.replay import fold, make_draws
from libs.search import advise, choose, grade

PLAYERS = 6
ROUNDS = 16  # two of each size
SAMPLES = 1000


def decisions() -> list[View]:
    """Every view with a choice in rounds of all sizes, played by calm."""
    return list(_decisions())


def _decisions() -> Iterator[View]:
    rng = Random(1)
    for number in range(ROUNDS):
        state = dealt(PLAYERS, 1 + number % 8, number % PLAYERS, rng)
        while (seat := GAME.to_act(state)) is not None:
            view = GAME.view(state, seat)
            if len(view["legal"]) > 1:
                yield view
            state = fold(GAME, state, GAME.decide(state, seat, choose("romanian", view)))


def decision_us(views: list[View], strength: str) -> float:
    """CPU microseconds of the median decision."""
    return median_seconds(partial(choose, "romanian", strength=strength), views) * 1e6


def advice_ms(views: list[View]) -> float:
    """CPU milliseconds of the median advice over 1,000 samples."""
    seeds = count()
    return median_seconds(lambda view: advise(view, SAMPLES, next(seeds)), views[::4]) * 1e3


def classic_record() -> dict[str, object]:
    """A six-handed 8-1-8 that calm players made, as tables keep it (P72)."""
    secret = bytes(32)
    state, _ = make_draws(GAME, GAME.new(PLAYERS, OPTIONS), secret)
    moves = []
    while (seat := GAME.to_act(state)) is not None:
        action = choose("romanian", GAME.view(state, seat))
        moves.append(Move(seat=seat, action=action, by=By.PERSON))
        state, _ = make_draws(GAME, fold(GAME, state, GAME.decide(state, seat, action)), secret)
    return to_json(
        Record(
            game=GAME.name,
            rules_version=GAME.rules_version,
            players=PLAYERS,
            options=OPTIONS,
            commitment=fair.commitment(secret),
            secret=secret,
            moves=tuple(moves),
        )
    )


def grade_s(record: dict[str, object]) -> float:
    """CPU seconds of one seat's marks."""
    return median_seconds(partial(grade, record), [0])
