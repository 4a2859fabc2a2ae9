"""Checks that a player can make without trusting the server: scores, prize, record and deals.

Nothing here asks anybody: it takes what was seen and what was published, and says what does not fit.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from libs.engine import fair
from libs.engine.errors import RuleViolation
from libs.engine.game import GAMES, Game
from libs.engine.protocol import Action, Event, Seat
from libs.engine.replay import fold, recompute

MADE_POINTS = 5  # R7: a contract made is worth this and the bid
PLACE_BP = (10_000, 7_000, 5_500)  # P6: what the first three places win of the room's prize
MOVES = {"bid": "bid", "play": "card"}  # the events that are decisions, and the field that holds the choice

Sheet = Sequence[Mapping[str, Any]]  # a view's `score_sheet`


class CheckFailed(Exception):
    """What was seen or published does not fit; the text says what."""


def require(holds: bool, said: str) -> None:
    """Raises CheckFailed(said) unless it holds."""
    if not holds:
        raise CheckFailed(said)


def check_sheet(sheet: Sheet, totals: Sequence[int]) -> None:
    """R5, R6 and R7 for each round, and that the totals are the sum of the rounds. Raises CheckFailed."""
    require(bool(sheet), "the score sheet is empty")
    summed = [0] * len(totals)
    for number, row in enumerate(sheet, start=1):
        cards, bids, taken = row["cards"], row["bids"], row["taken"]
        require(sum(bids) != cards, f"round {number}: the bids add up to {cards}, which the dealer may not let happen")
        require(sum(taken) == cards, f"round {number}: {sum(taken)} tricks were taken of {cards}")
        due = [score(bid, won) for bid, won in zip(bids, taken, strict=True)]
        require(due == list(row["scores"]), f"round {number}: scores are {row['scores']}, by the rules {due}")
        summed = [total + points for total, points in zip(summed, due, strict=True)]
    require(summed == list(totals), f"totals are {list(totals)}, the rounds add up to {summed}")


def score(bid: int, taken: int) -> int:
    """R7."""
    return MADE_POINTS + bid if bid == taken else -abs(taken - bid)


def prize_of(first_prize: int, place: int) -> int:
    """Coins for `place` (1-based) where the room's first prize is `first_prize` (P6)."""
    return first_prize * PLACE_BP[place - 1] // 10_000 if place <= len(PLACE_BP) else 0


def check_record(record: Mapping[str, Any], *, commitment: str | None = None, secret: str | None = None) -> Sheet:
    """Play a published record again from its secret (P70, P72); its score sheet.

    `commitment` is what was published before the first card, `secret` what was shown at the end, where they are
    known from elsewhere than from the record. Raises CheckFailed.
    """
    require(record.get("v") == 1, f"the record's version is {record.get('v')!r}, not 1")
    require(commitment in (None, record["commitment"]), "the record's commitment is not the one told at the start")
    require(secret in (None, record["secret"]), "the record's secret is not the one shown at the end")
    key = bytes.fromhex(record["secret"])
    require(fair.commitment(key).hex() == record["commitment"], "the commitment is not the SHA-256 of the secret")
    _check_seats(record["seats"], key)
    game = GAMES[record["game"]]
    players, options = len(record["seats"]), record["options"]
    try:
        events = list(recompute(game, players, options, key, _moves(record["log"])))
    except RuleViolation as error:
        raise CheckFailed(f"the record holds a move that the rules refuse: {error}") from None
    _check_events(game, events, record["log"], players)
    view = game.view(fold(game, game.new(players, options), events), None)
    outcome = record["result"]
    require(outcome is not None, "the game was called off, so that there is no result to check")
    require(view["ranking"] == outcome["ranking"], "the record's ranking does not follow from its moves")
    require(view["scores"] == outcome["totals"], "the record's totals do not follow from its moves")
    sheet: Sheet = view["score_sheet"]
    return sheet


def _check_seats(seats: Sequence[Mapping[str, Any]], key: bytes) -> None:
    """Draw "seats": people first, then bots, in the order that the secret gives (P3)."""
    people = sum(1 for seat in seats if seat["account"])
    drawn = [index < people for index in fair.permutation(key, "seats", len(seats))]
    require(drawn == [bool(seat["account"]) for seat in seats], "the seats do not follow from the secret")


def _moves(log: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Seat, Action]]:
    for item in log:
        for event in item.get("events", ()):
            if event["k"] in MOVES:
                yield event["seat"], {event["k"]: event[MOVES[event["k"]]]}


def _check_events(game: Game, events: Sequence[Event], log: Sequence[Mapping[str, Any]], players: int) -> None:
    """What everybody and what each seat was told must be what secret and moves give."""
    told = [event for item in log for event in item.get("events", ())]
    require(told == _projected(game, events, None), "the record's deals and moves do not follow from the secret")
    private = [event for event in events if game.is_private(event)]
    for seat in range(players):
        own = [event for item in log for event in item.get("private", {}).get(str(seat), ())]
        require(own == _projected(game, private, seat), f"the cards dealt to seat {seat} do not follow from the secret")


def _projected(game: Game, events: Sequence[Event], observer: Seat | None) -> list[Mapping[str, Any]]:
    return [shown for event in events if (shown := game.project(event, observer)) is not None]
