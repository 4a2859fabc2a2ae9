"""Python itself imports this at the start of every process that has the folder in its path (`tests.startup`)."""

import os
import sys
from pathlib import Path

from tests.startup import DELIVER_TWICE, TIME_MACHINE

if TIME_MACHINE in os.environ:
    from tests.time_machine.shift import shift_clock

    shift_clock(Path(os.environ[TIME_MACHINE]))

# Not in programs that deliver nothing, which would only load the libraries for it.
if DELIVER_TWICE in os.environ and any(word.startswith("services.") for word in sys.orig_argv):
    from tests.startup.twice import deliver_twice

    deliver_twice()
