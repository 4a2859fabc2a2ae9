"""Romanian Whist under the `Game` protocol: every method is one line into the room that knows."""

from collections.abc import Mapping, Sequence
from typing import Any

from libs.engine.cards import card_text, hand_texts
from libs.engine.protocol import Action, Draw, OwnBy, Result, RoundFact, Seat, View
from libs.engine.romanian import dealing, deciding, evolving, following, journal, views
from libs.engine.romanian.events import BidPlaced, CardPlayed, Event, RoundDealt
from libs.engine.romanian.options import parse_options
from libs.engine.romanian.ranking import decided_by
from libs.engine.romanian.state import Setup, State


class RomanianWhist:
    """See `libs.engine.protocol.Game` for what each method promises."""

    name = views.GAME
    rules_version = journal.RULES_VERSION
    own_by = OwnBy.BIDS

    def new(self, players: object, options: object) -> State:
        chosen = parse_options(players, options)
        assert isinstance(players, int), "parsed with the options"
        setup = Setup(players=players, options=chosen)
        return State(setup=setup, sheet=(), round=None, turn=0, ranking=None)

    def draw(self, state: State) -> Draw | None:
        return dealing.due(state)

    def decide_draw(self, state: State, order: Sequence[int]) -> tuple[Event, ...]:
        return dealing.decide_draw(state, order)

    def to_act(self, state: State) -> Seat | None:
        return None if state.round is None else state.round.to_act

    def turn(self, state: State) -> int:
        return state.turn

    def phase(self, state: State) -> str:
        return state.phase

    def legal(self, state: State) -> tuple[Action, ...]:
        return views.legal(state)

    def decide(self, state: State, seat: Seat, action: object) -> tuple[Event, ...]:
        return deciding.decide(state, seat, action)

    def decision(self, event: Event) -> tuple[Seat, Action] | None:
        match event:
            case CardPlayed(seat=seat, card=card):
                return seat, {"play": card_text(card)}
            case BidPlaced(seat=seat, bid=bid):
                return seat, {"bid": bid}
            case _:
                return None

    def evolve(self, state: State, event: Event) -> State:
        return evolving.evolve(state, event)

    def over(self, state: State) -> bool:
        return state.ranking is not None

    def result(self, state: State) -> Result:
        if state.ranking is None:
            raise ValueError("the game is not over")
        neighbours = zip(state.ranking, state.ranking[1:], strict=False)
        return Result(
            ranking=state.ranking,
            totals=state.totals,
            decided_by=tuple(decided_by(state.sheet, one, next_) for one, next_ in neighbours),
            seats=tuple(_facts(state, seat) for seat in range(state.setup.players)),
        )

    def view(self, state: State, observer: Seat | None) -> View:
        return views.view(state, observer)

    def hands(self, state: State) -> tuple[tuple[str, ...], ...]:
        return () if state.round is None else tuple(tuple(hand_texts(hand)) for hand in state.round.hands)

    def project(self, event: Event, observer: Seat | None) -> View | None:
        return views.project(event, observer)

    def is_private(self, event: Event) -> bool:
        return views.is_private(event)

    def follow(self, view: View, projected: Mapping[str, Any]) -> View:
        return following.follow(view, projected)

    def checkpoint(self, event: Event) -> State | None:
        return evolving.state_from(event) if isinstance(event, RoundDealt) else None

    def dump_event(self, event: Event) -> list[Any]:
        return journal.dump_event(event)

    def load_event(self, data: object, rules_version: object) -> Event:
        return journal.load_event(data, rules_version)

    def dump_state(self, state: State) -> list[Any]:
        return journal.dump_state(state)

    def load_state(self, data: object, rules_version: object) -> State:
        return journal.load_state(data, rules_version)


def _facts(state: State, seat: Seat) -> tuple[RoundFact, ...]:
    return tuple(
        RoundFact(cards=one.cards, bid=one.bids[seat], taken=one.taken[seat], score=one.scores[seat])
        for one in state.sheet
    )
