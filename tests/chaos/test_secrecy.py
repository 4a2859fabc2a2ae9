"""B31 in small, and that it would find a leak: each kind of observer is shown one that was planted."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
import structlog

from libs.engine.errors import RuleViolation
from libs.engine.game import GAMES
from services.coach.ports import Thought
from services.tables import announcements
from services.tables.metrics import refusals
from tests.chaos.scenario import Run
from tests.chaos.scenarios.secrecy import CARD, swapped_games
from tests.chaos.swapping import swap
from tests.chaos.twins import Leaked, Observer, watch
from tests.engine.comparison import random_table
from whist.tables.v1 import events_pb2

PAIRS_MAX = 40  # a planted leak is found among so many; most are in the first


def a_run(folder: Path, seed: int = 1) -> Run:
    return Run(name="B31", seed=seed, folder=folder, random=Random(f"B31/{seed}"))


async def test_b31_h1_every_byte_to_an_observer_is_the_same_whatever_is_hidden(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    counted = await swapped_games(300, run)
    assert all(counted[name] == 60 for name in GAMES) and all(counted[each] == 60 for each in Observer)
    assert counted["told apart"] > 150 and counted["moves"] > 1000
    assert run.injected and len(run.proven) == 3


class Planted:
    """A game with a leak; what it does not say is the game's own."""

    def __init__(self, game: Any) -> None:
        self._game = game

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def other_hand(self, state: Any, seat: int | None) -> Sequence[str]:
        """The hand of the seat after this one."""
        hands: Sequence[Sequence[str]] = self._game.hands(state)
        return hands[((-1 if seat is None else seat) + 1) % len(hands)] if hands else ()


class InViews(Planted):
    def view(self, state: Any, seat: int | None) -> Any:
        return self._game.view(state, seat) | {"next": list(self.other_hand(state, seat))}


class InSpectatorsViews(Planted):
    def view(self, state: Any, seat: int | None) -> Any:
        shown = self._game.view(state, seat)
        return shown if seat is not None else shown | {"next": list(self.other_hand(state, seat))}


class InPublicEvents(Planted):
    def project(self, event: Any, seat: int | None) -> Any:
        told, state = self._game.project(event, seat), self._game.checkpoint(event)
        return told if state is None else told | {"strong": sum("A" in card for card in self.other_hand(state, 1))}


class AnothersHand(Planted):
    def project(self, event: Any, seat: int | None) -> Any:
        state = self._game.checkpoint(event)
        if state is None or seat is None:
            return self._game.project(event, seat)
        return self._game.project(event, (seat + 1) % len(self._game.hands(state)))


class InTheOrderOfMoves(Planted):
    def legal(self, state: Any) -> Any:
        legal = self._game.legal(state)
        odd = sum(map(ord, "".join(self.other_hand(state, self._game.to_act(state))))) % 2
        return tuple(reversed(legal)) if odd else legal


class InRefusals(Planted):
    def decide(self, state: Any, seat: int, action: Any) -> Any:
        try:
            return self._game.decide(state, seat, action)
        except RuleViolation as refusal:
            facts = refusal.facts | {"least": min(self.other_hand(state, seat), default="")}
            raise RuleViolation(refusal.reason, **facts) from refusal


class InBotsChoices(Planted):
    """What a bot that peeks would do: one legal move, chosen by another's hand."""

    def view(self, state: Any, seat: int | None) -> Any:
        shown = self._game.view(state, seat)
        if legal := shown.get("legal"):
            shown["legal"] = [legal[sum(map(ord, "".join(self.other_hand(state, seat)))) % len(legal)]]
        return shown


LEAKS: list[tuple[Observer, type[Planted]]] = [
    *((observer, InViews) for observer in (Observer.PLAYER, Observer.SPECTATOR, Observer.NEWCOMER, Observer.STAND_IN)),
    (Observer.SPECTATOR, InSpectatorsViews),
    *((observer, InPublicEvents) for observer in Observer),
    (Observer.PLAYER, AnothersHand),
    (Observer.PLAYER, InTheOrderOfMoves),
    (Observer.PLAYER, InRefusals),
    (Observer.SPECTATOR, InPublicEvents),
    (Observer.NEWCOMER, InRefusals),
    (Observer.BOT, InBotsChoices),
    (Observer.STAND_IN, InBotsChoices),
]


async def found(observer: Observer, name: str, seed: str, **planted: Any) -> None:
    """Play pairs until one shows the leak; fails if none does."""
    rng = Random(seed)
    with pytest.raises(Leaked):
        for _ in range(PAIRS_MAX):
            table = random_table(name, rng)
            seat = None if observer is Observer.SPECTATOR else rng.randrange(table[1])
            await watch(swap(table, seat, rng), observer, rng, **planted)


@pytest.mark.parametrize("name", sorted(GAMES))
@pytest.mark.parametrize(("observer", "leak"), LEAKS, ids=lambda value: getattr(value, "__name__", str(value)))
async def test_b31_a_planted_leak_is_found(name: str, observer: Observer, leak: type[Planted]) -> None:
    await found(observer, name, f"{name}/{observer}/{leak.__name__}", plant=leak)


class PeekingCoach:
    """Advises by what it was not shown."""

    def __init__(self) -> None:
        self.asked = 0

    async def think(self, game: str, view: Mapping[str, Any]) -> Thought:
        self.asked += 1
        return Thought(action=view["legal"][self.asked % len(view["legal"])], advice=())


async def test_b31_a_coach_that_peeks_is_found() -> None:
    await found(Observer.PLAYER, "english", "coach", thinker=PeekingCoach())


async def test_b31_a_hand_in_an_event_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def telling(table: Any, body: Any, events: Any) -> Any:
        strength = sum("A" in card for card in table.game.hands(table.state)[0]) if table.game.hands(table.state) else 0
        return (events_pb2.TablesEvent(round_ended=events_pb2.RoundEnded(cards=strength)),)

    monkeypatch.setattr(announcements, "of", telling)
    await found(Observer.SPECTATOR, "knockout", "events")


class InTheLog(Planted):
    def decide(self, state: Any, seat: int, action: Any) -> Any:
        structlog.get_logger().warning("move_tried", held=" ".join(self.other_hand(state, seat)))
        return self._game.decide(state, seat, action)


class InALabel(Planted):
    def decide(self, state: Any, seat: int, action: Any) -> Any:
        if self.other_hand(state, seat) and self._game.to_act(state) != seat:
            raise RuleViolation("QH")
        return self._game.decide(state, seat, action)


@pytest.mark.parametrize(("leak", "where"), [(InTheLog, "log"), (InALabel, "label")])
async def test_b31_a_card_in_a_log_line_or_a_label_is_found(
    tmp_path: Path, leak: Callable[..., Any], where: str
) -> None:
    try:
        with pytest.raises(AssertionError, match=where):
            await swapped_games(5, a_run(tmp_path), plant=leak)
    finally:
        if where == "label":
            refusals.remove("QH")
    assert CARD.search("bid QH") and not CARD.search("SEAT_TAKEN")
