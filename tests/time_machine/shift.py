"""The machine's clock as this process reads it, ahead of the true time by the seconds that a file says."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from libs.chassis.clock import SystemClock

NOW, UNIX = "now", "unix"


def shift_clock(file: Path) -> None:
    """Shift `SystemClock` for the rest of the process; the file is read at every look. The monotonic clock stays."""

    def now(_: SystemClock) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=float(file.read_text()))

    def unix(clock: SystemClock) -> float:
        return now(clock).timestamp()

    setattr(SystemClock, NOW, now)
    setattr(SystemClock, UNIX, unix)


@contextmanager
def shifted_clock(file: Path) -> Iterator[None]:
    """The same inside the block alone."""
    own = {name: vars(SystemClock)[name] for name in (NOW, UNIX)}
    shift_clock(file)
    try:
        yield
    finally:
        for name, function in own.items():
            setattr(SystemClock, name, function)
