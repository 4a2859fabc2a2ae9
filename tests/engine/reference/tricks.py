"""Cards as texts, and the two rules that all these games share."""

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
