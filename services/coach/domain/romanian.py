"""A seat's view of Romanian Whist, read strictly: types, ranges, and that its parts do not contradict each other.

The form is that of `libs.engine.romanian.views`. Unknown fields are refused: the coach is the last place where it
can be seen that a hint is made from a view and from nothing else (P60, P71).

What the rules do not allow is refused as well. The search kernel is machine code that trusts its position: a seat with
a card too many, or a trick that somebody else would have led, would send it out of its arrays or round in circles.
"""

from collections.abc import Iterator, Sequence, Sized
from itertools import chain
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from libs.engine.cards import card_text, deck, hand_of, hand_texts, parse_card
from libs.engine.romanian.bidding import barred_bid, legal_bids
from libs.engine.romanian.play import playable
from libs.engine.tricks.rules import winning_position
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

Tricks = Annotated[int, Meta(ge=0, le=8)]
Size = Annotated[int, Meta(ge=1, le=8)]
Mode = Literal["8-1-8", "8-8-8", "1-8-1", "quick", "bench"]


class OptionsPart(Part, frozen=True, kw_only=True):
    """The table's choices."""

    mode: Mode
    scoring: Literal["linear", "triangular"]
    premium: Literal["off", "skip", "reset"]
    one_card: Literal["forehead", "hidden"] | UnsetType = UNSET
    rounds: Annotated[int, Meta(ge=0, le=ROUNDS_MAX)] | UnsetType = UNSET


class TakenPart(Part, frozen=True, kw_only=True):
    """A finished trick."""

    lead: Seat
    cards: list[CardText]
    winner: Seat


class ScoredPart(Part, frozen=True, kw_only=True):
    """A finished round."""

    cards: Size
    dealer: Seat
    trump: CardText | None
    bids: list[Tricks]
    taken: list[Tricks]
    scores: list[Score]


class ActionPart(Part, frozen=True, kw_only=True, omit_defaults=True):
    """A legal action: one of the two."""

    bid: Tricks | UnsetType = UNSET
    play: CardText | UnsetType = UNSET


class RomanianView(ActingPart, frozen=True, kw_only=True):
    """The whole view."""

    game: Literal["romanian"]
    mode: Mode
    options: OptionsPart
    phase: Literal["draw", "bid", "play", "over"]
    players: Annotated[int, Meta(ge=4, le=6)]
    rounds: Annotated[list[Size], Meta(max_length=ROUNDS_MAX)]
    round: Round | None
    cards: Size | None
    dealer: Seat | None
    trump: CardText | None
    trump_suit: Suit | None
    bids: list[Tricks | None]
    taken: list[Tricks]
    barred: Tricks | None
    trick: TrickPart
    tricks: Annotated[list[TakenPart], Meta(max_length=8)]
    last_trick: TakenPart | None
    scores: list[Score]
    score_sheet: Annotated[list[ScoredPart], Meta(max_length=ROUNDS_MAX)]
    ranking: list[Seat] | None
    foreheads: list[CardText | None] | UnsetType | None = UNSET
    legal: list[ActionPart] | UnsetType = UNSET


def read_romanian(text: str) -> dict[str, Any]:
    """The view as plain values, for the bot. Raises BadView naming the field, or NothingToDecide."""
    view = decode(text, RomanianView)
    _check_lengths(view)
    _check_moment(view)
    _check_bids(view)
    _check_trick(view)
    _check_cards(view)
    _check_tricks(view)
    _check_legal(view)
    return plain(view)


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
    for at, row in enumerate(view.score_sheet):
        by_seat |= {f"score_sheet[{at}].{part}": getattr(row, part) for part in ("bids", "taken", "scores")}
    if view.foreheads is not UNSET and view.foreheads is not None:
        by_seat["foreheads"] = view.foreheads
    require_lengths(players, by_seat)
    seats = {"seat": view.seat, "dealer": view.dealer, "to_act": view.to_act, "trick.lead": view.trick.lead}
    seats |= {f"tricks[{at}].lead": trick.lead for at, trick in enumerate(view.tricks)}
    seats |= {f"tricks[{at}].winner": trick.winner for at, trick in enumerate(view.tricks)}
    seats |= {f"score_sheet[{at}].dealer": row.dealer for at, row in enumerate(view.score_sheet)}
    require_seats(players, seats)


