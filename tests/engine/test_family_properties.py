"""What holds in every game of S1, on random ones: counts, replay, checkpoints, clients' memories, secrets."""

import copy
import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from libs.engine.cards import CARDS, Card, card_text, cards_in, hand_of
from libs.engine.errors import RuleViolation
from libs.engine.follow import follow
from libs.engine.game import GAMES
from libs.engine.protocol import OwnBy
from tests.engine.family import TABLES, Table, name_of, run

every_table = pytest.mark.parametrize("table", TABLES, ids=name_of)
GAMES_HERE = ("english", "solo", "knockout", "german")


@every_table
def test_following_the_events_gives_exactly_the_view(table: Table) -> None:
    name, players, options = table
    game, observers = GAMES[name], [None, *range(players)]
    start = game.new(players, options)
    views = {observer: game.view(start, observer) for observer in observers}
    for at, (_, event, after) in enumerate(run(table, seed=5)):
        for observer in observers:
            told = game.project(event, observer)
            assert told is not None
            kept = copy.deepcopy(views[observer]) if at % 16 == 0 else None
            followed = follow(views[observer], told)
            assert kept is None or views[observer] == kept, "the given view is left alone"
            views[observer] = followed
            assert followed == game.view(after, observer)
            assert game.is_private(event) or told == game.project(event, None)
    assert json.loads(json.dumps(views[0])) == views[0]


def shown_cards(state: Any, observer: int | None) -> set[Card]:
    """Every card that the rules show the observer at this moment, worked out from the state, not from the view."""
    play, seen = state.play, set()
    for laid in (play.trick, play.last.laid if play.last else ()):
        seen |= {one.card for one in laid}
    if observer is not None:
        seen |= {card for card in CARDS if play.hands[observer] >> card & 1}
    if hasattr(state, "stock"):
        seen |= set(state.stock[:1])
    elif state.deal.turn_up is not None:
        dealer_has_all = play.hands[state.deal.dealer].bit_count() == 13
        if dealer_has_all or hasattr(state, "held"):
            seen.add(state.deal.turn_up)
    if getattr(state, "opened", False):
        seen |= {card for card in CARDS if play.hands[state.auction.declarer] >> card & 1}
    return seen


def swap_hidden(state: Any, observer: int | None, rng: Random) -> Any:
    """The same table with all that is hidden from the observer otherwise: cards, honours, revokes."""
    seen = shown_cards(state, observer)
    pool = [card for card in CARDS if card not in seen]
    rng.shuffle(pool)
    hands = []
    for hand in state.play.hands:
        kept = [card for card in CARDS if hand >> card & 1 and card in seen]
        hands.append(hand_of(kept + [pool.pop() for _ in range(hand.bit_count() - len(kept))]))
    other = state._replace(play=state.play._replace(hands=tuple(hands)))
    if hasattr(state, "stock"):
        other = other._replace(stock=(*state.stock[:1], *(pool.pop() for _ in state.stock[1:])))
    if hasattr(state, "revoked"):
        honours = state.deal.honours
        other = other._replace(
            deal=state.deal._replace(honours=type(honours)(honours.one, honours.zero)),
            revoked=tuple(not one for one in state.revoked),
        )
    return other


def told_otherwise(event: Any, other: Any, observer: int | None) -> Any:
    """The private event, had what is hidden from the observer been as at the other table."""
    if hasattr(event, "state"):
        return replace(event, state=other)
    loser = 1 - event.winner  # G2: what the loser draws
    return event if observer == loser else replace(event, unseen=cards_in(other.play.hands[loser])[0])


@every_table
def test_p71_nothing_shown_depends_on_what_is_hidden(table: Table) -> None:
    """No byte of any view or event, of any observer, after any event."""
    name, players, _ = table
    game, rng, changed = GAMES[name], Random(6), 0
    for _, event, after in run(table, seed=6):
        if after.play is None:
            continue
        for observer in (None, *range(players)):
            other = swap_hidden(after, observer, rng)
            changed += other != after
            assert json.dumps(game.view(other, observer)) == json.dumps(game.view(after, observer))
            if game.is_private(event):
                told = json.dumps(game.project(event, observer))
                assert json.dumps(game.project(told_otherwise(event, other, observer), observer)) == told
    assert changed > 20, "something was hidden"


@every_table
def test_p71_a_live_view_names_only_cards_that_the_rules_show(table: Table) -> None:
    name, players, _ = table
    game = GAMES[name]
    texts = {card_text(card): card for card in CARDS}
    for at, (_, _, after) in enumerate(run(table, seed=7)):
        if after.play is None or at % 3:
            continue
        for observer in (None, *range(players)):
            shown = game.view(after, observer)
            named = {texts[one] for one in json.dumps(shown).split('"') if one in texts}
            # What a finished hand's rows and options hold are no cards; a void or thrown-in hand still lies there.
            assert named <= shown_cards(after, observer)


def test_w2_the_last_trick_is_shown_until_the_next_lead_and_older_ones_never() -> None:
    game = GAMES["english"]
    for before, event, after in run(TABLES[0], seed=8):
        told = game.project(event, None)
        assert told is not None
        if told["k"] == "trick":
            last = game.view(after, 1)["last_trick"]
            assert sorted(last["cards"]) == sorted(card_text(one.card) for one in before.play.trick)
        if told["k"] == "play":
            assert game.view(after, 1)["last_trick"] is None


def test_g2_what_a_loser_draws_is_told_to_that_seat_alone() -> None:
    game, drawn = GAMES["german"], 0
    for _, event, after in run(("german", 2, {}), seed=2):
        told = {observer: game.project(event, observer) for observer in (None, 0, 1)}
        if game.dump_event(event)[0] != "stock":
            continue
        loser = 1 - event.winner
        assert game.is_private(event)
        assert told[loser] == (told[None] or {}) | {"card": card_text(event.unseen)}
        assert told[event.winner] == told[None]
        assert card_text(event.unseen) not in json.dumps(game.view(after, event.winner))
        drawn += 1
    assert drawn == 13


