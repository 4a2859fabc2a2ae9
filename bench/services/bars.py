"""A measured number beside the number that it must keep, and how a measurement is run alone."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

import uvloop

from libs.chassis.run import calm_collector


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """`what` names quantity and unit (``slowest_cycle_ms``); `side` says where `limit` lies, itself included."""

    what: str
    value: float
    side: Literal["at most", "at least"]
    limit: float

    @property
    def holds(self) -> bool:
        return self.value <= self.limit if self.side == "at most" else self.value >= self.limit

    def shown(self) -> dict[str, object]:
        """As it stands in a measurement's ``bars``."""
        return {"what": self.what, "value": self.value, "bar": f"{self.side} {self.limit:g}", "holds": self.holds}


def missed(measured: dict[str, object]) -> list[str]:
    """The bars of a measurement that do not hold. Raises KeyError or TypeError where it has none."""
    bars = measured["bars"]
    if not isinstance(bars, list):
        raise TypeError("bars: a list is needed")
    return [str(bar["what"]) for bar in bars if not bar["holds"]]


def alone(run: Callable[[], Awaitable[dict[str, object]]]) -> int:
    """Measure on the loop and with the collector that services have, print one line of JSON, and answer with the exit
    status: 1 where a bar is missed.
    """

    async def measured() -> dict[str, object]:
        return await run()

    calm_collector()
    figures = uvloop.run(measured())
    print(json.dumps(figures))
    return 1 if missed(figures) else 0
