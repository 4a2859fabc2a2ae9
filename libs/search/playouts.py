# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Whole rounds of Romanian Whist played at random, and one round played a step at a time.

One source, two lives (Cython's pure-Python mode): compiled it deals, bids and plays tens of millions of moves a
second without the GIL; uncompiled it is the same program to be read and to run where no compiler was.

Cards here are `suit << 4 | rank`, ranks counted from the lowest of the pack: the engine's card less its lowest
rank. A hand in `RandomRounds` is eight slots; which of them hold a suit is a byte, so that "follow, else trump,
else anything" is three bytes and a uniform choice is one look into a table of 2 KB. `SteppedRound` keeps hands as
the engine does, one bit a card.
"""

from typing import Any

import cython

CHOOSE = cython.declare(cython.uchar[2048])  # [slots << 3 | k]: the k-th slot of the set, from the lowest
COUNT = cython.declare(cython.uchar[256])  # how many slots are in the set
MULTIPLIER = cython.declare(cython.ulonglong, 6364136223846793005)  # Knuth's, as in MMIX
INCREMENT = cython.declare(cython.ulonglong, 1442695040888963407)
BIT = cython.declare(cython.ulonglong, 1)
SUIT = cython.declare(cython.ulonglong, 0xFFFF)
if not cython.compiled:
    CHOOSE = [0] * 2048
    COUNT = [0] * 256


@cython.cfunc
def _fill_tables() -> cython.void:
    slots: cython.int
    slot: cython.int
    k: cython.int
    for slots in range(256):
        k = 0
        for slot in range(8):
            if slots >> slot & 1:
                CHOOSE[slots << 3 | k] = slot
                k += 1
        COUNT[slots] = k


_fill_tables()


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _wrapped(value: cython.ulonglong) -> cython.ulonglong:
    """A product or sum modulo 2^64; C wraps by itself."""
    if not cython.compiled:
        return value & 0xFFFFFFFFFFFFFFFF
    return value


@cython.cfunc
def _seeded(seed: cython.ulonglong) -> cython.ulonglong:
    """Splits neighbouring seeds apart."""
    mixed: cython.ulonglong = _wrapped((seed ^ seed >> 33) * MULTIPLIER + INCREMENT)
    mixed = _wrapped((mixed ^ mixed >> 29) * MULTIPLIER)
    return mixed ^ mixed >> 32


def compiled() -> bool:
    """Whether this is the machine-code build; False: the readable twin, some hundred times slower."""
    return bool(cython.compiled)


@cython.final
@cython.cclass
class RandomRounds:
    """Deals, bids and plays rounds of one size (R1, R4-R7) with uniformly random legal moves.

    `players` 4..6, `cards` 1..8, `seed` 0..2^64-1; equal seeds give equal rounds, compiled or not. Raises ValueError
    outside these. One instance is one stream of rounds and belongs to one thread at a time.
    """

    players = cython.declare(cython.int)
    cards = cython.declare(cython.int)
    state = cython.declare(cython.ulonglong)
    moves = cython.declare(cython.longlong)
    trump = cython.declare(cython.int)
    turned = cython.declare(cython.int)
    pack = cython.declare(cython.uchar[48])
    held = cython.declare(cython.uchar[48])  # [position << 3 | slot]: card
    suits = cython.declare(cython.uchar[32])  # [position << 2 | suit]: slots
    bids = cython.declare(cython.int[6])
    taken = cython.declare(cython.int[6])
    played = cython.declare(cython.uchar[48])
    totals = cython.declare(cython.longlong[6])

    def __init__(self, players: cython.int, cards: cython.int, seed: cython.ulonglong) -> None:
        if not (4 <= players <= 6 and 1 <= cards <= 8):
            raise ValueError(f"no round of {cards} cards for {players} players")
        if not cython.compiled:
            self.pack, self.held, self.played = [0] * 48, [0] * 48, [0] * 48
            self.suits = [0] * 32
            self.bids, self.taken, self.totals = [0] * 6, [0] * 6, [0] * 6
        self.players = players
        self.cards = cards
        self.state = _seeded(seed)
        self.moves = 0
        card: cython.int
        for card in range(8 * players):
            self.pack[card] = card // (2 * players) << 4 | card % (2 * players)

    def run(self, rounds: cython.longlong) -> int:
        """Play so many rounds without the GIL; the moves made, bids and cards alike."""
        before: cython.longlong = self.moves
        _played: cython.longlong
        with cython.nogil:
            for _played in range(rounds):
                self._round()
        return self.moves - before

    def last(self) -> dict[str, Any]:
        """The newest round: positions count from the dealer's left, so the dealer is the last of them.

        "dealt" in dealing order, "turned" (None with eight cards), "bids", "plays" in order of play, "taken".
        """
        players: cython.int = self.players
        dealt: cython.int = players * self.cards
        return {
            "dealt": [self.held[(at % players) << 3 | at // players] for at in range(dealt)],
            "turned": None if self.turned < 0 else self.turned,
            "bids": [self.bids[at] for at in range(players)],
            "plays": [self.played[at] for at in range(dealt)],
            "taken": [self.taken[at] for at in range(players)],
        }

    def points(self) -> list[int]:
        """Points by position over all rounds so far (R7)."""
        return [self.totals[at] for at in range(self.players)]

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _below(self, size: cython.ulonglong) -> cython.uint:
        """0..size-1 from a 64-bit congruential generator's high half, folded; the bias is below size / 2^32."""
        state: cython.ulonglong = self.state
        self.state = _wrapped(state * MULTIPLIER + INCREMENT)
        return (((state ^ (state >> 18)) >> 32) * size) >> 32

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _round(self) -> cython.void:
        self._deal()
        self._bid()
        self._play()
        position: cython.int
        for position in range(self.players):
            if self.bids[position] == self.taken[position]:
                self.totals[position] += 5 + self.bids[position]
            else:
                self.totals[position] -= abs(self.bids[position] - self.taken[position])
        self.moves += self.players * (self.cards + 1)

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _deal(self) -> cython.void:
        """A Fisher-Yates shuffle of as much of the pack as is dealt, one card at a time from the dealer's left."""
        size: cython.int = 8 * self.players
        at: cython.int = 0
        other: cython.int
        slot: cython.int
        position: cython.int
        card: cython.int
        for position in range(32):
            self.suits[position] = 0
        for slot in range(self.cards):
            for position in range(self.players):
                other = at + self._below(size - at)
                card = self.pack[other]
                self.pack[other] = self.pack[at]
                self.pack[at] = card
                self.held[position << 3 | slot] = card
                self.suits[position << 2 | card >> 4] |= 1 << slot
                at += 1
        self.turned = -1
        self.trump = 7
        if at < size:
            self.turned = self.pack[at + self._below(size - at)]
            self.trump = self.turned >> 4

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _bid(self) -> cython.void:
        cards: cython.int = self.cards
        last: cython.int = self.players - 1
        rest: cython.int = cards
        bid: cython.int
        position: cython.int
        for position in range(last):
            bid = self._below(cards + 1)
            self.bids[position] = bid
            rest -= bid
        if rest < 0:
            self.bids[last] = self._below(cards + 1)
        else:
            bid = self._below(cards)  # 0..cards without the barred one (R5)
            self.bids[last] = bid + (bid >= rest)

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _play(self) -> cython.void:
        players: cython.int = self.players
        trump: cython.int = self.trump
        live: cython.uchar[8]
        _trick: cython.int
        turn: cython.int
        position: cython.int
        slots: cython.uint
        own: cython.uint
        slot: cython.uint
        card: cython.int
        led: cython.int
        lead: cython.int = 0
        best: cython.int
        value: cython.int
        at: cython.int = 0
        if not cython.compiled:
            live = [0] * 8
        for position in range(players):
            self.taken[position] = 0
            live[position] = (1 << self.cards) - 1
        for _trick in range(self.cards):
            best = 0
            led = 0
            position = lead
            for turn in range(players):
                slots = live[position]
                if turn:
                    # trump is 7 without one: a byte of the next position's or of the spare ones, never used
                    own = self.suits[position << 2 | (trump & 3)]
                    if trump > 3:
                        own = 0
                    slots = own if own else slots
                    own = self.suits[position << 2 | led]
                    slots = own if own else slots
                slot = CHOOSE[slots << 3 | self._below(COUNT[slots])]
                card = self.held[position << 3 | slot]
                if turn == 0:
                    led = card >> 4
                live[position] ^= 1 << slot
                self.suits[position << 2 | card >> 4] ^= 1 << slot
                value = (card & 15) + 16 * (card >> 4 == led) + 32 * (card >> 4 == trump)
                value = value << 3 | position
                best = value if value > best else best
                self.played[at] = card
                at += 1
                position += 1
                if position == players:
                    position = 0
            lead = best & 7
            self.taken[lead] += 1


@cython.final
@cython.cclass
class SteppedRound:
    """One round, dealt by its seed and moved one action at a time from Python (R1, R4-R7).

    Positions count from the dealer's left; the same ranges and errors as `RandomRounds`. An action is a bid while
    `bidding`, then a card.
    """

    players = cython.declare(cython.int, visibility="readonly")
    cards = cython.declare(cython.int, visibility="readonly")
    position = cython.declare(cython.int, visibility="readonly")  # to act; -1 when the round is over
    bidding = cython.declare(cython.bint, visibility="readonly")
    turned = cython.declare(cython.int, visibility="readonly")  # -1: none
    lead = cython.declare(cython.int)
    best = cython.declare(cython.int)
    best_position = cython.declare(cython.int)
    turn = cython.declare(cython.int)
    left = cython.declare(cython.int)
    rest = cython.declare(cython.int)  # tricks that the bids so far leave over
    hands = cython.declare(cython.ulonglong[6])
    bids = cython.declare(cython.int[6])
    taken = cython.declare(cython.int[6])

    def __init__(self, players: cython.int, cards: cython.int, seed: cython.ulonglong) -> None:
        if not cython.compiled:
            self.hands, self.bids, self.taken = [0] * 6, [0] * 6, [0] * 6
        dealer: RandomRounds = RandomRounds(players, cards, seed)
        dealer._deal()
        position: cython.int
        slot: cython.int
        for position in range(players):
            for slot in range(cards):
                self.hands[position] |= BIT << dealer.held[position << 3 | slot]
        self.players, self.cards, self.turned = players, cards, dealer.turned
        self.position = self.turn = self.lead = self.best = self.best_position = 0
        self.left = self.rest = cards
        self.bidding = True

    def hand(self, position: cython.int) -> int:
        """One bit a card; `position` 0..players-1, else IndexError."""
        if not 0 <= position < self.players:
            raise IndexError(position)
        return self.hands[position]

    def legal(self) -> list[int]:
        """Every legal action of the position to act, ascending; empty when the round is over."""
        if self.position < 0:
            return []
        if self.bidding:
            last: cython.bint = self.position == self.players - 1
            return [bid for bid in range(self.cards + 1) if not (last and bid == self.rest)]
        found: list[int] = []
        hand: cython.ulonglong = self._playable()
        card: cython.int = 0
        while hand:
            if hand & 1:
                found.append(card)
            hand >>= 1
            card += 1
        return found

    def apply(self, action: cython.int) -> None:
        """Make a move. Raises ValueError for one that is not legal; nothing has changed then."""
        if self.position < 0:
            raise ValueError("the round is over")
        if self.bidding:
            self._bid(action)
        elif not 0 <= action < 64 or not self._playable() >> action & 1:
            raise ValueError(f"illegal card {action}")
        else:
            self._play(action)

    def scores(self) -> list[int]:
        """Points by position (R7); ValueError before the round is over."""
        if self.position >= 0:
            raise ValueError("the round is not over")
        return [
            5 + self.bids[at] if self.bids[at] == self.taken[at] else -abs(self.bids[at] - self.taken[at])
            for at in range(self.players)
        ]

    def tricks(self) -> list[int]:
        """Tricks taken by position so far."""
        return [self.taken[at] for at in range(self.players)]

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _playable(self) -> cython.ulonglong:
        hand: cython.ulonglong = self.hands[self.position]
        part: cython.ulonglong
        if self.turn == 0:
            return hand
        part = hand & SUIT << (self.lead & 48)
        if part == 0 and self.turned >= 0:
            part = hand & SUIT << (self.turned & 48)
        return part if part else hand

    @cython.cfunc
    def _bid(self, bid: cython.int) -> cython.void:
        if not 0 <= bid <= self.cards or (self.position == self.players - 1 and bid == self.rest):
            raise ValueError(f"illegal bid {bid}")
        self.bids[self.position] = bid
        self.rest -= bid
        self.position += 1
        if self.position == self.players:
            self.position = 0
            self.bidding = False

    @cython.cfunc
    @cython.exceptval(check=False)
    def _play(self, card: cython.int) -> cython.void:
        self.hands[self.position] &= ~(BIT << card)
        if self.turn == 0:
            self.lead = card
        if self.turn == 0 or (
            card > self.best if card >> 4 == self.best >> 4 else self.turned >= 0 and card >> 4 == self.turned >> 4
        ):
            self.best = card
            self.best_position = self.position
        self.turn += 1
        self.position = self.position + 1 if self.position + 1 < self.players else 0
        if self.turn == self.players:
            self.turn = 0
            self.taken[self.best_position] += 1
            self.left -= 1
            self.position = self.best_position if self.left else -1
