"""Structured logs: constant snake_case event names with keys, one line each, secrets struck out."""

import logging
import re
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any

import structlog

# A key that names a secret is struck out whatever its value (reliability N7).
SECRET_KEYS = re.compile(r"(token|code|secret|password|e_?mail|authorization|hand|deck|cards)$", re.I)


def redact(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace the value of every key that names a secret, also inside values that are mappings."""
    for key, value in event.items():
        if key != "event":
            event[key] = _struck(key, value)
    return event


def _struck(key: object, value: Any) -> Any:
    if SECRET_KEYS.search(str(key)):
        return "[redacted]"
    if isinstance(value, Mapping):
        return {inner: _struck(inner, held) for inner, held in value.items()}
    return value


def configure_logs(level: str, style: str) -> None:
    """Set up structlog and route the standard library's loggers through it.

    May be called again, as by tests that run a service inside their own process: loggers used before follow.
    """
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        redact,
    ]
    renderer: Any = (
        structlog.processors.JSONRenderer()
        if style == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    # The list is kept and refilled: a logger that was used before holds on to it (cache_logger_on_first_use).
    processors = structlog.get_config()["processors"]
    processors[:] = [*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter]
    structlog.configure(
        processors=processors,
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                renderer,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for noisy in ("aiokafka", "asyncio", "uvicorn.access", "sqlalchemy.engine", "httpx"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
