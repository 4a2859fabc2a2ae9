"""What the games of S1 answer alike under the `Game` protocol, from their state's own properties."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from libs.engine.cards import hand_texts
from libs.engine.protocol import OwnBy, Seat
from libs.engine.tricks.codec import Codec
from libs.engine.tricks.play import Play

RULES_VERSION = 1


class Moment(Protocol):
    """A game's state, as far as this room asks."""

    @property
    def turn(self) -> int: ...

    @property
    def phase(self) -> str: ...

    @property
    def to_act(self) -> Seat | None: ...

    @property
    def ranking(self) -> tuple[Seat, ...] | None: ...

    @property
    def play(self) -> Play | None: ...


State = TypeVar("State", bound=Moment)
Event = TypeVar("Event")


class TrickGame(Generic[State, Event]):
    """A game adds what its rules decide; see `libs.engine.protocol.Game` for what each method promises."""

    rules_version = RULES_VERSION
    own_by: OwnBy = OwnBy.CARDS
    codec: ClassVar[Codec]

    def to_act(self, state: State) -> Seat | None:
        return state.to_act

    def turn(self, state: State) -> int:
        return state.turn

    def phase(self, state: State) -> str:
        return state.phase

    def over(self, state: State) -> bool:
        return state.ranking is not None

    def hands(self, state: State) -> tuple[tuple[str, ...], ...]:
        """Before the first deal there are none."""
        return () if state.play is None else tuple(tuple(hand_texts(hand)) for hand in state.play.hands)

    def dump_event(self, event: Event) -> list[Any]:
        return self.codec.dump_event(event)

    def load_event(self, data: Sequence[Any], rules_version: int) -> Event:
        event: Event = self.codec.load_event(data, rules_version)
        return event

    def dump_state(self, state: State) -> list[Any]:
        return self.codec.dump_state(state)

    def load_state(self, data: Sequence[Any], rules_version: int) -> State:
        state: State = self.codec.load_state(data, rules_version)
        return state


def final_ranking(state: Moment) -> tuple[Seat, ...]:
    """Raises ValueError before the end."""
    if state.ranking is None:
        raise ValueError("the game is not over")
    return state.ranking


def parting_step(keys: Sequence[tuple[Any, ...]], ranking: Sequence[Seat]) -> tuple[int, ...]:
    """Which step (1, 2, …) of the seats' keys parts each from the next in the ranking."""
    return tuple(
        next(step for step, (a, b) in enumerate(zip(keys[one], keys[other], strict=True), start=1) if a != b)
        for one, other in pairwise(ranking)
    )
