"""The kernel of the 52 cards: sampling, exact endings, and that the twin answers as the compiled one does."""

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from libs.engine.cards import Hand
from libs.engine.game import GAMES
from libs.engine.protocol import Game, Seat
from libs.engine.solo.auction import Call
from libs.search.family import auction, rollouts
from libs.search.family.rollouts import FamilyRollouts
from libs.search.family.seeing import CODES, LANE, NO_TRUMP, ROWS, look, trump_of, voids, weights
from tests.engine.family import TABLES, Table, act, chance, dealt, filled, name_of, run
from tests.search.builders import twin

EVEN_RANKS = "2C 4C 6C 2D 4D 6D 8D 2S 4S 6S 8S 4H 6H"
SOLO_SEEDS = 40
SOLO_HANDS = {  # the declarer's, such that random play brings some of them near the end undecided
    "solo": "AC KC QC JD TD 9D 8H 7H 6H 5S 4S 3S AS",
    "misere": "2C 3C 4C 2D 3D 4D 2H 3H 4H 2S 3S 4S 7S",
    "abundance_declared": "AC KC QC JC TC 9C 8C 7C 6C 5C 4C AD KD",
}
TWIN = twin(rollouts)
EVEN = [1024] * (ROWS * LANE)
ENGLISH: Table = ("english", 4, {"match": "game"})
every_table = pytest.mark.parametrize("table", TABLES, ids=name_of)


def tricks_of(view: Any) -> int:
    """Tricks that a hand of this game has."""
    return 26 if view["game"] == "german" else view["cards"]


def done(view: Any) -> int:
    """Tricks finished in this hand."""
    return sum(view["taken"][:2] if view["game"] == "english" else view["taken"])


def numbers(hand: Hand) -> int:
    """The kernel's hand."""
    return int(hand) >> 2


def moments(table: Table, seed: int) -> Iterator[tuple[Any, Seat, Any]]:
    """(state, seat, view) at each card of a game played at random."""
    game: Game = GAMES[table[0]]
    for state, _, _ in run(table, seed, chance(Random(seed))):
        seat = game.to_act(state)
        if seat is not None and game.phase(state) == "play":
            yield state, seat, game.view(state, seat)


def seen_by(view: Any) -> int:
    """Every card that the view shows to be neither hidden in a hand nor in the stock."""
    texts = [*view["hand"], *filter(None, view["trick"]["cards"])]
    texts += filter(None, (view["last_trick"] or {"cards": []})["cards"])
    if view["game"] == "knockout" and view["trump"]:
        texts.append(view["trump"])
    if view.get("prize"):
        texts.append(view["prize"])
    return sum(1 << CODES[text] for text in set(texts))


@every_table
def test_samples_have_the_right_sizes_and_respect_all_that_the_view_shows(table: Table) -> None:
    checked = 0
    for at, (state, me, view) in enumerate(moments(table, 3)):
        if at % 5:
            continue
        drawn = view["game"] == "german" and done(view) <= 13
        kernel = look(view, at, trump=trump_of(view), left=tricks_of(view) - done(view))
        kernel.believe(weights(view), drawn)
        missing = {(seat, suit) for seat, suit, _ in voids(view)}
        for _ in range(5):
            given_out = 0
            for seat, hand in enumerate(kernel.sample()):
                assert hand.bit_count() == state.play.hands[seat].bit_count()
                assert not hand & given_out
                given_out |= hand
                if seat == me:
                    assert hand == numbers(state.play.hands[me])
                    continue
                assert not hand & seen_by(view)
                for suit in range(4):
                    assert (seat, suit) not in missing or (hand >> 16 * suit & 0x1FFF).bit_count() <= drawn
        checked += 1
    assert checked > 3


