"""What a player can check for themself, and that each check can fail."""

import copy
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from libs.client.cli.verify import CheckFailed, check_record, check_sheet, prize_of, score, verify_plain
from libs.engine.bots import choose
from libs.engine.record.flaws import BadRecord, Flaw
from libs.engine.record.plain import from_json, to_json
from tests.client.server import SECRET, Truth


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    truth = Truth()
    truth.advance()
    while truth.state.ranking is None:
        truth.move(truth.seat, choose("romanian", truth.views[-1]), by="person", req=str(truth.seq))
        truth.advance()
    plain: dict[str, Any] = json.loads(json.dumps(truth.record()))
    return plain


@pytest.mark.parametrize(("bid", "taken", "points"), [(3, 3, 8), (0, 0, 5), (2, 4, -2), (1, 0, -1)])
def test_r7_golden_scores(bid: int, taken: int, points: int) -> None:
    assert score(bid, taken) == points


@pytest.mark.parametrize(("place", "coins"), [(1, 100), (2, 70), (3, 55), (4, 0), (5, 0), (6, 0)])
def test_p6_room_1_pays_the_first_three(place: int, coins: int) -> None:
    assert prize_of(100, place) == coins


def test_p70_an_honest_record_checks_out(record: dict[str, Any]) -> None:
    verified = check_record(record, commitment=record["commitment"], secret=SECRET.hex())
    sheet = verified.view["score_sheet"]
    assert len(sheet) == 6
    check_sheet(sheet, record["result"]["totals"])
    report = verified.report()
    assert (report["moves"], report["deals"], report["totals"]) == (
        len(record["moves"]), 6, record["result"]["totals"],
    )  # fmt: skip
    assert sum(report["by"].values()) == report["moves"] and report["by"]["person"] > 6


def other_card(text: str) -> str:
    return "AS" if text != "AS" else "KS"


def _secret(record: dict[str, Any]) -> None:
    record["secret"] = bytes(32).hex()


def _commitment(record: dict[str, Any]) -> None:
    record["commitment"] = "0" * 64


def _secret_and_commitment(record: dict[str, Any]) -> None:
    record["secret"] = bytes(32).hex()
    record["commitment"] = hashlib.sha256(bytes(32)).hexdigest()
    record["table"] = {}


def _total(record: dict[str, Any]) -> None:
    record["result"]["totals"][4] += 1


def _score(record: dict[str, Any]) -> None:
    record["result"]["seats"][2][3][3] += 1


def _ranking(record: dict[str, Any]) -> None:
    record["result"]["ranking"].reverse()


def _decided_by(record: dict[str, Any]) -> None:
    record["result"]["decided_by"][0] += 1


def _hidden_card(record: dict[str, Any]) -> None:
    hand = record["deals"][1]["hands"][3]
    hand[0] = other_card(hand[0])


def _trump(record: dict[str, Any]) -> None:
    deal = record["deals"][1]
    deal["trump"] = other_card(deal["trump"])


def _dealer(record: dict[str, Any]) -> None:
    record["deals"][5]["dealer"] ^= 1


def _deal_left_out(record: dict[str, Any]) -> None:
    record["deals"].pop()


def _deal_too_many(record: dict[str, Any]) -> None:
    record["deals"].append(record["deals"][0])


def _actor_seat(record: dict[str, Any]) -> None:
    record["moves"][40][0] = (record["moves"][40][0] + 1) % 6


def _bid(record: dict[str, Any]) -> None:
    record["moves"][0][1] = {"bid": 9}


def _play_while_bidding(record: dict[str, Any]) -> None:
    record["moves"][3][1] = record["moves"][20][1]


def _move_left_out(record: dict[str, Any]) -> None:
    del record["moves"][100]


def _move_too_many(record: dict[str, Any]) -> None:
    record["moves"].append(record["moves"][-1])


def _no_result(record: dict[str, Any]) -> None:
    record["result"] = None


def _cut_off(record: dict[str, Any]) -> None:
    record["moves"].pop()


def _version(record: dict[str, Any]) -> None:
    record["v"] = 2


def _nth_play(record: dict[str, Any], number: int) -> int:
    return [at for at, (_, action, _, _) in enumerate(record["moves"]) if "play" in action][number]


FORGED: list[tuple[Callable[[dict[str, Any]], None], Flaw, dict[str, Any]]] = [
    (_secret, Flaw.WRONG_COMMITMENT, {"path": "commitment"}),
    (_commitment, Flaw.WRONG_COMMITMENT, {"path": "commitment"}),
    (_secret_and_commitment, Flaw.WRONG_DEAL, {"round": 0}),
    (_total, Flaw.WRONG_SCORE, {"seat": 4, "path": "result.totals[4]"}),
    (_score, Flaw.WRONG_SCORE, {"round": 3, "seat": 2, "path": "result.seats[2][3]"}),
    (_ranking, Flaw.WRONG_RANKING, {"path": "result.ranking[0]"}),
    (_decided_by, Flaw.WRONG_RESULT, {"path": "result.decided_by"}),
    (_hidden_card, Flaw.WRONG_DEAL, {"round": 1, "seat": 3, "path": "deals[1].hands[3]"}),
    (_trump, Flaw.WRONG_DEAL, {"round": 1, "path": "deals[1].trump"}),
    (_dealer, Flaw.WRONG_DEAL, {"round": 5, "path": "deals[5].dealer"}),
    (_deal_left_out, Flaw.WRONG_DEAL, {"round": 5}),
    (_deal_too_many, Flaw.MORE_THAN_A_GAME, {"path": "deals[6]"}),
    (_actor_seat, Flaw.ILLEGAL_MOVE, {"move": 40, "round": 0, "trick": 5}),
    (_bid, Flaw.ILLEGAL_MOVE, {"move": 0, "round": 0}),
    (_play_while_bidding, Flaw.ILLEGAL_MOVE, {"move": 3, "round": 0}),
    (_move_left_out, Flaw.ILLEGAL_MOVE, {"move": 100}),
    (_move_too_many, Flaw.ILLEGAL_MOVE, {"round": 5}),
    (_no_result, Flaw.WRONG_RESULT, {"path": "result"}),
    (_cut_off, Flaw.WRONG_RESULT, {"path": "result"}),
    (_version, Flaw.UNKNOWN_VERSION, {"path": "v"}),
]


