"""A purse, what came and went, rooms and a refund in words."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from libs.client.sdk.api import Json

KINDS: Final = ("x1_5", "x2", "x3", "x5")
# Why a game cannot be given back, for people (P14).
REFUSED = {
    "GAME_UNKNOWN": "no quick or classic game of yours has this id",
    "GAME_RUNNING": "it has not finished yet",
    "GAME_VOIDED": "it was called off, and everything has come back already",
    "GAME_LEFT": "you left it, and leaving is final",
    "GAME_NOT_COUNTED": "you bid in too few of its rounds yourself",
    "FIRST_PLACE": "you won it",
    "NOTHING_TO_REFUND": "it cost nothing",
    "REFUND_TOO_LATE": "the time for it is over",
    "WEEK_CLOSED": "its week is over",
    "NOT_A_VIP_DAY": "it did not finish on one of your VIP days",
    "REFUNDS_USED_UP": "the refunds of its day are used up",
    "INSUFFICIENT_TO_REVERSE": "what it won is spent",
    "GUESTS_HAVE_NO_REFUND": "guests have no refunds",
    "ALREADY_REFUNDED": "you have given it back already",
}

ASSETS: Final[Mapping[str, str]] = MappingProxyType(
    {"coin": "coins", "bar": "bars"} | {f"cup_{kind}": f"cups {kind.replace('_', '.')}" for kind in KINDS}
)
# Why a room is closed (P2, P7); without words for it, its code.
CLOSED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "LEVEL_TOO_LOW": "your level is lower",
        "NOT_A_VIP_DAY": "on your VIP days only",
        "INSUFFICIENT_FUNDS": "your purse is too small",
        "GUESTS_ROOM_1_ONLY": "for accounts only",
        "ACCOUNT_SUSPENDED": "you are shut out",
    }
)


def amounts(assets: Json) -> str:
    """What there is of coins, bars and cups; "nothing" for none of them."""
    named = [(int(assets["coins"]), "coin", ""), (int(assets["bars"]), "bar", "")]
    cups = [(int(count), "cup", f" {kind}") for kind, count in assets["cups"].items()]
    told = (f"{count:,} {what}{'s' * (count != 1)}{kind}" for count, what, kind in (*named, *cups) if count)
    return ", ".join(told) or "nothing"


def offered(offer: Json) -> str:
    """A refund before it is asked for."""
    if offer["refused"] is not None:
        return f"No refund: {REFUSED.get(offer['refused'], offer['refused'])}."
    return f"Returns {amounts(offer['returns'])}; takes back {amounts(offer['takes'])}."


def refunded(done: Json) -> str:
    """A refund that has taken place."""
    return (
        f"Returned {amounts(done['returned'])}; took back {amounts(done['taken'])}. There is {amounts(done['assets'])}."
    )


def moved(movement: Json) -> str:
    """One line of the history: when (UTC), what for, what came or, with a minus, went, at which table."""
    what = ASSETS.get(movement["asset"], movement["asset"])
    why = str(movement["reason"]).replace("_", " ")
    moment = str(movement["at"])[:16].replace("T", " ")
    return f"{moment}  {why:<18} {movement['amount']:>+12,} {what:<9}  {movement['table'] or ''}".rstrip()


def progress(me: Json) -> str:
    """Level and experience, or that they cannot be told just now."""
    if me["level"] is None:
        return "Your level cannot be told just now."
    return f"Level {me['level']}, {me['experience']:,} experience; the next level at {me['next_level_at']:,}."


ROOMS_HEAD: Final = "room           level  entry                   1st wins"


def room(each: Json) -> str:
    """One row under ROOMS_HEAD, 80 columns at most: the first prize, and whether it is open or why not."""
    entry = " + ".join(f"{each[f'entry_{what}']:,} {what}" for what in ("coins", "bars") if each[f"entry_{what}"])
    shut = each["closed_reason"]
    level = f"{'VIP' if each['vip'] else ''} {each['level']:>2}"
    told = CLOSED.get(shut, shut) if shut else "open"
    return f"{each['room']:>2}  {each['name']:<10}{level:>6}  {entry or 'free':<23}{each['prizes'][0]:>9,}  {told}"
