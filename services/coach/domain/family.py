"""A seat's view of English, Solo, Knockout or German Whist, read strictly: `libs.engine.<game>.views` has the forms.

Unknown fields are refused as with Romanian Whist, and so is what the cards in sight or the seats contradict. The bots
of these games are plain rules over the view, so that no more is asked of it than that its legal moves are possible.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, UnsetType

from services.coach.domain.errors import BadView
from services.coach.domain.forms import (
    ROUNDS_MAX,
    ActingPart,
    CardText,
    Part,
    Round,
    Score,
    Seat,
    Suit,
    TrickPart,
    decode,
    plain,
    require,
    require_lengths,
    require_seats,
    seats_between,
)

Tricks = Annotated[int, Meta(ge=0, le=26)]
Size = Annotated[int, Meta(ge=0, le=13)]
Pair = Annotated[list[Score], Meta(min_length=2, max_length=2)]
Bid = Literal["proposal", "solo", "misere", "abundance", "royal_abundance", "open_misere", "abundance_declared"]
Call = Literal["pass", "acceptance"] | Bid


class LastTrickPart(Part, frozen=True, kw_only=True):
    """The newest finished trick (W2); a dog that held has no card in it (K2)."""

    lead: Seat
    cards: list[CardText | None]
    winner: Seat


class ActionPart(Part, frozen=True, kw_only=True, omit_defaults=True):
    """A legal action: one of them."""

    play: CardText | UnsetType = UNSET
    call: Call | UnsetType = UNSET
    trumps: Suit | UnsetType = UNSET
    hold: Literal[True] | UnsetType = UNSET
    claim: bool | UnsetType = UNSET
    penalty: Literal["points", "tricks"] | UnsetType = UNSET


class FamilyView(ActingPart, frozen=True, kw_only=True):
    """What the four views share."""

    players: Annotated[int, Meta(ge=2, le=7)]
    round: Round | None
    cards: Size | None
    dealer: Seat | None
    trump: CardText | None
    trump_suit: Suit | None
    counts: list[Size]
    trick: TrickPart
    last_trick: LastTrickPart | None
    taken: list[Tricks]
    scores: list[Score]
    ranking: list[Seat] | None
    legal: list[ActionPart] | UnsetType = UNSET


class EnglishOptions(Part, frozen=True, kw_only=True):
    target: Literal[5, 7]
    honours: bool
    match: Literal["rubber", "game"]
    rubber_bonus: bool
    revokes: Literal["refused", "club"]


class PenaltyPart(Part, frozen=True, kw_only=True):
    """The swings of a proven revoke (W7)."""

    seat: Seat
    points: Score
    tricks: Score


class EnglishScored(Part, frozen=True, kw_only=True):
    dealer: Seat
    trump_suit: Suit
    void: bool
    tricks: Pair
    honours: Pair
    penalty: Pair
    points: Pair
    score: Pair
    won: Annotated[int, Meta(ge=0, le=1)] | None


class EnglishView(FamilyView, frozen=True, kw_only=True):
    """English and American Whist."""

    game: Literal["english"]
    options: EnglishOptions
    phase: Literal["draw", "play", "claim", "over"]
    players: Literal[4]
    sides: list[Annotated[int, Meta(ge=0, le=1)]]
    claims: list[bool | None]
    penalty: PenaltyPart | None
    score: Pair
    games: Pair
    score_sheet: Annotated[list[EnglishScored], Meta(max_length=ROUNDS_MAX)]


class SoloOptions(Part, frozen=True, kw_only=True):
    hands: Annotated[int, Meta(ge=1, le=ROUNDS_MAX)]


class OpenPart(Part, frozen=True, kw_only=True):
    """An open misère's hand (L2)."""

    seat: Seat
    cards: list[CardText]


class SoloScored(Part, frozen=True, kw_only=True):
    dealer: Seat
    bid: Bid | None
    declarer: Seat | None
    partner: Seat | None
    trump_suit: Suit | None
    taken: list[Tricks]
    made: bool
    units: list[Score]


class CallPart(Part, frozen=True, array_like=True):
    """One call of the auction: [seat, call]."""

    seat: Seat
    call: Call


class SoloView(FamilyView, frozen=True, kw_only=True):
    game: Literal["solo"]
    options: SoloOptions
    phase: Literal["draw", "bid", "play", "over"]
    players: Literal[4]
    calls: Annotated[list[CallPart], Meta(max_length=52)]
    bid: Bid | None
    declarer: Seat | None
    partner: Seat | None
    open: OpenPart | None
    score_sheet: Annotated[list[SoloScored], Meta(max_length=ROUNDS_MAX)]


class KnockoutOptions(Part, frozen=True, kw_only=True):
    dogs_life: bool


