"""A table's options, read from their plain form by a list of what each field may be."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from libs.engine.errors import FIELD_MAX, RuleViolation

Fields = Mapping[str, Sequence[object]]  # what each option may be, its default first


def read_options(players: object, plain: object, *, seats: Collection[int], fields: Fields) -> dict[str, Any]:
    """Every field with its value. Raises RuleViolation(BAD_OPTIONS) naming the field and what is allowed."""
    if not isinstance(plain, Mapping):
        raise RuleViolation("BAD_OPTIONS", field="options")
    for field in plain:
        if field not in fields:
            raise RuleViolation("BAD_OPTIONS", field=str(field)[:FIELD_MAX])
    if type(players) is not int or players not in seats:
        raise RuleViolation("BAD_OPTIONS", field="players", allowed=sorted(seats))
    return {field: _choice(plain, field, allowed) for field, allowed in fields.items()}


def _choice(plain: Mapping[Any, object], field: str, allowed: Sequence[object]) -> object:
    value = plain.get(field, allowed[0])
    # True == 1 in Python, but not on a form.
    if not any(type(value) is type(one) and value == one for one in allowed):
        raise RuleViolation("BAD_OPTIONS", field=field, allowed=list(allowed))
    return value
