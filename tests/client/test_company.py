"""A followed friends' table: what is kept of it, how a line is answered, what a new connection asks for (P20)."""

import asyncio
from typing import Any

import pytest
from msgspec import UNSET

from libs.client.sdk.company import LINES_MAX, Company
from libs.client.sdk.errors import WhistError
from libs.wire import frames

TABLE = "f" * 32
CHOICES = frames.Choices(
    game="romanian", options={}, players=4, bid_seconds=15, bots="calm", listed=True, spectators=True, open_chat=True
)


def waiting(stage: str = "waiting", version: int = 1) -> frames.Waiting:
    return frames.Waiting(table=TABLE, stage=stage, version=version, host="", choices=CHOICES, seats=[None] * 4)


def chat(line: int, words: str = "x") -> frames.Chat:
    return frames.Chat(table=TABLE, line=line, account="a" * 32, name="Ana", words=words, at=0)


def test_a_new_connection_asks_for_what_was_said_since() -> None:
    company = Company(TABLE, lambda frame: None)
    assert company.enter().since_line is UNSET
    for line in (4, 7, 7, 5, 9):
        assert company.receive(chat(line))
    assert [each.line for each in company.lines] == [4, 7, 9] and company.enter().since_line == 9


def test_only_so_many_lines_are_kept() -> None:
    company = Company(TABLE, lambda frame: None)
    for line in range(1, 2 * LINES_MAX):
        company.receive(chat(line))
    assert len(company.lines) == LINES_MAX and company.lines[-1].line == 2 * LINES_MAX - 1


async def test_a_line_is_answered_by_its_number_or_its_refusal_and_others_answers_are_not_ours() -> None:
    posted: list[Any] = []
    company = Company(TABLE, posted.append)
    saying = [asyncio.create_task(company.say(words)) for words in ("one", "two", "three", "four")]
    await asyncio.sleep(0)
    with pytest.raises(WhistError) as refused:
        await company.say("five")
    assert refused.value.code == "TOO_MANY_COMMANDS"
    assert [frame.words for frame in posted] == ["one", "two", "three", "four"]
    assert not company.receive(frames.Ack(table=TABLE, req="another", seq=1))
    assert not company.receive(frames.Error(reason="STALE_TURN", table=TABLE))
    assert company.receive(frames.Error(reason="RATE_LIMITED", req=posted[1].req, table=TABLE))
    for number in (0, 2, 3):
        assert company.receive(frames.Ack(table=TABLE, req=posted[number].req, seq=10 + number))
    answers = await asyncio.gather(*saying, return_exceptions=True)
    assert [each for each in answers if isinstance(each, int)] == [10, 12, 13]
    assert isinstance(answers[1], WhistError) and answers[1].code == "RATE_LIMITED"


async def test_a_line_said_while_nothing_is_connected_or_before_it_breaks_is_said_again_under_its_key() -> None:
    posted: list[Any] = []
    company = Company(TABLE, posted.append)
    saying = asyncio.create_task(company.say("one"))
    await asyncio.sleep(0)
    assert company.resume() == [company.enter(), *posted]
    company.receive(frames.Ack(table=TABLE, req=posted[0].req, seq=3))
    assert await saying == 3
    assert company.resume() == [company.enter()]


async def test_whoever_waits_is_woken_by_a_change_and_told_of_the_end() -> None:
    company = Company(TABLE, lambda frame: None)
    change = asyncio.create_task(company.changed(company.version))
    await asyncio.sleep(0)
    company.receive(waiting())
    assert await change == company.version and company.live
    company.receive(waiting("closed", 2))
    assert not company.live
    end = asyncio.create_task(company.changed(company.version))
    await asyncio.sleep(0)
    company.fail(WhistError("BARRED"))
    with pytest.raises(WhistError) as refused:
        await end
    assert refused.value.code == "BARRED"
