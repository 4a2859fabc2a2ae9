"""P72: every written form of a record reads back to the record, and the record plays again to the same score."""

import ast
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.engine import fair
from libs.engine.bots import choose
from libs.engine.game import GAMES
from libs.engine.record.flaws import BadRecord, Flaw
from libs.engine.record.link import CHECK_BYTES, LINK_MAX, from_link, sealed, to_link
from libs.engine.record.model import (
    MOVES_MAX,
    NAME_MAX,
    TABLE_DEPTH_MAX,
    TABLE_NODES_MAX,
    TABLE_TEXT_MAX,
    By,
    Move,
    Record,
)
from libs.engine.record.plain import FIELDS, dumps, from_json, loads, to_json
from libs.engine.record.reading import Form, form_of, read
from libs.engine.record.replaying import final, playable, replay, result
from libs.engine.record.text import TEXT_MAX, from_text, to_text
from libs.engine.replay import fold
from tests.engine.family import TABLES, Table, name_of
from tests.engine.fuzz_records import Fuzzer, corpus, outcome
from tests.engine.records import ROMANIAN, link_bytes, recorded

ROOT = Path(__file__).parents[2]
ALL = [*ROMANIAN, *TABLES]
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
BRIEF = settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow])
every_table = pytest.mark.parametrize("table", ALL, ids=name_of)


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
    assert lines[:4] == ['[Event "Whist"]', '[Version "1"]', '[Game "romanian"]', '[RulesVersion "1"]']
    assert lines[6] == '[South "Ioana \\"I\\" \\\\"]' and lines[7] == '[SouthWest "Radu"]'
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


NINES = "9" * 4300  # the longest integer that is read; one more than that can no longer be written


@pytest.mark.parametrize(
    "text",
    [
        "{" + ",".join(f'"{key:x}":0' for key in range(300_000)) + ',"x":1,"x":2}',
        '{"v":[' + ",".join(["1" * 4300] * 900) + ",NaN]}",
        dumps(GOOD).replace('"moves":[[', f'"moves":[[{NINES}', 1),
        dumps(GOOD).replace('"moves":[[', f'"moves":[[-{NINES[1:]}', 1),
        dumps(GOOD).replace('"options":{', '"options":{"' + "z" * 3_000_000 + '":1,', 1),
        '[Players "2"]\n' + '[Play "S"]\n' * 360_000,
    ],
    ids=["one key of many twice", "long integers", "high seat", "low seat", "long option", "empty sections"],
)
@pytest.mark.timeout(10)
def test_what_is_large_is_refused_soon_and_in_one_short_line(text: str) -> None:
    with pytest.raises(BadRecord) as refused:
        read(text)
    assert len(str(refused.value)) < 500


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


MUTANTS = Fuzzer(corpus())
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["AS", "bot", "deal/1"]),
    lambda inside: st.lists(inside, max_size=5) | st.dictionaries(st.text(max_size=5), inside, max_size=5),
    max_leaves=25,
)


@settings(max_examples=600, deadline=None)
@given(st.integers(0, 2**48))
def test_a_damaged_record_is_read_or_refused_and_nothing_else(number: int) -> None:
    """`make fuzz-engine` asks the same a million times."""
    assert outcome(MUTANTS.mutant(number)) in {"read", *Flaw}


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([*FIELDS, "table", "more"]), PLAIN)
def test_any_value_in_any_field_is_read_or_refused_and_nothing_else(field: str, value: Any) -> None:
    plain = to_json(GOOD) | {field: value}
    try:
        record = from_json(plain)
    except BadRecord as flaw:
        assert "\n" not in str(flaw)
        return
    assert from_json(to_json(record)) == record


@settings(max_examples=200, deadline=None)
@given(PLAIN)
def test_any_json_is_no_record(plain: Any) -> None:
    with pytest.raises(BadRecord):
        from_json(plain)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_no_record(text: str) -> None:
    for reader in (loads, from_text, from_link, read):
        with pytest.raises(BadRecord):
            reader(text)


def test_mutants_reach_every_reason_and_are_read_too() -> None:
    seen = {outcome(MUTANTS.mutant(number)) for number in range(3000)}
    assert {"read", *(flaw.value for flaw in Flaw)} - seen <= {"TOO_LONG", "WRONG_RANKING", "WRONG_SCORE"}


@every_table
def test_each_form_is_known_by_itself_with_what_editors_and_mails_add(table: Table) -> None:
    record = recorded(table, seed=7)
    for write, form in ((dumps, Form.JSON), (to_text, Form.TEXT), (to_link, Form.LINK)):
        written = write(record)
        assert form_of(written) is form
        assert read("\ufeff\r\n" + written + "\r\n") == (record.bare() if form is Form.LINK else record)


