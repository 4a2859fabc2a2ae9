"""Damaged records by the million: a reader takes one or refuses it by `BadRecord`, and nothing else ever comes out.

    WHIST_FUZZ_INPUTS=1000000 python -m tests.engine.fuzz_records [--seed 1]

Real records of every game, in all three forms, are flipped, cut, doubled, swapped and spliced; numbers change their
size and values their type; links are sealed again, so that their check does not stop what is behind it. What is read
must say the same when it is written and read again. The first failure is printed with the number that makes it again.
"""

import argparse
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from random import Random
from typing import Any

from libs.client.cli.records.replay import scenes
from libs.client.cli.verify import verify
from libs.engine.record.flaws import BadRecord, Flaw
from libs.engine.record.link import CHECK_BYTES, from_link, sealed, to_link
from libs.engine.record.model import Record
from libs.engine.record.plain import dumps, from_json, loads, to_json
from libs.engine.record.reading import Form, form_of, read
from libs.engine.record.text import from_text, to_text
from tests.engine.family import TABLES
from tests.engine.records import ROMANIAN, link_bytes, recorded

INPUTS = 1_000_000
EACH_MAX = 4  # mutations of one input
SPLICED = 0.3  # of the trees take a field from another record
TOLD_EVERY = 100_000
NAMES = ("Ioana", 'R"adu\\', "Zoe", "Șt.", "Vlad", "Mihai", "Ana")
PLATFORM = {
    "id": "07" * 16,
    "seats": [{"account": "08" * 16, "room": 1}],
    "left": [[0, 5]],
    "pauses": [],
    "reason": None,
}
STRANGE: Sequence[Any] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        7,
        255,
        2**31,
        2**63,
        10**40,
        -(2**70),
        0.5,
        1.0,
        1e300,
        "",
        "0",
        "AS",
        "1C",
        "S",
    ),
    *(
        "\ud800",
        "\x00",
        "é",
        "a" * 70,
        "ff" * 32,
        [],
        [[]],
        {},
        {"play": "AS"},
        {"bid": 0},
        {"": {}},
        [0, {}, "bot", 1],
    ),
)
TOKENS = re.compile(r"-?[0-9]+|[A-Za-z_]+|[^\w]")
BYTES = bytes(range(32, 127)).decode() + '\n\t"\\[]{}~^?=é♥\x00'


def corpus() -> list[Record]:
    """Short records of every game: with secret and with draws, with names, times and table, and without."""
    found = []
    for number, table in enumerate([*ROMANIAN, *TABLES]):
        for most in (3, 30):
            record = recorded(table, number, secret=number % 3 > 0, most=most, times=most > 3)
            names = NAMES[: record.players] if number % 2 else ()
            found.append(replace(record, names=names, table=PLATFORM if most > 3 and number % 2 else None))
    # Whole, so that scores and rankings are there to be damaged.
    return [
        *found,
        recorded(("german", 2, {}), 1),
        recorded(("knockout", 2, {}), 2),
        recorded(("solo", 4, {"hands": 4}), 3),
    ]


