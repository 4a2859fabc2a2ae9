"""English Whist under the `Game` protocol: every method is one line into the room that knows."""

from collections.abc import Mapping, Sequence
from typing import Any

from libs.engine.cards import card_text
from libs.engine.english import deciding, evolving, following, scoring, views
from libs.engine.english.events import KINDS, CardPlayed, Event, HandDealt, PenaltyChosen, RevokeClaimed
from libs.engine.english.options import PLAYERS, parse_options
from libs.engine.english.state import State, side_of
from libs.engine.protocol import Action, Draw, Result, RoundFact, Seat, View
from libs.engine.tricks.codec import Codec
from libs.engine.tricks.game import RULES_VERSION, TrickGame, final_ranking, parting_step


class EnglishWhist(TrickGame[State, Event]):
    """See `libs.engine.protocol.Game` for what each method promises."""

    name = views.GAME
    codec = Codec(views.GAME, RULES_VERSION, KINDS, State)

    def new(self, players: int, options: Mapping[str, object]) -> State:
        return State(
            options=parse_options(players, options),
            first_dealer=None,
            sheet=(),
            deal=None,
            play=None,
            revoked=(False, False),
            claiming=False,
            claims=(None,) * PLAYERS,
            proof=None,
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

    def decide_void(self, state: State) -> tuple[Event, ...]:
        """W8: an operator ends the hand on the table. Raises DRAW_DUE or GAME_OVER without one."""
        return deciding.decide_void(state)

    def decision(self, event: Event) -> tuple[Seat, Action] | None:
        match event:
            case CardPlayed(seat=seat, card=card):
                return seat, {"play": card_text(card)}
            case RevokeClaimed(seat=seat, claim=claim):
                return seat, {"claim": claim}
            case PenaltyChosen(seat=seat, penalty=penalty):
                return seat, {"penalty": penalty}
            case _:
                return None

    def evolve(self, state: State, event: Event) -> State:
        return evolving.evolve(state, event)

    def result(self, state: State) -> Result:
        ranking = final_ranking(state)
        sides = [(-state.games[side],) for side in (0, 1)]
        keys = [(*sides[side_of(seat)], seat) for seat in range(PLAYERS)]
        return Result(
            ranking=ranking,
            totals=scoring.totals(state),
            decided_by=parting_step(keys, ranking),
            seats=tuple(_facts(state, seat) for seat in range(PLAYERS)),
            places=tuple(1 if side_of(seat) == side_of(ranking[0]) else 2 for seat in range(PLAYERS)),
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
    """A void hand counts for nobody (P16: a fault of ours takes nothing away)."""
    side = side_of(seat)
    return tuple(
        RoundFact(
            cards=0 if hand.void else deciding.HAND_SIZE,
            bid=None,
            taken=hand.tricks[side],
            score=hand.points[side],
        )
        for hand in state.sheet
    )
