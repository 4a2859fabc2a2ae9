"""Every refusal that reaches a person has words, which fit a line of the terminal."""

import pytest

from libs.client.cli.purse import REFUSED
from libs.client.cli.refusals import REFUSALS, refused, spoken
from libs.client.sdk.errors import Unreachable, WhistError


@pytest.mark.parametrize("code", [*REFUSALS, *REFUSED])
def test_a_refusal_is_a_sentence_even_without_its_facts(code: str) -> None:
    told = spoken(WhistError(code))
    assert told[0].isupper() and told.endswith(".") and len(told) <= 80 and code not in told
    assert refused(WhistError(code)) == f"{told} ({code})"


def test_what_has_no_words_is_told_by_its_code_once() -> None:
    assert refused(WhistError("NEW_ONE", facts={"seat": 3})) == "NEW_ONE (seat 3)"
    assert refused(Unreachable("http://h", "refused")) == "cannot reach http://h: refused"


def test_a_wrong_field_is_named_without_the_servers_brackets() -> None:
    fields = [{"at": ["body", "coins"], "what": "less_than_equal"}, {"at": [], "what": "json_invalid"}]
    told = spoken(WhistError("INVALID_REQUEST", 422, {"fields": fields}))
    assert told == "The server does not take coins (less than equal)."


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"asset": "bar", "needed": 6}, "That takes 6 bars, and there are not as many."),
        ({"coins": 250, "bars": 0, "coffee": 0}, "Your purse does not hold as much: whist wallet."),
    ],
)
def test_what_is_short_is_named(facts: dict[str, object], told: str) -> None:
    assert spoken(WhistError("INSUFFICIENT_FUNDS", 409, facts)) == told


def test_a_room_and_a_refund_that_wait_for_a_vip_day_are_told_apart() -> None:
    assert spoken(WhistError("NOT_A_VIP_DAY", 403, {"room": 6})) == "That room opens on your VIP days only."
    assert spoken(WhistError("NOT_A_VIP_DAY", 409)) == "It did not finish on one of your VIP days."


def test_a_record_is_refused_with_what_is_wrong_with_it() -> None:
    told = spoken(WhistError("BAD_RECORD", 400, {"problem": "PLAYED_ONLINE"}))
    assert told == "The record is not credited: it was played online."
    assert "ILLEGAL_MOVE" in spoken(WhistError("BAD_RECORD", 400, {"problem": "ILLEGAL_MOVE"}))


def test_nothing_that_a_server_says_moves_the_cursor() -> None:
    assert "\x1b" not in spoken(WhistError("NAME_INVALID", 400, {"rule": "length", "min": "\x1b[2J", "max": 16}))
    assert "\x1b" not in spoken(WhistError("NEW_ONE", 400, {"why": "\x1b[2J"}))
