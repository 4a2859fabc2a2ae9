"""G1 and G2."""

from typing import Any

from tests.engine.reference.tricks import Laid, deal, legal_cards, ranked, trick_winner


class German:
    def __init__(self, players: int, options: dict[str, Any]) -> None:
        assert players == 2
        self.count_all = options.get("count_all", False)
        self.dealer: int | None = None
        self.stage = "draw"
        self.winners: list[int] = []

    def draw(self) -> tuple[str, int] | None:
        if self.stage != "draw":
            return None
        return ("dealer", 2) if self.dealer is None else ("deal/1", 52)

    def take_draw(self, order: list[int]) -> None:
        if self.dealer is None:
            self.dealer = order[0]
            return
        self.hands, self.stock = deal(order, self.dealer, [0, 1], [13, 13])
        self.trump = self.stock[0][1]
        self.trick: Laid = []
        self.stage, self.actor = "play", 1 - self.dealer

    def to_act(self) -> int | None:
        return None if self.stage in ("draw", "over") else self.actor

    def legal(self) -> list[dict[str, Any]]:
        return [{"play": card} for card in legal_cards(self.hands[self.actor], self.trick)]

    def act(self, action: dict[str, Any]) -> None:
        self.hands[self.actor].remove(action["play"])
        self.trick.append((self.actor, action["play"]))
        if len(self.trick) == 1:
            self.actor = 1 - self.actor
            return
        self.actor = trick_winner(self.trick, self.trump)
        self.winners.append(self.actor)
        self.trick = []
        if self.stock:
            self.hands[self.actor].append(self.stock.pop(0))
            self.hands[1 - self.actor].append(self.stock.pop(0))
        if len(self.winners) == 26:
            self.stage = "over"

    def scores(self) -> list[int]:
        counted = self.winners if self.count_all else self.winners[13:]
        return [counted.count(0), counted.count(1)]

    def hand(self, seat: int) -> list[str]:
        return self.hands[seat]

    def outcome(self) -> tuple[list[int], list[int], list[int]]:
        totals = self.scores()
        ranking, steps = ranked([(-totals[seat], int(seat != self.winners[-1])) for seat in (0, 1)])
        return ranking, totals, steps