def test_what_only_the_place_knows_is_carried_and_not_read() -> None:
    table = {
        "id": "07",
        "seats": [{"account": None, "room": 3}],
        "pauses": [[1, 2]],
        "reason": None,
        "x": {"y": [True, 0.5]},
    }
    record = replace(GOOD, table=table)
    assert to_json(record)["table"] == table
    assert "table" not in to_json(GOOD)
    assert loads(dumps(record)) == from_text(to_text(record)) == record
    assert from_link(to_link(record)) == GOOD.bare()
    assert from_json(to_json(GOOD) | {"table": {}}).table == {}


def nested(depth: int) -> Any:
    return {"a": nested(depth - 1)} if depth else 1


@pytest.mark.parametrize(
    "table",
    [
        nested(TABLE_DEPTH_MAX + 1),
        {"a": [0] * TABLE_NODES_MAX},
        {"a": "b" * (TABLE_TEXT_MAX + 1)},
        {"a": 2**70},
        {"a": float("nan")},
        {"a": "\ud800"},
        {"a": b"bytes"},
        {1: 2},
    ],
    ids=["deep", "long", "much text", "a large integer", "no number", "half a letter", "bytes", "no text for a key"],
)
def test_what_the_place_adds_is_plain_json_of_bounded_size(table: Any) -> None:
    with pytest.raises(BadRecord) as refused:
        to_json(replace(GOOD, table=table))
    assert (refused.value.reason, refused.value.place.path) == (Flaw.NOT_A_RECORD, "table")
    to_json(replace(GOOD, table=nested(TABLE_DEPTH_MAX)))


@pytest.mark.parametrize(
    "changes",
    [
        {"names": ("", "Ana")},
        {"names": ("a" * (NAME_MAX + 1), "Ana")},
        {"names": ("\ud800", "Ana")},
        {"secret": b"short"},
        {"commitment": b"short"},
        {"moves": (replace(GOOD.moves[0], at_ms=-1),)},
        {"moves": (replace(GOOD.moves[0], at_ms=2**53),)},
        {"moves": GOOD.moves * MOVES_MAX},
    ],
)
def test_a_record_beyond_its_bounds_is_not_written(changes: dict[str, Any]) -> None:
    record = replace(GOOD, **changes)
    for write in (to_json, to_text, to_link):
        with pytest.raises(BadRecord):
            write(record)


def test_a_damaged_link_is_never_another_game() -> None:
    link = to_link(GOOD)
    for at, letter in enumerate(link):
        with pytest.raises(BadRecord):
            from_link(link[:at] + ("A" if letter != "A" else "B") + link[at + 1 :])
        with pytest.raises(BadRecord):
            from_link(link[:at])
    packed = link_bytes(link)
    assert sealed(packed[:-CHECK_BYTES]) == link
    with pytest.raises(BadRecord) as refused:
        from_link(sealed(b"\x02" + packed[1:-CHECK_BYTES]))
    assert refused.value.reason is Flaw.UNKNOWN_VERSION


def test_hands_are_those_that_were_dealt_even_where_nobody_might_look() -> None:
    """R11: a card that its owner does not see is in the record all the same."""
    record = recorded(("romanian", 4, {"mode": "1-8-1", "one_card": "hidden"}), seed=8)
    for deal, cards in zip(
        to_json(record)["deals"], (fact[0] for fact in to_json(record)["result"]["seats"][0]), strict=True
    ):
        assert [len(hand) for hand in deal["hands"]] == [cards] * 4
        assert len({card for hand in deal["hands"] for card in hand}) == 4 * cards


def test_p71_open_hands_are_asked_for_by_what_tells_and_writes_records_alone() -> None:
    asked = set()
    for path in (*ROOT.glob("libs/**/*.py"), *ROOT.glob("services/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "hands":
                asked.add(path.relative_to(ROOT).as_posix())
    assert asked == {"libs/engine/record/replaying.py", "libs/client/cli/records/replay.py"}


def test_the_playable_part_ends_before_the_first_refusal() -> None:
    record = recorded(("solo", 4, {"hands": 4}), seed=9, most=30)
    assert playable(record) == record
    for at in (0, 12, 29):
        wrong = replace(record.moves[at], seat=record.moves[at].seat ^ 1)
        moves = (*record.moves[:at], wrong, *record.moves[at + 1 :])
        assert playable(replace(record, moves=moves)).moves == record.moves[:at]
    with pytest.raises(BadRecord):
        playable(replace(record, options={"hands": 5}))


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
