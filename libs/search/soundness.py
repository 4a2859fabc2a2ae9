"""What the kernels rest on, asked before they start: they are machine code that looks no index up twice.

A view of the engine's own holds all of it. One that came from elsewhere may not, and a seat with a card too many would
send a kernel out of its arrays or round in circles.
"""

from collections.abc import Sequence
from typing import Final

from libs.engine.protocol import Seat, View

SEED_END: Final = 2**64
FULL: Final = 8  # cards a player with which the whole pack is dealt: no trump (R4)
FAMILY_TRICKS: Final = 26  # at most in one deal (G2)


def require(holds: bool, problem: str) -> None:
    """Raises ValueError."""
    if not holds:
        raise ValueError(f"no table shows such a view: {problem}")


def require_seed(seed: int) -> None:
    """Raises ValueError beyond 0..2^64-1."""
    if not 0 <= seed < SEED_END:
        raise ValueError(f"a seed of {seed.bit_length()} bits or below 0; 0..2^64-1 is due")


def require_romanian(view: View, bids: Sequence[int], plays: Sequence[int], hand: int, turned: int) -> None:
    """A seat to act with as many cards as it must have, every card once, all bids in before the first card (R4-R6).

    `bids` by seat (-1: not yet); `plays` in order and `turned` (-1: none) are the kernel's cards, `hand` its mask.
    Raises ValueError.
    """
    players, cards, seat, dealer = view["players"], view["cards"], view["seat"], view["dealer"]
    require(0 <= seat < players and 0 <= dealer < players, "a seat that is not there")
    require(len(bids) == players and min(bids) >= -1 and max(bids) <= cards, "bids out of range")
    require((turned < 0) == (cards == FULL), "a card is turned in every round but those of eight")
    seen = hand | (0 if turned < 0 else 1 << turned)
    for card in plays:
        seen |= 1 << card
    held = len(view["hand"])
    require(seen.bit_count() == held + len(plays) + (turned >= 0), "a card is seen twice")
    require(held == cards - len(plays) // players, "a hand of another size")
    if view["phase"] == "bid":
        require(bids[seat] < 0 and not plays, "this seat has bid")
    else:
        require(min(bids) >= 0, "a bid is missing")
        require(held > 0 and to_play(players, dealer, plays, 7 if turned < 0 else turned >> 4) == seat, "not its turn")


def to_play(players: int, dealer: Seat, plays: Sequence[int], trump: int) -> Seat:
    """Whose turn it is after these cards, from the dealer's left on (R6). `trump` 0..3, 7 for none."""
    lead = (dealer + 1) % players
    tricks, rest = divmod(len(plays), players)
    for first in range(0, tricks * players, players):
        best = first
        for at in range(first + 1, first + players):
            card, highest = plays[at], plays[best]
            if (card >> 4 == highest >> 4 and card > highest) or (card >> 4 == trump != highest >> 4):
                best = at
        lead = (lead + best - first) % players
    return (lead + rest) % players


def require_players(view: View) -> None:
    """As many as the game of 52 cards is for. Raises ValueError."""
    allowed = {"german": (2,), "knockout": range(2, 8)}.get(view["game"], (4,))
    require(view["players"] in allowed, "another number of players")


def require_family(view: View, trick: Sequence[tuple[Seat, int]], taken: Sequence[int], left: int) -> None:
    """Hands that last for the `left` tricks to come, the seat's own turn, no card twice, every seat one of the table.

    `trick` has (seat, card) on the table, `taken` tricks by seat as the kernel counts them. Raises ValueError.
    """
    players, seat, counts, hand = view["players"], view["seat"], view["counts"], view["hand"]
    require(0 <= seat < players and 0 <= view["dealer"] < players, "a seat that is not there")
    require(len(counts) == players == len(view["trick"]["cards"]), "an entry for each seat is due")
    require(len(taken) >= players and min(taken) >= 0 and left > 0, "tricks out of range")
    require(sum(taken) + left <= FAMILY_TRICKS, "more tricks than a deal has")
    require(len(hand) == counts[seat] == len(set(hand)) > 0, "a hand of another size")
    laid = {one for one, _ in trick}
    require(seat not in laid and view["trick"]["cards"][seat] is None, "this seat has played")
    knockout = view["game"] == "knockout"
    lasting = left - view.get("stock", 0) // 2  # G2: a card is drawn after each trick while the stock lasts
    for one, count in enumerate(counts):
        size = count + (one in laid)
        # K2: who is out has no card, a dog one.
        require(size == lasting or (knockout and 0 <= size < 2), "hands and tricks do not add up")
