"""What nobody should send: random bytes, almost right frames, messages with any values that their types allow."""

import json
from random import Random
from typing import Any
from uuid import uuid4

import msgspec
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message_factory import GetMessageClass

from libs.wire import frames, link
from tests.services.gateway.fake_peers import TABLE

# Deeper than any decoder that calls itself may go.
DEEP = "[" * 20_000
STRINGS = (
    "",
    "x",
    "romanian",
    "calm",
    "{}",
    '{"mode":"quick"}',
    "null",
    DEEP,
    '{"a":' * 9_000,
    "\u202e\u0000",
    "🂡" * 300,
    "9" * 5_000,
)
BYTES = (b"", b"\0", b"\0" * 15, b"\0" * 16, b"\xff" * 17, bytes(1_000))
WHOLES = (0, 1, 2, 5, -1, 127, 2**31 - 1, -(2**31), 2**53, 2**63 - 1, -(2**63))


def noise(rng: Random, good: bytes) -> bytes:
    """Random bytes, or a good message cut, flipped, doubled or with something put in."""
    match rng.randrange(6):
        case 0:
            return rng.randbytes(rng.randint(0, 200))
        case 1:
            return good[: rng.randint(0, len(good))]
        case 2:
            return good + good[rng.randint(0, len(good)) :]
        case 3:
            at = rng.randint(0, len(good))
            return good[:at] + rng.randbytes(rng.randint(1, 8)) + good[at:]
        case _:
            flipped = bytearray(good)
            for _ in range(rng.randint(1, 4)):
                if flipped:
                    flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
            return bytes(flipped)


def nonsense(rng: Random, depth: int = 0) -> Any:
    """A JSON value that nobody asked for."""
    if depth < 3 and rng.random() < 0.3:
        inside = [nonsense(rng, depth + 1) for _ in range(rng.randrange(4))]
        return inside if rng.random() < 0.5 else {rng.choice(STRINGS)[:20]: each for each in inside}
    return rng.choice((None, True, 1.5, 1e300, *WHOLES, *(text[:100] for text in STRINGS), uuid4().hex))


def any_message(of: Descriptor, rng: Random, depth: int = 0) -> Any:
    """A message of that type with any values that its types allow."""
    made = GetMessageClass(of)()
    for each in of.fields:
        if rng.random() < 0.3 or (each.message_type is not None and depth > 3):
            continue
        repeated = each.is_repeated
        values = [_any_value(each, rng, depth) for _ in range(rng.randint(0, 3) if repeated else 1)]
        if each.message_type is not None and each.message_type.GetOptions().map_entry:
            continue
        if repeated:
            getattr(made, each.name).extend(values)
        elif each.message_type is not None:
            getattr(made, each.name).CopyFrom(values[0])
        else:
            setattr(made, each.name, values[0])
    return made


def _any_value(field: FieldDescriptor, rng: Random, depth: int) -> Any:
    kinds = FieldDescriptor
    match field.cpp_type:
        case kinds.CPPTYPE_MESSAGE:
            assert field.message_type is not None
            return any_message(field.message_type, rng, depth + 1)
        case kinds.CPPTYPE_STRING:
            return (
                rng.choice((*BYTES, uuid4().bytes, uuid4().bytes))
                if field.type == kinds.TYPE_BYTES
                else rng.choice(STRINGS)
            )
        case kinds.CPPTYPE_BOOL:
            return rng.random() < 0.5
        case kinds.CPPTYPE_DOUBLE | kinds.CPPTYPE_FLOAT:
            return rng.choice((0.0, -1.5, 1e30, float("inf"), float("nan")))
        case kinds.CPPTYPE_ENUM:
            assert field.enum_type is not None
            return rng.choice((*(value.number for value in field.enum_type.values), 99))
        case kinds.CPPTYPE_INT32:
            return rng.choice([each for each in WHOLES if -(2**31) <= each < 2**31])
        case kinds.CPPTYPE_UINT32:
            return rng.choice([each for each in WHOLES if 0 <= each < 2**32])
        case kinds.CPPTYPE_UINT64:
            return rng.choice([each for each in WHOLES if each >= 0])
        case _:
            return rng.choice(WHOLES)


GOOD_FRAMES: tuple[frames.ClientFrame, ...] = (
    frames.Hello(token="x" * 40), frames.Join(table=TABLE, since=3), frames.Leave(table=TABLE),
    frames.Act(table=TABLE, req="r-1", turn=7, action={"bid": 3}), frames.Quit(table=TABLE, req="q"), frames.Watch(),
    frames.Enter(table=TABLE, since_line=1), frames.Say(table=TABLE, req="s", words="Salut"), frames.Ping(n=1),
)  # fmt: skip


def a_frame(rng: Random) -> bytes:
    """A client's frame with noise in its bytes, or nonsense in a field."""
    good = frames.encode(rng.choice(GOOD_FRAMES))
    if rng.random() < 0.6:
        return noise(rng, good)
    fields = json.loads(good)
    fields[rng.choice(sorted(fields))] = nonsense(rng)
    return json.dumps(fields).encode()


def a_batch(rng: Random) -> bytes:
    """What a gateway might send a worker, were it broken."""
    table, account = uuid4().bytes, uuid4().bytes
    good = link.encode_batch([
        link.Subscribe(table, account, 1, -1), link.Command(table, account, 1, "r", 3, {"bid": 1}),
        link.Vacate(table, account, 1, "q"), link.Unsubscribe(table, account, 1),
    ])  # fmt: skip
    if rng.random() < 0.5:
        return noise(rng, good)
    return msgspec.msgpack.encode([[rng.choice("scqu"), *(_packable(rng) for _ in range(rng.randrange(8)))]])


def _packable(rng: Random) -> Any:
    return rng.choice(
        (None, True, 2**64 - 1, -(2**63), 1.5, "x" * 50, uuid4().bytes, [], {}, {"bid": 2**60}, {"play": [1]})
    )
