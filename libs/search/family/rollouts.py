# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The games of 52 cards played out: hidden hands sampled from a seat's view, each move tried on every one of them.

The same kind of source as `rollouts`: compiled, or the readable twin, with the same answers for the same seed. A card
is `suit << 4 | rank` with ranks 0 (two) to 12 (ace), a hand one bit a card, a lane one suit of a hand. Older tricks lie
face down (W2), so that an unseen card may be in a hand, in the stock (G1) or gone. In a rollout every seat plays by a
rule that knows its own hand and what has been played, not who holds the rest: with rules that saw all hands the bots
were weaker. Against a misère alone the others see the declarer's hand.
"""

import cython

LOW = cython.declare(cython.uchar[8192])  # the lowest rank of a lane
HIGH = cython.declare(cython.uchar[8192])  # the highest
COUNT = cython.declare(cython.uchar[8192])
ONE = cython.declare(cython.ulonglong, 1)
MULTIPLIER = cython.declare(cython.ulonglong, 6364136223846793005)  # Knuth's, as in MMIX
INCREMENT = cython.declare(cython.ulonglong, 1442695040888963407)
GONE = cython.declare(cython.int, 7)  # owners of unseen cards beside the seats 0..6
STOCK = cython.declare(cython.int, 8)
DRAWN = cython.declare(cython.int, 9)  # the other player's hand, the card that it drew unseen
HOLD = cython.declare(cython.int, 64)  # actions beside the cards: a dog keeps its card (K2)
NAME = cython.declare(cython.int, 65)  # 65..68: this suit is trump (K1, L2)
START = cython.declare(cython.int, 69)  # nothing: the hand is played out as it stands
SHARES = cython.declare(cython.int, 1000)  # what all that a game of Knockout can be worth is split into
PRIZED = cython.declare(cython.int, 8)  # the lowest rank of a side suit that is fought for: a ten
EXACT_MAX = cython.declare(cython.int, 5)  # tricks
if not cython.compiled:
    LOW, HIGH, COUNT = [0] * 8192, [0] * 8192, [0] * 8192


@cython.cfunc
def _fill_tables() -> cython.void:
    lane: cython.int
    rank: cython.int
    for lane in range(1, 8192):
        for rank in range(13):
            if lane >> rank & 1:
                COUNT[lane] += 1
                HIGH[lane] = rank
        rank = 0
        while not lane >> rank & 1:
            rank += 1
        LOW[lane] = rank


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
    return (hand >> (suit << 4)) & 8191


@cython.final
@cython.cclass
class FamilyRollouts:
    """One position and what it may be worth. `look`, then `aim`, then `believe`, then `attempt` and `narrow`.

    One thread at a time.
    """

    state = cython.declare(cython.ulonglong)
    players = cython.declare(cython.int)

    # the position, from the seat's view
    me = cython.declare(cython.int)
    own = cython.declare(cython.ulonglong)
    known = cython.declare(cython.ulonglong[7])  # cards that a seat is seen to hold; own hand included
    passed = cython.declare(cython.ulonglong)  # seen to lie in nobody's hand
    weights = cython.declare(cython.int[640])  # [owner * 64 + card]
    unseen = cython.declare(cython.uchar[52])
    owners = cython.declare(cython.uchar[52])  # of the unseen card at the same place
    hidden = cython.declare(cython.int)
    base_trump = cython.declare(cython.int)  # 7: none
    base_left = cython.declare(cython.int)
    base_due = cython.declare(cython.int)
    base_seat = cython.declare(cython.int)
    base_turn = cython.declare(cython.int)
    base_led = cython.declare(cython.int)
    base_best = cython.declare(cython.int)
    base_best_seat = cython.declare(cython.int)
    base_stock = cython.declare(cython.int)
    base_taken = cython.declare(cython.int[7])
    prize = cython.declare(cython.int)

    # what is wanted
    knockout = cython.declare(cython.bint)
    friends = cython.declare(cython.int[7])  # by seat: whom it plays for, itself included; one bit a seat
    ducking = cython.declare(cython.int)  # the seat that must take no trick (a misère's declarer); 7: none
    fatal = cython.declare(cython.int)  # a trick of theirs decides the hand (L4)
    side = cython.declare(cython.int)  # whose tricks `worth` counts
    worth = cython.declare(cython.int[27])
    count_all = cython.declare(cython.bint)  # G2: while the stock lasts, too
    alive = cython.declare(cython.int)
    dogs = cython.declare(cython.int)  # who holds one card among fuller hands (K2)
    reprieve = cython.declare(cython.bint)  # K2: who takes none lives on
    namer = cython.declare(cython.int)  # what naming the next trumps is worth, a survivor's plain worth being 100
    dog = cython.declare(cython.int)  # the same of a dog

    # one deal, as sampled and as it is being played out
    dealt = cython.declare(cython.ulonglong[7])
    pile = cython.declare(cython.uchar[26])  # the stock, the prize first
    hands = cython.declare(cython.ulonglong[7])
    taken = cython.declare(cython.int[7])
    trump = cython.declare(cython.int)
    left = cython.declare(cython.int)  # tricks to come, the one on the table included
    due = cython.declare(cython.int)  # who has yet to play to the trick on the table; one bit a seat
    seat = cython.declare(cython.int)
    turn = cython.declare(cython.int)  # cards in the trick on the table
    led = cython.declare(cython.int)
    best = cython.declare(cython.int)
    best_seat = cython.declare(cython.int)
    stock = cython.declare(cython.int)
    over = cython.declare(cython.bint)  # the hand is decided before its last trick

    actions = cython.declare(cython.int[14])
    choices = cython.declare(cython.int)
    totals = cython.declare(cython.longlong[14])

    def __init__(self) -> None:
        if not cython.compiled:
            self._allocate()

    def _allocate(self) -> None:
        """What C has in the object itself."""
        self.known, self.dealt, self.hands = [0] * 7, [0] * 7, [0] * 7
        self.base_taken, self.taken, self.friends = [0] * 7, [0] * 7, [0] * 7
        self.weights, self.unseen, self.owners = [0] * 640, [0] * 52, [0] * 52
        self.worth, self.pile = [0] * 27, [0] * 26
        self.actions, self.totals = [0] * 14, [0] * 14

    def look(
        self,
        me: cython.int,
        known: list[int],
        counts: list[int],
        trick: list[tuple[int, int]],
        due: list[int],
        passed: cython.ulonglong,
        trump: cython.int,
        taken: list[int],
        left: cython.int,
        stock: cython.int,
        prize: cython.int,
        seed: cython.ulonglong,
    ) -> None:
        """Set the position.

        `known` are masks of cards by seat (all of the own), `counts` the sizes of hands, `trick` the (seat, card) on
        the table, `due` the seats to play to it, the one to act first; `passed` a mask of cards seen in nobody's hand,
        those on the table left out; `trump` 0..3 or 7; `left` tricks to come; `stock` its cards, `prize` the open one
        or -1. `seed` 0..2^64-1. Raises ValueError when hands and cards do not add up.
        """
        at: cython.int
        suit: cython.int
        seen: cython.ulonglong = passed
        self.state = _wrapped((seed ^ seed >> 33) * MULTIPLIER + INCREMENT)
        self.players, self.me, self.own, self.passed = len(counts), me, known[me], passed
        self.base_trump, self.base_left, self.base_stock, self.prize = trump, left, stock, prize
        self.base_turn = self.turn = self.base_due = self.choices = 0
        self.trump = trump
        self.led = self.best = self.best_seat = 0
        for at in range(self.players):
            self.known[at], self.base_taken[at] = known[at], taken[at]
            seen |= self.known[at]
        for seat, card in trick:
            seen |= ONE << int(card)
            self._show(seat, card)
        for seat in due:
            self.base_due |= 1 << int(seat)
        self.base_seat = due[0] if due else me
        self.base_turn, self.base_led = self.turn, self.led
        self.base_best, self.base_best_seat = self.best, self.best_seat
        if prize >= 0:
            seen |= ONE << prize
        self.hidden = 0
        for suit in range(4):
            for at in range(13):
                if not seen >> (suit << 4 | at) & 1:
                    self.unseen[self.hidden] = suit << 4 | at
                    self.hidden += 1
        self._assign(counts)

    @cython.cfunc
    def _assign(self, counts: list[int]) -> cython.void:
        """A place for every unseen card: in hands, in the stock, gone."""
        seat: cython.int
        at: cython.int
        size: cython.int
        _card: cython.int
        place: cython.int = 0
        for seat in range(self.players):
            size = counts[seat]
            for at in range(4):
                size -= COUNT[_lane(self.known[seat], at)]
            if size < 0 or place + size > self.hidden:
                raise ValueError("hands and cards do not add up")
            while size:
                self.owners[place] = seat
                place += 1
                size -= 1
        for _card in range(1, self.base_stock):
            if place == self.hidden:
                raise ValueError("hands and cards do not add up")
            self.owners[place] = STOCK
            place += 1
        for at in range(place, self.hidden):
            self.owners[at] = GONE
        for at in range(self.hidden - 1, 0, -1):
            self._exchange(at, self._below(at + 1))

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _exchange(self, one: cython.int, other: cython.int) -> cython.void:
        card: cython.int = self.unseen[one]
        self.unseen[one] = self.unseen[other]
        self.unseen[other] = card

    def aim(
        self,
        friends: list[int],
        side: cython.int,
        worth: list[int],
        ducking: cython.int = 7,
        fatal: cython.int = 0,
        count_all: cython.bint = True,
    ) -> None:
        """Play for tricks of sides: `worth` (27 entries, to the own seat) by the tricks that `side` has in the end.

        Sides are masks, one bit a seat. `worth` must rise, or fall, all the way.
        """
        at: cython.int
        self.knockout = False
        self.dogs, self.side, self.ducking, self.fatal, self.count_all = 0, side, ducking, fatal, count_all
        for at in range(self.players):
            self.friends[at] = friends[at]
        for at in range(27):
            self.worth[at] = worth[at]

    def survive(
        self, alive: cython.int, dogs: cython.int, reprieve: cython.bint, namer: cython.int, dog: cython.int
    ) -> None:
        """Play Knockout Whist: each for itself; worth is the own share, in thousandths, of those who live on (K2).

        `alive` and `dogs` are masks of seats; `namer` and `dog` what naming the next trumps, and being a dog, is worth
        when merely living on is worth 100; `reprieve`: who takes no trick in this hand is a dog, not out.
        """
        at: cython.int
        self.knockout, self.dogs, self.reprieve, self.namer, self.dog = True, dogs, reprieve, namer, dog
        self.alive = alive
        self.ducking, self.fatal, self.side, self.count_all = 7, 0, 0, True
        for at in range(self.players):
            self.friends[at] = 1 << at

    def believe(self, weights: list[int], drawn: cython.bint = False) -> None:
        """How likely owners (rows 0..6 seats, 7 gone, 8 stock, 9 drawn) hold each card: 640 numbers, 0..4095.

        A deal is as likely as the product of its cards' weights. 0 means never; where no deal allows that it means
        hardly. With `drawn` one card of the other player's hand goes by row 9.
        """
        at: cython.int
        for at in range(640):
            self.weights[at] = weights[at]
        if drawn:
            at = 0
            while self.owners[at] == self.me:
                at += 1
            self.owners[at] = DRAWN
        if not self._fit():
            for at in range(640):
                self.weights[at] = max(1, self.weights[at])
        self._stir(8 * self.hidden)

    @cython.cfunc
    def _fit(self) -> cython.bint:
        """A first deal without zero weights, by augmenting paths (Kuhn); False if there is none."""
        at: cython.int
        for at in range(self.hidden):
            if self.weights[self.owners[at] * 64 + self.unseen[at]] == 0:
                break
        else:
            return True
        places: list[int] = [-1] * self.hidden
        for at in range(self.hidden):
            if not self._find(self.unseen[at], places, set()):
                return False
        for at in range(self.hidden):
            self.unseen[at] = places[at]
        return True

    def _find(self, card: int, places: list[int], tried: set[int]) -> bool:
        for place in range(self.hidden):
            if place in tried or not self.weights[self.owners[place] * 64 + card]:
                continue
            tried.add(place)
            if places[place] < 0 or self._find(places[place], places, tried):
                places[place] = card
                return True
        return False

    def attempt(self, actions: list[int], deals: cython.int, exact: cython.int) -> list[int]:
        """Try these actions on the same sampled deals; summed worth by action.

        An action is a card, 64 (hold), 65..68 (trumps of that suit) or 69 (none). In the last `exact` tricks (0..5;
        0 in Knockout and while the stock lasts) everybody plays perfectly, all hands known.
        """
        at: cython.int
        self.choices = len(actions)
        for at in range(self.choices):
            self.actions[at] = actions[at]
            self.totals[at] = 0
        with cython.nogil:
            self._evaluate(deals, exact)
        return [self.totals[at] for at in range(self.choices)]

    def cards(self) -> list[int]:
        """The legal cards; of cards that are worth the same the lowest stands for all."""
        self._place()
        legal: cython.ulonglong = self._legal(self.own)
        suit: cython.int
        lane: cython.int
        between: cython.int
        card: cython.int
        last: cython.int
        gone: cython.ulonglong = self.passed | self.own
        found: list[int] = []
        for suit in range(4):
            lane = _lane(legal, suit)
            last = -1
            while lane:
                card = LOW[lane]
                lane &= lane - 1
                between = ((1 << card) - 1) & ~((2 << last) - 1) if last >= 0 else 1
                if last < 0 or between & ~_lane(gone, suit):
                    found.append(suit << 4 | card)
                last = card
        return found

    def narrow(self, keep: cython.int, deals: cython.int, exact: cython.int) -> list[int]:
        """Play the `keep` actions that earned most on so many further deals; the actions that are left, in order."""
        worst: cython.int
        at: cython.int
        while self.choices > keep:
            worst = 0
            for at in range(1, self.choices):
                if self.totals[at] < self.totals[worst]:
                    worst = at
            self.choices -= 1
            for at in range(worst, self.choices):
                self.actions[at] = self.actions[at + 1]
                self.totals[at] = self.totals[at + 1]
        with cython.nogil:
            self._evaluate(deals, exact)
        return [self.actions[at] for at in range(self.choices)]

    def earned(self) -> list[int]:
        """Summed worth of the actions that are left, in their order."""
        return [self.totals[at] for at in range(self.choices)]

    def sample(self) -> list[int]:
        """One sampled deal: every seat's hand as it stands, the own one as known."""
        self._sample()
        return [self.dealt[at] for at in range(self.players)]

    def ending(self, hands: list[int]) -> int:
        """Worth when all hands are known and both sides play perfectly, at most five tricks from here."""
        at: cython.int
        if self.base_left > EXACT_MAX or self.base_stock:
            raise ValueError("too far from the end")
        for at in range(self.players):
            self.dealt[at] = hands[at]
        self._place()
        return self._solve(-(1 << 30), 1 << 30)

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _below(self, size: cython.ulonglong) -> cython.uint:
        """0..size-1 from a 64-bit congruential generator's high half, folded; the bias is below size / 2^32."""
        state: cython.ulonglong = self.state
        self.state = _wrapped(state * MULTIPLIER + INCREMENT)
        return (((state ^ (state >> 18)) >> 32) * size) >> 32

    # ---- the rules (W2, K2, G2) ----

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _legal(self, hand: cython.ulonglong) -> cython.ulonglong:
        lane: cython.ulonglong = 8191
        part: cython.ulonglong = hand & (lane << (self.led << 4))
        return part if self.turn and part else hand

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _show(self, seat: cython.int, card: cython.int) -> cython.void:
        """The card lies on the table."""
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

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _put(self, card: cython.int) -> cython.void:
        """The seat whose turn it is plays the card; its hand must hold it."""
        self.hands[self.seat] &= ~(ONE << card)
        self._show(self.seat, card)
        self._pass_on()

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _pass_on(self) -> cython.void:
        """The next seat is to act; after the last the trick is gathered."""
        self.due &= ~(1 << self.seat)
        if self.due == 0:
            self._gather()
            return
        self._turn_to(self.seat + 1)

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _turn_to(self, seat: cython.int) -> cython.void:
        """The first seat from this one on, clockwise, that has yet to play; there must be one."""
        while True:
            if seat >= self.players:
                seat -= self.players
            if self.due >> seat & 1:
                break
            seat += 1
        self.seat = seat

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _gather(self) -> cython.void:
        winner: cython.int = self.best_seat
        at: cython.int
        if self.count_all or self.stock == 0:
            self.taken[winner] += 1
        if self.fatal >> winner & 1:
            self.over = True
        if self.stock:
            self.hands[winner] |= ONE << self.pile[self.base_stock - self.stock]
            self.hands[1 - winner] |= ONE << self.pile[self.base_stock - self.stock + 1]
            self.stock -= 2
        self.left -= 1
        self.turn = 0
        if self.left:
            for at in range(self.players):
                if self.hands[at]:
                    self.due |= 1 << at
            self._turn_to(winner)

    # ---- sampling ----

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _stir(self, proposals: cython.int) -> cython.void:
        """Metropolis: a Markov chain of swaps whose stationary distribution is the product of the weights."""
        one: cython.int
        other: cython.int
        now: cython.ulonglong
        then: cython.ulonglong
        _step: cython.int
        for _step in range(proposals):
            one = self._below(self.hidden)
            other = self._below(self.hidden)
            now = self.weights[self.owners[one] * 64 + self.unseen[one]]
            now *= self.weights[self.owners[other] * 64 + self.unseen[other]]
            then = self.weights[self.owners[one] * 64 + self.unseen[other]]
            then *= self.weights[self.owners[other] * 64 + self.unseen[one]]
            if then and (then >= now or self._below(1 << 24) * now < then << 24):
                self._exchange(one, other)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _sample(self) -> cython.void:
        """The chain's next deal into `dealt` and `pile`."""
        at: cython.int
        owner: cython.int
        card: cython.int
        stocked: cython.int = 1
        if self.hidden:
            self._stir(2 * self.hidden)
        for at in range(self.players):
            self.dealt[at] = self.known[at]
        if self.base_stock:
            self.pile[0] = self.prize
        for at in range(self.hidden):
            owner = self.owners[at]
            card = self.unseen[at]
            if owner < 7:
                self.dealt[owner] |= ONE << card
            elif owner == DRAWN:
                self.dealt[1 - self.me] |= ONE << card
            elif owner == STOCK:
                self.pile[stocked] = card
                stocked += 1

    # ---- playing out ----

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _place(self) -> cython.void:
        """The position as the view has it, with the sampled deal in hand."""
        at: cython.int
        for at in range(self.players):
            self.hands[at] = self.dealt[at]
            self.taken[at] = self.base_taken[at]
        self.trump, self.left, self.due, self.seat = self.base_trump, self.base_left, self.base_due, self.base_seat
        self.turn, self.led, self.best, self.best_seat = (
            self.base_turn,
            self.base_led,
            self.base_best,
            self.base_best_seat,
        )
        self.stock = self.base_stock
        self.over = False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _evaluate(self, deals: cython.int, exact: cython.int) -> cython.void:
        _deal: cython.int
        at: cython.int
        action: cython.int
        for _deal in range(deals):
            self._sample()
            for at in range(self.choices):
                self._place()
                action = self.actions[at]
                if action < HOLD:
                    self._put(action)
                elif action == HOLD:
                    self._pass_on()
                elif action < START:
                    self.trump = action - NAME
                self.totals[at] += self._play_out(exact)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _play_out(self, exact: cython.int) -> cython.int:
        card: cython.int
        while self.left and not self.over:
            if self.left <= exact and self.stock == 0 and not self.knockout:
                return self._solve(-(1 << 30), 1 << 30)
            card = self._pick()
            if card == HOLD:
                self._pass_on()
            else:
                self._put(card)
        return self._score()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _score(self) -> cython.int:
        return self._share() if self.knockout else self.worth[self._won()]

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _won(self) -> cython.int:
        """Tricks of the side that `worth` counts."""
        at: cython.int
        won: cython.int = 0
        for at in range(self.players):
            if self.side >> at & 1:
                won += self.taken[at]
        return won

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _share(self) -> cython.int:
        """K2, K3: what the own seat's part is among all who live on, by what each may expect."""
        at: cython.int
        most: cython.int = 0
        value: cython.int
        total: cython.int = 0
        own: cython.int = 0
        for at in range(self.players):
            most = max(most, self.taken[at])
        for at in range(self.players):
            if self.taken[at] == 0:
                value = self.dog if self.reprieve and self.alive >> at & 1 else 0
            else:
                value = self.namer if self.taken[at] == most else 100
            total += value
            if at == self.me:
                own = value
        return SHARES * own // total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _solve(self, low: cython.int, high: cython.int) -> cython.int:  # noqa: PLR0915 - C's locals, one a line
        """Alpha-beta between the own side and the others, all hands known; exact within `low`..`high`."""
        won: cython.int = self._won()
        value: cython.int = self.worth[won]
        most: cython.int
        if self.left == 0 or self.over:
            return value
        most = self.worth[won + self.left]
        if max(value, most) <= low:
            return max(value, most)
        if min(value, most) >= high:
            return min(value, most)
        seat: cython.int = self.seat
        due: cython.int = self.due
        turn: cython.int = self.turn
        led: cython.int = self.led
        best: cython.int = self.best
        best_seat: cython.int = self.best_seat
        left: cython.int = self.left
        hand: cython.ulonglong = self.hands[seat]
        legal: cython.ulonglong = self._legal(hand)
        held: cython.ulonglong = 0
        ours: cython.bint = self.friends[self.me] >> seat & 1
        suit: cython.int
        lane: cython.int
        card: cython.int
        last: cython.int
        between: cython.int
        ended: cython.bint
        winner: cython.int
        for suit in range(self.players):
            held |= self.hands[suit]
        held &= ~hand
        if turn:
            held |= ONE << best
        most = low if ours else high
        for suit in range(4):
            lane = _lane(legal, suit)
            last = -1
            while lane:
                card = HIGH[lane]
                lane &= ~(1 << card)
                between = ((1 << last) - 1) & ~((2 << card) - 1) if last >= 0 else 0
                if last >= 0 and not between & _lane(held, suit):
                    last = card
                    continue  # worth what the one above is
                last = card
                self._put(suit << 4 | card)
                ended = self.left < left
                winner = self.best_seat
                value = self._solve(low, high)
                if ended:
                    self.taken[winner] -= 1
                self.hands[seat] = hand
                self.due, self.turn, self.led, self.left, self.seat = due, turn, led, left, seat
                self.best, self.best_seat = best, best_seat
                self.over = False
                if ours:
                    most = max(most, value)
                    low = max(low, value)
                else:
                    most = min(most, value)
                    high = min(high, value)
                if low >= high:
                    return most
        return most

    # ---- the rule by which a rollout goes on ----

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _pick(self) -> cython.int:
        """The card of the seat to act, or HOLD."""
        seat: cython.int = self.seat
        hand: cython.ulonglong = self.hands[seat]
        legal: cython.ulonglong
        card: cython.int
        if hand & (hand - 1) == 0 and not self.dogs >> seat & 1:
            return self._only(hand)
        legal = self._legal(hand)
        if self.ducking == seat:
            return self._duck(legal)
        if self.ducking < 7:
            return self._press(legal)
        if self.stock and not self._wanted():
            return self._duck(legal)
        card = self._lead(hand) if self.turn == 0 else self._take(legal)
        if self.dogs >> seat & 1 and self.left > 1 and not self._stands(card):
            return HOLD
        return card

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _only(self, hand: cython.ulonglong) -> cython.int:
        suit: cython.int = 0
        while _lane(hand, suit) == 0:
            suit += 1
        return suit << 4 | LOW[_lane(hand, suit)]

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _wanted(self) -> cython.bint:
        """G2: a prize worth fighting for: a trump or a court card; any trick where all count."""
        prize: cython.int = self.pile[self.base_stock - self.stock]
        return self.count_all or prize >> 4 == self.trump or prize & 15 >= PRIZED

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _contested(self) -> cython.bint:
        """Whether an opponent has yet to play to the trick after the seat to act."""
        return (self.due & ~self.friends[self.seat]) != 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _above(self, suit: cython.int) -> cython.int:
        """The highest rank of the suit that is neither played nor in the hand of the seat to act; -1 none."""
        other: cython.int
        lane: cython.int = 0
        for other in range(self.players):
            if other != self.seat:
                lane |= _lane(self.hands[other], suit)
        return HIGH[lane] if lane else -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _stands(self, card: cython.int) -> cython.bint:
        """Whether the card takes the trick as far as its player can tell: ruffs are not foreseen, a ruff is trusted."""
        if self.turn and card != self.best:
            if card >> 4 == self.best >> 4:
                if card < self.best:
                    return False
            elif card >> 4 != self.trump:
                return False
        if self.turn and card >> 4 != self.led:
            return True
        return not self._contested() or card & 15 > self._above(card >> 4)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _take(self, legal: cython.ulonglong) -> cython.int:
        """Leave a trick that an ally wins; else win as cheaply as it is sure, or with the highest; else throw."""
        suit: cython.int = self.led
        lane: cython.int = _lane(legal, suit)
        sure: cython.int
        if self.friends[self.seat] >> self.best_seat & 1 and self._stands(self.best):
            return self._throw(legal)
        if lane == 0 and self.trump < 4:
            suit = self.trump
            lane = _lane(legal, suit)
        if self.best >> 4 == suit:
            lane &= ~((2 << (self.best & 15)) - 1)
        elif suit != self.trump:
            return self._throw(legal)
        if lane == 0:
            return self._throw(legal)
        if suit != self.led or not self._contested():
            return suit << 4 | LOW[lane]
        sure = self._above(suit)
        if HIGH[lane] > sure >= 0:
            lane &= ~((2 << sure) - 1)
            return suit << 4 | LOW[lane]
        return suit << 4 | (LOW[lane] if sure < 0 else HIGH[lane])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _throw(self, legal: cython.ulonglong) -> cython.int:
        """What is missed least: the lowest card, trumps last, of equals in the shorter suit."""
        suit: cython.int
        lane: cython.int
        value: cython.int
        card: cython.int = 0
        least: cython.int = 100_000
        for suit in range(4):
            lane = _lane(legal, suit)
            if lane:
                value = LOW[lane] * 16 + COUNT[lane] + (400 if suit == self.trump else 0)
                if value < least:
                    least = value
                    card = suit << 4 | LOW[lane]
        return card

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _lead(self, hand: cython.ulonglong) -> cython.int:
        """The highest card that is out, trumps first while others hold some; else low from length."""
        suit: cython.int
        lane: cython.int
        value: cython.int
        above: cython.int
        card: cython.int = 0
        choice: cython.int
        most: cython.int = -100_000
        for suit in range(4):
            lane = _lane(hand, suit)
            if lane == 0:
                continue
            above = self._above(suit)
            if HIGH[lane] > above:
                choice = HIGH[lane]
                value = 400 + COUNT[lane]
                if suit == self.trump:
                    value += 100 if above >= 0 else -100
            else:
                choice = LOW[lane]
                value = COUNT[lane] * 4 - LOW[lane] - (60 if suit == self.trump else 0)
            if value > most:
                most = value
                card = suit << 4 | choice
        return card

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _duck(self, legal: cython.ulonglong) -> cython.int:
        """The highest card that loses as the trick lies, else the lowest; leading, the lowest of all."""
        suit: cython.int
        lane: cython.int
        value: cython.int
        card: cython.int = -1
        most: cython.int = -100_000
        if self.turn:
            for suit in range(4):
                lane = _lane(legal, suit)
                if suit == self.best >> 4:
                    lane &= (1 << (self.best & 15)) - 1
                elif suit == self.trump:
                    lane = 0
                if lane:
                    value = HIGH[lane] * 16 - COUNT[lane]
                    if value > most:
                        most = value
                        card = suit << 4 | HIGH[lane]
        return card if card >= 0 else self._throw(legal)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _press(self, legal: cython.ulonglong) -> cython.int:
        """Against a misère: keep below the declarer's card while it wins, else get rid of what is high.

        Before the declarer has played, and to lead, the lowest card, in a suit that the declarer cannot duck.
        """
        suit: cython.int
        lane: cython.int
        theirs: cython.int
        value: cython.int
        card: cython.int = 0
        most: cython.int = -100_000
        waiting: cython.bint = self.due >> self.ducking & 1
        if self.turn and self.best_seat == self.ducking:
            return self._duck(legal)
        for suit in range(4):
            lane = _lane(legal, suit)
            if lane == 0:
                continue
            if waiting:
                theirs = _lane(self.hands[self.ducking], suit)
                value = -16 * LOW[lane]
                if self.turn == 0 and theirs:
                    value += 64 * (1 + LOW[theirs] - LOW[lane]) if LOW[theirs] > LOW[lane] else 8
                if value > most:
                    most = value
                    card = suit << 4 | LOW[lane]
            else:
                value = HIGH[lane] * 16 - COUNT[lane]
                if value > most:
                    most = value
                    card = suit << 4 | HIGH[lane]
        return card
