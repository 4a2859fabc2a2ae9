"""Cards as texts, and what all these games share: following suit, who wins a trick, dealing, ranking by steps."""

from itertools import pairwise

RANKS = "23456789TJQKA"
PACK = [rank + suit for suit in "CDHS" for rank in RANKS]
Laid = list[tuple[int, str]]


def legal_cards(hand: list[str], trick: Laid) -> list[str]:
    """Follow suit if able; else any card."""
    if not trick:
        return list(hand)
    led = trick[0][1][1]
    able = [card for card in hand if card[1] == led]
    return able or list(hand)


def trick_winner(trick: Laid, trump: str | None) -> int:
    """Highest trump, else highest of the suit led."""
    trumps = [one for one in trick if one[1][1] == trump]
    led = [one for one in trick if one[1][1] == trick[0][1][1]]
    return max(trumps or led, key=lambda one: RANKS.index(one[1][0]))[0]


def deal(order: list[int], dealer: int, seats: list[int], sizes: list[int]) -> tuple[list[list[str]], list[str]]:
    """One at a time, clockwise from the dealer's left, to those who still want one."""
    pack = [PACK[index] for index in order]
    hands: list[list[str]] = [[] for _ in sizes]
    around = sorted(seats, key=lambda seat: (seat - dealer - 1) % len(sizes))
    while any(len(hands[seat]) < sizes[seat] for seat in seats):
        for seat in around:
            if len(hands[seat]) < sizes[seat]:
                hands[seat].append(pack.pop(0))
    return hands, pack


def ranked(steps: list[tuple[int, ...]]) -> tuple[list[int], list[int]]:
    """Seats from best to last by what each has at each step, less is better, and the steps that part neighbours."""
    ranking = sorted(range(len(steps)), key=lambda seat: steps[seat])
    parted = []
    for better, worse in pairwise(ranking):
        step = 0
        while steps[better][step] == steps[worse][step]:
            step += 1
        parted.append(step + 1)
    return ranking, parted
