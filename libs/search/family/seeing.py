"""From a seat's view of English, Solo, Knockout or German Whist to the kernel's position (P63, P71).

Nothing but the view is read. Older tricks lie face down (W2), so that a seat knows its hand, the trick on the table,
the last one, who showed a void in these two, and the cards that lie open; all else is weighed.
"""

import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import exp
from typing import Final

from libs.engine.cards import CARD_BY_TEXT
from libs.engine.protocol import Seat, View
from libs.search.family.rollouts import FamilyRollouts
from libs.search.soundness import require_family, require_players, require_seed

CODES: Final = {text: card - 2 for text, card in CARD_BY_TEXT.items()}  # the kernel's number of each card
TEXTS: Final = {code: text for text, code in CODES.items()}
SUIT_LETTERS: Final = "CDHS"
NO_TRUMP: Final = 7
GONE, STOCK, DRAWN = 7, 8, 9  # the kernel's owners beside the seats
ROWS: Final = 10
LANE: Final = 64  # cards to a row of weights
EVEN: Final = 1024  # a card's weight where nothing is known
SEATS: Final = 7  # at most (K1)
ACE: Final = 12
LOW_RANKS: Final = 6  # two to seven: the lower, the sooner it is thrown
SIDE_FADE, TRUMP_FADE = 1.3, 0.5  # logarithm of how much rarer a two, or a side ace, is in a hand than a nine

Laid = tuple[Seat, int]
_own = threading.local()


def kernel() -> FamilyRollouts:
    """This thread's: it works without the GIL and is nobody else's meanwhile."""
    kept: FamilyRollouts | None = getattr(_own, "kernel", None)
    if kept is None:
        kept = _own.kernel = FamilyRollouts()
    return kept


def mask(texts: Sequence[str]) -> int:
    """The kernel's hand."""
    held = 0
    for text in texts:
        held |= 1 << CODES[text]
    return held


def suit_of(letter: str | None) -> int:
    """0..3, NO_TRUMP without one."""
    return NO_TRUMP if letter is None else SUIT_LETTERS.index(letter)


def laid(trick: View | None, players: int) -> list[Laid]:
    """(seat, card) in order of play."""
    if trick is None or trick["lead"] is None:
        return []
    lead, texts = trick["lead"], trick["cards"]
    order = [(lead + step) % players for step in range(players)]
    return [(seat, CODES[text]) for seat in order if (text := texts[seat]) is not None]


def voids(view: View) -> Iterator[tuple[Seat, int, bool]]:
    """(seat, suit, in the trick on the table) of each other seat that is seen not to follow."""
    players, me = view["players"], view["seat"]
    for trick, now in ((view["last_trick"], False), (view["trick"], True)):
        cards = laid(trick, players)
        for seat, card in cards[1:]:
            if card >> 4 != cards[0][1] >> 4 and seat != me:
                yield seat, cards[0][1] >> 4, now


def trump_of(view: View) -> int:
    """0..3, or NO_TRUMP."""
    return suit_of(view["trump_suit"])


def look(view: View, seed: int, *, trump: int, left: int, first: Seat | None = None) -> FamilyRollouts:
    """This thread's kernel, set to what the view shows; `left` tricks to come, `trump` 0..3 or NO_TRUMP.

    The view must be of a seat that is to act; `first` leads where it is not that seat. Valid until the thread's next
    call. Raises ValueError for a view that no table shows.
    """
    require_seed(seed)
    require_players(view)
    me, players, counts = view["seat"], view["players"], view["counts"]
    trick, taken = laid(view["trick"], players), _taken(view)
    require_family(view, trick, taken, left)
    played = {seat for seat, _ in trick}
    kept = view.get("held") or (False,) * players
    known = [0] * players
    known[me] = mask(view["hand"])
    passed = 0
    for _, card in laid(view["last_trick"], players):
        passed |= 1 << card
    prize = view.get("prize")
    if (turned := view["trump"]) is not None and prize is None:
        if view["game"] == "knockout":
            passed |= 1 << CODES[turned]
        else:  # W1: it is the dealer's until the dealer's first play
            known[view["dealer"]] |= 1 << CODES[turned]
    if (shown := view.get("open")) is not None:
        known[shown["seat"]] = mask(shown["cards"])
    starts = me if first is None else first
    order = ((starts + step) % players for step in range(players))
    ours = kernel()
    ours.look(
        me,
        known,
        counts,
        trick,
        [seat for seat in order if counts[seat] and seat not in played and not kept[seat]],
        passed,
        trump,
        taken,
        left,
        view.get("stock", 0),
        -1 if prize is None else CODES[prize],
        seed,
    )
    return ours


@lru_cache(maxsize=64)
def _kept(game_name: str, trump: int) -> tuple[int, ...]:
    """Every card's weight in a hand, against EVEN for having gone: what is cheap is thrown, and aces are cashed.

    Half as steep as calm's own games show, so that it fits players of any kind. In hands of a few cards, and where
    cards are drawn (G2), nothing was gained by it.
    """
    row = [EVEN] * LANE
    if game_name in ("english", "solo"):
        for suit in range(4):
            fade = TRUMP_FADE if suit == trump else SIDE_FADE
            for rank in range(LOW_RANKS):
                row[suit * 16 + rank] = round(EVEN * exp(-fade * (LOW_RANKS - rank) / LOW_RANKS))
            if suit != trump:
                row[suit * 16 + ACE] = round(EVEN * exp(-SIDE_FADE))
    return (*row * SEATS, *[EVEN] * (LANE * (ROWS - SEATS)))


def weights(view: View) -> list[int]:
    """What the kernel's `believe` takes, from the table alone: `_kept`, and no suit in a hand that is void."""
    table = list(_kept(view["game"], suit_of(view["trump_suit"])))
    for seat, suit, _ in voids(view):
        bar(table, seat, suit)
    return table


def bar(table: list[int], row: int, suit: int) -> None:
    """That owner holds none of the suit."""
    at = row * LANE + suit * 16
    table[at : at + 16] = [0] * 16


def _taken(view: View) -> list[int]:
    """Tricks by seat, for the kernel to add up: each side's once (English), those that count (German)."""
    taken: list[int] = view["scores"] if view["game"] == "german" else view["taken"]
    return [*taken[:2], 0, 0] if view["game"] == "english" else taken
