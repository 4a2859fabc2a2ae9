"""German Whist under the `Game` protocol: every method is one line into the room that knows."""

from collections.abc import Mapping, Sequence
from typing import Any

from libs.engine.cards import card_text
from libs.engine.german import deciding, evolving, following, views
from libs.engine.german.events import KINDS, CardPlayed, Event, HandDealt
from libs.engine.german.state import HAND_SIZE, PLAYERS, State, parse_options
from libs.engine.protocol import Action, Draw, Result, RoundFact, Seat, View
from libs.engine.tricks.codec import Codec
from libs.engine.tricks.game import RULES_VERSION, TrickGame, final_ranking, parting_step


class GermanWhist(TrickGame[State, Event]):
    """See `libs.engine.protocol.Game` for what each method promises."""

    name = views.GAME
    codec = Codec(views.GAME, RULES_VERSION, KINDS, State)

    def new(self, players: int, options: Mapping[str, object]) -> State:
        return State(
            options=parse_options(players, options),
            first_dealer=None,
            deal=None,
            play=None,
            stock=(),
            early=(0,) * PLAYERS,
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
        return (event.seat, {"play": card_text(event.card)}) if isinstance(event, CardPlayed) else None

    def evolve(self, state: State, event: Event) -> State:
        return evolving.evolve(state, event)

    def result(self, state: State) -> Result:
        ranking = final_ranking(state)
        assert state.play is not None
        facts = zip(state.play.taken, state.counted, strict=True)
        return Result(
            ranking=ranking,
            totals=state.counted,
            decided_by=parting_step([deciding.key(state, seat) for seat in range(PLAYERS)], ranking),
            seats=tuple((RoundFact(cards=HAND_SIZE, bid=None, taken=taken, score=score),) for taken, score in facts),
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
