"""P72: every written form of a record reads back to the record, and the record plays again to the same score."""

import json
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.engine import fair
from libs.engine.bots import choose
from libs.engine.game import GAMES
from libs.engine.record.link import LINK_MAX, from_link, to_link
from libs.engine.record.model import BadRecord, By, Drawn, Move, Record, final, replay, result
from libs.engine.record.plain import dumps, from_json, loads, to_json
from libs.engine.record.text import TEXT_MAX, from_text, to_text
from libs.engine.replay import fold
from tests.engine.family import TABLES, Table, name_of

ROMANIAN: list[Table] = [("romanian", 4, {"mode": "8-1-8"}), ("romanian", 6, {"mode": "quick"})]
ALL = [*ROMANIAN, *TABLES]
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
BRIEF = settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow])
every_table = pytest.mark.parametrize("table", ALL, ids=name_of)


def recorded(
    table: Table, seed: int, *, secret: bool = True, most: int = 10_000, names: tuple[str, ...] = (), times: bool = True
) -> Record:
    """A random game's record, broken off after `most` decisions."""
    name, players, options = table
    game, rng = GAMES[name], Random(seed)
    key = rng.randbytes(32)
    state = game.new(players, options)
    moves: list[Move] = []
    draws: list[Drawn] = []
    at_ms = 1_796_025_375_123
    while not game.over(state):
        if (draw := game.draw(state)) is not None:
            order = fair.permutation(key, draw.label, draw.size)
            draws.append(Drawn(draw.label, order))
            events = game.decide_draw(state, order)
        elif len(moves) == most:
            break
        else:
            seat = game.to_act(state)
            assert seat is not None
            action = rng.choice(game.legal(state))
            at_ms += rng.randrange(9_000)
            moves.append(Move(seat=seat, action=action, by=rng.choice(list(By)), at_ms=at_ms if times else None))
            events = game.decide(state, seat, action)
        state = fold(game, state, events)
    return Record(
        game=name,
        rules_version=game.rules_version,
        players=players,
        options=options,
        names=names,
        commitment=fair.commitment(key),
        secret=key if secret else None,
        draws=() if secret else tuple(draws),
        moves=tuple(moves),
    )


@every_table
@pytest.mark.parametrize("secret", [True, False], ids=["secret", "draws"])
def test_what_is_written_reads_back_in_every_form(table: Table, secret: bool) -> None:
    record = recorded(table, seed=1, secret=secret)
    outcome = result(record)
    assert outcome is not None and outcome["ranking"]
    assert loads(dumps(record)) == record
    assert from_text(to_text(record)) == record
    linked = from_link(to_link(record))
    assert linked == record.bare()
    assert result(linked) == outcome


@BRIEF
@given(
    st.sampled_from([table for table in ALL if "rubber_bonus" not in table[2]]),
    st.integers(0, 2**32),
    st.booleans(),
    st.integers(0, 130),
    st.lists(NAMES, min_size=7, max_size=7),
    st.booleans(),
)
def test_a_game_broken_off_anywhere_reads_back(
    table: Table, seed: int, secret: bool, most: int, names: list[str], times: bool
) -> None:
    record = recorded(table, seed, secret=secret, most=most, names=tuple(names[: table[1]]), times=times)
    assert loads(dumps(record)) == record
    assert from_text(to_text(record)) == record
    assert from_link(to_link(record)) == record.bare()


@every_table
def test_the_engine_plays_a_record_again_to_the_same_score(table: Table) -> None:
    record = recorded(table, seed=2)
    game = GAMES[table[0]]
    state = final(from_text(to_text(record)))
    assert result(record) == game.result(state).dump()
    assert sum(step.move is not None for step in replay(record)) == len(record.moves) == game.turn(state)


def test_a_link_of_a_whole_classic_is_short() -> None:
    record = recorded(("romanian", 6, {"mode": "8-1-8"}), seed=3)
    assert len(record.moves) == 1116
    assert len(to_link(record)) < 500


def test_a_text_looks_as_pbn_does() -> None:
    record = recorded(ROMANIAN[1], seed=4, names=('Ioana "I" \\', "Radu", "Zoe", "Andrei", "Vlad", "Mihai"))
    lines = to_text(record).splitlines()
    assert lines[:4] == ['[Event "Whist"]', '[Game "romanian"]', '[RulesVersion "1"]', '[Players "6"]']
    assert lines[5] == '[South "Ioana \\"I\\" \\\\"]' and lines[6] == '[SouthWest "Radu"]'
    board = lines.index('[Board "1"]')
    assert [line.split()[0] for line in lines[board : board + 4]] == ["[Board", "[Dealer", "[Trump", "[Deal"]
    auction = next(at for at, line in enumerate(lines) if line.startswith("[Auction"))
    assert len(lines[auction + 1].split()) == 6
    play = next(at for at, line in enumerate(lines) if line.startswith('[Play "'))
    assert len(lines[play + 1 : play + 9]) == 8 and all(len(line.split()) == 6 for line in lines[play + 1 : play + 9])
    assert lines[play + 9].startswith("[Score")
    assert lines[-2].startswith("[Totals") and lines[-1].startswith("[Ranking")