def _check_moment(view: RomanianView) -> None:
    """A round of the schedule is on and it is this seat's turn in it."""
    require(view.phase in ("bid", "play"), "phase", "nobody acts now")
    for field in ("seat", "round", "cards", "dealer"):
        require(getattr(view, field) is not None, field, "missing while somebody is to act")
    assert view.round is not None, "just required"
    require(view.to_act == view.seat, "to_act", "somebody else is to act")
    require(view.options.mode == view.mode, "options.mode", "must be the view's")
    require(view.round < len(view.rounds), "round", "not on the schedule")
    require(view.rounds[view.round] == view.cards, "cards", "must be those of the schedule")
    require(view.ranking is None, "ranking", "none before the end")


def _check_bids(view: RomanianView) -> None:
    """Each once from the dealer's left, and the sum never comes out (R5)."""
    assert view.seat is not None and view.dealer is not None and view.cards is not None, "required with the moment"
    first = (view.dealer + 1) % view.players
    made = {seat for seat, bid in enumerate(view.bids) if bid is not None}
    if view.phase == "bid":
        require(view.bids[view.seat] is None, "bids", "this seat has bid already")
        require(
            made == seats_between(first, view.seat, view.players),
            "bids",
            "must run from the dealer's left to this seat",
        )
        require(not view.tricks, "tricks", "none before all have bid")
    else:
        require(len(made) == view.players, "bids", "all have bid before the first card")
        require(sum(bid or 0 for bid in view.bids) != view.cards, "bids", "their sum must not be the tricks")
    require(all(bid is None or bid <= view.cards for bid in view.bids), "bids", "more than the round has")
    barred = barred_bid(view.bids, view.dealer, view.cards)
    require(view.barred == barred, "barred", "not what the other bids leave to the dealer")


def _check_trick(view: RomanianView) -> None:
    """The table's trick runs from its lead to this seat; the finished ones were taken by whom `taken` says."""
    filled = {seat for seat, card in enumerate(view.trick.cards) if card is not None}
    if view.phase == "bid":
        require(not filled, "trick.cards", "no card before all have bid")
    else:
        lead, seat = view.trick.lead, view.seat
        require(lead is not None, "trick.lead", "missing while a card is to be played")
        assert lead is not None and seat is not None, "required above"
        before = seats_between(lead, seat, view.players)
        require(filled == before, "trick.cards", "must be those of the seats from the lead to this one")
    won = [sum(trick.winner == seat for trick in view.tricks) for seat in range(view.players)]
    require(view.taken == won, "taken", "must be the tricks won")
    newest = view.tricks[-1] if view.tricks else None
    require(view.last_trick == newest, "last_trick", "must be the newest of the tricks")


def _check_cards(view: RomanianView) -> None:
    """Every card is of the pack and seen once; the hand has what is left of it, or nothing where R11 hides it."""
    assert view.cards is not None, "required with the moment"
    if view.hand is UNSET:
        raise BadView(field="hand", problem="missing for the seat to act")
    concealed = view.cards == 1 and view.phase == "bid" and view.options.one_card is not UNSET
    _check_foreheads(view, concealed)
    pack = {card_text(card) for card in deck(view.players)}
    seen: set[str] = set()
    for field, card in _seen(view, view.hand):
        require(card in pack, field, f"{card} is not in the pack of {view.players} players")
        require(card not in seen, field, f"{card} is seen twice")
        seen.add(card)
    left = 0 if concealed else view.cards - len(view.tricks)
    require(len(view.hand) == left, "hand", f"must have {left} cards")
    require((view.trump is None) == (view.cards == 8), "trump", "turned in every round but those of eight")
    suit = None if view.trump is None else view.trump[1]
    require(view.trump_suit == suit, "trump_suit", "must be that of the turned card")


def _check_foreheads(view: RomanianView, concealed: bool) -> None:
    """R11: only at a table with that rule, and cards only while they are bid on: one of each other seat."""
    if view.options.one_card != "forehead":
        require(view.foreheads is UNSET, "foreheads", "not a rule of this table")
        return
    require(view.foreheads is not UNSET, "foreheads", "missing at a table with that rule")
    shown = None if view.foreheads is UNSET else view.foreheads
    require((shown is not None) == concealed, "foreheads", "shown while such a round is bid and then alone")
    for seat, card in enumerate(shown or ()):
        require((card is None) == (seat == view.seat), f"foreheads[{seat}]", "everybody's card but one's own")


