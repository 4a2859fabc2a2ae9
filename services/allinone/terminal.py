"""What a person at the terminal sees of a run beside its own log."""

import logging
import sys

# At every start they say what is of no use to a person, and uvicorn says it after `whist_ready`.
CHATTY = ("alembic.runtime", "uvicorn.error")


def quiet_libraries() -> None:
    """Warnings and errors alone of libraries that talk at start. Call after `configure_logs`."""
    for name in CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)


def greet(http_listen: str, log_format: str) -> None:
    """The page's address in a line of its own, short enough to be clicked; nothing for a log that programs read."""
    if log_format == "console":
        sys.stderr.write(f"\nWhist runs: {page_url(http_listen)} (Ctrl-C stops it)\n\n")
        sys.stderr.flush()


def page_url(http_listen: str) -> str:
    """Where a browser on this machine finds the page."""
    return f"http://{http_listen.replace('127.0.0.1', 'localhost').replace('0.0.0.0', 'localhost')}"  # noqa: S104
