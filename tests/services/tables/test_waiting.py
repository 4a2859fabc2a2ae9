"""A friends' table before its deal, as values: who may do what, and that a refusal moves nothing (P20-P25)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.chassis.errors import DomainError
from libs.house import platform
from libs.house.bots import Strength
from services.tables.domain import waiting
from services.tables.domain.chat import TEXT_MAX, clean
from services.tables.domain.entries import SeatFacts
from services.tables.domain.errors import BadText
from services.tables.domain.waiting import Choices, Stage, WaitingTable

FRIENDS = platform.load().friends
NAMES = ("ana", "radu", "zoe", "ioana", "vlad", "dan")
ANA, RADU, ZOE, IOANA, VLAD, DAN = (SeatFacts(name.encode(), name) for name in NAMES)
EVERYBODY = (ANA, RADU, ZOE, IOANA, VLAD, DAN)


def choices(**changes: Any) -> Choices:
    plain: dict[str, Any] = {
        "game": "romanian",
        "options": {"mode": "8-1-8"},
        "players": 4,
        "bid_seconds": 15,
        "bots": Strength.CALM,
        "listed": True,
        "spectators": True,
        "open_chat": True,
    }
    return Choices(**(plain | changes))


def a_table(*people: SeatFacts, **changes: Any) -> WaitingTable:
    table = waiting.open_waiting(uuid4(), people[0] if people else ANA, choices(**changes), FRIENDS)
    for person in people[1:]:
        table = waiting.sit(table, person)
    return table


def seated(table: WaitingTable) -> list[str | None]:
    return [None if person is None else person.name for person in table.chairs]


def test_p20_the_host_sits_first_and_friends_where_they_like() -> None:
    table = waiting.sit(waiting.sit(a_table(), RADU, 3), ZOE)
    assert (seated(table), table.host) == (["ana", "zoe", None, "radu"], ANA.account)
    assert seated(waiting.sit(table, ZOE, 2)) == ["ana", None, "zoe", "radu"]
    assert waiting.sit(table, ZOE, 1) == table


@pytest.mark.parametrize(
    ("who", "seat", "reason"),
    [
        (ZOE, 1, "SEAT_TAKEN"),
        (ZOE, 4, "NO_SUCH_SEAT"),
        (ZOE, -2, "NO_SUCH_SEAT"),
        (RADU, waiting.ANY_SEAT, "ALREADY_SEATED"),
        (RADU, 0, "SEAT_TAKEN"),
    ],
)
def test_p20_a_seat_that_cannot_be_had_says_why(who: SeatFacts, seat: int, reason: str) -> None:
    with pytest.raises(DomainError) as refused:
        waiting.sit(a_table(ANA, RADU), who, seat)
    assert refused.value.reason == reason


def test_p20_a_full_table_is_full() -> None:
    with pytest.raises(DomainError) as refused:
        waiting.sit(a_table(ANA, RADU, ZOE, IOANA), VLAD)
    assert refused.value.reason == "SEAT_TAKEN"


def test_p25_the_next_person_clockwise_is_host_and_the_first_to_come_back_to_an_empty_table() -> None:
    table = waiting.sit(waiting.sit(a_table(), RADU, 3), ZOE, 2)
    after = waiting.stand(table, ANA.account)
    assert after.host == ZOE.account
    assert waiting.stand(after, RADU.account).host == ZOE.account
    empty = waiting.without(after, (ZOE.account, RADU.account))
    assert (empty.host, empty.people) == (b"", [])
    assert waiting.sit(empty, DAN).host == DAN.account


def test_p25_the_succession_goes_round_the_table() -> None:
    table = replace(a_table(ANA, RADU, ZOE), host=ZOE.account)
    assert waiting.stand(table, ZOE.account).host == ANA.account


def test_who_was_sent_away_does_not_come_back() -> None:
    table = waiting.kick(a_table(ANA, RADU), ANA.account, RADU.account)
    assert seated(table) == ["ana", None, None, None]
    with pytest.raises(DomainError) as refused:
        waiting.sit(table, RADU)
    assert refused.value.reason == "BARRED"
    assert waiting.kick(table, ANA.account, RADU.account) == table


def test_only_the_host_chooses_sends_away_deals_and_closes() -> None:
    table = a_table(ANA, RADU)
    acts: list[Callable[[], WaitingTable]] = [
        lambda: waiting.choose(table, RADU.account, choices(), FRIENDS),
        lambda: waiting.kick(table, RADU.account, ANA.account),
        lambda: waiting.deal(table, RADU.account, FRIENDS),
        lambda: waiting.close(table, RADU.account),
    ]
    for act in acts:
        with pytest.raises(DomainError) as refused:
            act()
        assert refused.value.reason == "NOT_HOST"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"game": "bridge"}, "BAD_CHOICE"),
        ({"bid_seconds": 20}, "BAD_CHOICE"),
        ({"options": {"mode": "quick"}, "players": 6}, "BAD_CHOICE"),
        ({"options": {"mode": "bench", "rounds": 3}}, "BAD_CHOICE"),
        ({"options": {"mode": "1-8-1"}}, "BAD_CHOICE"),
        ({"options": {"mode": ["8-1-8"]}}, "BAD_OPTIONS"),
        ({"players": 3}, "BAD_OPTIONS"),
        ({"players": 7}, "BAD_OPTIONS"),
        ({"game": "english", "options": {"target": 6}}, "BAD_OPTIONS"),
        ({"game": "german", "options": {}}, "BAD_OPTIONS"),
    ],
    ids=str,
)
def test_p21_what_is_not_offered_is_refused_by_name(change: dict[str, Any], reason: str) -> None:
    acts: list[Callable[[], WaitingTable]] = [
        lambda: a_table(**change),
        lambda: waiting.choose(a_table(), ANA.account, choices(**change), FRIENDS),
    ]
    for act in acts:
        with pytest.raises(DomainError) as refused:
            act()
        assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("game", "options", "players"),
    [
        ("romanian", {"mode": "8-8-8"}, 5),
        ("romanian", {"mode": "8-1-8", "premium": "skip"}, 6),
        ("english", {}, 4),
        ("english", {"target": 7, "honours": False, "revokes": "club"}, 4),
        ("solo", {}, 4),
        ("knockout", {}, 7),
        ("german", {"count_all": True}, 2),
    ],
    ids=str,
)
def test_p21_every_game_of_the_engine_is_offered(game: str, options: dict[str, object], players: int) -> None:
    table = waiting.choose(a_table(), ANA.account, choices(game=game, options=options, players=players), FRIENDS)
    assert len(table.chairs) == players and waiting.deal(table, ANA.account, FRIENDS).stage is Stage.DEALT


def test_p21_a_smaller_table_keeps_its_people_or_is_refused() -> None:
    table = waiting.sit(a_table(players=6), RADU, 5)
    with pytest.raises(DomainError) as refused:
        waiting.choose(table, ANA.account, choices(players=5), FRIENDS)
    assert refused.value.reason == "SEATS_OCCUPIED"
    moved = waiting.sit(table, RADU, 2)
    assert seated(waiting.choose(moved, ANA.account, choices(players=4), FRIENDS)) == ["ana", None, "radu", None]


@pytest.mark.parametrize(("stage", "reason"), [(Stage.DEALT, "TABLE_DEALT"), (Stage.CLOSED, "TABLE_CLOSED")])
def test_a_table_that_waits_no_longer_takes_no_command(stage: Stage, reason: str) -> None:
    table = replace(a_table(ANA, RADU), stage=stage)
    acts: list[Callable[[], WaitingTable]] = [
        lambda: waiting.sit(table, ZOE),
        lambda: waiting.stand(table, RADU.account),
        lambda: waiting.kick(table, ANA.account, RADU.account),
        lambda: waiting.choose(table, ANA.account, choices(), FRIENDS),
        lambda: waiting.deal(table, ANA.account, FRIENDS),
        lambda: waiting.close(table, ANA.account),
    ]
    for act in acts:
        with pytest.raises(DomainError) as refused:
            act()
        assert refused.value.reason == reason


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["sit", "stand", "kick", "choose", "gone"]),
        st.sampled_from(EVERYBODY),
        st.sampled_from(EVERYBODY),
        st.integers(-2, 7),
    ),
    max_size=40,
)


def step(table: WaitingTable, name: str, who: SeatFacts, other: SeatFacts, number: int) -> WaitingTable:
    match name:
        case "sit":
            return waiting.sit(table, who, number)
        case "stand":
            return waiting.stand(table, who.account)
        case "kick":
            return waiting.kick(table, who.account, other.account)
        case "choose":
            return waiting.choose(table, who.account, choices(players=number), FRIENDS)
        case _:
            return waiting.without(table, (who.account, other.account))


@given(ACTS)
def test_nobody_sits_twice_and_the_host_sits_as_long_as_somebody_does(acts: list[Any]) -> None:
    table = a_table(players=6)
    for name, who, other, number in acts:
        try:
            table = step(table, name, who, other, number)
        except DomainError:
            continue
        accounts = [person.account for person in table.people]
        assert len(accounts) == len(set(accounts)) and len(table.chairs) == table.choices.players
        assert (table.host in accounts) if accounts else table.host == b""
        assert table.barred.isdisjoint(accounts)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("  hello \n there\t", "hello there"),
        ("I <3 whist <b>x</b>", "I ‹3 whist ‹b›x‹/b›"),
        ("a\u202eb\u2066c\u200bd\x00e\u0007", "abcde"),
        ("e\u0301", "é"),
        ("z\u0335\u0336\u0337\u0338\u0339", "z\u0335\u0336\u0337"),
        ("bună 🂡 你好", "bună 🂡 你好"),
    ],
)
def test_a9_a_line_is_kept_as_plain_text(said: str, kept: str) -> None:
    assert clean(said) == kept


@pytest.mark.parametrize("said", ["", " \n", "\u202e\u200b", "x" * (TEXT_MAX + 1), "x" * 100_000, "\ud800"], ids=len)
def test_a9_no_line_is_empty_or_too_long(said: str) -> None:
    with pytest.raises(BadText):
        clean(said)


@given(st.text(max_size=300))
def test_a9_whatever_is_said_is_kept_once_and_for_all_or_refused(said: str) -> None:
    try:
        kept = clean(said)
    except BadText:
        return
    assert clean(kept) == kept and len(kept) <= TEXT_MAX and not set("<>\n\u202e") & set(kept)
