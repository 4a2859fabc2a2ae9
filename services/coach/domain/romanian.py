"""A seat's view of Romanian Whist, read strictly: types, ranges, and that its parts do not contradict each other.

The form is that of `libs.engine.romanian.views`. Unknown fields are refused: the coach is the last place where it
can be seen that a hint is made from a view and from nothing else (P60, P71).
"""

from collections.abc import Iterator, Sized
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from libs.engine.cards import card_text, deck
from services.coach.domain.errors import BadView, NothingToDecide

TURNS_MAX = 10**6  # a load run's; a game has a few hundred decisions
ROUNDS_MAX = 10**4

Seat = Annotated[int, Meta(ge=0, le=5)]
Tricks = Annotated[int, Meta(ge=0, le=8)]
Size = Annotated[int, Meta(ge=1, le=8)]
Score = Annotated[int, Meta(ge=-(10**6), le=10**6)]
CardText = Annotated[str, Meta(pattern="^[2-9TJQKA][CDHS]$", max_length=2)]
Suit = Literal["C", "D", "H", "S"]


class _Part(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """What the parts of a view share."""


class OptionsPart(_Part, frozen=True):
    """The table's choices."""

    mode: Annotated[str, Meta(max_length=20)]
    scoring: Annotated[str, Meta(max_length=20)]
    premium: Annotated[str, Meta(max_length=20)]
    rounds: Annotated[int, Meta(ge=0, le=ROUNDS_MAX)] | UnsetType = UNSET


class TrickPart(_Part, frozen=True):
    """The trick on the table."""

    lead: Seat | None
    cards: list[CardText | None]


class TakenPart(_Part, frozen=True):
    """A finished trick."""

    lead: Seat
    cards: list[CardText]
    winner: Seat


class ScoredPart(_Part, frozen=True):
    """A finished round."""

    cards: Size
    dealer: Seat
    trump: CardText | None
    bids: list[Tricks]
    taken: list[Tricks]
    scores: list[Score]


class ActionPart(_Part, frozen=True, omit_defaults=True):
    """A legal action: one of the two."""

    bid: Tricks | UnsetType = UNSET
    play: CardText | UnsetType = UNSET


class RomanianView(_Part, frozen=True):
    """The whole view."""

    game: Literal["romanian"]
    mode: Annotated[str, Meta(max_length=20)]
    options: OptionsPart
    phase: Literal["draw", "bid", "play", "over"]
    seat: Seat | None
    players: Annotated[int, Meta(ge=4, le=6)]
    rounds: Annotated[list[Size], Meta(max_length=ROUNDS_MAX)]
    round: Annotated[int, Meta(ge=0, lt=ROUNDS_MAX)] | None
    cards: Size | None
    dealer: Seat | None
    trump: CardText | None
    trump_suit: Suit | None
    to_act: Seat | None
    turn: Annotated[int, Meta(ge=0, le=TURNS_MAX)]
    bids: list[Tricks | None]
    taken: list[Tricks]
    barred: Tricks | None
    trick: TrickPart
    tricks: Annotated[list[TakenPart], Meta(max_length=8)]
    last_trick: TakenPart | None
    scores: list[Score]
    score_sheet: Annotated[list[ScoredPart], Meta(max_length=ROUNDS_MAX)]
    ranking: list[Seat] | None
    hand: list[CardText] | UnsetType = UNSET
    legal: list[ActionPart] | UnsetType = UNSET


def read_romanian(text: str) -> dict[str, Any]:
    """The view as plain values, for the bot.

    Raises BadView naming the field, NothingToDecide when the view is whole but its observer is not to act.
    """
    try:
        view = msgspec.json.decode(text, type=RomanianView)
    except RecursionError as error:
        raise BadView(field="", problem="nested too deeply") from error
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at `$")
        raise BadView(field=".".join(filter(None, (path.strip("`."), _named(problem)))), problem=problem) from error
    except (msgspec.DecodeError, ValueError) as error:
        raise BadView(field="", problem="not JSON") from error
    if not view.legal:
        raise NothingToDecide()
    _check_lengths(view)
    _check_moment(view)
    _check_trick(view)
    _check_cards(view)
    _check_legal(view)
    plain: dict[str, Any] = msgspec.to_builtins(view)
    return plain


def _named(problem: str) -> str:
    """The field in "Object missing required field `trick`"; empty where the problem lies in a value."""
    return problem.split("`")[1] if " field `" in problem else ""


def _require(holds: bool, field: str, problem: str) -> None:
    if not holds:
        raise BadView(field=field, problem=problem)


def _check_lengths(view: RomanianView) -> None:
    """One entry a seat, and no seat that the table does not have."""
    players = view.players
    by_seat: dict[str, Sized] = {
        "bids": view.bids,
        "taken": view.taken,
        "scores": view.scores,
        "trick.cards": view.trick.cards,
    }
    by_seat |= {f"tricks[{at}].cards": trick.cards for at, trick in enumerate(view.tricks)}
    for field, entries in by_seat.items():
        _require(len(entries) == players, field, f"must have {players} entries")
    seats = {"seat": view.seat, "dealer": view.dealer, "to_act": view.to_act, "trick.lead": view.trick.lead}
    seats |= {f"tricks[{at}].lead": trick.lead for at, trick in enumerate(view.tricks)}
    seats |= {f"tricks[{at}].winner": trick.winner for at, trick in enumerate(view.tricks)}
    for field, seat in seats.items():
        _require(seat is None or seat < players, field, f"the table has {players} seats")


def _check_moment(view: RomanianView) -> None:
    """A round is on and it is this seat's turn in it."""
    _require(view.phase in ("bid", "play"), "phase", "nobody acts now")
    for field in ("seat", "round", "cards", "dealer"):
        _require(getattr(view, field) is not None, field, "missing while somebody is to act")
    _require(view.to_act == view.seat, "to_act", "somebody else is to act")
    own_bid = view.bids[view.seat or 0]
    if view.phase == "bid":
        _require(own_bid is None, "bids", "this seat has bid already")
        _require(not view.tricks, "tricks", "none before all have bid")
    else:
        _require(None not in view.bids, "bids", "all have bid before the first card")
    _require(all(bid is None or bid <= (view.cards or 0) for bid in view.bids), "bids", "more than the round has")


def _check_trick(view: RomanianView) -> None:
    """The table's trick runs from its lead to this seat; the finished ones were taken by whom `taken` says."""
    filled = {seat for seat, card in enumerate(view.trick.cards) if card is not None}
    if view.phase == "bid":
        _require(not filled, "trick.cards", "no card before all have bid")
    else:
        lead, seat = view.trick.lead, view.seat
        _require(lead is not None, "trick.lead", "missing while a card is to be played")
        assert lead is not None and seat is not None, "required above"
        before = {(lead + step) % view.players for step in range((seat - lead) % view.players)}
        _require(filled == before, "trick.cards", "must be those of the seats from the lead to this one")
    won = [sum(trick.winner == seat for trick in view.tricks) for seat in range(view.players)]
    _require(view.taken == won, "taken", "must be the tricks won")


def _check_cards(view: RomanianView) -> None:
    """Every card is of the pack and seen once; the hand has what is left of it."""
    assert view.cards is not None, "required with the moment"
    if view.hand is UNSET:
        raise BadView(field="hand", problem="missing for the seat to act")
    pack = {card_text(card) for card in deck(view.players)}
    seen: set[str] = set()
    for field, card in _seen(view, view.hand):
        _require(card in pack, field, f"{card} is not in the pack of {view.players} players")
        _require(card not in seen, field, f"{card} is seen twice")
        seen.add(card)
    left = view.cards - len(view.tricks)
    _require(len(view.hand) == left, "hand", f"must have {left} cards")
    suit = None if view.trump is None else view.trump[1]
    _require(view.trump_suit == suit, "trump_suit", "must be that of the turned card")


def _seen(view: RomanianView, hand: list[str]) -> Iterator[tuple[str, str]]:
    if view.trump is not None:
        yield "trump", view.trump
    for at, trick in enumerate(view.tricks):
        yield from ((f"tricks[{at}].cards", card) for card in trick.cards)
    yield from (("trick.cards", card) for card in view.trick.cards if card is not None)
    yield from (("hand", card) for card in hand)


def _check_legal(view: RomanianView) -> None:
    """Bids of this round or cards of this hand, each once."""
    assert view.legal is not UNSET, "asked first"
    assert view.hand is not UNSET and view.cards is not None, "required with the cards"
    chosen: set[int | str] = set()
    for at, action in enumerate(view.legal):
        field = f"legal[{at}]"
        right, wrong = (action.bid, action.play) if view.phase == "bid" else (action.play, action.bid)
        if right is UNSET or wrong is not UNSET:
            raise BadView(field=field, problem=f"not a {view.phase}")
        possible = right in view.hand if isinstance(right, str) else right <= view.cards
        _require(possible, field, "not possible in this round or with this hand")
        _require(right not in chosen, field, "twice")
        chosen.add(right)
