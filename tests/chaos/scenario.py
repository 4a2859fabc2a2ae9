"""What a scenario is: a name from the design, a seed, what it injected and what held.

A scenario is an async function that gets a `Run`; it draws every choice from `run.random`, says each fault by `inject`
and each proven invariant by `held`, and raises where one does not hold. Scenarios register themselves under their
names (B01 …).
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random


@dataclass(slots=True, kw_only=True)
class Run:
    """One run of one scenario: its choices, its folder (empty at the start), and what it has to tell.

    A `small` one belongs to the test suite: few of everything, and over in seconds.
    """

    name: str
    seed: int
    folder: Path
    random: Random
    small: bool = False
    injected: list[str] = field(default_factory=list)
    proven: list[str] = field(default_factory=list)

    def bar(self, seconds: float) -> float:
        """The design's number; the test suite, which plays several systems at once, gets the same again."""
        return 2 * seconds if self.small else seconds

    def inject(self, fault: str) -> None:
        """Say what was done to the system, as a reader of a log wants to hear it."""
        self.injected.append(fault)

    def held(self, fact: str) -> None:
        """Say what was seen to hold, with its numbers."""
        self.proven.append(fact)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A registered scenario."""

    name: str
    title: str
    play: Callable[[Run], Awaitable[None]]


SCENARIOS: dict[str, Scenario] = {}


def scenario(name: str, title: str) -> Callable[[Callable[[Run], Awaitable[None]]], Callable[[Run], Awaitable[None]]]:
    """Register the function as the scenario `name`; names are unique."""

    def register(play: Callable[[Run], Awaitable[None]]) -> Callable[[Run], Awaitable[None]]:
        if name in SCENARIOS:
            raise ValueError(f"{name} is registered twice")
        SCENARIOS[name] = Scenario(name=name, title=title, play=play)
        return play

    return register


async def played(name: str, seed: int, folder: Path, *, small: bool = False) -> Run:
    """Play one scenario with one seed in `folder`; raises what it raises. The run tells what was injected and held."""
    run = Run(name=name, seed=seed, folder=folder, random=Random(f"{name}/{seed}"), small=small)
    folder.mkdir(parents=True, exist_ok=True)
    await SCENARIOS[name].play(run)
    if not run.injected or not run.proven:
        raise AssertionError(f"{name} injected {len(run.injected)} faults and proved {len(run.proven)} facts")
    return run
