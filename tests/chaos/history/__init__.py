"""Whether a run kept its promises: J1 to J15 over the journal's rows and the clients' logs, after the repair.

The names are the design's. J13, a chain of hashes over the rows, is no part of this product: who may write the journal
is a matter of database roles. What a check finds is a line that begins with the name.
"""

from tests.chaos.history import answers, ends, folding, rows, rules
from tests.chaos.history.model import ClientLog, History, Journal, Operation, Row, view_digest

__all__ = ["ClientLog", "History", "Journal", "Operation", "Row", "complaints", "proved", "view_digest"]


def complaints(history: History) -> list[str]:
    """Everything that is wrong, but for J7, which needs other processes (`folding.refolded`)."""
    found: list[str] = []
    for journal in history.journals.values():
        found += rows.complaints(journal)
        found += rules.complaints(journal)
        found += ends.of_journal(journal, history)
    found += answers.complaints(history)
    found += folding.complaints(history)
    found += ends.of_run(history)
    return found


def proved(history: History) -> str:
    """What held, for a run's report. Raises AssertionError with all complaints, J7's among them."""
    found = complaints(history) + folding.refolded(history)
    assert not found, f"{len(found)} complaints:\n" + "\n".join(found[:40])
    written = sum(len(journal.rows) for journal in history.journals.values())
    acked = sum(len(log.acknowledged()) for log in history.clients)
    heard = sum(len(log.deltas) for log in history.clients)
    return f"J1-J12, J14, J15 over {len(history.journals)} tables: {written} rows, {acked} acks, {heard} frames heard"