def test_json_shows_each_deal_and_the_result() -> None:
    record = recorded(("german", 2, {}), seed=5)
    plain = to_json(record)
    assert plain["v"] == 1 and plain["commitment"] == fair.commitment(record.secret or b"").hex()
    (deal,) = plain["deals"]
    assert [len(hand) for hand in deal["hands"]] == [13, 13]
    assert plain["result"] == result(record)
    assert json.loads(dumps(record)) == plain


GOOD = recorded(("german", 2, {}), seed=6, most=20)


def broken(field: str, value: Any) -> dict[str, Any]:
    return to_json(GOOD) | {field: value}


@pytest.mark.parametrize(
    "plain",
    [
        None,
        [],
        {},
        broken("v", 2),
        broken("game", "bridge"),
        broken("game", ["german"]),
        broken("rules_version", 9),
        broken("players", 3),
        broken("players", "2"),
        broken("options", {"count_all": 3}),
        broken("names", ["only one"]),
        broken("names", [1, 2]),
        broken("commitment", "00"),
        broken("secret", "zz"),
        broken("secret", None),
        broken("draws", [["deal/1", [1]]]),
        broken("draws", [["deal/1"]]),
        broken("moves", 3),
        broken("moves", [[0, {"play": "2C"}, "person"]]),
        broken("moves", [[0, {"play": "2C"}, "ghost", None]]),
        broken("moves", [[0, {"play": "2C"}, "person", "now"]]),
        broken("moves", [[7, {"play": "2C"}, "person", None]]),
        broken("moves", [[0, {}, "person", None]]),
        broken("deals", []),
        broken("result", {}),
        to_json(GOOD) | {"more": 1},
    ],
)
def test_what_is_no_record_is_refused(plain: Any) -> None:
    with pytest.raises(BadRecord):
        from_json(plain)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "nothing"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(BadRecord):
        loads(text)


def changed(old: str, new: str) -> str:
    text = to_text(GOOD)
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2C 3C",
        " " * (TEXT_MAX + 1),
        changed('[Players "2"]', '[Players "9"]'),
        changed('[Players "2"]', '[Players "two"]'),
        changed('[Players "2"]', ""),
        changed('[Game "german"]', '[Game "english"]'),
        changed('[Options "{}"]', '[Options "[]"]'),
        changed('[Options "{}"]', '[Options "{"]'),
        changed('[Dealer "', '[Dealer "N'),
        changed('[Deal "S:', '[Deal "S:-'),
        changed('[Play "', '[Play "W'),
        to_text(GOOD) + "C2 C3\n",
        to_text(GOOD) + "C2 C3 C4\n",
        to_text(GOOD) + '[Board "2"]\n',
        to_text(GOOD) + '[Draw "deal/2 1"]\n',
    ],
)
def test_a_text_that_does_not_follow_from_its_moves_is_refused(text: str) -> None:
    with pytest.raises(BadRecord):
        from_text(text)


def test_an_unknown_tag_is_passed_over() -> None:
    assert from_text(changed("[Times", "[Tides")).moves[0].at_ms is None
    assert from_text('[Site "at home"]\n' + to_text(GOOD)) == GOOD


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10_000), st.characters(min_codepoint=32, max_codepoint=126))
def test_a_damaged_text_is_read_or_refused_and_nothing_else(at: int, letter: str) -> None:
    text = to_text(GOOD)
    at %= len(text)
    try:
        record = from_text(text[:at] + letter + text[at + 1 :])
    except BadRecord:
        return
    assert from_text(to_text(record)) == record


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from("abcxyzABCXYZ0189-_=. "))
def test_a_damaged_link_is_read_or_refused_and_nothing_else(at: int, letter: str) -> None:
    link = to_link(GOOD)
    at %= len(link)
    try:
        record = from_link(link[:at] + letter + link[at + 1 :])
    except BadRecord:
        return
    assert from_link(to_link(record)) == record


@pytest.mark.parametrize("link", ["", "A", "AQ", "AQEAAA", "ă", "A" * (LINK_MAX + 1), "AQEAAltdAAAA"])
def test_what_is_no_link_is_refused(link: str) -> None:
    with pytest.raises(BadRecord):
        from_link(link)


def test_a_record_of_bots_reads_as_the_story_of_their_game() -> None:
    """The whole way: bots play, the record is written, read and played again."""
    name, players, options = "solo", 4, {"hands": 4}
    game, key, state = GAMES[name], bytes(32), GAMES[name].new(4, {"hands": 4})
    moves = []
    while not game.over(state):
        if (draw := game.draw(state)) is not None:
            state = fold(game, state, game.decide_draw(state, fair.permutation(key, draw.label, draw.size)))
            continue
        seat = game.to_act(state)
        assert seat is not None
        action = choose(name, game.view(state, seat))
        moves.append(Move(seat=seat, action=action, by=By.BOT))
        state = fold(game, state, game.decide(state, seat, action))
    record = Record(
        game=name,
        rules_version=1,
        players=players,
        options=options,
        commitment=fair.commitment(key),
        secret=key,
        moves=tuple(moves),
    )
    assert result(from_text(to_text(record))) == game.result(state).dump()
