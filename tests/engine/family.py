"""What the tests of the games of S1 arrange with: tables, packs by hand, whole games step by step."""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from libs.engine.cards import CARDS, card_text
from libs.engine.game import GAMES
from libs.engine.protocol import Action, Event, Game, State

Table = tuple[str, int, dict[str, Any]]
TABLES: list[Table] = [
    ("english", 4, {"match": "game"}),
    ("english", 4, {"target": 7, "honours": False, "match": "game"}),
    ("english", 4, {"rubber_bonus": True}),
    ("english", 4, {"match": "game", "revokes": "club"}),
    ("solo", 4, {"hands": 4}),
    *(("knockout", players, {"dogs_life": dogs}) for players in (2, 3, 5, 7) for dogs in (False, True)),
    ("german", 2, {}),
    ("german", 2, {"count_all": True}),
]
Chooser = Callable[[Game, State], Action]


def name_of(table: Table) -> str:
    game, players, options = table
    return "-".join([game, str(players), *(f"{field}={value}" for field, value in options.items())])


def chance(rng: Random) -> Chooser:
    """Any legal move; in an auction mostly none, so that hands are played too."""

    def choose(game: Game, state: State) -> Action:
        legal = game.legal(state)
        return legal[0] if "call" in legal[0] and rng.random() < 0.6 else rng.choice(legal)

    return choose


def run(table: Table, seed: int, choose: Chooser | None = None) -> Iterator[tuple[State, Event, State]]:
    """A whole game: the state before, the event, the state after."""
    name, players, options = table
    game, rng = GAMES[name], Random(seed)
    choose = choose or chance(rng)
    state = game.new(players, options)
    while not game.over(state):
        if (draw := game.draw(state)) is not None:
            events = game.decide_draw(state, rng.sample(range(draw.size), draw.size))
        else:
            seat = game.to_act(state)
            assert seat is not None
            events = game.decide(state, seat, choose(game, state))
        for event in events:
            after = game.evolve(state, event)
            yield state, event, after
            state = after


def final(table: Table, seed: int, choose: Chooser | None = None) -> State:
    *_, (_, _, state) = run(table, seed, choose)
    return state


def order_for(hands: Sequence[str], dealer: int, then: str = "") -> list[int]:
    """The permutation that deals these hands (texts by seat, in the order they are dealt), then these cards."""
    held = [hand.split() for hand in hands]
    players = len(held)
    pack = []
    for row in range(max(map(len, held))):
        for step in range(1, players + 1):
            seat = (dealer + step) % players
            pack += held[seat][row : row + 1]
    pack += then.split()
    pack += [card_text(card) for card in CARDS if card_text(card) not in pack]
    texts = [card_text(card) for card in CARDS]
    return [texts.index(one) for one in pack]


def filled(hands: Sequence[str], size: int = 13) -> list[str]:
    """These beginnings of hands, filled up with what is left of the pack; each last card stays last."""
    held = [hand.split() for hand in hands]
    left = [card_text(card) for card in CARDS if all(card_text(card) not in hand for hand in held)]
    return [" ".join(left.pop(0) for _ in range(size - len(hand))) + " " + " ".join(hand) for hand in held]


def dealt(table: Table, hands: Sequence[str], dealer: int = 0, then: str = "") -> State:
    """A table on which exactly these hands have just been dealt, the first of their game."""
    name, players, options = table
    game = GAMES[name]
    state = game.new(players, options)
    for order in ([dealer, *(seat for seat in range(players) if seat != dealer)], order_for(hands, dealer, then)):
        for event in game.decide_draw(state, order):
            state = game.evolve(state, event)
    return state


def dog_in_trick(card: str) -> State:
    """K2: a dog that holds one card, five being still in hand opposite; spades are trumps and 3C is led."""
    hands, game = ["AC KC QC JC TC 9C 8C", "AD KD QD JD TD 9D 8D"], GAMES["knockout"]
    state = dealt(("knockout", 2, {"dogs_life": True}), hands, dealer=1, then="2C")
    for row in range(7):
        state = play("knockout", state, " ".join(cards.split()[row] for cards in hands))
    for event in game.decide_draw(state, order_for(["3C 4C 5C 6C 7C 8C", card], 0)):
        state = game.evolve(state, event)
    return play("knockout", act("knockout", state, {"trumps": "S"}), "3C")


def act(name: str, state: State, *actions: Action) -> State:
    """Each action by whoever is to act."""
    game = GAMES[name]
    for action in actions:
        seat = game.to_act(state)
        assert seat is not None
        for event in game.decide(state, seat, action):
            state = game.evolve(state, event)
    return state


def play(name: str, state: State, texts: str) -> State:
    return act(name, state, *({"play": text} for text in texts.split()))
