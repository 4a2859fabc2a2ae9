"""`python -m tests.chaos.skewed <service> serve`: a service whose machine's clock is wrong, by as much as a file says.

Only what the product reads through its clock's port is shifted (libs/chassis/clock.py is the only reader, lint holds
that); it may be changed while the service runs. The monotonic clock is left alone, as a wrong date leaves it.
"""

import os
import runpy
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from libs.chassis.clock import SystemClock

SKEW = "WHIST_CHAOS_SKEW"  # the file: seconds, ahead of the true time where positive


def main() -> None:
    file = Path(os.environ[SKEW])

    def now(_: SystemClock) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=float(file.read_text()))

    def unix(clock: SystemClock) -> float:
        return now(clock).timestamp()

    setattr(SystemClock, SystemClock.now.__name__, now)
    setattr(SystemClock, "unix", unix)  # noqa: B010 - the system's own function, and bears its name
    service = sys.argv.pop(1)
    runpy.run_module(f"services.{service}", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
