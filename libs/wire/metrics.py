"""The first number of every dashboard: how long a turn takes, by stage (P81).

gateway: a frame's receipt until it is on the stream. queue: on the worker until it is decided. decide: the rules.
journal: until the commit. fanout: until the frames are on the streams. total: the gateway's receipt until its own
acknowledgement is written. Each process observes the stages it can see.

A move is observed six times, which would cost a tenth of it: a stage counts in a plain list and is carried to the
histogram when somebody reads it.
"""

from bisect import bisect_left
from collections.abc import Iterable

from prometheus_client import Histogram
from prometheus_client.metrics_core import Metric


class Stage:
    """One stage's observations since they were last carried on. For one thread, the event loop's."""

    __slots__ = ("_bounds", "_child", "_counts", "_sum")

    def __init__(self, child: Histogram) -> None:
        self._child = child
        self._bounds = tuple(child._upper_bounds)  # the last is infinite
        self._counts = [0] * len(self._bounds)
        self._sum = 0.0

    def observe(self, seconds: float) -> None:
        """Count one move."""
        self._counts[bisect_left(self._bounds, seconds)] += 1
        self._sum += seconds

    def carry(self) -> None:
        """Add what was counted to the histogram; a count made meanwhile waits for the next time."""
        counts, self._counts = self._counts, [0] * len(self._bounds)
        total, self._sum = self._sum, 0.0
        for bucket, count in zip(self._child._buckets, counts, strict=True):
            if count:
                bucket.inc(count)
        self._child._sum.inc(total)


class StageHistogram(Histogram):
    """A histogram with a `Stage` for each value of its label."""

    stages: dict[str, Stage]

    def stage(self, name: str) -> Stage:
        """The stage of that name, made on first use."""
        if not hasattr(self, "stages"):
            self.stages = {}
        if name not in self.stages:
            self.stages[name] = Stage(self.labels(name))
        return self.stages[name]

    def collect(self) -> Iterable[Metric]:
        """What Prometheus reads."""
        for stage in getattr(self, "stages", {}).values():
            stage.carry()
        return super().collect()


turn_seconds = StageHistogram(
    "whist_turn_seconds",
    "Time of a move by stage.",
    ["stage"],
    buckets=(
        0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.003, 0.004, 0.006, 0.008, 0.012, 0.016, 0.025, 0.05, 0.1, 0.25, 0.5,
        1, 2.5, 5, 10,
    ),
)  # fmt: skip

gateway_stage = turn_seconds.stage("gateway")
queue_stage = turn_seconds.stage("queue")
decide_stage = turn_seconds.stage("decide")
journal_stage = turn_seconds.stage("journal")
fanout_stage = turn_seconds.stage("fanout")
total_stage = turn_seconds.stage("total")
