"""What a run says to the log, kept as text: events with their keys, and tracebacks as they would be written."""

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import structlog


@contextmanager
def logged() -> Iterator[list[str]]:
    """Every line of this process inside the block; none of them is printed."""
    lines: list[str] = []

    def keep(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> Any:
        lines.append(str(dict(event)))
        raise structlog.DropEvent

    # In place, for loggers that were made before keep this very list.
    processors = structlog.get_config()["processors"]
    before = list(processors)
    processors[:] = [structlog.processors.format_exc_info, keep]
    try:
        yield lines
    finally:
        processors[:] = before
