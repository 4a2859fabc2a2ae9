"""J10, J11 and J12: after the repair tables go on, games end, and what they publish is out, once."""

from collections import Counter

from tests.chaos.history.model import History, Journal

ENDED = {"finished": "game_finished", "voided": "game_voided"}


def of_journal(journal: Journal, history: History) -> list[str]:
    """What is wrong with one table."""
    name, found = journal.table.hex, []
    if journal.status == "live":
        if not journal.owner:
            found.append(f"J10 {name}: nobody owns it")
        if history.healed_at is not None and journal.rows[-1].at <= history.healed_at:
            found.append(f"J10 {name}: no row since the repair")
        if history.finishes:
            found.append(f"J11 {name}: the game has not ended")
    counts = Counter(journal.events)
    if counts["game_started"] != 1:
        found.append(f"J12 {name}: {counts['game_started']} times GameStarted")
    for status, event in ENDED.items():
        if counts[event] != (journal.status == status):
            found.append(f"J12 {name}: the table is {journal.status}, {event} was published {counts[event]} times")
    scored = sum(event[0] == "scored" for row in journal.rows for event in getattr(row.entry, "events", []))
    if counts["round_ended"] != scored:
        found.append(f"J12 {name}: {scored} rounds were scored, {counts['round_ended']} published")
    return found


def of_run(history: History) -> list[str]:
    """What is wrong with the whole."""
    return [f"J12: {history.unpublished} events wait in an outbox"] if history.unpublished else []
