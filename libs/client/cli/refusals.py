"""What the server refuses, in words for people."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from libs.client.cli import purse, screen
from libs.client.cli.lettering import SUITS
from libs.client.sdk.errors import WhistError

NAME_RULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "characters": "A name has letters and digits, and between them single . _ or -.",
        "scripts": "A name's letters are all Latin, all Greek, all Cyrillic or all Chinese.",
        "reserved": "That name is the house's own.",
    }
)
# Of a record that is whole and true but nobody's offline game (P44); others by their flaw's name.
RECORD_FLAWS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "NOT_FINISHED": "it was not played to its end",
        "NO_SECRET": "it does not have its secret",
        "ANOTHER_SEAT": "the secret draws another seat for its player",
        "PLAYED_ONLINE": "it was played online",
        "ANOTHERS_GAME": "somebody else has uploaded it",
    }
)


def spoken(error: WhistError) -> str:
    """A refusal in words; one that we have no words for by its code, and `facts` that came with it."""
    if (said := REFUSALS.get(error.code)) is not None:
        return screen.printable(said(error.facts))
    if (why := purse.REFUSED.get(error.code)) is not None:
        return f"{why[0].upper()}{why[1:]}."
    return screen.printable(str(error))


def refused(error: WhistError) -> str:
    """For a command's last line: the words, and the code that a script or a search goes by."""
    told = spoken(error)
    return told if error.code in told or error.code == "UNREACHABLE" else f"{told} ({error.code})"


def _name(facts: Mapping[str, Any]) -> str:
    if facts.get("rule") == "length":
        return f"A name has {facts.get('min')} to {facts.get('max')} characters."
    return NAME_RULES.get(str(facts.get("rule")), "That is no name.")


def _funds(facts: Mapping[str, Any]) -> str:
    asset = str(facts.get("asset", ""))
    if not asset:
        return "Your purse does not hold as much: whist wallet."
    return f"That takes {facts.get('needed')} {purse.ASSETS.get(asset, asset)}, and there are not as many."


def _fields(facts: Mapping[str, Any]) -> str:
    """`fields` of a problem: where in the request, and what the server's model says of it."""
    wrong = [f"{each['at'][-1]} ({each['what'].replace('_', ' ')})" for each in facts.get("fields", ()) if each["at"]]
    return f"The server does not take {', '.join(wrong) or 'this'}."


REFUSALS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = MappingProxyType(
    {
        "MUST_FOLLOW_SUIT": lambda facts: (
            f"You must follow suit: play one of your {SUITS.get(str(facts.get('suit')), 'suit')}."
        ),
        "MUST_TRUMP": lambda _: "You cannot follow suit, so you must play a trump.",
        "MUST_PLAY": lambda _: "A dog must play its card to the last trick.",
        "BID_BARRED": lambda facts: f"The dealer may not bid {facts.get('barred')}: the bids must not add up.",
        "BID_OUT_OF_RANGE": lambda facts: f"Bid {facts.get('least')} to {facts.get('most')}.",
        "CALL_TOO_LOW": lambda _: "That call is not open to you now: type the number or the word of one above.",
        "SEAT_TAKEN": lambda _: "Somebody else holds that seat.",
        "NO_SUCH_SEAT": lambda facts: f"The table has {facts.get('seats')} seats.",
        "SEAT_LEFT": lambda _: "You have left this game for good.",
        "ALREADY_SEATED": lambda facts: (
            "You wait for a quick table: that comes first." if facts.get("queue") else "You sit at another table."
        ),
        "SPECTATORS_FULL": lambda facts: f"{facts.get('most')} watch already, and no more may.",
        "NOT_AT_TABLE": lambda facts: str(facts.get("why") or "You do not sit at this table, and nobody may watch it."),
        "BARRED": lambda _: "The host has sent you away from this table.",
        "HINTS_NOT_ALLOWED": lambda _: "The coach helps at friends' tables and on your VIP days only.",
        "NOT_HOST": lambda _: "Only the host may do that.",
        "NO_TAKE_OVER": lambda _: "A person holds that seat.",
        "TABLE_UNKNOWN": lambda _: "There is no such table.",
        "TABLE_FINISHED": lambda _: "Its game is over.",
        "TABLE_CLOSED": lambda _: "That table has closed.",
        "CHAT_CLOSED": lambda _: "The host lets only those who sit chat.",
        "SILENCED": lambda facts: f"An operator has silenced you until {str(facts.get('until'))[:16]} UTC.",
        "GUESTS_OPEN_NO_TABLE": lambda _: "Guests sit at friends' tables and open none: sign in with --email.",
        "GUESTS_ROOM_1_ONLY": lambda _: "Guests play in room 1: sign in with --email.",
        "GUESTS_CLAIM_NO_NAME": lambda _: "Guests have no name of their own: sign in with --email.",
        "GUESTS_HAVE_NO_COFFEE": lambda _: "Guests have no coffee: sign in first, as by whist name NAME --email.",
        "GUESTS_UPLOAD_NOTHING": lambda _: "Guests upload nothing: sign in with --email.",
        "LEVEL_TOO_LOW": lambda facts: f"It opens at level {facts.get('needed')}; yours is {facts.get('level')}.",
        "UNKNOWN_ROOM": lambda _: "There is no such room.",
        "ALREADY_MATCHED": lambda _: "The table is being dealt already.",
        "INSUFFICIENT_FUNDS": _funds,
        "NAME_INVALID": _name,
        "NAME_TAKEN": lambda _: "Somebody has that name, or one that looks like it.",
        "NAME_TOO_SOON": lambda facts: f"The next change is free on {str(facts.get('next_change_at'))[:10]}.",
        "EMAIL_INVALID": lambda _: "That is no address to send a code to.",
        "CODE_WRONG": lambda _: "That was not the code.",
        "CODE_SPENT": lambda _: "That code is used up or too old: ask for another.",
        "SIGN_IN_ENDED": lambda facts: f"Your sign-in as {facts.get('name')} has ended: sign in again with --email.",
        "NOT_A_VIP_DAY": lambda facts: (
            "That room opens on your VIP days only."
            if "room" in facts
            else "It did not finish on one of your VIP days."
        ),
        "BAD_RECORD": lambda facts: (
            f"The record is not credited: {RECORD_FLAWS.get(str(facts.get('problem')), facts.get('problem'))}."
        ),
        "NOT_SIGNED_IN": lambda _: "Nobody is signed in.",
        "GUEST_WOULD_BE_DROPPED": lambda _: "You are the guest still; nothing has changed.",
        "RATE_LIMITED": lambda facts: f"Too often: again in {facts.get('retry_after_seconds', 'some')} s.",
        "ACCOUNT_SUSPENDED": lambda _: "An operator has shut this account out.",
        "SESSION_UNKNOWN": lambda _: "No device of yours is signed in under that id.",
        "ANALYSIS_UNKNOWN": lambda _: "There is no such finished game of yours.",
        "ANALYSIS_NOT_OFFERED": lambda _: "Analysis and story are for friends' games, and for others on your VIP days.",
        "ANALYSIS_NOT_YET": lambda _: "The coach still thinks about it: ask again in a moment.",
        "BAD_WEEK": lambda facts: f"There is no week {facts.get('week_id')}; weeks are named as 2026-W48.",
        "GAME_RUNNING": lambda _: "The game is not over yet.",
        "INVALID_REQUEST": _fields,
        "ACCOUNT_UNKNOWN": lambda _: "There is no such account.",
        "UNAVAILABLE": lambda _: "Nobody can answer just now: try again in a moment.",
    }
)
