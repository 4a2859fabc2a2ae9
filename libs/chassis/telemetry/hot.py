"""Metrics of what happens at every move: counted in plain cells, carried to Prometheus when somebody reads them.

An observation by the client library takes a lock or two, about a microsecond; one of these a sixth of it (measured).
"""

from bisect import bisect_left
from collections.abc import Iterable

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
    """One child of a `HotHistogram`. For one thread, the event loop's."""

    __slots__ = ("_bounds", "_child", "_counts", "_sum")

    def __init__(self, child: Histogram) -> None:
        self._child = child
        self._bounds = tuple(child._upper_bounds)  # the last is infinite
        self._counts = [0] * len(self._bounds)
        self._sum = 0.0

    def observe(self, seconds: float) -> None:
        """Count one."""
        self._counts[bisect_left(self._bounds, seconds)] += 1
        self._sum += seconds

    def carry(self) -> None:
        """Add what was counted to the metric; what is counted meanwhile waits for the next time."""
        counts, self._counts = self._counts, [0] * len(self._bounds)
        total, self._sum = self._sum, 0.0
        for bucket, count in zip(self._child._buckets, counts, strict=True):
            if count:
                bucket.inc(count)
        self._child._sum.inc(total)


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
            self.cells[labels] = TimeCell(self.labels(*labels) if labels else self)
        return self.cells[labels]

    def collect(self) -> Iterable[Metric]:
        """What Prometheus reads."""
        for cell in self.__dict__.get("cells", {}).values():
            cell.carry()
        return super().collect()