def test_w1_the_turned_card_stays_with_the_dealer_and_l2_an_open_hand_is_known() -> None:
    state = dealt(("solo", 4, {}), filled([EVEN_RANKS, "", "", "2H"]), dealer=3)
    game = GAMES["solo"]
    view = game.view(state, 0)
    kernel = look(view, 1, trump=NO_TRUMP, left=13, first=0)
    kernel.believe(weights(view))
    assert all(kernel.sample()[3] >> CODES["2H"] & 1 for _ in range(20))
    state = act("solo", state, {"call": "open_misere"}, *[{"call": "pass"}] * 3)
    while not state.opened:
        state = act("solo", state, game.legal(state)[0])  # the declarer's is the two of clubs
    view = game.view(state, game.to_act(state))
    kernel = look(view, 1, trump=NO_TRUMP, left=12)
    kernel.believe(weights(view))
    assert all(kernel.sample()[0] == numbers(state.play.hands[0]) for _ in range(20))


def small(table: list[int]) -> FamilyRollouts:
    """Two players with a card each; three unseen cards, of which the other holds one and two are gone."""
    whole = sum(0x1FFF << 16 * suit for suit in range(4))
    kernel = FamilyRollouts()
    kernel.look(0, [1 << 3, 0], [1, 1], [], [0, 1], whole & ~0b1111, NO_TRUMP, [0, 0], 1, 0, -1, 5)
    kernel.believe(table)
    return kernel


