"""The weekly league and the leaderboard of friends' games in words, and offline games sent for credit."""

from collections.abc import Iterator, Mapping
from typing import Any

from libs.client.cli import screen
from libs.client.cli.records.source import written_at
from libs.client.sdk.whist import Whist
from libs.engine.record.plain import to_json
from libs.engine.record.reading import read


def told_group(group: Mapping[str, Any], own: str) -> Iterator[str]:
    """A league group by rank, a line a member; `own` is the reader's account."""
    state = "closed" if group["closed"] else "as it stands"
    yield f"{group['week']}, {group['tier']}, {state}"
    if not group["members"]:
        yield "No prize in this week yet: the first one puts you into a group."
    for each in group["members"]:
        moves = f"-> {each['next_tier']}" if each["next_tier"] != group["tier"] else ""
        podium = f"{each['podium_coins']:,} coins, {each['podium_bars']} bars" if each["podium_coins"] else ""
        who = f"{_mark(each, own)}{each['rank']:>3}  {_name(each, own):<16}"
        yield f"{who} {each['points']:>12,}  {podium:<28}{moves}".rstrip()


def told_board(board: Mapping[str, Any], own: str) -> Iterator[str]:
    """The leaderboard, a line a place; the reader's own behind it where it is further down."""
    yield f"{board['week']}, friends' games"
    if not board["places"]:
        yield "No friends' game has scored in this week yet."
    shown = {each["account_id"] for each in board["places"]}
    behind = [board["own"]] if board["own"] and own not in shown else []
    for each in [*board["places"], *behind]:
        rank = each["rank"] or "-"
        games = f"{each['games']} game{'s' * (each['games'] != 1)}"
        yield f"{_mark(each, own)}{rank:>3}  {_name(each, own):<16} {each['points']:>6}  in {games}"
    if any(not each["rank"] for each in behind):
        yield "Guests are ranked once they sign in: --email."


async def upload(whist: Whist, file: str) -> Mapping[str, Any]:
    """Send the record in a file, checked here first. Raises Unreadable, BadRecord, WhistError."""
    return await whist.upload(to_json(read(written_at(file))))


def told_upload(file: str, answer: Mapping[str, Any]) -> str:
    """One line a file."""
    brought = f"{answer['experience']} experience" + ("" if answer["credited"] else ", credited before")
    return f"{screen.printable(file)}: {brought}; {answer['total']} in all, level {answer['level']}"


def _mark(each: Mapping[str, Any], own: str) -> str:
    return "*" if each["account_id"] == own else " "


def _name(each: Mapping[str, Any], own: str) -> str:
    if each["name"] is None:
        return "you" if each["account_id"] == own else "-"
    return screen.printable(each["name"])
