"""L1 to L4."""

from typing import Any

from tests.engine.reference.tricks import Laid, deal, legal_cards, ranked, trick_winner

LADDER = ["proposal", "solo", "misere", "abundance", "royal_abundance", "open_misere", "abundance_declared"]
# bid -> tricks, what a lone declarer wins or loses in all
VALUE = {
    "solo": (5, 3),
    "misere": (0, 6),
    "abundance": (9, 9),
    "royal_abundance": (9, 9),
    "open_misere": (0, 12),
    "abundance_declared": (13, 18),
}


class Solo:
    def __init__(self, players: int, options: dict[str, Any]) -> None:
        assert players == 4
        self.hands_left = options.get("hands", 16)
        self.dealer: int | None = None
        self.number = 0
        self.units = [0] * 4
        self.made, self.lost = [0] * 4, [0] * 4
        self.stage = "draw"

    def draw(self) -> tuple[str, int] | None:
        if self.stage != "draw":
            return None
        return ("dealer", 4) if self.dealer is None else (f"deal/{self.number + 1}", 52)

    def take_draw(self, order: list[int]) -> None:
        if self.dealer is None:
            self.dealer = order[0]
            return
        if self.number:
            self.dealer = (self.dealer + 1) % 4
        self.number += 1
        self.hands_left -= 1
        self.hands, _ = deal(order, self.dealer, [0, 1, 2, 3], [13] * 4)
        self.turned = self.hands[self.dealer][-1][1]
        self.top: str | None = None
        self.holders: list[int] = []
        self.out: list[int] = []
        self.eldest_asked_again = False
        self.trick: Laid = []
        self.taken = [0] * 4
        self.stage, self.actor = "auction", (self.dealer + 1) % 4

    def to_act(self) -> int | None:
        return None if self.stage in ("draw", "over") else self.actor

    def legal(self) -> list[dict[str, Any]]:
        if self.stage == "naming":
            return [{"trumps": suit} for suit in "CDHS"]
        if self.stage == "play":
            return [{"play": card} for card in legal_cards(self.hands[self.actor], self.trick)]
        calls = ["pass"]
        if self.top == "proposal" and len(self.holders) == 1 and self.actor not in self.holders:
            calls.append("acceptance")
        if self.actor not in self.out:
            calls += LADDER[LADDER.index(self.top) + 1 :] if self.top else LADDER
        return [{"call": call} for call in calls]

    def act(self, action: dict[str, Any]) -> None:
        if self.stage == "auction":
            self.call(action["call"])
        elif self.stage == "naming":
            self.start(action["trumps"])
        else:
            self.play(action["play"])

    def call(self, call: str) -> None:
        assert self.dealer is not None
        eldest = (self.dealer + 1) % 4
        if call == "pass":
            if self.actor in self.out:
                self.eldest_asked_again = True
            elif self.actor in self.holders:  # a proposer without acceptance gives up
                self.thrown_in()
                return
            self.out.append(self.actor)
        elif call == "acceptance":
            self.holders.append(self.actor)
        else:
            self.top, self.holders = call, [self.actor]
        for step in (1, 2, 3):
            seat = (self.actor + step) % 4
            if seat in self.holders:
                continue
            lonely = self.top == "proposal" and len(self.holders) == 1
            if seat not in self.out or (seat == eldest and lonely and not self.eldest_asked_again):
                self.actor = seat
                return
        if self.top is None:
            if len(set(self.out)) == 4:
                self.thrown_in()
            return
        if self.top == "proposal" and len(self.holders) == 1:
            self.actor = self.holders[0]
            return
        if self.top == "abundance":
            self.stage, self.actor = "naming", self.holders[0]
            return
        self.start(self.turned if self.top in ("proposal", "solo", "royal_abundance") else None)

    def start(self, trump: str | None) -> None:
        assert self.dealer is not None
        self.trump = trump
        self.stage = "play"
        self.actor = self.holders[0] if self.top == "abundance_declared" else (self.dealer + 1) % 4

    def play(self, card: str) -> None:
        self.hands[self.actor].remove(card)
        self.trick.append((self.actor, card))
        if len(self.trick) < 4:
            self.actor = (self.actor + 1) % 4
            return
        self.actor = trick_winner(self.trick, self.trump)
        self.taken[self.actor] += 1
        self.trick = []
        declarer = self.holders[0]
        if (
            (self.top in ("misere", "open_misere") and self.taken[declarer])
            or (self.top == "abundance_declared" and self.taken[declarer] < sum(self.taken))
            or sum(self.taken) == 13
        ):
            self.score()

    def score(self) -> None:
        assert self.top is not None
        took = sum(self.taken[seat] for seat in self.holders)
        if len(self.holders) == 2:
            made, sizes = took >= 8, dict.fromkeys(self.holders, 1)
        else:
            needed, stake = VALUE[self.top]
            made = took == 0 if needed == 0 else took >= needed
            sizes = {self.holders[0]: stake}
        others = [seat for seat in range(4) if seat not in sizes]
        sign = 1 if made else -1
        for seat, size in sizes.items():
            self.units[seat] += sign * size
            self.made[seat] += made
            self.lost[seat] += not made
        for seat in others:
            self.units[seat] -= sign * sum(sizes.values()) // len(others)
        self.stage = "draw" if self.hands_left else "over"

    def thrown_in(self) -> None:
        self.stage = "draw" if self.hands_left else "over"

    def scores(self) -> list[int]:
        return self.units

    def hand(self, seat: int) -> list[str]:
        return self.hands[seat]

    def outcome(self) -> tuple[list[int], list[int], list[int]]:
        ranking, steps = ranked([(-self.units[seat], -self.made[seat], self.lost[seat], seat) for seat in range(4)])
        return ranking, self.units, steps
