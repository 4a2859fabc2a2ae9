"""The checker: what a record shows against what its secret, its moves and the rules give (P70, P72).

It knows no game: deals, moves and results come through the `Game` protocol alone.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from libs.engine.record.flaws import SAFE_BITS, BadRecord, Flaw, Place
from libs.engine.record.model import Record
from libs.engine.record.replaying import Deal, Played, played


def check(record: Record, deals: Sequence[object], result: object) -> Played:
    """Play the record again and compare what it shows, in the order of play.

    Commitment and options first, each deal before the moves on it, then rounds, totals and ranking. Raises BadRecord
    at the first difference.
    """
    whole = played(record, lambda number, deal: _check_deal(number, deal, _at(deals, number)))
    if len(deals) > len(whole.deals):
        path = f"deals[{len(whole.deals)}]"
        raise BadRecord(Flaw.MORE_THAN_A_GAME, "a deal that was never due", Place(path=path))
    due = whole.result
    if not same(result, due):
        raise next(_result_flaws(result, due))
    return whole


def same(told: object, due: object) -> bool:
    """Equal to the type: true is not 1. `due` is plain JSON, `told` anything."""
    return told == due and json.dumps(told, sort_keys=True) == json.dumps(due, sort_keys=True)


def _check_deal(number: int, deal: Deal, told: object) -> None:
    due = deal.dump()
    if same(told, due):
        return
    path = f"deals[{number}]"
    for seat, hand in enumerate(due["hands"]):
        if not same(held := _at(_at(told, "hands"), seat), hand):
            place = Place(round=number, seat=seat, path=f"{path}.hands[{seat}]")
            raise BadRecord(Flaw.WRONG_DEAL, "another hand was dealt", place, told=_hand(held), due=_hand(hand))
    for field in ("dealer", "trump"):
        if not same(_at(told, field), due[field]):
            place = Place(round=number, path=f"{path}.{field}")
            raise BadRecord(Flaw.WRONG_DEAL, f"another {field}", place, told=_at(told, field), due=due[field])
    raise BadRecord(Flaw.WRONG_DEAL, "not a deal of dealer, trump and hands", Place(round=number, path=path))


def _hand(cards: object) -> object:
    """A hand as words, where it is one."""
    return " ".join(cards) if isinstance(cards, list) and all(type(one) is str for one in cards) else cards


def _result_flaws(told: object, due: Mapping[str, Any] | None) -> Iterator[BadRecord]:
    """The differences, rounds first. At least one, where `told` is not `due`."""
    if due is None or not isinstance(told, dict):
        said = "the game was not played to its end" if due is None else "the game was played to its end"
        yield BadRecord(Flaw.WRONG_RESULT, said, Place(path="result"), told=told, due=due)
        return
    for number in range(max(map(len, due["seats"]))):
        for seat, rounds in enumerate(due["seats"]):
            one, other = _at(_at(_at(told, "seats"), seat), number), _at(rounds, number)
            if not same(one, other):
                place = Place(round=number, seat=seat, path=f"result.seats[{seat}][{number}]")
                yield BadRecord(Flaw.WRONG_SCORE, "[cards, bid, taken, score]", place, told=one, due=other)
    for seat, total in enumerate(due["totals"]):
        if not same(one := _at(_at(told, "totals"), seat), total):
            place = Place(seat=seat, path=f"result.totals[{seat}]")
            yield BadRecord(Flaw.WRONG_SCORE, "another total", place, told=one, due=total)
    for number, ranked in enumerate(due["ranking"]):
        if not same(one := _at(_at(told, "ranking"), number), ranked):
            place = Place(path=f"result.ranking[{number}]")
            said = f"another seat in place {number + 1}"
            yield BadRecord(Flaw.WRONG_RANKING, said, place, told=_seat(one), due=_seat(ranked))
    for field, value in due.items():
        if not same(one := _at(told, field), value):
            place = Place(path=f"result.{field}")
            yield BadRecord(Flaw.WRONG_RESULT, "does not follow", place, told=one, due=value)
    yield BadRecord(Flaw.WRONG_RESULT, "more than a result", Place(path="result"), told=list(told), due=list(due))


def _seat(value: object) -> object:
    """As people count."""
    return f"seat {value + 1}" if type(value) is int and value.bit_length() <= SAFE_BITS else value


def _at(inside: object, key: str | int) -> object:
    """What stands there; None where there is nothing of the kind."""
    if isinstance(inside, dict):
        return inside.get(key)
    if isinstance(inside, list | tuple) and type(key) is int and key < len(inside):
        return inside[key]
    return None
