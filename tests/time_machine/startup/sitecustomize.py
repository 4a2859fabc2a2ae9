"""Python itself imports this at the start of every process that has the folder in its path: the clock is shifted.

`TimeMachine.environment` puts it there and says where the offset lies. The product knows nothing of it.
"""

import os
from pathlib import Path

from tests.time_machine.shift import shift_clock

if "WHIST_TIME_MACHINE" in os.environ:
    shift_clock(Path(os.environ["WHIST_TIME_MACHINE"]))
