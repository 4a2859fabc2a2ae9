"""Events and states as plain builtins, read from their types: complete, unredacted, compact.

An event is a list that starts with its kind, ["play", 2, "QH"]; the rest are its fields in order. Cards are
texts, hands one string ("7C9CAH"), tuples lists, nested values lists of their fields. A field may therefore be
added at the end alone, with a default, and what a rules version wrote is read for ever.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from libs.engine.cards import CARD_TEXT, Card, Hand, hand_of, hand_texts, parse_card
from libs.engine.errors import UnknownRulesVersion


class Coder(NamedTuple):
    """One type both ways. `load` raises ValueError for what `dump` never wrote."""

    dump: Callable[[Any], Any]
    load: Callable[[Any], Any]


class Codec:
    """One game's events, by kind, and its state."""

    def __init__(self, game: str, rules_version: int, events: Mapping[str, type], state: type) -> None:
        self._game = game
        self._rules_version = rules_version
        self._events = events
        self._kinds = {event: kind for kind, event in events.items()}
        self._state = state

    def dump_event(self, event: Any) -> list[Any]:
        return [self._kinds[type(event)], *_coder_of(event).dump(event)]

    def load_event(self, data: Sequence[Any], rules_version: int) -> Any:
        """Raises UnknownRulesVersion, and ValueError for what no version wrote."""
        self._check(rules_version)
        match data:
            case [str(kind), *rest] if kind in self._events:
                return coder(self._events[kind]).load(rest)
            case _:
                raise ValueError(f"not an event of {self._game}: {data!r:.80}")

    def dump_state(self, state: Any) -> list[Any]:
        plain: list[Any] = coder(self._state).dump(state)
        return plain

    def load_state(self, data: Sequence[Any], rules_version: int) -> Any:
        """Raises UnknownRulesVersion, and ValueError for what no version wrote."""
        self._check(rules_version)
        return coder(self._state).load(data)

    def _check(self, rules_version: int) -> None:
        if rules_version != self._rules_version:
            raise UnknownRulesVersion(self._game, rules_version)


@cache
def coder(kind: Any) -> Coder:  # noqa: PLR0911
    """The coder of a type: card, hand, enum, int, str, bool, None, tuple, union with None, record."""
    if kind is Card:
        return Coder(CARD_TEXT.__getitem__, parse_card)
    if kind is Hand:
        return Coder(lambda hand: "".join(hand_texts(hand)), _load_hand)
    origin = get_origin(kind)
    if origin is tuple:
        return _tuple_coder(get_args(kind))
    if origin in (UnionType, Union):
        return _optional_coder(get_args(kind))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return Coder(lambda one: one.value, kind)
    if isinstance(kind, type) and (is_dataclass(kind) or issubclass(kind, tuple)):
        return _record_coder(kind)
    if kind in (int, str, bool):
        return Coder(lambda one: one, lambda one: _exactly(kind, one))
    raise TypeError(f"no coder for {kind!r}")


def _coder_of(value: Any) -> Coder:
    kind: Any = type(value)
    return coder(kind)


def _exactly(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise ValueError(f"not of type {kind.__name__}: {value!r:.80}")
    return value


def _load_hand(written: Any) -> Hand:
    _exactly(str, written)
    return hand_of(parse_card(written[at : at + 2]) for at in range(0, len(written), 2))


def _tuple_coder(parts: tuple[Any, ...]) -> Coder:
    assert len(parts) == 2 and parts[1] is ..., "a pair is a record with names"
    one = coder(parts[0])
    return Coder(
        lambda values: [one.dump(value) for value in values],
        lambda data: tuple(one.load(value) for value in _exactly(list, data)),
    )


def _optional_coder(parts: Sequence[Any]) -> Coder:
    (kind,) = (part for part in parts if part is not NoneType)
    one = coder(kind)
    return Coder(
        lambda value: None if value is None else one.dump(value),
        lambda data: None if data is None else one.load(data),
    )


def _record_coder(kind: type) -> Coder:
    hints = get_type_hints(kind)
    names = [one.name for one in fields(kind)] if is_dataclass(kind) else list(getattr(kind, "_fields", ()))
    coders = [(name, coder(hints[name])) for name in names]

    def load(data: Any) -> Any:
        values: list[Any] = _exactly(list, data)
        if len(values) > len(coders):
            raise ValueError(f"not a {kind.__name__}: {data!r:.80}")
        try:
            return kind(**{name: one.load(value) for (name, one), value in zip(coders, values, strict=False)})
        except (TypeError, ValueError) as wrong:
            raise ValueError(f"not a {kind.__name__}: {data!r:.80}") from wrong

    return Coder(lambda record: [one.dump(getattr(record, name)) for name, one in coders], load)
