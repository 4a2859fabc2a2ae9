"""K1 to K3."""

from typing import Any

from tests.engine.reference.tricks import Laid, deal, legal_cards, ranked, trick_winner


class Knockout:
    def __init__(self, players: int, options: dict[str, Any]) -> None:
        self.players = players
        self.spare = options.get("dogs_life", False)
        self.living = list(range(players))
        self.dogs: list[int] = []
        self.dealer: int | None = None
        self.size = 8
        self.most: list[int] = []
        self.tricks_in_all = [0] * players
        self.hands_survived = [0] * players
        self.stage = "draw"

    def draw(self) -> tuple[str, int] | None:
        if self.stage != "draw":
            return None
        if self.dealer is None:
            return "dealer", self.players
        number = 9 - self.size
        return (f"namer/{number}", len(self.most)) if len(self.most) > 1 else (f"deal/{number}", 52)

    def left_of(self, seat: int, among: list[int]) -> int:
        while True:
            seat = (seat + 1) % self.players
            if seat in among:
                return seat

    def take_draw(self, order: list[int]) -> None:
        if self.dealer is None:
            self.dealer = order[0]
            return
        if len(self.most) > 1:
            self.most = [self.most[order[0]]]
            return
        if self.size < 8:
            self.dealer = self.left_of(self.dealer, self.living)
        self.size -= 1
        sizes = [0] * self.players
        for seat in self.living:
            sizes[seat] = 1 if seat in self.dogs else self.size
        self.hands, rest = deal(order, self.dealer, self.living, sizes)
        self.trick: Laid = []
        self.kept: list[int] = []
        self.taken = [0] * self.players
        if self.size == 7:
            self.trump = rest[0][1]
            self.stage, self.actor = "play", self.left_of(self.dealer, self.living)
        else:
            self.stage, self.actor = "naming", self.most[0]

    def to_act(self) -> int | None:
        return None if self.stage in ("draw", "over") else self.actor

    def legal(self) -> list[dict[str, Any]]:
        if self.stage == "naming":
            return [{"trumps": suit} for suit in "CDHS"]
        moves: list[dict[str, Any]] = [{"play": card} for card in legal_cards(self.hands[self.actor], self.trick)]
        if self.actor in self.dogs and sum(self.taken) < self.size - 1:
            moves.append({"hold": True})
        return moves

    def act(self, action: dict[str, Any]) -> None:
        if "trumps" in action:
            self.trump, self.stage = action["trumps"], "play"
            return
        if "play" in action:
            self.hands[self.actor].remove(action["play"])
            self.trick.append((self.actor, action["play"]))
        else:
            self.kept.append(self.actor)
        had_turn = [seat for seat, _ in self.trick] + self.kept
        waiting = [seat for seat in self.living if self.hands[seat] and seat not in had_turn]
        if waiting:
            self.actor = self.left_of(self.actor, waiting)
            return
        winner = trick_winner(self.trick, self.trump)
        self.taken[winner] += 1
        self.trick, self.kept = [], []
        holding = [seat for seat in self.living if self.hands[seat]]
        if holding:
            self.actor = winner if winner in holding else self.left_of(winner, holding)
        else:
            self.hand_over()

    def hand_over(self) -> None:
        nothing = [seat for seat in self.living if not self.taken[seat]]
        for seat in self.living:
            self.tricks_in_all[seat] += self.taken[seat]
        if nothing and self.spare and self.size > 1:
            self.spare, self.dogs = False, nothing
        else:
            if nothing:
                self.spare = False
            self.dogs = []
            self.living = [seat for seat in self.living if self.taken[seat]]
        for seat in self.living:
            self.hands_survived[seat] += 1
        self.most = [seat for seat in self.living if self.taken[seat] == max(self.taken)]
        self.stage = "over" if len(self.living) == 1 else "draw"

    def scores(self) -> list[int]:
        return self.tricks_in_all

    def hand(self, seat: int) -> list[str]:
        return self.hands[seat]

    def outcome(self) -> tuple[list[int], list[int], list[int]]:
        ranking, steps = ranked(
            [(-self.hands_survived[seat], -self.tricks_in_all[seat], seat) for seat in range(self.players)]
        )
        return ranking, self.tricks_in_all, steps
