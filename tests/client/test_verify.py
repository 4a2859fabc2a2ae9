"""What a player can check for themself, and that each check can fail."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from libs.client.cli.verify import CheckFailed, check_record, check_sheet, prize_of, score
from libs.engine.bots import choose
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


def other_card(text: str) -> str:
    return "AS" if text != "AS" else "KS"


@pytest.mark.parametrize(("bid", "taken", "points"), [(3, 3, 8), (0, 0, 5), (2, 4, -2), (1, 0, -1)])
def test_r7_golden_scores(bid: int, taken: int, points: int) -> None:
    assert score(bid, taken) == points


@pytest.mark.parametrize(("place", "coins"), [(1, 100), (2, 70), (3, 55), (4, 0), (5, 0), (6, 0)])
def test_p6_room_1_pays_the_first_three(place: int, coins: int) -> None:
    assert prize_of(100, place) == coins


def test_p70_an_honest_record_checks_out(record: dict[str, Any]) -> None:
    sheet = check_record(record, commitment=record["commitment"], secret=SECRET.hex())
    assert len(sheet) == 6
    check_sheet(sheet, record["result"]["totals"])


def _secret(record: dict[str, Any]) -> None:
    record["secret"] = bytes(32).hex()


def _commitment(record: dict[str, Any]) -> None:
    record["commitment"] = "0" * 64


def _totals(record: dict[str, Any]) -> None:
    record["result"]["totals"][0] += 1


def _ranking(record: dict[str, Any]) -> None:
    record["result"]["ranking"].reverse()


def _seats(record: dict[str, Any]) -> None:
    record["seats"].append(record["seats"].pop(0))


def _hidden_card(record: dict[str, Any]) -> None:
    for item in record["log"]:
        for event in item.get("private", {}).get("3", ()):
            event["hand"][0] = other_card(event["hand"][0])
            return


def _trump(record: dict[str, Any]) -> None:
    for item in record["log"]:
        for event in item["events"]:
            if event.get("trump"):
                event["trump"] = other_card(event["trump"])
                return


def _play(record: dict[str, Any]) -> None:
    for item in record["log"]:
        for event in item["events"]:
            if event["k"] == "play":
                event["card"] = other_card(event["card"])
                return


def _version(record: dict[str, Any]) -> None:
    record["v"] = 2


def _called_off(record: dict[str, Any]) -> None:
    record["result"] = None


@pytest.mark.parametrize(
    "forge",
    [_secret, _commitment, _totals, _ranking, _seats, _hidden_card, _trump, _play, _version, _called_off],
)
def test_p70_a_forged_record_is_found_out(record: dict[str, Any], forge: Callable[[dict[str, Any]], None]) -> None:
    forged = copy.deepcopy(record)
    forge(forged)
    assert forged != record
    with pytest.raises(CheckFailed):
        check_record(forged)


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