def _seen(view: RomanianView, hand: list[str]) -> Iterator[tuple[str, str]]:
    if view.trump is not None:
        yield "trump", view.trump
    for at, trick in enumerate(view.tricks):
        yield from ((f"tricks[{at}].cards", card) for card in trick.cards)
    yield from (("trick.cards", card) for card in view.trick.cards if card is not None)
    yield from (("hand", card) for card in hand)
    if view.foreheads is not UNSET and view.foreheads is not None:
        yield from ((f"foreheads[{at}]", card) for at, card in enumerate(view.foreheads) if card is not None)


def _check_tricks(view: RomanianView) -> None:
    """Led and won as R6 has it, and nobody holds later what they lacked before."""
    assert view.dealer is not None and view.seat is not None and view.hand is not UNSET, "required before"
    trumps = hand_of(card for card in deck(view.players) if card_text(card)[1] == view.trump_suit)
    lacking: list[set[str]] = [set() for _ in range(view.players)]
    leader = (view.dealer + 1) % view.players
    for at, trick in enumerate(view.tricks):
        require(trick.lead == leader, f"tricks[{at}].lead", "not who was to lead")
        order = _in_order(leader, trick.cards)
        _check_following(order, lacking, view.trump_suit, f"tricks[{at}].cards")
        leader = order[winning_position([parse_card(card) for _, card in order], trumps)][0]
        require(trick.winner == leader, f"tricks[{at}].winner", "not who took it")
    if view.phase == "play":
        require(view.trick.lead == leader, "trick.lead", "not who was to lead")
        _check_following(_in_order(leader, view.trick.cards), lacking, view.trump_suit, "trick.cards")
    held = not lacking[view.seat].intersection(card[1] for card in view.hand)
    require(held, "hand", "has a suit that this seat lacked before")


def _in_order(leader: int, cards: Sequence[str | None]) -> list[tuple[int, str]]:
    """(seat, card) from the lead on; seats that have not played are left out."""
    seats = chain(range(leader, len(cards)), range(leader))
    return [(seat, card) for seat in seats if (card := cards[seat]) is not None]


def _check_following(order: Sequence[tuple[int, str]], lacking: list[set[str]], trump: str | None, field: str) -> None:
    """Notes in `lacking`, by seat, the suits that a card has shown not to be there (R6)."""
    for seat, card in order:
        suit, led = card[1], order[0][1][1]
        require(suit not in lacking[seat], field, f"seat {seat} lacked {suit} before")
        if suit != led:
            lacking[seat].add(led)
            if trump is not None and suit != trump:
                lacking[seat].add(trump)


def _check_legal(view: RomanianView) -> None:
    """The bids that R5, or the cards of this hand that R6, allows: each once, all of them."""
    assert view.legal is not UNSET, "asked first"
    assert view.hand is not UNSET and view.cards is not None, "required with the cards"
    chosen: set[int | str] = set()
    for at, action in enumerate(view.legal):
        field = f"legal[{at}]"
        right, wrong = (action.bid, action.play) if view.phase == "bid" else (action.play, action.bid)
        if right is UNSET or wrong is not UNSET:
            raise BadView(field=field, problem=f"not a {view.phase}")
        possible = right in view.hand if isinstance(right, str) else right <= view.cards
        require(possible, field, "not possible in this round or with this hand")
        require(right not in chosen, field, "twice")
        chosen.add(right)
    require(chosen == _allowed(view, view.hand, view.cards), "legal", "must be what the rules allow")


def _allowed(view: RomanianView, hand: list[str], cards: int) -> set[int | str]:
    if view.phase == "bid":
        return set(legal_bids(cards, view.barred))
    led = None if view.trick.lead is None else view.trick.cards[view.trick.lead]
    trumps = hand_of(card for card in deck(view.players) if card_text(card)[1] == view.trump_suit)
    held = hand_of(parse_card(card) for card in hand)
    return set(hand_texts(playable(held, None if led is None else parse_card(led), trumps)))
