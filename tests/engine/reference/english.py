"""W1 to W8."""

from typing import Any

from tests.engine.reference.tricks import Laid, deal, legal_cards, ranked, trick_winner


class English:
    def __init__(self, players: int, options: dict[str, Any]) -> None:
        assert players == 4
        self.target = options.get("target", 5)
        self.honours_on = options.get("honours", True)
        self.games_needed = 1 if options.get("match") == "game" else 2
        self.bonus = options.get("rubber_bonus", False)
        self.club = options.get("revokes") == "club"
        self.dealer: int | None = None
        self.hands_played = 0
        self.score = [0, 0]
        self.games = [0, 0]
        self.total = [0, 0]
        self.stage = "draw"
        self.trick: Laid = []

    def draw(self) -> tuple[str, int] | None:
        if self.stage != "draw":
            return None
        return ("dealer", 4) if self.dealer is None else (f"deal/{self.hands_played + 1}", 52)

    def take_draw(self, order: list[int]) -> None:
        if self.dealer is None:
            self.dealer = order[0]
            return
        if self.hands_played:
            self.dealer = (self.dealer + 1) % 4
        self.hands_played += 1
        self.hands, _ = deal(order, self.dealer, [0, 1, 2, 3], [13] * 4)
        self.trump = self.hands[self.dealer][-1][1]
        self.held = [0, 0]
        for seat in range(4):
            self.held[seat % 2] += sum(1 for card in self.hands[seat] if card in [r + self.trump for r in "AKQJ"])
        self.taken = [0, 0]
        self.revoked: set[int] = set()
        self.asked: list[int] = []
        self.claimed: list[int] = []
        self.stage, self.actor, self.trick = "play", (self.dealer + 1) % 4, []

    def to_act(self) -> int | None:
        return None if self.stage in ("draw", "over") else self.actor

    def legal(self) -> list[dict[str, Any]]:
        if self.stage == "claim":
            return [{"claim": False}, {"claim": True}]
        if self.stage == "penalty":
            return [{"penalty": "points"}, {"penalty": "tricks"}]
        hand = self.hands[self.actor]
        return [{"play": card} for card in (hand if self.club else legal_cards(hand, self.trick))]

    def act(self, action: dict[str, Any]) -> None:
        if self.stage == "play":
            self.play(action["play"])
        elif self.stage == "claim":
            self.asked.append(self.actor)
            if action["claim"]:
                self.claimed.append(self.actor)
            self.ask()
        else:
            self.finish(action["penalty"])

    def play(self, card: str) -> None:
        hand = self.hands[self.actor]
        if card not in legal_cards(hand, self.trick):
            self.revoked.add(self.actor % 2)
        hand.remove(card)
        self.trick.append((self.actor, card))
        if len(self.trick) < 4:
            self.actor = (self.actor + 1) % 4
            return
        self.actor = trick_winner(self.trick, self.trump)
        self.taken[self.actor % 2] += 1
        self.trick = []
        if sum(self.taken) == 13:
            if self.club:
                self.stage = "claim"
                self.ask()
            else:
                self.finish(None)

    def ask(self) -> None:
        assert self.dealer is not None
        for step in (1, 2, 3, 4):
            seat = (self.dealer + step) % 4
            partner_claimed = (seat + 2) % 4 in self.claimed
            if seat not in self.asked and not partner_claimed:
                self.actor = seat
                return
        proven = [seat for seat in self.claimed if 1 - seat % 2 in self.revoked]
        if len(proven) == 2:
            self.stage = "draw"
        elif proven:
            self.stage, self.actor = "penalty", proven[0]
        else:
            self.finish(None)

    def finish(self, penalty: str | None) -> None:
        before, points, tricks = list(self.score), [0, 0], list(self.taken)
        guilty = None if penalty is None else 1 - self.actor % 2
        won: int | None = None
        if guilty is not None and penalty == "points":
            points[guilty] = -3
        if guilty is not None and penalty == "tricks":
            for _ in range(3):
                if tricks[guilty]:
                    tricks[guilty] -= 1
                    tricks[1 - guilty] += 1
        honours = [0, 0]
        if self.honours_on:
            for side in (0, 1):
                if before[side] < self.target - 1:
                    honours[side] = {3: 2, 4: 4}.get(self.held[side], 0)
        for gains in ([max(0, one - 6) for one in tricks], honours):
            for side in (0, 1):
                gain = gains[side]
                if side == guilty:
                    while gain and before[side] + points[side] + gain >= self.target:
                        gain -= 1
                points[side] += gain
            for side in (0, 1):
                if before[side] + points[side] >= self.target:
                    won = side
            if won is not None:
                break
        self.score = [before[side] + points[side] for side in (0, 1)]
        self.total = [self.total[side] + points[side] for side in (0, 1)]
        self.stage = "draw"
        if won is not None:
            self.score = [0, 0]
            self.games[won] += 1
            if self.games[won] == self.games_needed:
                self.stage = "over"
                self.total[won] += 2 if self.bonus else 0

    def scores(self) -> list[int]:
        return [self.total[seat % 2] for seat in range(4)]

    def hand(self, seat: int) -> list[str]:
        return self.hands[seat]

    def outcome(self) -> tuple[list[int], list[int], list[int]]:
        ranking, steps = ranked([(-self.games[seat % 2], seat) for seat in range(4)])
        return ranking, self.scores(), steps
