"""R1 to R11."""

from functools import cmp_to_key
from typing import Any, NamedTuple

from tests.engine.reference.tricks import RANKS, Laid, trick_winner


class Round(NamedTuple):
    """One line of the score sheet; lists are by seat."""

    cards: int
    bids: list[int]
    taken: list[int]
    points: list[int]


class Romanian:
    def __init__(self, players: int, options: dict[str, Any]) -> None:
        assert players in (4, 5, 6)
        self.players = players
        self.seats = list(range(players))
        self.pack = [rank + suit for suit in "CDHS" for rank in RANKS[-2 * players :]]
        self.mode = options["mode"]
        self.triangular = options.get("scoring") == "triangular"
        self.premium = options.get("premium", "off")
        self.one_card = options.get("one_card", "off")
        down, up = [7, 6, 5, 4, 3, 2], [2, 3, 4, 5, 6, 7]
        self.sizes: list[int] = {
            "8-1-8": [8] * players + down + [1] * players + up + [8] * players,
            "8-8-8": [8] * players + down + [8] * players + up + [8] * players,
            "1-8-1": [1] * players + up + [8] * players + down + [1] * players,
            "quick": [],
        }[self.mode]
        self.dealer: int | None = None
        self.rounds: list[Round] = []
        self.rows: list[list[bool]] = [[] for _ in self.seats]  # made or missed, as the premium counts them
        self.stage = "draw"

    def draw(self) -> tuple[str, int] | None:
        if self.stage != "draw":
            return None
        if self.dealer is None:
            return "dealer", self.players
        if not self.sizes:
            return "left-out", 6
        return f"deal/{len(self.rounds) + 1}", len(self.pack)

    def take_draw(self, order: list[int]) -> None:
        if self.dealer is None:
            self.dealer = order[0]
            return
        if not self.sizes:
            self.sizes = [8, 7, 6, 5, 4, 3, 2]
            self.sizes.remove(order[0] + 2)
            return
        if self.rounds:
            self.dealer = (self.dealer + 1) % self.players
        self.size = self.sizes[len(self.rounds)]
        undealt = [self.pack[index] for index in order]
        self.hands: list[list[str]] = [[] for _ in self.seats]
        for _ in range(self.size):
            for step in range(1, self.players + 1):
                self.hands[(self.dealer + step) % self.players].append(undealt.pop(0))
        self.trump = undealt[0][1] if self.size < 8 else None
        self.bids: dict[int, int] = {}
        self.taken = [0] * self.players
        self.trick: Laid = []
        self.stage, self.actor = "bid", (self.dealer + 1) % self.players

    def to_act(self) -> int | None:
        return None if self.stage in ("draw", "over") else self.actor

    def legal(self) -> list[dict[str, Any]]:
        if self.stage == "bid":
            bids = list(range(self.size + 1))
            if self.actor == self.dealer:
                bids = [bid for bid in bids if sum(self.bids.values()) + bid != self.size]
            return [{"bid": bid} for bid in bids]
        return [{"play": card} for card in self.playable()]

    def playable(self) -> list[str]:
        hand = self.hands[self.actor]
        if not self.trick:
            return list(hand)
        led = self.trick[0][1][1]
        for suit in (led, self.trump):
            able = [card for card in hand if card[1] == suit]
            if able:
                return able
        return list(hand)

    def act(self, action: dict[str, Any]) -> None:
        seat, self.actor = self.actor, (self.actor + 1) % self.players
        if self.stage == "bid":
            self.bids[seat] = action["bid"]
            if seat == self.dealer:
                assert sum(self.bids.values()) != self.size
                self.stage = "play"
            return
        self.hands[seat].remove(action["play"])
        self.trick.append((seat, action["play"]))
        if len(self.trick) == self.players:
            self.actor = trick_winner(self.trick, self.trump)
            self.taken[self.actor] += 1
            self.trick = []
            if sum(self.taken) == self.size:
                self.score()

    def score(self) -> None:
        points = []
        for seat in self.seats:
            bid, taken = self.bids[seat], self.taken[seat]
            if bid == taken:
                points.append(5 + (sum(range(1, bid + 1)) if self.triangular else bid))
            else:
                points.append(-(sum(range(1, abs(bid - taken) + 1)) if self.triangular else abs(bid - taken)))
            points[-1] += self.bonus(seat, bid == taken)
        self.rounds.append(Round(self.size, [self.bids[seat] for seat in self.seats], self.taken, points))
        self.stage = "over" if len(self.rounds) == len(self.sizes) else "draw"

    def bonus(self, seat: int, made: bool) -> int:
        """R11: ten at five in a row, and the row starts again."""
        row = self.rows[seat]
        if self.size == 1:
            if self.premium == "reset":
                row.clear()
            return 0
        row.append(made)
        if self.premium == "off" or row[-5:] != [made] * 5:
            return 0
        row.clear()
        return 10 if made else -10

    def scores(self) -> list[int]:
        return [total(self.rounds, seat) for seat in self.seats]

    def hand(self, seat: int) -> list[str]:
        """What the seat sees of its own cards (R11)."""
        return [] if self.blind() else self.hands[seat]

    def foreheads(self, seat: int) -> list[str | None] | None:
        """What the seat sees on the others' foreheads (R11)."""
        if self.one_card != "forehead" or not self.blind():
            return None
        return [None if other == seat else self.hands[other][0] for other in self.seats]

    def blind(self) -> bool:
        return self.one_card != "off" and self.size == 1 and self.stage == "bid"

    def outcome(self) -> tuple[list[int], list[int], list[int]]:
        ranking = rank(self.rounds, self.players)
        return ranking, self.scores(), parting_steps(self.rounds, ranking)


def total(rounds: list[Round], seat: int) -> int:
    return sum(one.points[seat] for one in rounds)


def missed(rounds: list[Round], seat: int) -> list[Round]:
    return [one for one in rounds if one.bids[seat] != one.taken[seat]]


def compare(rounds: list[Round], a: int, b: int) -> tuple[int, int]:
    """R9: the step that parts two seats, and a number below zero if the first seat is the better one."""
    if total(rounds, a) != total(rounds, b):
        return 1, total(rounds, b) - total(rounds, a)
    lost_a, lost_b = missed(rounds, a), missed(rounds, b)
    if len(lost_a) != len(lost_b):
        return 2, len(lost_a) - len(lost_b)
    eights = [sum(1 for one in lost if one.cards == 8) for lost in (lost_a, lost_b)]
    if eights[0] != eights[1]:
        return 3, eights[0] - eights[1]
    short = [
        sum(one.bids[seat] - one.taken[seat] for one in rounds if one.taken[seat] < one.bids[seat]) for seat in (a, b)
    ]
    if short[0] != short[1]:
        return 4, short[0] - short[1]
    worst = [max([0] + [abs(one.bids[seat] - one.taken[seat]) for one in rounds]) for seat in (a, b)]
    if worst[0] != worst[1]:
        return 5, worst[0] - worst[1]
    for played in range(len(rounds), 0, -1):
        until = rounds[:played]
        if total(until, a) != total(until, b):
            return 6, total(until, b) - total(until, a)
    return 7, a - b


def rank(rounds: list[Round], players: int) -> list[int]:
    """R9: seats from best to last."""

    def order(a: int, b: int) -> int:
        return compare(rounds, a, b)[1]

    return sorted(range(players), key=cmp_to_key(order))


def parting_steps(rounds: list[Round], ranking: list[int]) -> list[int]:
    return [compare(rounds, ranking[at], ranking[at + 1])[0] for at in range(len(ranking) - 1)]
