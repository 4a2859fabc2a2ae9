"""J3 and J4: what clients were told of their commands, against the journal; and the order in which they were told.

The journal orders a table's commands; that order is a linearization when no command that began after another's answer
stands before it.
"""

from collections import defaultdict
from uuid import UUID

from services.tables.domain.table import command_id
from tests.chaos.history.model import History, Operation


def complaints(history: History) -> list[str]:
    """All clients together: two sockets of an account may have sent the same command."""
    found = []
    by_table: dict[UUID, list[Operation]] = defaultdict(list)
    by_command: dict[tuple[UUID, bytes, str], set[int]] = defaultdict(set)
    for log in history.clients:
        for each in log.acknowledged():
            by_table[log.table].append(each)
            by_command[each.table, each.account, each.req] |= {seq for _, seq in each.acks}
    for (table, account, req), told in by_command.items():
        if len(told) > 1:
            found.append(f"J3 {table.hex}: {req} was acknowledged as rows {sorted(told)}")
        rows = history.journals[table].rows
        identity = command_id(table, account, req)
        for seq in told:
            if not 0 <= seq < len(rows) or rows[seq].command_id != identity:
                found.append(f"J4 {table.hex}: {req} was acknowledged as row {seq}, which is not there")
    for table, operations in by_table.items():
        found += [f"J4 {table.hex}: {line}" for line in out_of_order(operations)]
    return found


def out_of_order(operations: list[Operation]) -> list[str]:
    """Pairs whose rows contradict the clock: answered before the other began, and yet a later row."""
    found = []
    answered = sorted((min(at for at, _ in each.acks), each.acks[0][1], each.req) for each in operations)
    begun = sorted((each.invoked_at, each.acks[0][1], each.req) for each in operations)
    newest, position = (-1, ""), 0
    for invoked_at, seq, req in begun:
        while position < len(answered) and answered[position][0] < invoked_at:
            newest = max(newest, answered[position][1:])
            position += 1
        if newest[0] > seq:
            found.append(f"{req} began after row {newest[0]} ({newest[1]}) was acknowledged and is row {seq}")
    return found
