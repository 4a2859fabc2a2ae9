"""Events and states as plain builtins, for journals, snapshots and records: complete, unredacted.

An event is a list that starts with its kind, e.g. ["play", 2, "QH"]. Cards stay readable; hands are
one string ("7C9CAH"). A finished round is [turn-up, bids, taken, scores]: the rest follows from the
setup. What version 1 wrote is read for ever (golden journals in the tests hold this).
"""

from collections.abc import Iterable, Sequence
from typing import Any, assert_never

from libs.engine.cards import (
    CARD_TEXT,
    Card,
    Hand,
    card_text,
    hand_of,
    hand_texts,
    parse_card,
)
from libs.engine.errors import UnknownRulesVersion
from libs.engine.romanian.events import (
    BidPlaced,
    CardPlayed,
    DealerDrawn,
    Event,
    GameEnded,
    RoundDealt,
    RoundScored,
    ScheduleSet,
    TrickTaken,
)
from libs.engine.romanian.options import parse_options
from libs.engine.romanian.schedule import dealer_of
from libs.engine.romanian.state import Deal, Round, ScoredRound, Setup, Sheet, State, Trick

RULES_VERSION = 1


def dump_event(event: Event) -> list[Any]:  # noqa: PLR0911
    match event:
        case CardPlayed(seat=seat, card=card):
            return ["play", seat, CARD_TEXT[card]]
        case TrickTaken(winner=winner):
            return ["trick", winner]
        case BidPlaced(seat=seat, bid=bid, reveals=reveals):
            return ["bid", seat, bid, *([[_dump_hand(hand) for hand in reveals]] if reveals else [])]
        case RoundScored(scores=scores, totals=totals):
            return ["scored", list(scores), list(totals)]
        case RoundDealt():
            return ["dealt", *_dump_dealt(event)]
        case DealerDrawn(seat=seat):
            return ["dealer", seat]
        case ScheduleSet(sizes=sizes):
            return ["schedule", list(sizes)]
        case GameEnded(ranking=ranking, totals=totals):
            return ["over", list(ranking), list(totals)]
        case _:
            assert_never(event)


def load_event(data: Sequence[Any], rules_version: int) -> Event:  # noqa: PLR0911
    """Raises UnknownRulesVersion, and ValueError for what no version wrote."""
    _check(rules_version)
    match list(data):
        case ["play", seat, text]:
            return CardPlayed(seat=seat, card=parse_card(text))
        case ["trick", winner]:
            return TrickTaken(winner=winner)
        case ["bid", seat, bid]:
            return BidPlaced(seat=seat, bid=bid)
        case ["bid", seat, bid, reveals]:
            return BidPlaced(seat=seat, bid=bid, reveals=tuple(_load_hand(text) for text in reveals))
        case ["scored", scores, totals]:
            return RoundScored(scores=tuple(scores), totals=tuple(totals))
        case ["dealt", *rest]:
            return _load_dealt(rest)
        case ["dealer", seat]:
            return DealerDrawn(seat=seat)
        case ["schedule", sizes]:
            return ScheduleSet(sizes=tuple(sizes))
        case ["over", ranking, totals]:
            return GameEnded(ranking=tuple(ranking), totals=tuple(totals))
        case _:
            raise ValueError(f"not an event of Romanian Whist: {data!r:.80}")


def dump_state(state: State) -> list[Any]:
    return [
        _dump_setup(state.setup),
        _dump_sheet(state.sheet),
        None if state.round is None else _dump_round(state.round),
        state.turn,
        None if state.ranking is None else list(state.ranking),
    ]


def load_state(data: Sequence[Any], rules_version: int) -> State:
    """Raises UnknownRulesVersion."""
    _check(rules_version)
    plain_setup, sheet, current, turn, ranking = data
    setup = _load_setup(plain_setup)
    return State(
        setup=setup,
        sheet=_load_sheet(sheet, setup),
        round=None if current is None else _load_round(current),
        turn=turn,
        ranking=None if ranking is None else tuple(ranking),
    )