def test_deals_are_as_likely_as_the_product_of_their_weights() -> None:
    for odds in ((1, 1, 1), (1, 2, 3), (0, 1, 4)):
        table = list(EVEN)
        table[LANE : LANE + 3] = [1024 * one // 4 for one in odds]
        kernel, draws = small(table), 20_000
        found = Counter(kernel.sample()[1] for _ in range(draws))
        for rank, one in enumerate(odds):
            # Four standard deviations of independent draws; the chain's neighbours are nearly that.
            assert abs(found[1 << rank] - draws * one / sum(odds)) < 4 * (draws * 0.25) ** 0.5


def test_where_no_deal_fits_the_weights_they_are_only_discouraging() -> None:
    """W7: in a club a seat may have revoked, so that what it showed is not true."""
    table = list(EVEN)
    table[LANE : LANE + 16] = [0] * 16
    assert small(table).sample()[1] in (1, 2, 4)


def test_positions_that_do_not_add_up_are_refused() -> None:
    kernel = FamilyRollouts()
    with pytest.raises(ValueError, match="do not add up"):
        kernel.look(0, [1, 0], [1, 52], [], [0, 1], 0, NO_TRUMP, [0, 0], 1, 0, -1, 1)
    with pytest.raises(ValueError, match="do not add up"):
        kernel.look(0, [0b11, 0], [1, 1], [], [0, 1], 0, NO_TRUMP, [0, 0], 1, 0, -1, 1)
    view = GAMES["english"].view(dealt(ENGLISH, filled(["3C", "", "", "2H"]), dealer=3), 0)
    with pytest.raises(ValueError, match="too far from the end"):
        look(view, 1, trump=2, left=13).ending([0] * 4)


def test_cards_that_are_worth_the_same_are_tried_once() -> None:
    state = dealt(ENGLISH, filled(["AC KC QC 9C 8C 2D 4D 6D 8D TD QD AD 5S", "3D 5D", "7D 9D", "2H"]), dealer=3)
    kernel = look(GAMES["english"].view(state, 0), 1, trump=2, left=13)
    clubs = [card for card in kernel.cards() if card >> 4 == 0]
    assert clubs == [CODES["8C"], CODES["QC"]]


@every_table
def test_the_twin_answers_as_the_compiled_kernel_does(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every move of chosen moments: same sums from the same seed, by the thinker's own way through the kernel."""
    from libs.search import choose  # noqa: PLC0415 - beside what is exchanged
    from libs.search.family import bots, seeing  # noqa: PLC0415

    light = {"keen": bots.Thinking(plays=((14, 2), (4, 2)), calls=2, exact=2)}
    monkeypatch.setattr(bots, "THINKING", light)
    game, compared = GAMES[table[0]], 0
    for at, (state, _, _) in enumerate(run(table, 8)):
        seat = game.to_act(state)
        if seat is None or at % 23:
            continue
        view, answers = game.view(state, seat), []
        for kernel in (FamilyRollouts(), TWIN.FamilyRollouts()):
            monkeypatch.setattr(seeing, "kernel", lambda kernel=kernel: kernel)
            action = choose(table[0], view, "keen", at)
            used = game.phase(state) == "play" and len(view["legal"]) > 1
            answers.append((action, kernel.earned() if used else [], kernel.sample() if used else []))
        assert answers[0] == answers[1]
        compared += 1
        if compared == 8:
            break
    assert compared > 0


def best_line(state: Any, side: set[Seat], count: "Gains") -> int:
    """Plain minimax on the rules engine: `side` for the most of `count`, the others for the least."""
    game = GAMES[count.game]
    seat = game.to_act(state)
    if game.phase(state) != "play" or seat is None:
        return int(count(state))
    values = []
    for action in game.legal(state):
        after = state
        for event in game.decide(state, seat, action):
            after = game.evolve(after, event)
        values.append(best_line(after, side, count))
    return max(values) if seat in side else min(values)


class Gains:
    """What a finished hand brings the seat: tricks of its side; in Solo units, to the declarer from one opponent."""

    def __init__(self, game: str, me: Seat) -> None:
        self.game, self.me = game, me

    def __call__(self, state: Any) -> int:
        if self.game == "german":
            return int(state.counted[self.me])
        row = state.sheet[-1]
        if self.game == "english":
            return int(row.tricks[self.me % 2])
        return int(row.units[self.me] / (3 if self.me == row.declarer else 1))


@pytest.mark.parametrize(("game", "left"), [("english", 2), ("german", 3), ("german", 4)])
def test_exact_endings_are_those_of_plain_minimax(game: str, left: int) -> None:
    solved = 0
    for seed in range(6):
        for state, me, view in moments((game, 4 if game == "english" else 2, {}), seed):
            if tricks_of(view) - done(view) > left or (state.sheet if game == "english" else False):
                continue
            side = {me, (me + 2) % 4} if game == "english" else {me}
            kernel = look(view, 1, trump=trump_of(view), left=tricks_of(view) - done(view))
            masks = [0b0101, 0b1010] * 2 if game == "english" else [1, 2]
            kernel.aim(masks, masks[me], list(range(27)))
            exact = best_line(state, side, Gains(game, me))
            assert kernel.ending([numbers(hand) for hand in state.play.hands]) == exact
            solved += 1
    assert solved > 15


@pytest.mark.parametrize("bid", ["solo", "misere", "abundance_declared"])
def test_exact_endings_of_solo_are_those_of_plain_minimax(bid: str) -> None:
    """Contracts that end as soon as they are decided too (L4)."""
    game, outcomes = GAMES["solo"], set()
    for seed in range(SOLO_SEEDS):
        rng = Random(seed)
        hands = SOLO_HANDS[bid]
        state = dealt(("solo", 4, {"hands": 4}), filled([hands, "", "", ""]), dealer=3)
        state = act("solo", state, {"call": bid}, *[{"call": "pass"}] * 3)
        while game.phase(state) == "play":
            me = game.to_act(state)
            assert me is not None
            view = game.view(state, me)
            if 13 - done(view) <= 2:
                kernel = look(view, 1, trump=trump_of(view), left=13 - done(view))
                auction.aim(kernel, Call(bid), 0, None, me)
                exact = best_line(state, {0} if me == 0 else {1, 2, 3}, Gains("solo", me))
                # What is left of a hundredth of a unit is the kernel's taste for over-tricks.
                assert round(kernel.ending([numbers(hand) for hand in state.play.hands]) / 100) == exact
                outcomes.add(exact)
            state = act("solo", state, rng.choice(game.legal(state)))
    assert len(outcomes) > 1


def test_the_last_trick_is_counted_for_the_side_that_takes_it() -> None:
    """One card each: the ace of trumps wins, whoever leads."""
    whole = sum(0x1FFF << 16 * suit for suit in range(4))
    held = [1 << CODES[text] for text in ("2C", "AH", "KC", "AC")]
    kernel = FamilyRollouts()
    kernel.look(0, held, [1] * 4, [], [0, 1, 2, 3], whole & ~sum(held), 2, [6, 6, 0, 0], 1, 0, -1, 1)
    kernel.aim([0b0101, 0b1010] * 2, 0b0101, list(range(27)))
    kernel.believe(EVEN)
    assert kernel.ending(held) == 6
    assert kernel.attempt([CODES["2C"]], 3, 0) == [18]