class KnockoutScored(Part, frozen=True, kw_only=True):
    cards: Size
    dealer: Seat
    trump_suit: Suit
    sizes: list[Size]
    taken: list[Tricks]
    alive: list[bool]
    dogs: list[bool]


class KnockoutView(FamilyView, frozen=True, kw_only=True):
    game: Literal["knockout"]
    options: KnockoutOptions
    phase: Literal["draw", "name", "play", "over"]
    namer: Seat | None
    sizes: list[Size]
    alive: list[bool]
    dogs: list[bool]
    held: list[bool]
    score_sheet: Annotated[list[KnockoutScored], Meta(max_length=ROUNDS_MAX)]


class GermanOptions(Part, frozen=True, kw_only=True):
    count_all: bool


class GermanScored(Part, frozen=True, kw_only=True):
    dealer: Seat
    trump_suit: Suit
    taken: list[Tricks]
    scores: list[Score]


class GermanView(FamilyView, frozen=True, kw_only=True):
    game: Literal["german"]
    options: GermanOptions
    phase: Literal["draw", "play", "over"]
    players: Literal[2]
    prize: CardText | None
    stock: Annotated[int, Meta(ge=0, le=26)]
    score_sheet: Annotated[list[GermanScored], Meta(max_length=1)]


# Fields with one entry a seat, beside those that all four have.
BY_SEAT: Final[Mapping[type[FamilyView], tuple[str, ...]]] = MappingProxyType(
    {
        EnglishView: ("sides", "claims"),
        SoloView: (),
        KnockoutView: ("sizes", "alive", "dogs", "held"),
        GermanView: (),
    }
)


def _read(form: type[FamilyView], text: str) -> dict[str, Any]:
    """The view as plain values, for the bot. Raises BadView naming the field, or NothingToDecide."""
    view = decode(text, form)
    names = ("counts", "taken", "scores", *BY_SEAT[form])
    require_lengths(view.players, {name: getattr(view, name) for name in names} | {"trick.cards": view.trick.cards})
    names = ("seat", "dealer", "to_act", *(name for name in ("namer", "declarer", "partner") if hasattr(view, name)))
    require_seats(view.players, {name: getattr(view, name) for name in names} | {"trick.lead": view.trick.lead})
    _check_moment(view)
    _check_cards(view)
    _check_legal(view)
    return plain(view)


READERS: Final[Mapping[str, Callable[[str], dict[str, Any]]]] = MappingProxyType(
    {
        "english": partial(_read, EnglishView),
        "solo": partial(_read, SoloView),
        "knockout": partial(_read, KnockoutView),
        "german": partial(_read, GermanView),
    }
)


def _check_moment(view: FamilyView) -> None:
    """A hand is on and it is this seat's turn in it."""
    require(view.seat is not None, "seat", "missing while somebody is to act")
    require(view.to_act == view.seat, "to_act", "somebody else is to act")
    for field in ("round", "cards", "dealer"):
        require(getattr(view, field) is not None, field, "missing while somebody is to act")
    require(view.ranking is None, "ranking", "none before the end")


def _check_cards(view: FamilyView) -> None:
    """Every card is seen once, and the hand has as many as all are told; the turned card may be in its owner's hand."""
    assert view.seat is not None, "required with the moment"
    if view.hand is UNSET:
        raise BadView(field="hand", problem="missing for the seat to act")
    require(len(view.hand) == view.counts[view.seat], "hand", f"must have {view.counts[view.seat]} cards")
    seen: set[str] = set()
    laid = [card for card in view.trick.cards if card is not None]
    for field, cards in (("trick.cards", laid), ("hand", view.hand)):
        for card in cards:
            require(card not in seen, field, f"{card} is seen twice")
            seen.add(card)
    filled = {seat for seat, card in enumerate(view.trick.cards) if card is not None}
    if filled:
        lead = view.trick.lead
        require(lead in filled, "trick.lead", "must have played")
        before = seats_between(lead or 0, view.seat, view.players)
        # A seat without cards, or a dog that holds (K2), is passed over.
        require(filled <= before, "trick.cards", "none but the seats from the lead to this one")


def _check_legal(view: FamilyView) -> None:
    """Each a move of its own, and a card of this hand where it is one."""
    assert view.legal is not UNSET and view.hand is not UNSET, "required before"
    chosen: set[tuple[str, object]] = set()
    for at, action in enumerate(view.legal):
        kinds = [(name, value) for name in action.__struct_fields__ if (value := getattr(action, name)) is not UNSET]
        require(len(kinds) == 1, f"legal[{at}]", "one move each")
        [(kind, value)] = kinds
        require(kind != "play" or value in view.hand, f"legal[{at}]", "not possible with this hand")
        require((kind, value) not in chosen, f"legal[{at}]", "twice")
        chosen.add((kind, value))
