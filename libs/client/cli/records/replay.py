"""A record told step by step: each deal, bid, card, trick and score as one or a few lines, whatever the game (P72).

All is told through the `Game` protocol: events in their public form, and views for tricks and points.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from libs.client.cli import lettering, screen
from libs.engine.cards import CARD_BY_TEXT
from libs.engine.protocol import Event, Game, Seat, State
from libs.engine.record.model import By, Move, Record
from libs.engine.record.replaying import opening, replay

VERBS = {
    **{"bid": "bids", "play": "plays", "call": "calls", "trumps": "names trumps:", "hold": "keeps the card"},
    **{"claim": "claims a revoke:", "penalty": "chooses the penalty in"},
}
ACTORS = {By.BOT: " (bot)", By.TIME_OUT: " (time-out)", By.PERSON: "", None: ""}
SEATS = ("seat", "winner", "namer", "dealer")  # fields of events that hold a seat
STOP = "q"


class NoSuchRound(Exception):
    """The record has fewer rounds; the text says how many."""


class Scene(NamedTuple):
    """What is told at once. `round` from 0; -1 before the first deal."""

    round: int
    text: str


def scenes(record: Record, *, open_hands: bool = False) -> Iterator[Scene]:
    """The whole game. `open_hands` shows every hand as it is dealt, and what each card is chosen from.

    Raises BadRecord where the record does not play.
    """
    walk = opening(record)
    teller = Teller(walk.game, names_of(record), walk.state, open_hands=open_hands)
    yield Scene(-1, _heading(record, teller.names))
    for step in replay(record):
        for event in step.events:
            if text := teller.told(event, step.move):
                yield Scene(teller.round, text)
    if not walk.game.over(teller.state):
        yield Scene(teller.round, "The record ends here: the game was not played to its end.")


def tell(
    record: Record,
    write: Callable[[str], None],
    *,
    only: int | None = None,
    open_hands: bool = False,
    ask: Callable[[], str | None] | None = None,
) -> None:
    """Write the game, or round `only` (from 1). With `ask`, a line is awaited after each scene; None or q stops.

    Raises NoSuchRound, BadRecord.
    """
    rounds = 0
    for scene in scenes(record, open_hands=open_hands):
        rounds = max(rounds, scene.round + 1)
        if only is not None and scene.round not in (-1, only - 1):
            continue
        write(scene.text + ("" if ask else "\n"))
        if ask and ((line := ask()) is None or line.strip().lower() == STOP):
            return
    if only is not None and only > rounds:
        raise NoSuchRound(f"there is no round {only}: the record has {rounds}")


def names_of(record: Record) -> list[str]:
    """As the record has them, or seats by number; those for whom a bot decided from first to last are marked (P63)."""
    by_seat = [{one.by for one in record.moves if one.seat == seat} for seat in range(record.players)]
    names = record.names or [f"Seat {seat + 1}" for seat in range(record.players)]
    return [
        lettering.printable(name) + (" (bot)" if by == {By.BOT} else "")
        for name, by in zip(names, by_seat, strict=True)
    ]


def _heading(record: Record, names: Sequence[str]) -> str:
    options = " ".join(f"{key}={value}" for key, value in record.options.items())
    lines = [
        f"{record.game} · {record.players} players · {len(record.moves)} moves" + (f" · {options}" if options else "")
    ]
    lines += [f"  seat {seat}  {name}" for seat, name in enumerate(names, start=1)]
    return "\n".join(lines)


@dataclass(slots=True)
class Teller:
    """Words for one event after the other; `state` is the table after the last one."""

    game: Game
    names: Sequence[str]
    state: State
    open_hands: bool
    round: int = -1
    tricks: int = 0
    scores: Sequence[int] = ()

    def told(self, event: Event, move: Move | None) -> str:
        """The lines of an event; empty for one that says nothing of its own."""
        before, self.state = self.state, self.game.evolve(self.state, event)
        decision = self.game.decision(event)
        if decision is not None:
            return self._decision(*decision, before, move)
        shown = self.game.project(event, None)
        if shown is None:
            return ""
        tellers = {
            **{"dealer": self._first, "dealt": self._deal, "trick": self._trick, "scored": self._score},
            **{"over": self._end},
        }
        return tellers.get(shown["k"], self._any)(shown)

    def _first(self, shown: Mapping[str, Any]) -> str:
        return f"{self.names[shown['seat']]} is drawn as the first dealer."

    def _deal(self, shown: Mapping[str, Any]) -> str:
        self.round, self.tricks = self.round + 1, 0
        hands = self.game.hands(self.state)
        parts = [f"Round {self.round + 1}", lettering.count(max(map(len, hands)), "card")]
        parts.append(f"{self.names[shown['dealer']]} deals")
        parts.append(f"turned up {lettering.card(shown['trump'])}" if shown["trump"] else "no card turned up")
        lines = ["", " · ".join(parts)]
        if self.open_hands:
            lines += [
                f"  {name}: {lettering.cards(hand)}" for name, hand in zip(self.names, hands, strict=True) if hand
            ]
        return "\n".join(lines)

    def _decision(self, seat: Seat, action: Mapping[str, Any], before: State, move: Move | None) -> str:
        ((kind, value),) = action.items()
        words = [self.names[seat], VERBS.get(kind, kind)]
        if value is not True or kind == "claim":
            words.append(_value(value))
        text = "  " + " ".join(words)
        by = ACTORS[None if move is None else move.by]
        text += "" if by and self.names[seat].endswith(by) else by
        if self.open_hands and kind in ("play", "hold"):
            text += f"   of {lettering.cards(self.game.hands(before)[seat])}"
        return text

    def _trick(self, _shown: Mapping[str, Any]) -> str:
        self.tricks += 1
        last = self.game.view(self.state, None)["last_trick"]
        players = len(self.names)
        order = [(last["lead"] + step) % players for step in range(players)]
        laid = [lettering.card(last["cards"][seat]) for seat in order if last["cards"][seat] is not None]
        return f"  Trick {self.tricks}: {' '.join(laid)}, {self.names[last['winner']]} takes it"

    def _score(self, _shown: Mapping[str, Any]) -> str:
        scores = self.game.view(self.state, None)["scores"]
        had = self.scores or [0] * len(scores)
        self.scores = scores
        lines = [f"  Score of round {self.round + 1}"]
        for name, now, then in zip(self.names, scores, had, strict=True):
            lines.append(f"    {lettering.cut(name, 30):<30} {now - then:+4d}  total {now:+d}")
        return "\n".join(lines)

    def _end(self, _shown: Mapping[str, Any]) -> str:
        result = self.game.result(self.state)
        places = [result.place(seat) for seat in result.ranking]
        lines = [
            f"  {screen.PLACES[place - 1]}  {lettering.cut(self.names[seat], 30)} {result.totals[seat]:+d}"
            for place, seat in zip(places, result.ranking, strict=True)
        ]
        return "\n".join(["", "The game is over.", *lines])

    def _any(self, shown: Mapping[str, Any]) -> str:
        """An event that only its own game knows: its name and fields."""
        fields = (
            f"{key} {self.names[value] if key in SEATS and isinstance(value, int) else _value(value)}"
            for key, value in shown.items()
            if key != "k" and value is not None
        )
        return f"  {shown['k']}: " + ", ".join(fields)


def _value(value: object) -> str:
    """A card or suit by its sign, a list word by word, true and false as words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return " ".join(map(_value, value))
    if isinstance(value, str) and value in CARD_BY_TEXT:
        return lettering.card(value)
    return lettering.SIGNS.get(value, value) if isinstance(value, str) else str(value)
