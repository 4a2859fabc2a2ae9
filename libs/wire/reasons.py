"""Why an `Error` frame says no: each stable reason with its meaning. Clients translate by reason, never by text."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        # the socket
        "BAD_FRAME": "not a frame of this contract; the tenth closes the socket",
        "HELLO_FIRST": "the first frame is hello",
        "TOKEN_INVALID": "the token is none of ours, or its session has ended",
        "TOKEN_EXPIRED": "the token's life is over: renew it and say hello again",
        "TOKEN_OF_ANOTHER_ACCOUNT": "a socket stays its first account's",
        "JOIN_FIRST": "this socket does not follow the table",
        "TOO_MANY_TABLES": "this socket follows as many tables as it may",
        "TOO_MANY_COMMANDS": "too many commands without an answer",
        "RATE_LIMITED": "too often; retry_after_seconds says when again",
        "UNAVAILABLE": "nobody can answer now: send the same once more",
        "DEADLINE_EXCEEDED": "no answer in time: send the same once more",
        "INTERNAL": "a fault of the server's; nothing has changed",
        # the table
        "TABLE_UNKNOWN": "there is no such table",
        "TABLE_FINISHED": "the game has ended: its record says how",
        "NOT_AT_TABLE": "this account does not sit there, or may not watch",
        "BARRED": "the host has sent this account away",
        "SPECTATORS_FULL": "as many watch as may",
        "TABLE_BUSY": "more commands wait than any honest client sends: send the same once more",
        "STALE_TURN": "this decision has been made already; turn is the one awaited",
        "SEAT_LEFT": "this account has left the seat for good",
        "GAME_OVER": "nothing is to be decided any more",
        "TABLE_CLOSED": "the friends' table has been closed",
        "BAD_ID": "an id or a request that is none; field names it",
        "BAD_TEXT": "nothing is left of the line, or it is too long",
        "CHAT_CLOSED": "here only those who sit may chat",
        "SILENCED": "your chat is switched off for a while",
        # the rules, of whichever game
        "BAD_ACTION": "no action of this game",
        "OUT_OF_TURN": "another seat is to act",
        "DRAW_DUE": "cards are being dealt",
        "NOT_BIDDING": "no bid is due",
        "NOT_PLAYING": "no card is due",
        "NOT_NAMING": "no trump is to be named",
        "NOT_CLAIMING": "no claim is due",
        "BID_OUT_OF_RANGE": "least to most may be bid",
        "BID_BARRED": "the dealer's bid must not make the bids add up to the cards",
        "CALL_TOO_LOW": "a higher call stands",
        "CARD_NOT_HELD": "the card is not in this hand",
        "MUST_FOLLOW_SUIT": "a card of suit is held",
        "MUST_TRUMP": "the suit led is not held and a trump is",
        "MUST_PLAY": "the last card is played, not kept",
        "NO_PENALTY_DUE": "nobody has revoked",
    }
)
