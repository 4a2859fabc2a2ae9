"""A policy plays a whole game as a guest, and everything that a player can check is checked."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Any

from libs.client.cli import screen
from libs.client.cli.verify import CheckFailed, Verified, check_record, check_sheet, prize_of, require
from libs.client.sdk.backoff import Backoff
from libs.client.sdk.errors import TurnPassed, WhistError
from libs.client.sdk.table import Result, Table
from libs.client.sdk.whist import Whist
from libs.engine.bots import choose
from libs.engine.record.model import Record

ROOM = 1
ARRIVES_S = 15.0  # prize and experience follow the game's end by events; later than this is a fault
ROUNDS = {"quick": 6, "classic": 30}  # P1
UNAVAILABLE = 503

Say = Callable[[str], None]


async def run(whist: Whist, mode: str, say: Say) -> tuple[dict[str, Any], Record]:
    """Play one game in room 1 and check it; the report as one JSON object, and the record that was checked.

    Raises CheckFailed, WhistError.
    """
    first_prize = await whist.first_prize(ROOM)
    say(f"{screen.printable(whist.account['name'])} queues in room {ROOM} ({mode})")
    table = await whist.quick_game(ROOM, mode)
    # Read at the table, where a new account's gift has come by its own event; this room's entry is free (P2, P10).
    coins_before, xp_before = await whist.coins(), await whist.experience()
    commitment = table.commitment
    names = screen.names_of(table.seats)
    say(f"Game {table.id}, seat {table.seat + 1} of {len(names)}, commitment {commitment}")
    result = await play_out(table, say)
    record = await _checked_record(whist, table, result, commitment)
    sheet = record.view["score_sheet"]
    require(len(sheet) == ROUNDS[mode], f"{len(sheet)} rounds were played, a {mode} game has {ROUNDS[mode]}")
    place = result.place
    assert place is not None, "who queued has a seat"
    prize = prize_of(first_prize, place)
    coins_after, xp_after = await _arrived(whist, coins_before + prize, xp_before)
    say("")
    say(screen.score_sheet(sheet, result.totals, names))
    say("")
    say(screen.ranking(result.ranking, result.totals, names, result.seat))
    say("")
    say(f"Wallet: {coins_before} coins before, {coins_after} after: {screen.PLACES[place - 1]} place pays {prize}")
    say(f"Experience: {xp_after - xp_before} gained")
    say("Checked: bids, tricks, scores, totals, prize, the published record, and each deal from the shown secret")
    report = {
        "mode": mode,
        "players": names,
        "rounds": [
            {field: row[field] for field in ("cards", "trump", "dealer", "bids", "taken", "scores")} for row in sheet
        ],
        "totals": list(result.totals),
        "ranking": list(result.ranking),
        "prize_coins": prize,
        "coins_before": coins_before,
        "coins_after": coins_after,
        "xp_gained": xp_after - xp_before,
        "game_id": table.id,
    }
    return report, record.record


async def play_out(table: Table, say: Say) -> Result:
    """Let the calm policy make every decision; says each round as it is scored. Raises CheckFailed when voided."""
    told = 0
    async for decision in table:
        told = _tell(table, told, say)
        # The server was faster (a slow line, a bot that held the seat): the next decision comes by itself.
        with contextlib.suppress(TurnPassed):
            await decision.take(choose(table.game, decision.view))
    _tell(table, told, say)
    result = table.result
    assert result is not None
    require(result.status == "finished", f"the game was not played out: {result.status}")
    return result


def _tell(table: Table, told: int, say: Say) -> int:
    sheet = table.view["score_sheet"]
    for number, row in enumerate(sheet[told:], start=told + 1):
        seat = table.seat
        say(
            f"Round {number} of {len(table.view['rounds'])}: {row['cards']} cards, "
            f"bid {row['bids'][seat]}, took {row['taken'][seat]}, {row['scores'][seat]:+d}"
        )
    return len(sheet)


async def _checked_record(whist: Whist, table: Table, result: Result, commitment: str) -> Verified:
    """The published record, when what was seen, the rules and the record agree."""
    plain = await whist.record(table.id)
    verified = check_record(plain, commitment=commitment, secret=result.secret)
    about, outcome = verified.record.table or {}, verified.game.result or {}
    require(about.get("id") == table.id, "the record is another game's")
    require(outcome["ranking"] == list(result.ranking), "the record's ranking is not the one seen")
    require(outcome["totals"] == list(result.totals), "the record's totals are not the ones seen")
    sheet = [dict(row) for row in verified.view["score_sheet"]]
    if table.view["phase"] == "over":
        require(table.view["score_sheet"] == sheet, "the record's rounds are not the ones seen")
    ours = about["seats"][table.seat]["account"] == whist.account["account_id"]
    require(ours, "the record seats somebody else in our seat")
    check_sheet(sheet, result.totals)
    return verified


async def _arrived(whist: Whist, coins_due: int, xp_before: int) -> tuple[int, int]:
    """Coins and experience once both have come. Raises CheckFailed after `ARRIVES_S`."""
    backoff, until = Backoff(most_s=2.0), time.monotonic() + ARRIVES_S
    coins, xp = 0, xp_before
    while True:
        try:
            coins, xp = await whist.coins(), await whist.experience()
        except WhistError as error:
            if error.status != UNAVAILABLE:
                raise
        if coins == coins_due and xp > xp_before:
            return coins, xp
        if time.monotonic() > until:
            raise CheckFailed(
                f"after {ARRIVES_S:.0f} s there are {coins} coins, {coins_due} are due, "
                f"and {xp - xp_before} experience was gained"
            )
        await asyncio.sleep(backoff.next_s())
