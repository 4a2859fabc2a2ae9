"""A view that no table shows never reaches the kernels, which look no index up twice: it is refused by ValueError."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest

from libs.engine.game import GAMES
from libs.engine.record.model import Record
from libs.engine.record.replaying import opening, replay
from libs.search import advise, choose
from tests.engine.family import TABLES, Table, name_of
from tests.engine.records import ROMANIAN, recorded

Change = Callable[[dict[str, Any]], object]


def decisions(record: Record) -> Iterator[dict[str, Any]]:
    """The view of each seat that was to act, in order."""
    game, state = GAMES[record.game], opening(record).state
    for step in replay(record):
        if step.move is not None:
            yield game.view(state, step.move.seat)
        state = step.state


def moment(table: Table, phase: str) -> dict[str, Any]:
    """A decision with a choice; in play with one card on the table, and a trick taken before."""
    for view in decisions(recorded(table, seed=2)):
        laid = sum(card is not None for card in view["trick"]["cards"])
        awaited = phase != "play" or (laid == 1 and sum(view["taken"]))
        if view["phase"] == phase and len(view["legal"]) > 1 and awaited:
            return deepcopy(view)
    raise AssertionError("no such moment in this game")


def put(*path: Any) -> Change:
    """``put("taken", 0, 7)`` sets view["taken"][0] = 7."""

    def change(view: dict[str, Any]) -> None:
        *way, last, value = path
        place: Any = view
        for step in way:
            place = place[step]
        place[last] = value

    return change


def doubled(field: str) -> Change:
    return lambda view: view.update({field: view[field] * 2})


FOUR = ROMANIAN[0]
ENGLISH: Table = ("english", 4, {})
KNOCKOUT: Table = ("knockout", 5, {})
GERMAN: Table = ("german", 2, {})


@pytest.mark.parametrize("table", [*ROMANIAN, *TABLES], ids=name_of)
@pytest.mark.parametrize("strength", ["keen", "sharp"])
def test_every_view_of_a_game_is_answered(table: Table, strength: str) -> None:
    for view in list(decisions(recorded(table, seed=4)))[:400:7]:
        assert choose(table[0], view, strength, seed=2**64 - 1) in view["legal"]


@pytest.mark.parametrize(
    ("table", "phase", "change"),
    [
        (FOUR, "bid", put("dealer", 7)),
        (FOUR, "bid", put("seat", 64)),
        (FOUR, "bid", put("seat", -1)),
        (FOUR, "bid", doubled("bids")),
        (FOUR, "bid", lambda view: view["bids"].pop()),
        (FOUR, "bid", lambda view: view["bids"].__setitem__(view["seat"], 1)),
        (FOUR, "bid", doubled("hand")),
        (FOUR, "bid", lambda view: view["hand"].pop()),
        (FOUR, "bid", put("trump", "7C")),
        (FOUR, "play", put("bids", 0, 99)),
        (FOUR, "play", put("bids", 0, None)),
        (FOUR, "play", lambda view: view.update(seat=(view["seat"] + 1) % 4)),
        (FOUR, "play", lambda view: view.update(dealer=(view["dealer"] + 1) % 4)),
        (FOUR, "play", doubled("tricks")),
        (FOUR, "play", lambda view: view["tricks"].pop()),
        (ENGLISH, "play", put("players", 2**64)),
        (ENGLISH, "play", doubled("counts")),
        (ENGLISH, "play", put("taken", 0, -1)),
        (ENGLISH, "play", lambda view: view["hand"].pop()),
        (KNOCKOUT, "play", put("players", 2**31)),
        (KNOCKOUT, "play", put("cards", 2**31)),
        (KNOCKOUT, "play", put("cards", -1)),
        (KNOCKOUT, "play", put("taken", 0, 60)),
        (KNOCKOUT, "play", lambda view: view["taken"].pop()),
        (KNOCKOUT, "play", lambda view: view["counts"].pop()),
        (GERMAN, "play", doubled("taken")),
        (GERMAN, "play", doubled("counts")),
        (GERMAN, "play", put("stock", 100)),
    ],
)
@pytest.mark.parametrize("strength", ["keen", "sharp"])
def test_a_view_that_no_table_shows_is_refused(table: Table, phase: str, change: Change, strength: str) -> None:
    view = moment(table, phase)
    assert choose(table[0], view, strength) in view["legal"]
    change(view)
    with pytest.raises(ValueError, match="no table shows such a view"):
        choose(table[0], view, strength)


@pytest.mark.parametrize("seed", [-1, 2**64, 10**40])
@pytest.mark.parametrize("table", [FOUR, ENGLISH], ids=name_of)
def test_a_seed_beyond_its_range_is_refused(table: Table, seed: int) -> None:
    with pytest.raises(ValueError, match="seed"):
        choose(table[0], moment(table, "play"), "keen", seed)


@pytest.mark.parametrize("samples", [0, -1, 10**6 + 1, 10**9, 2**40])
def test_samples_beyond_their_range_are_refused(samples: int) -> None:
    with pytest.raises(ValueError, match="samples"):
        advise(moment(FOUR, "play"), samples)
