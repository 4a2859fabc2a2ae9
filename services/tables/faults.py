"""How a fault is told to the log: by its kind and where it was raised, never by its message, which may quote a card."""

from traceback import walk_tb

import structlog

log = structlog.get_logger()

PLACES_MAX = 8  # of the innermost calls; whoever was called by whom before is the same in every fault


def told(error: BaseException) -> str:
    """One line, innermost call first: "ValueError at libs.engine.cards:98 < services.tables.actor:440" (P71)."""
    places = [f"{frame.f_globals.get('__name__')}:{line}" for frame, line in walk_tb(error.__traceback__)]
    kind = type(error).__name__
    return f"{kind} at {' < '.join(places[: -PLACES_MAX - 1 : -1])}" if places else kind


def note(event: str, error: BaseException, *, table: str) -> None:
    """Log a fault of ours at a table, by its id in hex."""
    log.error(event, table=table, fault=told(error))