EVERYTHING: list[dict[str, Any]] = [
    *({"play": card_text(card)} for card in CARDS),
    *({"trumps": suit} for suit in "CDHSN"),
    *({"call": call} for call in ("pass", "acceptance", "proposal", "solo", "misere", "abundance", "royal_abundance")),
    *({"call": call} for call in ("open_misere", "abundance_declared", "PASS")),
    *({"claim": claim} for claim in (True, False, 1, "true")),
    *({"penalty": penalty} for penalty in ("points", "tricks", True)),
    *({"hold": hold} for hold in (True, False, 1)),
    {"bid": 0},
]


@every_table
def test_legal_is_exactly_what_decide_accepts(table: Table) -> None:
    game = GAMES[table[0]]
    for at, (state, _, _) in enumerate(run(table, seed=10)):
        seat = game.to_act(state)
        if seat is None or at % 11:
            continue
        accepted = []
        for action in EVERYTHING:
            try:
                events = game.decide(state, seat, action)
            except RuleViolation:
                continue
            accepted.append(action)
            assert game.decision(events[0]) == (seat, action)
        assert sorted(map(str, accepted)) == sorted(map(str, game.legal(state)))


@every_table
def test_the_result_has_what_prizes_and_experience_need(table: Table) -> None:
    game = GAMES[table[0]]
    *_, (_, _, state) = run(table, seed=11)
    result = game.result(state)
    assert sorted(result.ranking) == list(range(table[1]))
    assert result.place(result.ranking[0]) == 1
    assert len(result.decided_by) == table[1] - 1
    assert all(step >= 1 for step in result.decided_by)
    assert json.loads(json.dumps(result.dump()))["totals"] == list(result.totals)
    for seat in range(table[1]):
        assert result.rounds_played(seat) >= 1
        assert all((fact.bid is None) == (game.own_by is OwnBy.CARDS) for fact in result.seats[seat])


@pytest.mark.parametrize("name", GAMES_HERE)
def test_a_game_that_is_not_over_has_no_result(name: str) -> None:
    players = 2 if name == "german" else 4
    with pytest.raises(ValueError, match="not over"):
        GAMES[name].result(GAMES[name].new(players, {}))


@pytest.mark.parametrize("name", GAMES_HERE)
@pytest.mark.parametrize(
    "data", [[], ["played", 1], ["play", 1], ["play", 1, "2Z"], ["play", "1", "2C"], [1], ["play"]]
)
def test_what_no_version_wrote_is_not_read(name: str, data: list[object]) -> None:
    with pytest.raises(ValueError):
        GAMES[name].load_event(data, 1)


@pytest.mark.parametrize("name", GAMES_HERE)
def test_a_view_does_not_follow_what_it_does_not_know(name: str) -> None:
    game = GAMES[name]
    with pytest.raises(ValueError, match="unknown event"):
        follow(game.view(game.new(2 if name == "german" else 4, {}), None), {"k": "barred"})


@pytest.mark.parametrize("name", GAMES_HERE)
def test_only_the_permutation_asked_for_is_taken(name: str) -> None:
    game = GAMES[name]
    for order in ([], [0, 0], list(range(9))):
        with pytest.raises(ValueError, match="permutation"):
            game.decide_draw(game.new(2 if name == "german" else 4, {}), order)


@pytest.mark.parametrize(
    ("name", "players", "options", "field"),
    [
        ("english", 3, {}, "players"),
        ("english", True, {}, "players"),
        ("english", 4, {"target": 6}, "target"),
        ("english", 4, {"target": True}, "target"),
        ("english", 4, {"honours": 1}, "honours"),
        ("english", 4, {"honors": True}, "honors"),
        ("english", 4, {"match": "game", "rubber_bonus": True}, "rubber_bonus"),
        ("english", 4, {"revokes": "forgiven"}, "revokes"),
        ("english", 4, {"revokes": ["club"]}, "revokes"),
        ("english", 4, None, "options"),
        ("solo", 5, {}, "players"),
        ("solo", 4, {"hands": 3}, "hands"),
        ("knockout", 1, {}, "players"),
        ("knockout", 8, {}, "players"),
        ("knockout", 4, {"dogs_life": None}, "dogs_life"),
        ("german", 4, {}, "players"),
        ("german", 2, {"count_all": "yes"}, "count_all"),
    ],
)
def test_refused_options_name_the_field(name: str, players: Any, options: Any, field: str) -> None:
    with pytest.raises(RuleViolation) as refused:
        GAMES[name].new(players, options)
    assert refused.value.reason == "BAD_OPTIONS"
    assert refused.value.facts["field"] == field


@every_table
def test_options_in_a_view_open_the_same_table(table: Table) -> None:
    name, players, options = table
    state = GAMES[name].new(players, options)
    assert GAMES[name].new(players, GAMES[name].view(state, None)["options"]) == state


@pytest.mark.parametrize("name", GAMES_HERE)
def test_a_journal_of_rules_version_1_reads_as_it_did(name: str) -> None:
    """Written once, never again: what `evolve` must read for ever."""
    golden = json.loads((Path(__file__).parent / "golden" / f"{name}_v1.json").read_text())
    game = GAMES[name]
    state = game.new(golden["players"], golden["options"])
    for data in golden["events"]:
        event = game.load_event(data, 1)
        assert game.dump_event(event) == data
        state = game.evolve(state, event)
    assert game.result(state).dump() == golden["result"]
    assert game.dump_state(state) == golden["state"]