class Fuzzer:
    """Mutants of a corpus, each by its number alone."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.plains = [to_json(record) for record in records]
        self.written = {
            Form.JSON: [dumps(record) for record in records],
            Form.TEXT: [to_text(record) for record in records],
            Form.LINK: [to_link(record) for record in records],
        }

    def mutant(self, number: int) -> str:
        """The damaged record of that number, the same for ever."""
        rng = Random(number)
        way: Callable[[Random], str] = (self._tree, self._tree, self._text, self._text, self._json, self._link)[
            number % 6
        ]
        return way(rng)

    def _tree(self, rng: Random) -> str:
        """A value of the JSON changed, dropped, doubled or swapped."""
        plain = deepcopy(rng.choice(self.plains))
        if rng.random() < SPLICED:
            field = rng.choice(list(plain))
            plain[field] = deepcopy(rng.choice(self.plains).get(field))
            if rng.random() < 0.5:
                return json.dumps(plain)
        for _ in range(rng.randint(1, EACH_MAX)):
            inside: Any = plain
            while True:
                keys = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
                if not keys:
                    break
                key = rng.choice(keys)
                if isinstance(inside[key], dict | list) and inside[key] and rng.random() < 0.8:
                    inside = inside[key]
                    continue
                _damage(rng, inside, key)
                break
        return json.dumps(plain)

    def _json(self, rng: Random) -> str:
        return _scramble(rng, rng.choice(self.written[Form.JSON]), rng.choice(self.written[Form.JSON]))

    def _text(self, rng: Random) -> str:
        return _scramble(rng, rng.choice(self.written[Form.TEXT]), rng.choice(self.written[Form.TEXT]))

    def _link(self, rng: Random) -> str:
        packed = bytearray(link_bytes(rng.choice(self.written[Form.LINK]))[:-CHECK_BYTES])
        for _ in range(rng.randint(1, EACH_MAX)):
            at = rng.randrange(len(packed)) if packed else 0
            match rng.randrange(5):
                case 0:
                    packed[at : at + 1] = rng.randbytes(1)
                case 1:
                    del packed[at : at + rng.randint(1, 4)]
                case 2:
                    packed[at:at] = rng.randbytes(rng.randint(1, 4))
                case 3:
                    packed += rng.randbytes(rng.randint(1, 40))
                case _:
                    packed[4 : 4 + rng.randint(0, 8)] = rng.choice(
                        [b"[", b'["solo",', b"{}", b"null", b"[1e9]", b"[[[["]
                    )
        return sealed(bytes(packed))


def _damage(rng: Random, inside: Any, key: Any) -> None:
    value = inside[key]
    match rng.randrange(6):
        case 0:
            del inside[key]
        case 1:
            inside[key] = deepcopy(rng.choice(STRANGE))
        case 2 if type(value) is int:
            inside[key] = value + rng.choice((-1, 1, 2, 1000, 2**40))
        case 3 if isinstance(inside, list):
            inside.insert(key, deepcopy(value))
        case 4 if isinstance(inside, list):
            other = rng.randrange(len(inside))
            inside[key], inside[other] = inside[other], value
        case 5 if isinstance(inside, dict):
            inside[rng.choice(("more", "table", "secret", "v", "bid", "play"))] = inside.pop(key)
        case _:
            inside[key] = [value]


def _scramble(rng: Random, text: str, other: str) -> str:
    """Letters, tokens or lines changed; or the beginning of one with the end of another."""
    for _ in range(rng.randint(1, EACH_MAX)):
        at = rng.randrange(len(text) + 1)
        match rng.randrange(7):
            case 0:
                text = text[:at] + rng.choice(BYTES) + text[at + 1 :]
            case 1:
                text = text[:at] + text[at + rng.randint(1, 9) :]
            case 2:
                text = text[:at] + text[at : at + rng.randint(1, 40)] + text[at:]
            case 3:
                lines = text.split("\n")
                one, two = rng.randrange(len(lines)), rng.randrange(len(lines))
                lines[one], lines[two] = lines[two], lines[one]
                text = "\n".join(lines)
            case 4:
                text = text[:at] + other[rng.randrange(len(other)) :]
            case _:
                if (found := TOKENS.search(text, at)) is not None:
                    token = rng.choice(("0", "-1", "99999999999999999999", "null", "1.0", "S", "AS", "pass", '"', ""))
                    text = text[: found.start()] + token + text[found.end() :]
    return text


WRITERS: dict[Form, tuple[Callable[[Record], str], Callable[[str], Record]]] = {
    Form.JSON: (dumps, loads),
    Form.TEXT: (to_text, from_text),
    Form.LINK: (to_link, from_link),
}


def outcome(written: str) -> str:
    """ "read", or why it was refused. Raises whatever a reader or the verifier should not."""
    form = form_of(written)
    write, again = WRITERS[form]
    try:
        record = verify(written).record
    except BadRecord as flaw:
        assert str(flaw) and "\n" not in str(flaw), "a flaw is one line"
        json.dumps(flaw.facts())
        if form is Form.JSON and flaw.reason is not Flaw.WRONG_TABLE:  # other forms are verified by their readers
            _refused_alike(written, flaw)
        return flaw.reason.value
    assert again(write(record)) == record, "what was read says something else when it is written"
    assert from_json(to_json(record)) == read(written) == record
    assert sum(1 for _ in scenes(record, open_hands=True)) > len(record.moves), "every move is told"
    return "read"


def _refused_alike(written: str, flaw: BadRecord) -> None:
    try:
        loads(written)
    except BadRecord as other:
        assert other.facts() == flaw.facts(), "two readers, two reasons"
    else:
        raise AssertionError("the verifier refuses what the reader holds")


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0 when every mutant was read or refused."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=int(os.environ.get("WHIST_FUZZ_INPUTS", INPUTS)))
    parser.add_argument("--seed", type=int, default=1, help="where the numbers of the mutants begin, in millions")
    chosen = parser.parse_args(arguments)
    fuzzer, seen = Fuzzer(corpus()), Counter[str]()
    first = chosen.seed * 1_000_000
    for number in range(first, first + chosen.inputs):
        written = fuzzer.mutant(number)
        try:
            seen[outcome(written)] += 1
        except Exception:
            print(f"mutant {number}: {written!r}", file=sys.stderr)
            raise
        if sum(seen.values()) % TOLD_EVERY == 0:
            print(f"{sum(seen.values()):>9} inputs", file=sys.stderr, flush=True)
    print(f"{sum(seen.values())} inputs: " + ", ".join(f"{name} {times}" for name, times in seen.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