@pytest.mark.parametrize(("forge", "reason", "place"), FORGED, ids=[one[0].__name__ for one in FORGED])
def test_p70_a_forged_record_is_found_out_where_it_was_forged(
    record: dict[str, Any], forge: Callable[[dict[str, Any]], None], reason: Flaw, place: dict[str, Any]
) -> None:
    forged = copy.deepcopy(record)
    forge(forged)
    assert forged != record
    with pytest.raises(CheckFailed):
        check_record(forged)
    with pytest.raises(BadRecord) as found:
        verify_plain(forged)
    facts = found.value.facts()
    assert facts["reason"] == reason
    assert place.items() <= facts.items()
    assert "\n" not in str(found.value)


def test_p70_a_changed_card_is_found_at_its_move_with_what_was_due(record: dict[str, Any]) -> None:
    """The sixth card of the second round's third trick is changed to one that its seat does not hold."""
    forged = copy.deepcopy(record)
    at = _nth_play(record, 8 * 6 + 2 * 6 + 5)
    seat, action, by, at_ms = record["moves"][at]
    held = {
        each for hand in record["deals"][1]["hands"] for each in hand if each not in record["deals"][1]["hands"][seat]
    }
    foreign = min(held)
    forged["moves"][at] = [seat, {"play": foreign}, by, at_ms]
    with pytest.raises(BadRecord) as found:
        verify_plain(forged)
    facts = found.value.facts()
    assert (facts["reason"], facts["move"], facts["round"], facts["trick"], facts["seat"]) == (
        "ILLEGAL_MOVE", at, 1, 2, seat,
    )  # fmt: skip
    assert facts["told"] == f"play {foreign}" and action["play"] in facts["due"]
    assert str(found.value).startswith(f"move {at + 1}, round 2, trick 3, seat {seat + 1}: CARD_NOT_HELD")


def test_p3_seats_that_the_secret_did_not_draw_are_found_out(record: dict[str, Any]) -> None:
    forged = copy.deepcopy(record)
    forged["table"]["seats"].append(forged["table"]["seats"].pop(0))
    with pytest.raises(BadRecord, match="people in seats") as found:
        verify_plain(forged)
    assert found.value.facts()["reason"] == "WRONG_TABLE"
    with pytest.raises(CheckFailed, match="seats"):
        check_record(forged)
    wrong: list[Any] = [[], 3, [None] * 6, [{}] * 6]
    for seats in wrong:
        with pytest.raises(BadRecord, match="6 seats are due"):
            verify_plain(record | {"table": {"seats": seats}})


def test_p70_a_game_that_was_called_off_holds_and_has_no_result_to_check(record: dict[str, Any]) -> None:
    stopped = to_json(replace(from_json(record), moves=from_json(record).moves[:50]))
    verified = verify_plain(stopped)
    assert verified.report()["ranking"] is None
    assert any("not played to its end" in line for line in verified.checked)
    with pytest.raises(CheckFailed, match="called off"):
        check_record(stopped)


def test_p70_another_secret_than_the_promised_one_is_found_out(record: dict[str, Any]) -> None:
    with pytest.raises(CheckFailed, match="commitment"):
        check_record(record, commitment="0" * 64)
    with pytest.raises(CheckFailed, match="secret"):
        check_record(record, secret="0" * 64)


ROW = {"cards": 3, "bids": [1, 0, 1, 2], "taken": [1, 1, 1, 0], "scores": [6, -1, 6, -2]}


def test_r8_the_golden_round_checks_out() -> None:
    check_sheet([ROW], [6, -1, 6, -2])


@pytest.mark.parametrize(
    ("change", "totals", "said"),
    [
        ({"bids": [1, 0, 1, 1]}, [6, -1, 6, -1], "add up to 3"),
        ({"taken": [1, 1, 1, 1]}, [6, -1, 6, -1], "4 tricks were taken of 3"),
        ({"scores": [6, -1, 6, 2]}, [6, -1, 6, 2], "by the rules"),
        ({}, [6, -1, 6, -1], "totals"),
    ],
)
def test_r5_r6_r7_a_wrong_sheet_is_found_out(change: dict[str, Any], totals: list[int], said: str) -> None:
    with pytest.raises(CheckFailed, match=said):
        check_sheet([ROW | change], totals)


def test_an_empty_sheet_is_no_game() -> None:
    with pytest.raises(CheckFailed):
        check_sheet([], [0, 0])
