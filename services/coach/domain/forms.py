"""What the views of all games have in common, and how a text becomes one: types and ranges, unknown fields refused."""

from collections.abc import Mapping, Sized
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from services.coach.domain.errors import BadView, NothingToDecide

TURNS_MAX = 10**6  # a load run's; a game has a few hundred decisions
ROUNDS_MAX = 10**4

Seat = Annotated[int, Meta(ge=0, le=6)]  # up to seven (K1); a table's own number is asked with `require_seats`
Turn = Annotated[int, Meta(ge=0, le=TURNS_MAX)]
Round = Annotated[int, Meta(ge=0, lt=ROUNDS_MAX)]
Score = Annotated[int, Meta(ge=-(10**6), le=10**6)]
CardText = Annotated[str, Meta(pattern="^[2-9TJQKA][CDHS]$", max_length=2)]
Suit = Literal["C", "D", "H", "S"]


class Part(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """What the parts of a view share."""


class TrickPart(Part, frozen=True, kw_only=True):
    """The trick on the table."""

    lead: Seat | None
    cards: list[CardText | None]


class ActingPart(Part, frozen=True, kw_only=True):
    """Who looks, and whose turn it is. `legal` is there for the seat to act alone."""

    seat: Seat | None
    to_act: Seat | None
    turn: Turn
    hand: list[CardText] | UnsetType = UNSET
    legal: list[Any] | UnsetType = UNSET


View = TypeVar("View", bound=ActingPart)


def decode(text: str, form: type[View]) -> View:
    """The view of the seat to act.

    Raises BadView naming the field, NothingToDecide when the view is well formed but its observer is not to act.
    """
    try:
        view = msgspec.json.decode(text, type=form)
    except RecursionError as error:
        raise BadView(field="", problem="nested too deeply") from error
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at `$")
        raise BadView(field=".".join(filter(None, (path.strip("`."), _named(problem)))), problem=problem) from error
    except (msgspec.DecodeError, ValueError) as error:
        raise BadView(field="", problem="not JSON") from error
    if not view.legal:
        raise NothingToDecide()
    return view


def plain(view: ActingPart) -> dict[str, Any]:
    """As the bots read it."""
    read: dict[str, Any] = msgspec.to_builtins(view)
    return read


def require(holds: bool, field: str, problem: str) -> None:
    """Raises BadView."""
    if not holds:
        raise BadView(field=field, problem=problem)


def require_lengths(players: int, by_seat: Mapping[str, Sized]) -> None:
    """One entry a seat in each field."""
    for field, entries in by_seat.items():
        require(len(entries) == players, field, f"must have {players} entries")


def require_seats(players: int, seats: Mapping[str, int | None]) -> None:
    """No seat that the table does not have."""
    for field, seat in seats.items():
        require(seat is None or seat < players, field, f"the table has {players} seats")


def seats_between(first: int, end: int, players: int) -> set[int]:
    """Clockwise from `first` to the seat before `end`."""
    return {(first + step) % players for step in range((end - first) % players)}


def _named(problem: str) -> str:
    """The field in "Object missing required field `trick`"; empty where the problem lies in a value."""
    return problem.split("`")[1] if " field `" in problem else ""
