"""Metrics of what happens at every move: noted in plain cells, carried to Prometheus each second and when it reads.

An observation by the client library takes a lock or two, about a microsecond; one of these a thirtieth (measured).
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable
from threading import Lock

from prometheus_client import Counter, Histogram
from prometheus_client.metrics_core import Metric


class CountCell:
    """One child of a `HotCounter`. For one thread, the event loop's."""

    __slots__ = ("_child", "_count")

    def __init__(self, child: Counter) -> None:
        self._child = child
        self._count = 0

    def count(self) -> None:
        """One more."""
        self._count += 1

    def carry(self) -> None:
        """Add what was counted to the metric; what is counted meanwhile waits for the next time."""
        count, self._count = self._count, 0
        self._child.inc(count)


class TimeCell:
    """One child of a `HotHistogram`. `observe` is for one thread, the event loop's; seconds."""

    __slots__ = ("_child", "_lock", "_seen", "observe")

    observe: Callable[[float], None]

    def __init__(self, child: Histogram) -> None:
        self._child = child
        self._lock = Lock()
        self._seen: list[float] = []
        # The list's own method: nothing of ours runs at a move.
        self.observe = self._seen.append

    def carry(self) -> None:
        """Add what was seen to the metric; what is seen meanwhile waits for the next time."""
        with self._lock:
            seen = self._seen.copy()
            del self._seen[: len(seen)]
        if not seen:
            return
        seen.sort()
        below = 0
        for bucket, bound in zip(self._child._buckets, self._child._upper_bounds, strict=True):
            upto = bisect_right(seen, bound)  # the last bound is infinite
            if upto > below:
                bucket.inc(upto - below)
            below = upto
        self._child._sum.inc(sum(seen))


_time_cells: list[TimeCell] = []


async def carry_cells() -> None:
    """Empty the cells of all histograms: each second by every process, so that they stay small with nobody reading."""
    for cell in _time_cells:
        cell.carry()


class HotCounter(Counter):
    """A counter with a cell for each of its children that is hot."""

    cells: dict[tuple[str, ...], CountCell]

    def cell(self, *labels: str) -> CountCell:
        """The cell with these label values, made on first use."""
        self.__dict__.setdefault("cells", {})
        if labels not in self.cells:
            self.cells[labels] = CountCell(self.labels(*labels) if labels else self)
        return self.cells[labels]

    def collect(self) -> Iterable[Metric]:
        """What Prometheus reads."""
        for cell in self.__dict__.get("cells", {}).values():
            cell.carry()
        return super().collect()


class HotHistogram(Histogram):
    """A histogram with a cell for each of its children that is hot."""

    cells: dict[tuple[str, ...], TimeCell]

    def cell(self, *labels: str) -> TimeCell:
        """The cell with these label values, made on first use."""
        self.__dict__.setdefault("cells", {})
        if labels not in self.cells:
            cell = self.cells[labels] = TimeCell(self.labels(*labels) if labels else self)
            _time_cells.append(cell)
        return self.cells[labels]

    def collect(self) -> Iterable[Metric]:
        """What Prometheus reads."""
        for cell in self.__dict__.get("cells", {}).values():
            cell.carry()
        return super().collect()
