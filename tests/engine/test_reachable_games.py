"""What holds in every game, at random tables: it ends, cards and tricks add up, replay is the state."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from libs.engine.cards import hand_texts
from libs.engine.game import GAMES
from libs.engine.protocol import Action, Event, Game, State
from libs.engine.replay import fold, fold_from_checkpoint
from tests.engine.comparison import choose, random_table
from tests.engine.family import Table, run

every_game = pytest.mark.parametrize("name", GAMES)
TABLES_EACH = 12
AUCTION_MAX = 4 + 7 + 1 + 1 + 1  # Solo: passes, bids, an acceptance, the dealer's left asked again (L3), trumps named
STOPS_EARLY = {None, "misere", "open_misere", "abundance_declared"}  # L3: thrown in; L4: decided
Step = tuple[State, Event, State]


def played(name: str) -> Iterator[tuple[Table, list[Step]]]:
    """Whole games at random tables."""
    rng = Random(f"reachable/{name}")

    def any_move(game: Game, state: State) -> Action:
        return choose(game, state, rng)

    for seed in range(TABLES_EACH):
        table = random_table(name, rng)
        yield table, list(run(table, seed, any_move))


def longest(table: Table) -> int:
    """Decisions that the rules allow at most."""
    name, players, options = table
    match name:
        case "romanian" if options["mode"] == "quick":  # R2: at most, when the two is left out
            return 246 - 6 * 2
        case "romanian":
            eights, ones = {"8-1-8": (2, 1), "8-8-8": (3, 0), "1-8-1": (1, 2)}[options["mode"]]
            return int(players * (9 * eights * players + 2 * ones * players + 2 * sum(range(3, 9))))
        case "english":  # one side scores in every hand without a revoke
            return 52 * (2 * int(options["target"]) - 1) * (3 if options["match"] == "rubber" else 1)
        case "solo":
            return int(options["hands"]) * (AUCTION_MAX + 52)
        case "knockout":  # a dog may keep its card at each turn
            return sum(1 + 2 * players * size for size in range(1, 8))
        case _:
            return 52


@every_game
def test_r2_w5_l4_k3_g2_every_game_ends(name: str) -> None:
    game = GAMES[name]
    for table, steps in played(name):
        state = steps[-1][2]
        assert game.over(state) and game.phase(state) == "over"
        assert (game.draw(state), game.to_act(state), game.legal(state)) == (None, None, ())
        # In a club, players who revoke in every hand could go on for ever: voids and penalties bring nobody nearer.
        if table[2].get("revokes") != "club":
            assert 0 < game.turn(state) <= longest(table)


def hands(state: State) -> list[set[str]]:
    current = getattr(state, "play", None) or state.round
    return [set(hand_texts(hand)) for hand in current.hands]


@every_game
def test_r6_w2_l4_k2_g2_each_card_is_played_once_by_who_holds_it_and_every_trick_is_somebodys(name: str) -> None:
    game, ended = GAMES[name], 0
    for _, steps in played(name):
        cards: list[str] = []
        tricks = 0
        for before, event, after in steps:
            move, told = game.decision(event), game.project(event, None) or {}
            assert game.turn(after) == game.turn(before) + (move is not None)
            if game.checkpoint(event) is not None:
                assert sum(map(len, hands(after))) == len(set().union(*hands(after))), "dealt once"
                cards, tricks = [], 0
            elif move is not None and "play" in move[1]:
                seat, card = move[0], move[1]["play"]
                assert hands(after)[seat] == hands(before)[seat] - {card} != hands(before)[seat]
                cards.append(card)
            elif told["k"] == "trick":
                tricks += 1
                current = getattr(after, "play", None) or after.round
                assert sum(current.taken) == tricks
            elif told["k"] == "scored" or (name == "german" and game.over(after)):
                ended += 1
                view = game.view(after, None)
                assert len(cards) == len(set(cards))
                if name == "solo" and view["score_sheet"][-1]["bid"] in STOPS_EARLY:
                    assert tricks <= 13
                else:
                    assert not any(hands(after))
                    assert tricks == (26 if name == "german" else view["cards"])
    assert ended >= TABLES_EACH


def test_r5_r6_bids_never_come_out_and_tricks_always_do() -> None:
    for _, steps in played("romanian"):
        for scored in steps[-1][2].sheet:
            assert sum(scored.taken) == scored.cards != sum(scored.bids)
            assert all(0 <= bid <= scored.cards for bid in scored.bids)


def written(plain: list[Any]) -> list[Any]:
    """As a journal keeps it."""
    read: list[Any] = json.loads(json.dumps(plain))
    return read


@every_game
def test_replay_of_what_was_written_is_the_state(name: str) -> None:
    game = GAMES[name]
    for (_, players, options), steps in played(name):
        state, events = game.new(players, options), []
        for at, (_, event, after) in enumerate(steps):
            loaded = game.load_event(written(game.dump_event(event)), game.rules_version)
            assert loaded == event
            events.append(loaded)
            state = game.evolve(state, loaded)
            assert state == after
            alone = game.checkpoint(event)
            assert alone is None or alone == after
            if at % 29 == 0 or game.over(after):
                assert game.load_state(written(game.dump_state(after)), game.rules_version) == after
        assert fold(game, game.new(players, options), events) == state
        assert fold_from_checkpoint(game, events) == state
