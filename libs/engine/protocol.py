"""The shape that every game has, so that tables, gateway and clients know no variant.

A game decides (`decide`, `decide_draw`: state and intention → events), evolves (`evolve`: state and
event → state) and shows (`view`, `project`). All values are immutable; nothing does I/O, reads a
clock or rolls dice: randomness comes in as permutations that the table derives (P70).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

Seat: TypeAlias = int  # 0..players-1, clockwise
Action: TypeAlias = dict[str, Any]  # a player's move in plain form: {"bid": 3}, {"play": "QH"}
State: TypeAlias = Any  # opaque outside its game
Event: TypeAlias = Any  # opaque outside its game
View: TypeAlias = dict[str, Any]  # JSON-able, all that one observer may know


class OwnBy(StrEnum):
    """P16: a round is one's own if every bid in it was, or, without bids, every card."""

    BIDS = "bids"
    CARDS = "cards"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Randomness that a game needs now: a uniformly random permutation of range(size).

    The table derives it as `fair.permutation(secret, label, size)`. Labels are unique in a game.
    """

    label: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundFact:
    """One seat's part of one round, as prizes, experience and the story need it."""

    cards: int  # 0: the seat had no part in it, so that P16 does not count it
    bid: int | None  # None where a game has no bids; in Solo the highest call, 0 for a pass (L2's order)
    taken: int
    score: int
    contract_made: bool | None = None  # Solo, where tricks alone do not tell

    @property
    def made(self) -> bool:
        return self.bid == self.taken if self.contract_made is None else self.contract_made


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a game ended."""

    ranking: tuple[Seat, ...]  # best first
    totals: tuple[int, ...]  # by seat
    decided_by: tuple[int, ...]  # by neighbours in the ranking: the game's rule that parted them
    seats: tuple[tuple[RoundFact, ...], ...]  # by seat, then by round
    places: tuple[int, ...] = ()  # by seat, where partners share one (P24): 1 the winners, 2 the others

    @property
    def rounds_bid(self) -> int:
        """How many rounds each seat had to bid in (P16)."""
        return sum(1 for fact in self.seats[0] if fact.bid is not None)

    def rounds_played(self, seat: Seat) -> int:
        """How many rounds the seat had cards in: P16's whole where a game has no bids."""
        return sum(1 for fact in self.seats[seat] if fact.cards)

    def place(self, seat: Seat) -> int:
        """1 for the winner."""
        return self.places[seat] if self.places else self.ranking.index(seat) + 1

    def dump(self) -> dict[str, Any]:
        """Plain JSON; a round is [cards, bid, taken, score]; "places" where partners share one."""
        shared = {"places": list(self.places)} if self.places else {}
        return shared | {
            "ranking": list(self.ranking),
            "totals": list(self.totals),
            "decided_by": list(self.decided_by),
            "rounds_bid": self.rounds_bid,
            "seats": [[[fact.cards, fact.bid, fact.taken, fact.score] for fact in facts] for facts in self.seats],
        }


class Game(Protocol):
    """One variant's rules. Stateless: one instance serves every table."""

    @property
    def name(self) -> str: ...

    @property
    def rules_version(self) -> int:
        """Written beside every journal; `load_event` and `load_state` read all older ones."""
        ...

    @property
    def own_by(self) -> OwnBy:
        """What makes a round a player's own (P16)."""
        ...

    def new(self, players: int, options: Mapping[str, object]) -> State:
        """The game before its first draw. Raises RuleViolation(BAD_OPTIONS)."""
        ...

    def draw(self, state: State) -> Draw | None:
        """The draw that is due; while there is one nobody may act."""
        ...

    def decide_draw(self, state: State, order: Sequence[int]) -> tuple[Event, ...]:
        """Apply the permutation asked for. Raises ValueError for anything else: a fault, no move."""
        ...

    def to_act(self, state: State) -> Seat | None: ...

    def turn(self, state: State) -> int:
        """Number of the decision awaited: how many decisions players have made in this game."""
        ...

    def phase(self, state: State) -> str:
        """Which turn limit applies: "draw" | "bid" | "play" | "over"; "name" (K1), "claim" (W7: 10 s)."""
        ...

    def legal(self, state: State) -> tuple[Action, ...]:
        """Every legal move of `to_act`; empty when nobody is."""
        ...

    def decide(self, state: State, seat: Seat, action: object) -> tuple[Event, ...]:
        """The events of one move. Never mutates; raises RuleViolation and nothing else."""
        ...

    def decision(self, event: Event) -> tuple[Seat, Action] | None:
        """The move that an event is, as `decide` took it; None for what follows from moves and draws."""
        ...

    def evolve(self, state: State, event: Event) -> State: ...

    def over(self, state: State) -> bool: ...

    def result(self, state: State) -> Result:
        """Only when over, else ValueError."""
        ...

    def view(self, state: State, observer: Seat | None) -> View:
        """All that the observer may know (None: spectator)."""
        ...

    def hands(self, state: State) -> tuple[tuple[str, ...], ...]:
        """Every hand as it lies, by seat, in pack order, () before the first deal: for records of finished games.

        Nothing that a player or a spectator is shown may be made of it (P71).
        """
        ...

    def project(self, event: Event, observer: Seat | None) -> View | None:
        """What the observer is told of an event; None: nothing. The only redaction (P71)."""
        ...

    def is_private(self, event: Event) -> bool:
        """Whether `project` differs between observers; if not, encode it once for everybody."""
        ...

    def follow(self, view: View, projected: Mapping[str, Any]) -> View:
        """The next view of the same observer. Pure; see `libs.engine.follow`."""
        ...

    def checkpoint(self, event: Event) -> State | None:
        """The state after an event that carries all of it; None for any other event."""
        ...

    def dump_event(self, event: Event) -> list[Any]:
        """Plain builtins for the journal: compact, complete, unredacted."""
        ...

    def load_event(self, data: Sequence[Any], rules_version: int) -> Event: ...

    def dump_state(self, state: State) -> list[Any]: ...

    def load_state(self, data: Sequence[Any], rules_version: int) -> State: ...
