"""Checks that a player can make without trusting the server: scores, prize, record and deals.

Nothing here asks anybody: it takes what was seen and what was published, and says what does not fit. Records are
checked by the engine (`libs.engine.record`), whatever the game; what is added here is known to the platform alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from libs.engine import fair
from libs.engine.protocol import View
from libs.engine.record.checking import check
from libs.engine.record.flaws import BadRecord, Flaw, Place
from libs.engine.record.model import By, Record
from libs.engine.record.plain import parsed, taken_apart
from libs.engine.record.reading import Form, form_of, read, trimmed
from libs.engine.record.replaying import Played, played

MADE_POINTS = 5  # R7: a contract made is worth this and the bid
PLACE_BP = (10_000, 7_000, 5_500)  # P6: what the first three places win of the room's prize

SEATS = Place(path="table.seats")

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """A record that holds, and how its game ended."""

    form: Form
    record: Record
    game: Played

    @property
    def view(self) -> View:
        """What everybody may see at the record's end."""
        return self.game.game.view(self.game.state, None)

    @property
    def checked(self) -> tuple[str, ...]:
        """What was checked, for people."""
        record, game = self.record, self.game
        secret = record.secret is not None
        held = "commitment: the SHA-256 of the secret" if secret else "no secret: the draws are as the record has them"
        deals = f"{len(game.deals)} deals" + (": as the secret shuffles them" if secret else "")
        moves = f"{len(record.moves)} moves: by the rules of {record.game}"
        shown = self.form is not Form.LINK
        scores = "scores, totals and ranking: as the moves give them" if shown else "a link shows no scores to check"
        end = scores if game.result is not None else "no result: the game was not played to its end"
        seats = ("seats: as the secret draws them",) if secret and _seats(record) is not None else ()
        return (held, *seats, deals, moves, end)

    def report(self) -> dict[str, Any]:
        """Plain JSON for programs."""
        record, outcome = self.record, self.game.result
        return {
            "ok": True,
            "form": self.form.value,
            "game": record.game,
            "players": record.players,
            "moves": len(record.moves),
            "deals": len(self.game.deals),
            "by": {by.value: sum(one.by is by for one in record.moves) for by in By},
            "secret": record.secret is not None,
            "totals": None if outcome is None else outcome["totals"],
            "ranking": None if outcome is None else outcome["ranking"],
        }


def verify(written: str) -> Verified:
    """A record in any of its forms. Raises BadRecord with the place of the first difference."""
    form = form_of(written)
    if form is Form.JSON:
        return verify_plain(parsed(trimmed(written)))
    record = read(written)
    return _with_seats(Verified(form=form, record=record, game=played(record)))


def verify_plain(plain: object) -> Verified:
    """A JSON record as it was fetched. Raises as `verify`."""
    taken = taken_apart(plain)
    return _with_seats(Verified(form=Form.JSON, record=taken.record, game=check(*taken)))


def check_record(plain: object, *, commitment: str | None = None, secret: str | None = None) -> Verified:
    """A published record of a game that was played out (P70, P72).

    `commitment` is what was published before the first card, `secret` what was shown at the end, where they are
    known from elsewhere than from the record. Raises CheckFailed.
    """
    try:
        verified = verify_plain(plain)
    except BadRecord as flaw:
        raise CheckFailed(f"the record does not hold: {flaw}") from flaw
    record = verified.record
    require(commitment in (None, record.commitment.hex()), "the record's commitment is not the one told at the start")
    require(record.secret is not None, "the record shows no secret")
    require(secret in (None, record.secret and record.secret.hex()), "the record's secret is not the one shown")
    require(verified.game.result is not None, "the game was called off, so that there is no result to check")
    return verified


def _with_seats(verified: Verified) -> Verified:
    """Draw "seats": people first, then bots, in the order that the secret gives (P3). Raises BadRecord(WRONG_TABLE).

    Friends sit down where they like (P20): a record that says so is not asked.
    """
    people, secret = _seats(verified.record), verified.record.secret
    chosen = (verified.record.table or {}).get("chosen_seats") is True
    if people is not None and secret is not None and not chosen:
        drawn = [index < sum(people) for index in fair.permutation(secret, "seats", len(people))]
        if drawn != people:
            told, due = _taken(people), _taken(drawn)
            raise BadRecord(Flaw.WRONG_TABLE, "the secret seats people otherwise", SEATS, told=told, due=due)
    return verified


def _taken(people: Sequence[bool]) -> str:
    return "people in seats " + " ".join(str(seat) for seat, person in enumerate(people, start=1) if person)


def _seats(record: Record) -> list[bool] | None:
    """By seat, whether a person sat down there, where the record's `table` tells it. Raises BadRecord(WRONG_TABLE)."""
    seats = (record.table or {}).get("seats")
    if seats is None:
        return None
    told = isinstance(seats, list) and all(isinstance(seat, dict) and "account" in seat for seat in seats)
    if not told or len(seats) != record.players:
        said = f"{record.players} seats are due, each with an account or null"
        raise BadRecord(Flaw.WRONG_TABLE, said, SEATS)
    return [bool(seat["account"]) for seat in seats]
