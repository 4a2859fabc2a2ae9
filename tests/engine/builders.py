"""What the engine's tests arrange with: games, deals by hand, and players that choose by number."""

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any

from libs.engine.cards import Card, deck, parse_card
from libs.engine.game import GAMES
from libs.engine.protocol import Action, Event, State
from libs.engine.romanian.dealing import deal
from libs.engine.romanian.options import parse_options
from libs.engine.romanian.schedule import dealer_of
from libs.engine.romanian.scoring import points
from libs.engine.romanian.state import ScoredRound, Setup, Sheet
from libs.engine.romanian.state import State as RomanianState

GAME = GAMES["romanian"]
TABLES = [
    *((mode, players) for mode in ("8-1-8", "8-8-8", "1-8-1") for players in (4, 5, 6)),
    ("quick", 6),
]
Chooser = Callable[[State], Action]


def cards(text: str) -> list[Card]:
    return [parse_card(one) for one in text.split()]


def pack_for(hands: Sequence[str], dealer: int, turn_up: str | None) -> list[Card]:
    """A pack, in dealing order, that gives these hands (texts by seat) and turns up that card."""
    players = len(hands)
    held = [cards(hand) for hand in hands]
    pack = [held[(dealer + 1 + at) % players][at // players] for at in range(players * len(held[0]))]
    pack += [] if turn_up is None else [parse_card(turn_up)]
    return pack + [one for one in deck(players) if one not in pack]


def dealt(hands: Sequence[str], *, dealer: int = 0, turn_up: str | None = None) -> RomanianState:
    """A table on which exactly this round has just been dealt, the first of its game."""
    return dealt_from(len(hands), len(hands[0].split()), dealer, pack_for(hands, dealer, turn_up))


def dealt_from(players: int, size: int, dealer: int, pack: Sequence[Card]) -> RomanianState:
    """The same, `size` cards a player, of a pack in dealing order."""
    setup = Setup(
        players=players,
        options=parse_options(players, {"mode": "8-1-8"}),
        first_dealer=dealer,
        sizes=(size, size),
    )
    before = RomanianState(setup=setup, sheet=(), round=None, turn=0, ranking=None)
    after = GAME.evolve(before, deal(before, pack))
    assert isinstance(after, RomanianState)
    return after


def act(state: State, *actions: Action) -> State:
    """Each action by whoever is to act."""
    for action in actions:
        seat = GAME.to_act(state)
        assert seat is not None
        for event in GAME.decide(state, seat, action):
            state = GAME.evolve(state, event)
    return state


def bid(state: State, *bids: int) -> State:
    return act(state, *({"bid": one} for one in bids))


def play(state: State, *texts: str) -> State:
    return act(state, *({"play": one} for one in texts))


def chance(rng: Random) -> Chooser:
    """Any legal move."""
    return lambda state: rng.choice(GAME.legal(state))


def run(
    mode: str, players: int, seed: int, choose: Chooser | None = None, **options: object
) -> Iterable[tuple[State, Event, State]]:
    """A whole game, step by step: the state before, the event, the state after."""
    rng = Random(seed)
    choose = choose or chance(rng)
    state = GAME.new(players, {"mode": mode, **options})
    while not GAME.over(state):
        if (draw := GAME.draw(state)) is not None:
            events = GAME.decide_draw(state, rng.sample(range(draw.size), draw.size))
        else:
            seat = GAME.to_act(state)
            assert seat is not None
            events = GAME.decide(state, seat, choose(state))
        for event in events:
            after = GAME.evolve(state, event)
            yield state, event, after
            state = after


def final(mode: str, players: int, seed: int, choose: Chooser | None = None) -> State:
    *_, (_, _, state) = run(mode, players, seed, choose)
    return state


def sheet_of(rounds: Sequence[Sequence[Any]], players: int) -> Sheet:
    """A score sheet of (cards, bids, taken) rounds, scored by R7."""
    totals = [0] * players
    sheet = []
    for index, (size, bids, taken) in enumerate(rounds):
        scores = [points(one, won) for one, won in zip(bids, taken, strict=True)]
        totals = [before + new for before, new in zip(totals, scores, strict=True)]
        sheet.append(
            ScoredRound(
                cards=size,
                dealer=dealer_of(index, 0, players),
                turn_up=None,
                bids=tuple(bids),
                taken=tuple(taken),
                scores=tuple(scores),
                totals=tuple(totals),
            )
        )
    return tuple(sheet)
