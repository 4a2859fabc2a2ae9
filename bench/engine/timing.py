"""CPU time of this thread, so that a machine that is busy with other work disturbs little."""

from collections.abc import Callable, Iterable
from statistics import median
from time import thread_time
from typing import TypeVar

Subject = TypeVar("Subject")


def rate(work: Callable[[], int]) -> float:
    """Units of work a second of CPU; `work` returns how many it did."""
    started = thread_time()
    done = work()
    return done / (thread_time() - started)


def median_seconds(work: Callable[[Subject], object], subjects: Iterable[Subject]) -> float:
    """CPU seconds that `work` takes on the median subject."""
    times = []
    for subject in subjects:
        started = thread_time()
        work(subject)
        times.append(thread_time() - started)
    return median(times)
