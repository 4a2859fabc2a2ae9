"""`python -m tests.chaos.skewed <service> serve`: a service whose machine's clock is wrong, by as much as a file says.

Only what the product reads through its clock's port is shifted (libs/chassis/clock.py is the only reader, lint holds
that); it may be changed while the service runs. The monotonic clock is left alone, as a wrong date leaves it.
"""

import os
import runpy
import sys
from pathlib import Path

from tests.time_machine.shift import shift_clock

SKEW = "WHIST_CHAOS_SKEW"  # the file: seconds, ahead of the true time where positive


def main() -> None:
    shift_clock(Path(os.environ[SKEW]))
    service = sys.argv.pop(1)
    runpy.run_module(f"services.{service}", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
