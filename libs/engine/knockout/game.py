"""Knockout Whist under the `Game` protocol: every method is one line into the room that knows."""

from collections.abc import Mapping, Sequence
from typing import Any

from libs.engine.cards import card_text
from libs.engine.knockout import deciding, evolving, following, scoring, views
from libs.engine.knockout.events import KINDS, CardHeld, CardPlayed, Event, HandDealt, TrumpsNamed
from libs.engine.knockout.state import State, parse_options
from libs.engine.protocol import Action, Draw, Result, RoundFact, Seat, View
from libs.engine.tricks.codec import Codec
from libs.engine.tricks.game import RULES_VERSION, TrickGame, final_ranking, parting_step


class KnockoutWhist(TrickGame[State, Event]):
    """See `libs.engine.protocol.Game` for what each method promises."""

    name = views.GAME
    codec = Codec(views.GAME, RULES_VERSION, KINDS, State)

    def new(self, players: int, options: Mapping[str, object]) -> State:
        return State(
            options=parse_options(players, options),
            players=players,
            first_dealer=None,
            sheet=(),
            namer=None,
            deal=None,
            play=None,
            held=(False,) * players,
            turn=0,
            ranking=None,
        )

    def draw(self, state: State) -> Draw | None:
        return deciding.due(state)

    def decide_draw(self, state: State, order: Sequence[int]) -> tuple[Event, ...]:
        return deciding.decide_draw(state, order)

    def legal(self, state: State) -> tuple[Action, ...]:
        return deciding.legal(state)

    def decide(self, state: State, seat: Seat, action: object) -> tuple[Event, ...]:
        return deciding.decide(state, seat, action)

    def decision(self, event: Event) -> tuple[Seat, Action] | None:
        match event:
            case CardPlayed(seat=seat, card=card):
                return seat, {"play": card_text(card)}
            case CardHeld(seat=seat):
                return seat, dict(deciding.HOLD)
            case TrumpsNamed(seat=seat, suit=suit):
                return seat, {"trumps": suit.value}
            case _:
                return None

    def evolve(self, state: State, event: Event) -> State:
        return evolving.evolve(state, event)

    def result(self, state: State) -> Result:
        ranking, seats = final_ranking(state), range(state.players)
        return Result(
            ranking=ranking,
            totals=state.totals,
            decided_by=parting_step([scoring.key(state.sheet, seat) for seat in seats], ranking),
            seats=tuple(_facts(state, seat) for seat in seats),
        )

    def view(self, state: State, observer: Seat | None) -> View:
        return views.view(state, observer)

    def project(self, event: Event, observer: Seat | None) -> View | None:
        return views.project(event, observer)

    def is_private(self, event: Event) -> bool:
        return views.is_private(event)

    def follow(self, view: View, projected: Mapping[str, Any]) -> View:
        return following.follow(view, projected)

    def checkpoint(self, event: Event) -> State | None:
        return event.state if isinstance(event, HandDealt) else None


def _facts(state: State, seat: Seat) -> tuple[RoundFact, ...]:
    """P16: a hand without cards is none of the seat's rounds."""
    return tuple(
        RoundFact(cards=hand.sizes[seat], bid=None, taken=hand.taken[seat], score=hand.taken[seat])
        for hand in state.sheet
    )
