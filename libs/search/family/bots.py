"""Keen and sharp players of English, Solo, Knockout and German Whist (P63): each move tried on sampled deals.

They read the view and nothing else, and answer the same for the same view and seed. Where sampling tells nothing
(claims and penalties, W7) they answer as the calm player does.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from libs.engine.bots import choose as calm
from libs.engine.cards import SUITS
from libs.engine.english.deciding import HAND_SIZE
from libs.engine.protocol import Action, View
from libs.engine.solo.auction import Call
from libs.search.family import auction
from libs.search.family.rollouts import FamilyRollouts
from libs.search.family.seeing import NO_TRUMP, TEXTS, look, trump_of, voids, weights

HOLD, NAME = 64, 65  # the kernel's actions beside the cards: keep the card (K2), 65..68 name trumps
SIDES: Final = (0b0101, 0b1010)  # W1
TRICKS: Final = tuple(range(27))  # what a trick is worth where each counts alike
NAMER, DOG = 150, 30  # K1, K2: what naming trumps, and being a dog, is worth; just to live on is 100
WIN: Final = 100  # G2: what winning the deal is worth in tricks
LONG_ENOUGH: Final = 3  # cards of a suit that an abundance may name


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """How hard a player thinks: stages of (moves kept, further deals), deals to each contract that may be called (L1).

    `exact` tricks at the end are solved with all hands known, where two sides play (0..5).
    """

    plays: tuple[tuple[int, int], ...]
    calls: int
    exact: int


KEEN: Final = Thinking(plays=((14, 40), (4, 80), (2, 120)), calls=120, exact=0)
SHARP: Final = Thinking(plays=((14, 160), (5, 320), (2, 640)), calls=400, exact=2)
THINKING: Final[Mapping[str, Thinking]] = MappingProxyType({"keen": KEEN, "sharp": SHARP})


def think(view: View, thinking: Thinking, seed: int) -> Action:
    """The legal move that promises most. The view must have "legal" moves; `seed` 0..2^64-1."""
    legal: list[Action] = view["legal"]
    return legal[0] if len(legal) == 1 else FAMILY[view["game"]](view, thinking, seed)


def _english(view: View, thinking: Thinking, seed: int) -> Action:
    """For the side's tricks: every one above six is a point, and below it one of the others' (W3)."""
    if view["phase"] != "play":
        return calm("english", view)
    kernel = look(view, seed, trump=trump_of(view), left=HAND_SIZE - sum(view["taken"][:2]))
    kernel.aim(list(SIDES * 2), SIDES[view["seat"] % 2], list(TRICKS))
    kernel.believe(weights(view))
    return _card(kernel, thinking)


def _solo(view: View, thinking: Thinking, seed: int) -> Action:
    """For the contract's units (L2)."""
    if view["phase"] == "play":
        kernel = look(view, seed, trump=trump_of(view), left=HAND_SIZE - sum(view["taken"]))
        auction.aim(kernel, Call(view["bid"]), view["declarer"], view["partner"], view["seat"])
        kernel.believe(auction.beliefs(view))
        return _card(kernel, thinking)
    if "call" in view["legal"][0]:
        return {"call": auction.call(view, thinking.calls, seed).value}
    kernel = look(view, seed, trump=NO_TRUMP, left=HAND_SIZE, first=(view["dealer"] + 1) % view["players"])
    auction.aim(kernel, Call(view["bid"]), view["seat"], None, view["seat"])
    kernel.believe(auction.beliefs(view))
    return _name(kernel, thinking, [suit for suit in range(4) if _held(view, suit) >= LONG_ENOUGH])


def _knockout(view: View, thinking: Thinking, seed: int) -> Action:
    """For the own part among all who live on (K2, K3)."""
    cards, sizes, sheet = view["cards"], view["sizes"], view["score_sheet"]
    kernel = look(view, seed, trump=trump_of(view), left=cards - sum(view["taken"]))
    none_yet = all(won for row in sheet for size, won in zip(row["sizes"], row["taken"], strict=True) if size)
    kernel.survive(
        sum(1 << seat for seat, lives in enumerate(view["alive"]) if lives),
        sum(1 << seat for seat, size in enumerate(sizes) if size == 1 < cards),
        view["options"]["dogs_life"] and none_yet and cards > 1,
        NAMER,
        DOG,
    )
    kernel.believe(weights(view))
    if view["phase"] == "name":
        return _name(kernel, thinking, list(range(4)))
    if {"hold": True} not in view["legal"]:
        return _card(kernel, thinking)
    best = _best(kernel, [*kernel.cards(), HOLD], thinking)
    hopeless = not any(kernel.earned())  # then the card is kept: it costs nothing, and the others may err
    return {"hold": True} if best == HOLD or hopeless else {"play": TEXTS[best]}


def _german(view: View, thinking: Thinking, seed: int) -> Action:
    """To win the deal (G2), and for tricks that count."""
    done, count_all = sum(view["taken"]), view["options"]["count_all"]
    tricks = 4 * HAND_SIZE // 2
    kernel = look(view, seed, trump=trump_of(view), left=tricks - done)
    half = (tricks if count_all else HAND_SIZE) // 2
    kernel.aim(
        [0b01, 0b10], 1 << view["seat"], [won + (WIN if won > half else 0) for won in TRICKS], count_all=count_all
    )
    # Who was void in a finished trick has drawn since while the stock lasted: one card of the hand may be anything.
    drawn = done <= HAND_SIZE and any(not now for _, _, now in voids(view))
    kernel.believe(weights(view), drawn)
    return _card(kernel, thinking)


FAMILY: Final[Mapping[str, Callable[[View, Thinking, int], Action]]] = MappingProxyType(
    {"english": _english, "solo": _solo, "knockout": _knockout, "german": _german}
)


def _held(view: View, suit: int) -> int:
    return sum(card[-1] == SUITS[suit] for card in view["hand"])


def _card(kernel: FamilyRollouts, thinking: Thinking) -> Action:
    return {"play": TEXTS[_best(kernel, kernel.cards(), thinking)]}


def _name(kernel: FamilyRollouts, thinking: Thinking, suits: Sequence[int]) -> Action:
    return {"trumps": SUITS[_best(kernel, [NAME + suit for suit in suits], thinking) - NAME].value}


def _best(kernel: FamilyRollouts, actions: list[int], thinking: Thinking) -> int:
    if len(actions) == 1:
        return actions[0]
    (_, deals), *later = thinking.plays
    kernel.attempt(actions, deals, thinking.exact)
    for keep, more in later:
        actions = kernel.narrow(keep, more, thinking.exact)
    earned = kernel.earned()
    return actions[max(range(len(earned)), key=earned.__getitem__)]
