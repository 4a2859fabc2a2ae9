# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""What a seat can expect: hidden hands sampled from its view, each legal move played out on every one of them.

The same kind of source as `playouts`: compiled, or the readable twin, with the same answers for the same seed. A
card is `suit << 4 | rank` with ranks counted from the lowest of the pack, a hand one bit a card; a lane is one
suit of a hand, twelve bits. In a rollout every seat plays by habit: the lowest and highest cards that can be told
apart are scored by a table (`habits`) and the best is played. Cards nobody has seen played are `out`.
"""

import cython

LOW = cython.declare(cython.uchar[4096])  # the lowest rank of a lane
HIGH = cython.declare(cython.uchar[4096])  # the highest
COUNT = cython.declare(cython.uchar[4096])
CROWD = cython.declare(cython.uchar[13])  # so many cards out: 0 none, 1 to two, 2 to four, 3 more
ONE = cython.declare(cython.ulonglong, 1)
# Swaps proposed for each hidden card, by a chain that believes bids: before the first deal, and in eighths between two.
SETTLE = cython.declare(cython.int, 2)
DOUBTS = cython.declare(cython.int, 2)
MULTIPLIER = cython.declare(cython.ulonglong, 6364136223846793005)  # Knuth's, as in MMIX
INCREMENT = cython.declare(cython.ulonglong, 1442695040888963407)
# Where each part of the table of habits begins; `_follow` and `_free` say what it is read by.
FOLLOW = cython.declare(cython.int, 0)
COMPANY = cython.declare(cython.int, 2880)
FREE = cython.declare(cython.int, 3648)
LENGTH = cython.declare(cython.int, 4656)
TIME = cython.declare(cython.int, 5808)
HABITS = cython.declare(cython.int, 6192)
EXACT_FROM = cython.declare(cython.int, 3)  # tricks left in the position; earlier an exact ending costs too much
if not cython.compiled:
    LOW, HIGH, COUNT, CROWD = [0] * 4096, [0] * 4096, [0] * 4096, [0] * 13


@cython.cfunc
def _fill_tables() -> cython.void:
    lane: cython.int
    rank: cython.int
    for lane in range(1, 4096):
        for rank in range(12):
            if lane >> rank & 1:
                COUNT[lane] += 1
                HIGH[lane] = rank
        rank = 0
        while not lane >> rank & 1:
            rank += 1
        LOW[lane] = rank
    for rank in range(13):
        CROWD[rank] = (rank + 1) >> 1 if rank < 5 else 3


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
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _lane(hand: cython.ulonglong, suit: cython.int) -> cython.int:
    return (hand >> (suit << 4)) & 4095


@cython.final
@cython.cclass
class Rollouts:
    """One size of round at one size of table: `players` 4..6, `cards` 1..8.

    `points` has 81 entries, [bid * 9 + taken]; `chances` 192, 1024 times the chance of a trick,
    [trump * 96 + higher cards not in the hand * 8 + lower ones in it]; `likely` 64, the relative likelihood of a bid
    that lies (k - 32) / 8 tricks above what its hand is worth; `habits` 6192 scores of -127..127, 128 more
    than each. `look` sets the position; one thread at a time. Raises ValueError for other sizes.
    """

    players = cython.declare(cython.int)
    cards = cython.declare(cython.int)
    points = cython.declare(cython.int[81])
    chances = cython.declare(cython.int[192])
    likely = cython.declare(cython.double[64])
    habits = cython.declare(cython.schar[6192])
    state = cython.declare(cython.ulonglong)

    # the position, from the seat's view
    trump = cython.declare(cython.int)  # 7: none
    dealer = cython.declare(cython.int)
    me = cython.declare(cython.int)
    own = cython.declare(cython.ulonglong)
    turned = cython.declare(cython.ulonglong)
    shown_bids = cython.declare(cython.int[6])  # -1: not yet
    history = cython.declare(cython.uchar[48])
    made_plays = cython.declare(cython.int)
    shown = cython.declare(cython.ulonglong[6])  # what each seat has played
    voids = cython.declare(cython.int[6])  # one bit a suit
    unseen = cython.declare(cython.uchar[48])
    owners = cython.declare(cython.uchar[48])  # of the unseen card at the same place; 6: undealt
    hidden = cython.declare(cython.int)
    held = cython.declare(cython.int)  # how many of the hidden ones are in hands
    bound = cython.declare(cython.bint)  # some seat is known to be void
    believing = cython.declare(cython.bint)  # deals go by how likely their hands would have bid as they did
    beliefs = cython.declare(cython.double[7])  # of each seat's bid by its dealt hand; 6, the undealt: 1

    base_taken = cython.declare(cython.int[6])  # the table where the view has it; see below
    base_gone = cython.declare(cython.ulonglong)
    base_turn = cython.declare(cython.int)
    base_seat = cython.declare(cython.int)
    base_best = cython.declare(cython.int)
    base_best_seat = cython.declare(cython.int)
    base_led = cython.declare(cython.int)
    base_left = cython.declare(cython.int)

    # one deal: as sampled, and as it is being played out
    dealt = cython.declare(cython.ulonglong[7])  # 6: the undealt
    kept = cython.declare(cython.ulonglong[6])
    hands = cython.declare(cython.ulonglong[6])
    bids = cython.declare(cython.int[6])
    taken = cython.declare(cython.int[6])
    gone = cython.declare(cython.ulonglong)
    turn = cython.declare(cython.int)  # cards in the trick on the table
    seat = cython.declare(cython.int)
    best = cython.declare(cython.int)
    best_seat = cython.declare(cython.int)
    led = cython.declare(cython.int)
    left = cython.declare(cython.int)  # tricks to come, the one on the table included
    outcome = cython.declare(cython.int[222])  # [depth * 6 + seat] of an exact ending

    # what came of it
    actions = cython.declare(cython.int[9])
    choices = cython.declare(cython.int)
    owns = cython.declare(cython.longlong[9])
    others = cython.declare(cython.longlong[9])
    makes = cython.declare(cython.longlong[9])
    cross = cython.declare(cython.longlong[81])

    noted = cython.declare(cython.int[32])  # of each candidate: the card, where its score is read
    notes = cython.declare(cython.int)

    def __init__(
        self,
        players: cython.int,
        cards: cython.int,
        points: list[int],
        chances: list[int],
        likely: list[float],
        habits: bytes,
    ) -> None:
        if not (4 <= players <= 6 and 1 <= cards <= 8 and len(points) == 81 and len(chances) == 192):
            raise ValueError(f"no round of {cards} cards for {players} players")
        if len(likely) != 64 or len(habits) != HABITS:
            raise ValueError(f"{len(likely)} likelihoods of bids, {len(habits)} habits")
        if not cython.compiled:
            self._allocate()
        self.players = players
        self.cards = cards
        at: cython.int
        for at in range(81):
            self.points[at] = points[at]
        for at in range(192):
            self.chances[at] = chances[at]
        for at in range(64):
            self.likely[at] = likely[at]
        for at in range(HABITS):
            self.habits[at] = habits[at] - 128

    def _allocate(self) -> None:
        """What C has in the object itself."""
        self.points, self.chances, self.likely = [0] * 81, [0] * 192, [0.0] * 64
        self.history, self.unseen, self.owners = [0] * 48, [0] * 48, [0] * 48
        self.habits, self.beliefs = [0] * 6192, [0.0] * 7
        self.shown, self.voids, self.shown_bids = [0] * 6, [0] * 6, [0] * 6
        self.dealt, self.kept, self.hands = [0] * 7, [0] * 6, [0] * 6
        self.bids, self.taken, self.base_taken, self.outcome = [0] * 6, [0] * 6, [0] * 6, [0] * 222
        self.actions, self.owns, self.others, self.makes = [0] * 9, [0] * 9, [0] * 9, [0] * 9
        self.cross, self.noted = [0] * 81, [0] * 32

    def look(
        self,
        seat: cython.int,
        dealer: cython.int,
        turned: cython.int,
        hand: cython.ulonglong,
        bids: list[int],
        plays: bytes,
        seed: cython.ulonglong,
        believing: cython.bint = False,
    ) -> None:
        """Set the position: `turned` -1 without trump, `bids` by seat (-1 not yet), `plays` in order from the lead.

        Believing, deals are sampled by the likelihood of the bids made instead of evenly.

        Raises ValueError when no deal agrees with what has been played.
        """
        at: cython.int
        self.me, self.dealer, self.own = seat, dealer, hand
        self.trump = 7 if turned < 0 else turned >> 4
        self.turned = 0 if turned < 0 else ONE << turned
        self.state = _wrapped((seed ^ seed >> 33) * MULTIPLIER + INCREMENT)
        self.made_plays = len(plays)
        for at in range(self.players):
            self.shown_bids[at] = bids[at]
            self.shown[at] = self.voids[at] = 0
        for at in range(self.made_plays):
            self.history[at] = plays[at]
        self._read_history()
        self._list_unseen()
        if self.bound:
            self._fit()
        self.believing = False
        for at in range(self.players):
            if believing and at != seat and bids[at] >= 0:
                self.believing = True
        if self.believing:
            self._start_believing()

    def bid(self, deals: cython.int, candidates: cython.int, exact: cython.int) -> list[int]:
        """Try every legal bid; the others who have yet to bid say what their hand is worth. See `play`."""
        rest: cython.int = self.cards
        known: cython.int = 0
        at: cython.int
        for at in range(self.players):
            if self.shown_bids[at] >= 0:
                rest -= self.shown_bids[at]
                known += 1
        self.choices = 0
        for at in range(self.cards + 1):
            if known < self.players - 1 or at != rest:
                self.actions[self.choices] = at
                self.choices += 1
        self._forget()
        with cython.nogil:
            self._evaluate(deals, candidates, exact, True)
        return [self.actions[at] for at in range(self.choices)]

    def play(self, deals: cython.int, candidates: cython.int, exact: cython.int) -> list[int]:
        """Try every legal card on the same sampled deals; of cards that are worth the same the lowest stands for all.

        Of `candidates` sampled for each deal one is kept, by likelihood (1: plain sampling). From three tricks before
        the end on, in the last `exact` (0..2) tricks everybody plays to their own best, all hands known. Returns the
        actions tried, in order; `worth`, `spread` and `chance` speak of them.
        """
        self._place()
        self.hands[self.me] = self.own
        legal: cython.ulonglong = self._legal(self.me)
        suit: cython.int
        lane: cython.int
        between: cython.int
        card: cython.int
        last: cython.int
        at: cython.int
        passed: cython.ulonglong = self.turned | self.own
        for at in range(self.made_plays - self.turn):
            passed |= ONE << self.history[at]
        self.choices = 0
        for suit in range(4):
            lane = _lane(legal, suit)
            last = -1
            while lane:
                card = LOW[lane]
                lane &= lane - 1
                between = ((1 << card) - 1) & ~((2 << last) - 1) if last >= 0 else 1
                if last < 0 or between & ~_lane(passed, suit):
                    self.actions[self.choices] = suit << 4 | card
                    self.choices += 1
                last = card
        self._forget()
        if self.choices > 1:
            with cython.nogil:
                self._evaluate(deals, candidates, exact, False)
        return [self.actions[at] for at in range(self.choices)]

    def narrow(self, keep: cython.int, deals: cython.int, candidates: cython.int, exact: cython.int) -> list[int]:
        """Play the `keep` actions that earned most on so many further deals; the actions that are left, in order."""
        worst: cython.int
        at: cython.int
        other: cython.int
        bidding: cython.bint = self.shown_bids[self.me] < 0
        while self.choices > keep:
            worst = 0
            for at in range(1, self.choices):
                if self.owns[at] < self.owns[worst]:
                    worst = at
            self.choices -= 1
            for at in range(worst, self.choices):
                self.actions[at] = self.actions[at + 1]
                self.owns[at] = self.owns[at + 1]
                self.others[at] = self.others[at + 1]
                self.makes[at] = self.makes[at + 1]
                for other in range(9):
                    self.cross[other * 9 + at] = self.cross[other * 9 + at + 1]
            for at in range(worst, self.choices):
                for other in range(9):
                    self.cross[at * 9 + other] = self.cross[at * 9 + 9 + other]
        with cython.nogil:
            self._evaluate(deals, candidates, exact, bidding)
        return [self.actions[at] for at in range(self.choices)]

    def worth(self, deals: cython.int, spoil: cython.double) -> list[float]:
        """Own expected points by action, less `spoil` times the mean of the others'."""
        others: cython.int = self.players - 1
        return [(self.owns[at] - spoil * self.others[at] / others) / deals for at in range(self.choices)]

    def spread(self, one: cython.int, other: cython.int, deals: cython.int) -> float:
        """Variance over the deals of the difference between two actions; of one action when they are the same."""
        products: cython.double = self.cross[one * 9 + one]
        total: cython.double = self.owns[one]
        if one != other:
            products += self.cross[other * 9 + other] - 2 * self.cross[min(one, other) * 9 + max(one, other)]
            total -= self.owns[other]
        return max(0.0, (products - total * total / deals) / max(1, deals - 1))

    def chance(self, deals: cython.int) -> list[float]:
        """How often each action's bid was made."""
        total: cython.double = deals
        return [self.makes[at] / total for at in range(self.choices)]

    def readings(self) -> list[tuple[int, int, int, int]]:
        """What habit chooses from here: (card, the three places in `habits` whose sum is its score) of each candidate.

        In the order tried: the first of the highest is played. Of a card that follows the last place is 6192, which
        stands for a score of zero. At most eight; none where the rules or the last card leave no choice.

        Raises ValueError when the seat of the view is not to play a card.
        """
        at: cython.int
        self._place()
        self.hands[self.me] = self.own
        for at in range(self.players):
            if self.bids[at] < 0 or self.seat != self.me:
                raise ValueError(f"seat {self.me} has no card to play")
        self.notes = 0
        self._pick(True)
        return [
            (self.noted[at * 4], self.noted[at * 4 + 1], self.noted[at * 4 + 2], self.noted[at * 4 + 3])
            for at in range(self.notes)
        ]

    def sample(self, candidates: cython.int = 1) -> list[int]:
        """One sampled deal, the likeliest kind of so many: every seat's hand as it stands, the own one as known."""
        self._draw(candidates)
        return [self.kept[at] for at in range(self.players)]

    def ending(self, hands: list[int], bids: list[int]) -> list[int]:
        """Everybody's points when all hands are known and each plays to its own best, at most three tricks from here.

        Among a seat's equals the first in pack order.
        """
        at: cython.int
        self._place()
        for at in range(self.players):
            self.hands[at] = hands[at]
            self.bids[at] = bids[at]
        if self.left > 3:
            raise ValueError("too far from the end")
        with cython.nogil:
            self._solve(0)
        return [self.outcome[at] for at in range(self.players)]

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _below(self, size: cython.ulonglong) -> cython.uint:
        """0..size-1 from a 64-bit congruential generator's high half, folded; the bias is below size / 2^32."""
        state: cython.ulonglong = self.state
        self.state = _wrapped(state * MULTIPLIER + INCREMENT)
        return (((state ^ (state >> 18)) >> 32) * size) >> 32

    # ---- the rules (R5, R6) ----

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _open(self) -> cython.void:
        """The first lead of the round, nothing taken."""
        at: cython.int
        self.gone = self.turned
        self.turn = self.led = self.best = self.best_seat = 0
        self.seat = self.dealer + 1 if self.dealer + 1 < self.players else 0
        self.left = self.cards
        for at in range(self.players):
            self.taken[at] = 0

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _legal(self, seat: cython.int) -> cython.ulonglong:
        hand: cython.ulonglong = self.hands[seat]
        part: cython.ulonglong
        lane: cython.ulonglong = 4095
        if self.turn == 0:
            return hand
        part = hand & (lane << (self.led << 4))
        if part == 0 and self.trump < 4:
            part = hand & (lane << (self.trump << 4))
        return part if part else hand

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _put(self, card: cython.int) -> cython.void:
        """The seat whose turn it is plays the card; hands must hold it."""
        seat: cython.int = self.seat
        bit: cython.ulonglong = ONE << card
        self.hands[seat] &= ~bit
        self.gone |= bit
        if self.turn == 0:
            self.led = card >> 4
            self.best = card
            self.best_seat = seat
        elif card >> 4 == self.best >> 4:
            if card > self.best:
                self.best = card
                self.best_seat = seat
        elif card >> 4 == self.trump:
            self.best = card
            self.best_seat = seat
        self.turn += 1
        if self.turn == self.players:
            self.taken[self.best_seat] += 1
            self.turn = 0
            self.left -= 1
            self.seat = self.best_seat
        else:
            self.seat = seat + 1 if seat + 1 < self.players else 0

    # ---- what the view tells ----

    @cython.cfunc
    @cython.exceptval(check=False)
    def _read_history(self) -> cython.void:
        """Who played what, and the suits they have shown not to hold (R6)."""
        at: cython.int
        seat: cython.int
        suit: cython.int
        self._open()
        self.bound = False
        for at in range(self.made_plays):
            seat = self.seat
            suit = self.history[at] >> 4
            if self.turn and suit != self.led and seat != self.me:
                self.voids[seat] |= 1 << self.led
                if suit != self.trump and self.trump < 4:
                    self.voids[seat] |= 1 << self.trump
                self.bound = True
            self.shown[seat] |= ONE << self.history[at]
            self._put(self.history[at])
        for at in range(self.players):
            self.base_taken[at] = self.taken[at]
        self.base_gone, self.base_turn, self.base_led = self.gone, self.turn, self.led
        self.base_best, self.base_best_seat = self.best, self.best_seat
        self.base_left, self.base_seat = self.left, self.seat

    @cython.cfunc
    @cython.exceptval(check=False)
    def _list_unseen(self) -> cython.void:
        seen: cython.ulonglong = self.gone | self.own
        card: cython.int
        step: cython.int
        seat: cython.int
        at: cython.int
        self.hidden = self.held = 0
        for at in range(8 * self.players):
            card = at // (2 * self.players) << 4 | at % (2 * self.players)
            if not seen >> card & 1:
                self.unseen[self.hidden] = card
                self.owners[self.hidden] = 6
                self.hidden += 1
        for step in range(1, self.players):
            seat = (self.me + step) % self.players
            for at in range(self.cards):
                if at >= self._played(seat):
                    self.owners[self.held] = seat
                    self.held += 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def _played(self, seat: cython.int) -> cython.int:
        suit: cython.int
        count: cython.int = 0
        for suit in range(4):
            count += COUNT[_lane(self.shown[seat], suit)]
        return count

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _may_hold(self, place: cython.int, card: cython.int) -> cython.bint:
        owner: cython.int = self.owners[place]
        return owner == 6 or not self.voids[owner] >> (card >> 4) & 1

    @cython.cfunc
    def _fit(self) -> cython.void:
        """A first deal that respects all voids: each card finds a place by augmenting paths (Kuhn)."""
        places: list[int] = [-1] * self.hidden
        card: cython.int
        at: cython.int
        for at in range(self.hidden):
            card = self.unseen[at]
            if not self._find(card, places, set()):
                raise ValueError("no deal agrees with what has been played")
        for at in range(self.hidden):
            self.unseen[at] = places[at]
        self._stir(8 * self.hidden)

    def _find(self, card: int, places: list[int], tried: set[int]) -> bool:
        for place in range(self.hidden):
            if place in tried or not self._may_hold(place, card):
                continue
            tried.add(place)
            if places[place] < 0 or self._find(places[place], places, tried):
                places[place] = card
                return True
        return False

    # ---- sampling ----

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _stir(self, proposals: cython.int) -> cython.void:
        """A Markov chain whose stationary distribution is uniform over the deals that respect the voids."""
        one: cython.int
        other: cython.int
        card: cython.int
        _step: cython.int
        for _step in range(proposals):
            one = self._below(self.hidden)
            other = self._below(self.hidden)
            card = self.unseen[one]
            if self._may_hold(other, card) and self._may_hold(one, self.unseen[other]):
                self.unseen[one] = self.unseen[other]
                self.unseen[other] = card

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _sample(self) -> cython.void:
        """Hidden hands into `dealt`: independent and uniform without voids or beliefs, else the next of the chain."""
        at: cython.int
        other: cython.int
        card: cython.int
        if self.believing:
            self._doubt(self.hidden * DOUBTS >> 3)
            return
        for at in range(self.players):
            self.dealt[at] = 0
        self.dealt[self.me] = self.own
        if self.bound:
            self._stir(2 * self.hidden)
        for at in range(self.held):
            if not self.bound:
                other = at + self._below(self.hidden - at)
                card = self.unseen[other]
                self.unseen[other] = self.unseen[at]
                self.unseen[at] = card
            self.dealt[self.owners[at]] |= ONE << self.unseen[at]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _start_believing(self) -> cython.void:
        """A first deal, and the chain of `_doubt` run until it has forgotten it."""
        at: cython.int
        other: cython.int
        card: cython.int
        for at in range(7):
            self.dealt[at] = 0
        self.dealt[self.me] = self.own
        for at in range(self.hidden):
            if not self.bound:
                other = at + self._below(self.hidden - at)
                card = self.unseen[other]
                self.unseen[other] = self.unseen[at]
                self.unseen[at] = card
            self.dealt[self.owners[at]] |= ONE << self.unseen[at]
        self.beliefs[6] = 1.0
        for at in range(self.players):
            self.beliefs[at] = self._belief(at, self.dealt[at])
        self._doubt(self.hidden * SETTLE)

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _belief(self, seat: cython.int, hand: cython.ulonglong) -> cython.double:
        """How likely the seat would have bid as it did, with this in hand now; 1 for who has not, and for nobody."""
        away: cython.int
        if seat == 6 or self.shown_bids[seat] < 0:
            return 1.0
        away = (self.shown_bids[seat] * 1024 - self._value(hand | self.shown[seat]) + 4096) >> 7
        return self.likely[0 if away < 0 else (away if away < 63 else 63)]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _doubt(self, proposals: cython.int) -> cython.void:
        """Metropolis steps in `dealt`: two hidden cards change hands, or not, by how likely that makes the bids."""
        one: cython.int
        other: cython.int
        first: cython.int
        second: cython.int
        card: cython.int
        swap: cython.ulonglong
        mine: cython.double
        yours: cython.double
        _step: cython.int
        for _step in range(proposals):
            one = self._below(self.held)
            other = self._below(self.hidden)
            first, second = self.owners[one], self.owners[other]
            card = self.unseen[one]
            if first == second or not (self._may_hold(other, card) and self._may_hold(one, self.unseen[other])):
                continue
            swap = ONE << card | ONE << self.unseen[other]
            mine = self._belief(first, self.dealt[first] ^ swap)
            yours = self._belief(second, self.dealt[second] ^ swap)
            if mine * yours < self.beliefs[first] * self.beliefs[second] and (
                mine * yours * (1 << 24) <= self.beliefs[first] * self.beliefs[second] * self._below(1 << 24)
            ):
                continue
            self.dealt[first] ^= swap
            self.dealt[second] ^= swap
            self.beliefs[first], self.beliefs[second] = mine, yours
            self.unseen[one] = self.unseen[other]
            self.unseen[other] = card

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _value(self, hand: cython.ulonglong) -> cython.int:
        """1024 times the tricks that a whole hand is worth to one who knows it alone."""
        suit: cython.int
        lane: cython.int
        rank: cython.int
        higher: cython.int
        kind: cython.int
        total: cython.int = 0
        top: cython.int = (1 << 2 * self.players) - 1
        for suit in range(4):
            lane = _lane(hand, suit)
            kind = 96 if suit == self.trump else 0
            while lane:
                rank = HIGH[lane]
                lane &= ~(1 << rank)
                higher = COUNT[top & ~((2 << rank) - 1) & ~_lane(hand, suit)]
                total += self.chances[kind + higher * 8 + COUNT[lane]]
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _weight(self) -> cython.double:
        """How likely these hands would have been played as they were; relative."""
        weight: cython.double = 1.0
        seat: cython.int
        at: cython.int
        card: cython.int
        choice: cython.int
        for seat in range(self.players):
            self.hands[seat] = self.dealt[seat] | self.shown[seat]
            self.bids[seat] = self.shown_bids[seat]
        self._open()
        for at in range(self.made_plays):
            card = self.history[at]
            if self.seat != self.me:
                choice = self._pick(False)
                if choice != card:
                    weight *= 0.8 if choice >> 4 == card >> 4 and abs(choice - card) == 1 else 0.3
            self._put(card)
        return weight

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _draw(self, candidates: cython.int) -> cython.void:
        """One deal into `kept`: of so many sampled ones each with a chance that goes by its weight."""
        total: cython.double = 0.0
        weight: cython.double
        one: cython.int
        at: cython.int
        for one in range(candidates):
            self._sample()
            weight = 1.0
            if candidates > 1:
                weight = self._weight()
                total += weight
            if one == 0 or self._below(1 << 24) * total < weight * (1 << 24):
                for at in range(self.players):
                    self.kept[at] = self.dealt[at]

    # ---- playing out ----

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _place(self) -> cython.void:
        """The position as the view has it, with the kept deal in hand."""
        at: cython.int
        for at in range(self.players):
            self.bids[at] = self.shown_bids[at]
            self.hands[at] = self.kept[at]
            self.taken[at] = self.base_taken[at]
        self.gone, self.turn, self.led = self.base_gone, self.base_turn, self.base_led
        self.best, self.best_seat = self.base_best, self.base_best_seat
        self.left, self.seat = self.base_left, self.base_seat

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _evaluate(
        self, deals: cython.int, candidates: cython.int, exact: cython.int, bidding: cython.bint
    ) -> cython.void:
        _deal: cython.int
        at: cython.int
        seat: cython.int
        score: cython.int
        rest: cython.int
        scores: cython.int[9]
        if not cython.compiled:
            scores = [0] * 9
        for _deal in range(deals):
            self._draw(candidates)
            for at in range(self.choices):
                self._place()
                if bidding:
                    self._finish_bidding(self.actions[at])
                else:
                    self._put(self.actions[at])
                self._play_out(exact)
                rest = 0
                for seat in range(self.players):
                    score = self.points[self.bids[seat] * 9 + self.taken[seat]]
                    if self.left:
                        score = self.outcome[seat]
                    if seat == self.me:
                        scores[at] = score
                        self.makes[at] += score > 0
                    else:
                        rest += score
                self.owns[at] += scores[at]
                self.others[at] += rest
                for seat in range(at + 1):
                    self.cross[seat * 9 + at] += scores[seat] * scores[at]

    @cython.cfunc
    def _forget(self) -> cython.void:
        at: cython.int
        for at in range(9):
            self.owns[at] = self.others[at] = self.makes[at] = 0
        for at in range(81):
            self.cross[at] = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _finish_bidding(self, own: cython.int) -> cython.void:
        """The own bid, then the others' in turn: what each hand is worth, rounded; the dealer the nearer legal one."""
        seat: cython.int = self.me
        rest: cython.int = self.cards
        at: cython.int
        bid: cython.int
        value: cython.int
        self.bids[seat] = own
        for at in range(self.players):
            if self.bids[at] >= 0:
                rest -= self.bids[at]
        while seat != self.dealer:
            seat = seat + 1 if seat + 1 < self.players else 0
            value = self._value(self.kept[seat])
            bid = min((value + 512) >> 10, self.cards)
            if seat == self.dealer and bid == rest:
                bid = bid + 1 if (value > bid << 10 or bid == 0) and bid < self.cards else bid - 1
            self.bids[seat] = bid
            rest -= bid

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _play_out(self, exact: cython.int) -> cython.void:
        if self.base_left > EXACT_FROM:
            exact = 0
        while self.left > exact:
            self._put(self._pick(False))
        if self.left:
            self._solve(0)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _solve(self, depth: cython.int) -> cython.void:
        """Everybody's points into `outcome` when each seat takes what is best for itself, knowing all hands."""
        seat: cython.int = self.seat
        at: cython.int
        if self.left == 0:
            for at in range(self.players):
                self.outcome[depth * 6 + at] = self.points[self.bids[at] * 9 + self.taken[at]]
            return
        turn: cython.int = self.turn
        led: cython.int = self.led
        best: cython.int = self.best
        best_seat: cython.int = self.best_seat
        left: cython.int = self.left
        gone: cython.ulonglong = self.gone
        hand: cython.ulonglong = self.hands[seat]
        legal: cython.ulonglong = self._legal(seat)
        suit: cython.int
        lane: cython.int
        card: cython.int
        first: cython.bint = True
        for suit in range(4):
            lane = _lane(legal, suit)
            while lane:
                card = suit << 4 | LOW[lane]
                lane &= lane - 1
                self._put(card)
                self._solve(depth + 1)
                if self.left < left:
                    self.taken[self.best_seat] -= 1
                self.hands[seat] = hand
                self.gone, self.turn, self.led, self.left, self.seat = gone, turn, led, left, seat
                self.best, self.best_seat = best, best_seat
                if first or self.outcome[depth * 6 + 6 + seat] > self.outcome[depth * 6 + seat]:
                    for at in range(self.players):
                        self.outcome[depth * 6 + at] = self.outcome[depth * 6 + 6 + at]
                first = False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _pick(self, noting: cython.bint) -> cython.int:
        """The card of the seat to act, by habit: what its bid wishes for, and how many sure tricks it holds.

        `wish`: 0 over the bid, 1 has it, 2 short of one trick, 3 of more, 4 needs all that are left, 5 can't make it.
        `sure`: cards that nothing out can beat in their suit are 0 fewer than the tricks short, 1 as many, 2 more.
        Noting, as `readings` alone does, each candidate tried is written down.
        """
        hand: cython.ulonglong = self.hands[self.seat]
        need: cython.int = self.bids[self.seat] - self.taken[self.seat]
        led: cython.int = self.led
        followed: cython.int = 0
        suit: cython.int
        lane: cython.int
        out: cython.int
        wish: cython.int
        top: cython.int = (1 << 2 * self.players) - 1
        sure: cython.int = 0
        if hand & (hand - 1) == 0:
            return self._only(hand)
        if self.turn:
            followed = _lane(hand, led)
            if followed == 0 and self.trump < 4:
                led = self.trump
                followed = _lane(hand, led)
            if followed and followed & (followed - 1) == 0:
                return led << 4 | LOW[followed]
        if need > 0:
            wish = (2 if need == 1 else 3) if need < self.left else (4 if need == self.left else 5)
        else:
            wish = 0 if need < 0 else 1
            need = 0
        seen: cython.ulonglong = self.gone | hand
        for suit in range(4):
            lane = _lane(hand, suit)
            if lane:
                out = top & ~_lane(seen, suit)
                sure += COUNT[lane & ~((1 << HIGH[out]) - 1)]
        sure = 0 if sure < need else (1 if sure == need else 2)
        if followed:
            return self._follow(led, followed, top & ~_lane(seen, led), wish, sure, noting)
        return self._free(hand, seen, wish, sure, noting)

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _follow(
        self,
        suit: cython.int,
        lane: cython.int,
        out: cython.int,
        wish: cython.int,
        sure: cython.int,
        noting: cython.bint,
    ) -> cython.int:
        """In a suit that must be played the lowest or highest loser or winner, as the trick stands.

        Read by seats still to play, whether one of them is short, higher cards out; then cards out and whether trump.
        """
        behind: cython.int = self.players - 1 - self.turn
        short: cython.int = 0
        at: cython.int = self.seat
        _step: cython.int
        rank: cython.int
        above: cython.int
        value: cython.int
        place: cython.int
        company: cython.int
        kind: cython.int
        losers: cython.int = lane
        card: cython.int = 0
        most: cython.int = -1000
        for _step in range(behind):
            at = at + 1 if at + 1 < self.players else 0
            if self.bids[at] > self.taken[at]:
                short = 1
        behind = behind if behind < 3 else 3
        if suit == self.best >> 4:
            losers = lane & ((2 << (self.best & 15)) - 1)
        elif suit == self.trump:
            losers = 0
        place = FOLLOW + ((wish * 4 + behind) * 2 + short) * 60 + sure
        company = COMPANY + wish * 128 + CROWD[COUNT[out]] * 8 + behind * 2 + (suit == self.trump)
        lane &= ~losers
        kind = 0
        if losers == 0:
            losers = lane
            kind = 2
        while losers:
            rank = LOW[losers]
            above = COUNT[out >> rank]
            value = self.habits[place + kind * 15 + (above if above < 4 else 4) * 3] + self.habits[company + kind * 32]
            if noting:
                self._note(
                    suit << 4 | rank, place + kind * 15 + (above if above < 4 else 4) * 3, company + kind * 32, HABITS
                )
            if value > most:
                most = value
                card = rank
            if losers & (losers - 1):
                rank = HIGH[losers]
                above = COUNT[out >> rank]
                value = (
                    self.habits[place + 15 + kind * 15 + (above if above < 4 else 4) * 3]
                    + self.habits[company + 32 + kind * 32]
                )
                if noting:
                    self._note(
                        suit << 4 | rank,
                        place + 15 + kind * 15 + (above if above < 4 else 4) * 3,
                        company + 32 + kind * 32,
                        HABITS,
                    )
                if value > most:
                    most = value
                    card = rank
            losers = lane if kind == 0 else 0
            kind = 2
        return suit << 4 | card

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _free(
        self,
        hand: cython.ulonglong,
        seen: cython.ulonglong,
        wish: cython.int,
        sure: cython.int,
        noting: cython.bint,
    ) -> cython.int:
        """To lead, or to throw away, the lowest or highest card of a suit.

        Read by higher cards out and whether trump; then by how many are in the hand and out; then by tricks to come.
        """
        suit: cython.int
        lane: cython.int
        out: cython.int
        rank: cython.int
        above: cython.int
        value: cython.int
        trump: cython.int
        place: cython.int
        length: cython.int
        time: cython.int
        top: cython.int = (1 << 2 * self.players) - 1
        kind: cython.int = wish if self.turn else 6 + wish
        card: cython.int = 0
        most: cython.int = -1000
        for suit in range(4):
            lane = _lane(hand, suit)
            if lane == 0:
                continue
            out = top & ~_lane(seen, suit)
            trump = kind * 2 + (suit == self.trump)
            place = FREE + trump * 42 + sure
            time = TIME + trump * 16 + self.left - 1
            length = COUNT[lane] - 1
            length = LENGTH + kind * 96 + (length if length < 3 else 3) * 12 + CROWD[COUNT[out]] * 3 + sure
            rank = LOW[lane]
            above = COUNT[out >> rank]
            value = self.habits[place + (above if above < 6 else 6) * 3] + self.habits[length] + self.habits[time]
            if noting:
                self._note(suit << 4 | rank, place + (above if above < 6 else 6) * 3, length, time)
            if value > most:
                most = value
                card = suit << 4 | rank
            if lane & (lane - 1):
                rank = HIGH[lane]
                above = COUNT[out >> rank]
                value = (
                    self.habits[place + 21 + (above if above < 6 else 6) * 3]
                    + self.habits[length + 48]
                    + self.habits[time + 8]
                )
                if noting:
                    self._note(suit << 4 | rank, place + 21 + (above if above < 6 else 6) * 3, length + 48, time + 8)
                if value > most:
                    most = value
                    card = suit << 4 | rank
        return card

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _note(self, card: cython.int, one: cython.int, two: cython.int, three: cython.int) -> cython.void:
        at: cython.int = self.notes * 4
        self.noted[at], self.noted[at + 1], self.noted[at + 2], self.noted[at + 3] = card, one, two, three
        self.notes += 1

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _only(self, hand: cython.ulonglong) -> cython.int:
        suit: cython.int = 0
        while _lane(hand, suit) == 0:
            suit += 1
        return suit << 4 | LOW[_lane(hand, suit)]
