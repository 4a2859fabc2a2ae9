"""What tests change of the product's processes when these start, so that the product needs no switch for it.

Python imports `sitecustomize` at every start, and finds the one of this folder when the folder comes first in its path.
"""

import os
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent
TIME_MACHINE = "WHIST_TIME_MACHINE"  # a file: seconds between the true and the played time
DELIVER_TWICE = "WHIST_DELIVER_TWICE"  # anything: every event comes again


def environment(**values: str) -> Mapping[str, str]:
    """For a process that shall be changed so, and for those it starts. May be merged with others of its kind."""
    path = os.pathsep.join([str(FOLDER), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {"PYTHONPATH": path.rstrip(os.pathsep), **values}
