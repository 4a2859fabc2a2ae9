"""The engine and a second model, played side by side at random tables until one differs from the other."""

from os import environ
from random import Random
from typing import Any

from libs.engine.game import GAMES
from libs.engine.protocol import Action, Game, State
from tests.engine.family import Table
from tests.engine.reference import Model
from tests.engine.reference.english import English
from tests.engine.reference.german import German
from tests.engine.reference.knockout import Knockout
from tests.engine.reference.romanian import Romanian
from tests.engine.reference.solo import Solo

MODELS: dict[str, Any] = {
    "romanian": Romanian,
    "english": English,
    "solo": Solo,
    "knockout": Knockout,
    "german": German,
}
FUZZ = int(environ.get("WHIST_FUZZ", "0"))  # decisions a game, where more are wanted than CI plays
DECISIONS = max(100_000, FUZZ)
CHUNKS = 10  # tests a game, so that workers share the work
TIMEOUT = 0 if FUZZ else 180  # s


def random_table(name: str, rng: Random) -> Table:
    """A table of that game with any number of players that it takes and any options."""
    match name:
        case "romanian":
            mode = rng.choice(["8-1-8", "8-8-8", "1-8-1", "quick"])
            options: dict[str, Any] = {
                "mode": mode,
                "scoring": rng.choice(["linear", "triangular"]),
                "premium": rng.choice(["off", "skip", "reset"]),
                "one_card": rng.choice(["off", "forehead", "hidden"]),
            }
            return name, 6 if mode == "quick" else rng.choice([4, 5, 6]), options
        case "english":
            match = rng.choice(["rubber", "game"])
            options = {
                "target": rng.choice([5, 7]),
                "honours": rng.random() < 0.5,
                "match": match,
                "rubber_bonus": match == "rubber" and rng.random() < 0.5,
                "revokes": rng.choice(["refused", "club"]),
            }
            return name, 4, options
        case "solo":
            return name, 4, {"hands": rng.choice([4, 8, 12, 16])}
        case "knockout":
            return name, rng.randint(2, 7), {"dogs_life": rng.random() < 0.5}
        case _:
            return name, 2, {"count_all": rng.random() < 0.5}


def choose(game: Game, state: State, rng: Random) -> Action:
    """Any legal move; of bids and calls mostly a low one, so that contracts are made too and hands are played."""
    legal = game.legal(state)
    if "call" in legal[0] and rng.random() < 0.6:
        return legal[0]
    return rng.choice(legal[:2] if "bid" in legal[0] and rng.random() < 0.6 else legal)


def compare_moves(theirs: list[Action], ours: tuple[Action, ...]) -> None:
    """The same moves in whatever order, none twice."""
    assert len(theirs) == len(ours)
    assert {(*move.items(),) for move in theirs} == {(*move.items(),) for move in ours}


def compare_hands(game: Game, ours: State, theirs: Any, players: int) -> None:
    """What each seat sees of its own cards and, where cards are held on foreheads, of the others' (R11)."""
    for seat in range(players):
        shown = game.view(ours, seat)
        assert sorted(shown["hand"]) == sorted(theirs.hand(seat))
        assert "foreheads" not in shown or shown["foreheads"] == theirs.foreheads(seat)


def compare_game(table: Table, rng: Random) -> int:
    """Play one game with both; how many decisions it took."""
    name, players, options = table
    game = GAMES[name]
    ours, decisions = game.new(players, options), 0
    theirs: Model = MODELS[name](players, options)
    while not game.over(ours):
        draw, seat = game.draw(ours), game.to_act(ours)
        assert theirs.draw() == (None if draw is None else (draw.label, draw.size))
        assert theirs.to_act() == seat
        if draw is not None:
            assert game.view(ours, None)["scores"] == theirs.scores()
            order = rng.sample(range(draw.size), draw.size)
            events = game.decide_draw(ours, order)
            theirs.take_draw(order)
        else:
            assert seat is not None
            compare_moves(theirs.legal(), game.legal(ours))
            action = choose(game, ours, rng)
            events = game.decide(ours, seat, action)
            theirs.act(action)
            decisions += 1
        for event in events:
            ours = game.evolve(ours, event)
        if game.phase(ours) == "bid" or (draw is not None and game.to_act(ours) is not None):
            compare_hands(game, ours, theirs, players)
    assert (theirs.stage, theirs.draw(), theirs.to_act()) == ("over", None, None)
    result = game.result(ours)
    ranking, totals, steps = theirs.outcome()
    assert list(result.ranking) == ranking
    assert list(result.totals) == totals
    assert list(result.decided_by) == steps
    return decisions


def compare_chunk(name: str, chunk: int) -> int:
    """Random tables of the game until a chunk's share of `DECISIONS` is compared; how many that was."""
    rng, compared = Random(f"{name}/{chunk}"), 0
    while compared < DECISIONS / CHUNKS:
        compared += compare_game(random_table(name, rng), rng)
    return compared