def _check(rules_version: int) -> None:
    if rules_version != RULES_VERSION:
        raise UnknownRulesVersion("romanian", rules_version)


def _dump_dealt(event: RoundDealt) -> list[Any]:
    return [
        event.index,
        event.cards,
        event.dealer,
        _dump_card(event.turn_up),
        [_dump_hand(hand) for hand in event.hands],
        event.turn,
        _dump_setup(event.setup),
        _dump_sheet(event.sheet),
    ]


def _load_dealt(data: Sequence[Any]) -> RoundDealt:
    index, cards, dealer, turn_up, hands, turn, plain_setup, sheet = data
    setup = _load_setup(plain_setup)
    return RoundDealt(
        setup=setup,
        sheet=_load_sheet(sheet, setup),
        turn=turn,
        index=index,
        cards=cards,
        dealer=dealer,
        turn_up=_load_card(turn_up),
        hands=tuple(_load_hand(text) for text in hands),
    )


def _dump_setup(setup: Setup) -> list[Any]:
    return [setup.players, setup.options.dump(), setup.first_dealer, list(setup.sizes)]


def _load_setup(data: Sequence[Any]) -> Setup:
    players, options, first_dealer, sizes = data
    return Setup(
        players=players,
        options=parse_options(players, options),
        first_dealer=first_dealer,
        sizes=tuple(sizes),
    )


def _dump_sheet(sheet: Sheet) -> list[Any]:
    return [[_dump_card(one.turn_up), list(one.bids), list(one.taken), list(one.scores)] for one in sheet]


def _load_sheet(data: Iterable[Sequence[Any]], setup: Setup) -> Sheet:
    totals = (0,) * setup.players
    sheet = []
    for index, (turn_up, bids, taken, scores) in enumerate(data):
        assert setup.first_dealer is not None, "a round was scored, so a dealer was drawn"
        totals = tuple(before + new for before, new in zip(totals, scores, strict=True))
        sheet.append(
            ScoredRound(
                cards=setup.sizes[index],
                dealer=dealer_of(index, setup.first_dealer, setup.players),
                turn_up=_load_card(turn_up),
                bids=tuple(bids),
                taken=tuple(taken),
                scores=tuple(scores),
                totals=totals,
            )
        )
    return tuple(sheet)


def _dump_round(current: Round) -> list[Any]:
    deal = current.deal
    return [
        [deal.index, deal.cards, deal.dealer, _dump_card(deal.turn_up)],
        [_dump_hand(hand) for hand in current.hands],
        list(current.bids),
        list(current.taken),
        current.lead,
        _dump_pile(current.trick),
        [[trick.lead, _dump_pile(trick.cards), trick.winner] for trick in current.tricks],
        current.to_act,
    ]


def _load_round(data: Sequence[Any]) -> Round:
    (index, cards, dealer, turn_up), hands, bids, taken, lead, trick, tricks, to_act = data
    return Round(
        deal=Deal(index=index, cards=cards, dealer=dealer, turn_up=_load_card(turn_up)),
        hands=tuple(_load_hand(text) for text in hands),
        bids=tuple(bids),
        taken=tuple(taken),
        lead=lead,
        trick=_load_pile(trick),
        tricks=tuple(Trick(lead=first, cards=_load_pile(pile), winner=winner) for first, pile, winner in tricks),
        to_act=to_act,
    )


def _dump_card(card: Card | None) -> str | None:
    return None if card is None else card_text(card)


def _load_card(text: str | None) -> Card | None:
    return None if text is None else parse_card(text)


def _dump_hand(hand: Hand) -> str:
    return "".join(hand_texts(hand))


def _load_hand(text: str) -> Hand:
    return hand_of(_load_pile(text))


def _dump_pile(pile: Sequence[Card]) -> str:
    return "".join(card_text(card) for card in pile)


def _load_pile(text: str) -> tuple[Card, ...]:
    return tuple(parse_card(text[at : at + 2]) for at in range(0, len(text), 2))
