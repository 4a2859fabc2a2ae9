"""Whose rounds are whose (P16): by game, and where a seat changes hands. Pure."""

from collections.abc import Callable
from uuid import uuid4

import pytest

from libs.engine import bots
from services.tables.domain.entries import By, FriendsTable, Opened, SeatFacts, Vacated
from services.tables.domain.errors import NoTakeOver, SeatLeft, SeatTaken
from services.tables.domain.outcome import SeatOutcome, outcomes
from services.tables.domain.table import Table, decide_draws, decide_move, decide_take_over, opened

ANA, RADU, ZOE = SeatFacts(b"a" * 16, "Ana"), SeatFacts(b"r" * 16, "Radu"), SeatFacts(b"z" * 16, "Zoe")
GAMES = [
    ("romanian", {"mode": "8-1-8"}, 4),
    ("english", {"match": "game", "revokes": "club"}, 4),
    ("solo", {}, 4),
    ("knockout", {}, 3),
    ("german", {}, 2),
]
each_game = pytest.mark.parametrize(("game", "options", "players"), GAMES, ids=[name for name, _, _ in GAMES])
Act = Callable[[Table], None]


def a_table(game: str, options: dict[str, object], players: int, *, friends: bool = True) -> Table:
    seats = [ANA, RADU, *(SeatFacts(b"", f"Bot {number}") for number in range(2, players))]
    chosen = FriendsTable(bid_ms=15_000, play_ms=10_000, bots="calm", spectators=0) if friends else None
    return opened(uuid4(), Opened(3, 0, game, 1, options, seats, b"s" * 32, chosen))


def play(table: Table, who: Callable[[Table, int], By], before_move: Act = lambda table: None) -> list[SeatOutcome]:
    """To the end; `who` says who makes the move of a seat."""
    while table.phase != "over":
        drawn = decide_draws(table)
        if drawn is not None:
            table.apply(drawn[0])
            continue
        before_move(table)
        seat = table.to_act
        assert seat is not None
        action = bots.choose(table.game.name, table.view(seat))
        body, _ = decide_move(table, seat, table.turn, action, who(table, seat), "")
        table.apply(body)
    return outcomes(table)


@each_game
def test_p16_who_decides_everything_has_every_round(game: str, options: dict[str, object], players: int) -> None:
    found = play(a_table(game, options, players), lambda _, seat: By.PERSON if seat == 0 else By.BOT)
    assert found[0].own_bids == found[0].rounds > 0 and found[0].bid_lately
    assert all(other.own_bids == 0 and not other.bid_lately for other in found[1:])


@each_game
def test_p16_a_round_with_one_time_out_is_not_ones_own(game: str, options: dict[str, object], players: int) -> None:
    late: list[int] = []

    def who(table: Table, seat: int) -> By:
        counted = "bid" if game in ("romanian", "solo") else "play"
        if seat == 0 and table.rounds == 1 and table.phase == counted and not late:
            late.append(table.turn)
            return By.TIME_OUT
        return By.PERSON

    found = play(a_table(game, options, players), who)
    assert late and found[0].own_bids == found[0].rounds - 1
    assert found[1].own_bids == found[1].rounds


@each_game
def test_p16_a_newcomers_rounds_begin_with_the_next_one(game: str, options: dict[str, object], players: int) -> None:
    taken: list[int] = []

    def take(table: Table) -> None:
        seat = table.to_act
        decided = table.tallies[0].own_bids >> (table.rounds - 1) & 1
        if not taken and decided and seat != 0 and table.rounds == 1:
            table.apply(Vacated(0, "bye"))
            table.apply(decide_take_over(table, 0, ZOE, "take"))
            taken.append(table.next_seq)

    found = play(a_table(game, options, players), lambda _, __: By.PERSON, take)
    assert taken and found[0].own_bids == found[0].rounds - 1 and not found[0].left


def test_p22_who_may_take_which_seat() -> None:
    table = a_table("romanian", {"mode": "8-1-8"}, 4)
    with pytest.raises(SeatTaken):
        decide_take_over(table, 0, ZOE, "t")
    table.apply(decide_take_over(table, 2, ZOE, "t"))
    assert table.seat_of(ZOE.account) == 2 and table.answered_at(ZOE.account, "t") == 1
    assert table.is_person(2) and not table.is_person(3)
    table.apply(Vacated(0, "bye"))
    with pytest.raises(SeatLeft):
        decide_take_over(table, 3, ANA, "again")
    newcomer = SeatFacts(b"n" * 16, "Nelu")
    table.apply(decide_take_over(table, 0, newcomer, "t"))
    assert table.answered_at(ANA.account, "t") is None and table.answered_at(newcomer.account, "t") == 3
    with pytest.raises(SeatLeft):
        decide_take_over(table, 3, ANA, "again")


def test_p8_a_seat_of_quick_play_is_nobody_elses() -> None:
    table = a_table("romanian", {"mode": "8-1-8"}, 4, friends=False)
    table.apply(Vacated(0, "bye"))
    with pytest.raises(NoTakeOver):
        decide_take_over(table, 0, ZOE, "t")
