"""Events and states as plain builtins, for journals, snapshots and records: complete, unredacted.

An event is a list that starts with its kind, e.g. ["play", 2, "QH"]. Cards stay readable; hands are
one string ("7C9CAH"). A finished round is [turn-up, bids, taken, scores]: the rest follows from the
setup. What version 1 wrote is read for ever (golden journals in the tests hold this).
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, assert_never

from libs.engine.cards import (
    CARD_TEXT,
    Card,
    Hand,
    card_text,
    hand_of,
    hand_texts,
    parse_card,
)
from libs.engine.errors import RuleViolation, UnknownRulesVersion
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
Value = TypeVar("Value")


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


def load_event(data: object, rules_version: object) -> Event:  # noqa: PLR0911
    """Raises UnknownRulesVersion, and ValueError for what no version wrote."""
    _check(rules_version)
    match data:
        case ["play", seat, text]:
            return CardPlayed(seat=_int(seat), card=parse_card(text))
        case ["trick", winner]:
            return TrickTaken(winner=_int(winner))
        case ["bid", seat, bid]:
            return BidPlaced(seat=_int(seat), bid=_int(bid))
        case ["bid", seat, bid, reveals]:
            return BidPlaced(seat=_int(seat), bid=_int(bid), reveals=_all(_load_hand, reveals))
        case ["scored", scores, totals]:
            return RoundScored(scores=_all(_int, scores), totals=_all(_int, totals))
        case ["dealt", *rest]:
            return _load_dealt(rest)
        case ["dealer", seat]:
            return DealerDrawn(seat=_int(seat))
        case ["schedule", sizes]:
            return ScheduleSet(sizes=_all(_int, sizes))
        case ["over", ranking, totals]:
            return GameEnded(ranking=_all(_int, ranking), totals=_all(_int, totals))
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


def load_state(data: object, rules_version: object) -> State:
    """Raises UnknownRulesVersion, and ValueError for what no version wrote."""
    _check(rules_version)
    plain_setup, sheet, current, turn, ranking = _fields(data, 5)
    setup = _load_setup(plain_setup)
    return State(
        setup=setup,
        sheet=_load_sheet(sheet, setup),
        round=None if current is None else _load_round(current),
        turn=_int(turn),
        ranking=None if ranking is None else _all(_int, ranking),
    )


def _check(rules_version: object) -> None:
    if rules_version != RULES_VERSION:
        raise UnknownRulesVersion("romanian", rules_version)


def _int(value: Any) -> int:
    if type(value) is not int:
        raise ValueError(f"not an integer: {value!r:.80}")
    return value


def _int_or_none(value: Any) -> int | None:
    return None if value is None else _int(value)


def _fields(value: Any, count: int) -> Sequence[Any]:
    """A record's values, of which there are so many."""
    if type(value) is not list or len(value) != count:
        raise ValueError(f"not a list of {count}: {value!r:.80}")
    return value


def _all(load: Callable[[Any], Value], values: Any) -> tuple[Value, ...]:
    if type(values) is not list:
        raise ValueError(f"not a list: {values!r:.80}")
    return tuple([load(value) for value in values])


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
    index, cards, dealer, turn_up, hands, turn, plain_setup, sheet = _fields(data, 8)
    setup = _load_setup(plain_setup)
    return RoundDealt(
        setup=setup,
        sheet=_load_sheet(sheet, setup),
        turn=_int(turn),
        index=_int(index),
        cards=_int(cards),
        dealer=_int(dealer),
        turn_up=_load_card(turn_up),
        hands=_all(_load_hand, hands),
    )


def _dump_setup(setup: Setup) -> list[Any]:
    return [setup.players, setup.options.dump(), setup.first_dealer, list(setup.sizes)]


def _load_setup(data: Any) -> Setup:
    players, plain, first_dealer, sizes = _fields(data, 4)
    try:
        options = parse_options(players, plain)
    except RuleViolation as refused:
        raise ValueError(f"not a table of Romanian Whist: {refused}") from refused
    return Setup(
        players=players,
        options=options,
        first_dealer=_int_or_none(first_dealer),
        sizes=_all(_int, sizes),
    )


def _dump_sheet(sheet: Sheet) -> list[Any]:
    return [[_dump_card(one.turn_up), list(one.bids), list(one.taken), list(one.scores)] for one in sheet]


def _load_sheet(data: Any, setup: Setup) -> Sheet:
    rows = _all(_load_row, data)
    if len(rows) > len(setup.sizes) or (rows and setup.first_dealer is None):
        raise ValueError(f"more rounds than were drawn: {data!r:.80}")
    totals = (0,) * setup.players
    sheet = []
    for index, (turn_up, bids, taken, scores) in enumerate(rows):
        totals = tuple(before + new for before, new in zip(totals, scores, strict=True))
        sheet.append(
            ScoredRound(
                cards=setup.sizes[index],
                dealer=dealer_of(index, setup.first_dealer or 0, setup.players),
                turn_up=turn_up,
                bids=bids,
                taken=taken,
                scores=scores,
                totals=totals,
            )
        )
    return tuple(sheet)


def _load_row(data: Any) -> tuple[Card | None, tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    turn_up, bids, taken, scores = _fields(data, 4)
    return _load_card(turn_up), _all(_int, bids), _all(_int, taken), _all(_int, scores)


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


def _load_round(data: Any) -> Round:
    deal, hands, bids, taken, lead, trick, tricks, to_act = _fields(data, 8)
    index, cards, dealer, turn_up = _fields(deal, 4)
    return Round(
        deal=Deal(index=_int(index), cards=_int(cards), dealer=_int(dealer), turn_up=_load_card(turn_up)),
        hands=_all(_load_hand, hands),
        bids=_all(_int_or_none, bids),
        taken=_all(_int, taken),
        lead=_int(lead),
        trick=_load_pile(trick),
        tricks=_all(_load_trick, tricks),
        to_act=_int_or_none(to_act),
    )


def _load_trick(data: Any) -> Trick:
    lead, pile, winner = _fields(data, 3)
    return Trick(lead=_int(lead), cards=_load_pile(pile), winner=_int(winner))


def _dump_card(card: Card | None) -> str | None:
    return None if card is None else card_text(card)


def _load_card(text: Any) -> Card | None:
    return None if text is None else parse_card(text)


def _dump_hand(hand: Hand) -> str:
    return "".join(hand_texts(hand))


def _load_hand(text: Any) -> Hand:
    return hand_of(_load_pile(text))


def _dump_pile(pile: Sequence[Card]) -> str:
    return "".join(card_text(card) for card in pile)


def _load_pile(text: Any) -> tuple[Card, ...]:
    if type(text) is not str:
        raise ValueError(f"not cards: {text!r:.80}")
    return tuple(parse_card(text[at : at + 2]) for at in range(0, len(text), 2))
