"""J1, J2, J3 and J14: what the rows of one journal say by themselves."""

from itertools import pairwise

from tests.chaos.history.model import Journal


def complaints(journal: Journal) -> list[str]:
    """In the order of their names."""
    name = journal.table.hex
    rows = journal.rows
    found = []
    if [row.seq for row in rows] != list(range(len(rows))):
        found.append(f"J1 {name}: rows {[row.seq for row in rows]}")
    if journal.next_seq != len(rows):
        found.append(f"J1 {name}: the head awaits row {journal.next_seq}, there are {len(rows)}")
    for one, next_ in pairwise(rows):
        if next_.epoch < one.epoch:
            found.append(f"J2 {name}: epoch {next_.epoch} at row {next_.seq}, after {one.epoch}")
    commands = [row.command_id for row in rows]
    if len(set(commands)) != len(commands):
        found.append(f"J3 {name}: {len(commands) - len(set(commands))} commands stand twice")
    return found + _by_old_owners(journal)


def _by_old_owners(journal: Journal) -> list[str]:
    """J14: nothing was written in an epoch that was over, by the database's clock at both.

    A claim waits for the rows that are being written (it locks the head), so a row of before it has the earlier time.
    """
    name, found = journal.table.hex, []
    for row in journal.rows:
        if row.epoch > journal.epoch:
            found.append(f"J14 {name}: row {row.seq} of epoch {row.epoch}, the head's is {journal.epoch}")
        elif row.epoch < journal.epoch and row.at > journal.owned_at:
            found.append(f"J14 {name}: row {row.seq} of epoch {row.epoch} after epoch {journal.epoch} began")
        elif 1 < row.epoch == journal.epoch and journal.owner and row.at < journal.owned_at:
            found.append(f"J14 {name}: row {row.seq} of epoch {row.epoch} before that began")
    for one, next_ in pairwise(journal.rows):
        if next_.at < one.at:
            found.append(f"J14 {name}: row {next_.seq} is older than row {one.seq}")
    return found
