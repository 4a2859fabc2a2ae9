"""A purse and a refund in words."""

from libs.client.sdk.api import Json

# Why a game cannot be given back, for people (P14).
REFUSED = {
    "GAME_UNKNOWN": "no such game of yours",
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


def amounts(assets: Json) -> str:
    """What there is of coins, bars and cups; "nothing" for none of them."""
    named = [(int(assets["coins"]), "coins"), (int(assets["bars"]), "bars")]
    cups = [(int(count), f"cups {kind}") for kind, count in assets["cups"].items()]
    return ", ".join(f"{count:,} {what}" for count, what in (*named, *cups) if count) or "nothing"


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
