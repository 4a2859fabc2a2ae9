"""J5, J6 and J7: what was broadcast and what clients see is the fold of the journal, wherever it is folded."""

import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from subprocess import run
from typing import Any
from uuid import UUID

import msgspec

from libs.wire import frames
from services.tables.domain.entries import Body, By, Moved, Opened, TakenOver, Vacated
from services.tables.domain.table import Table, opened
from tests.chaos.history.model import OPEN, ClientLog, History, Journal, Row, view_digest

HASH_SEEDS = ("0", "1")  # besides this process's own


def steps(journal: Journal) -> Iterator[tuple[Row, Body, Sequence[Any], Table]]:
    """Each row from the second on with its events, and the table after it; the table is the same object throughout."""
    first = journal.rows[0].entry
    assert isinstance(first, Opened)
    table = opened(journal.table, first)
    for row in journal.rows[1:]:
        body = row.entry
        plain = getattr(body, "events", [])
        events = [table.game.load_event(each, first.rules_version) for each in plain]
        table.apply(body)
        yield row, body, events, table


def complaints(history: History) -> list[str]:
    """J5 and J6 for every client."""
    found = []
    by_table: dict[UUID, list[ClientLog]] = defaultdict(list)
    for log in history.clients:
        by_table[log.table].append(log)
    for table, logs in by_table.items():
        journal = history.journals[table]
        try:
            found += _of_table(journal, logs)
        except Exception as error:
            # Whatever a broken row makes the engine raise is a finding, not the checker's end.
            found.append(f"J6 {table.hex}: cannot be folded: {error!r}")
    return found


def _of_table(journal: Journal, logs: Sequence[ClientLog]) -> list[str]:
    name, found = journal.table.hex, []
    told: dict[int, list[frames.Delta]] = defaultdict(list)
    shown: dict[int, list[frames.Snapshot]] = defaultdict(list)
    for log in logs:
        for _, delta in log.deltas:
            told[delta.seq].append(delta)
        for _, snapshot in log.snapshots:
            shown[snapshot.seq].append(snapshot)
    for seq in sorted({*told, *shown}):
        if not 0 < seq < len(journal.rows):
            found.append(f"J5 {name}: row {seq} was told and is not there")
    for row, body, events, table in steps(journal):
        expected = broadcast(row, body, events, table) if told[row.seq] else b""
        for delta in told[row.seq]:
            if frames.encode(msgspec.structs.replace(delta, deadline=0)) != expected:
                found.append(f"J5 {name}: row {row.seq} was told as {delta}")
        for snapshot in shown[row.seq]:
            view = table.view(None if snapshot.seat < 0 else snapshot.seat)
            if view_digest(view) != view_digest(snapshot.view) or view.get(OPEN) != snapshot.view.get(OPEN):
                found.append(f"J6 {name}: the snapshot of seat {snapshot.seat} at row {row.seq} is another table")
            if not row.epoch <= snapshot.epoch <= journal.epoch:
                found.append(f"J5 {name}: a snapshot of epoch {snapshot.epoch} at row {row.seq} of epoch {row.epoch}")
        for log in logs:
            digest = log.views.get(row.seq)
            if digest is not None and digest != view_digest(table.view(None if log.seat < 0 else log.seat)):
                found.append(f"J6 {name}: what seat {log.seat} sees after row {row.seq} is another table")
    return found


def broadcast(row: Row, body: Body, events: Sequence[Any], table: Table) -> bytes:
    """The public frame of a row, but for the deadline, which is not in the journal."""
    return frames.encode(
        frames.Delta(
            table=table.table_id.hex,
            seq=row.seq,
            epoch=row.epoch,
            events=[shown for event in events if (shown := table.game.project(event, None)) is not None],
            by=(By(body.by) if isinstance(body, Moved) else By.SERVER).word,
            seat=body.seat if isinstance(body, Moved | Vacated | TakenOver) else -1,
            turn=table.turn,
            to_act=-1 if table.to_act is None else table.to_act,
            deadline=0,
            req=body.req if isinstance(body, Moved) else "",
            private=True if any(map(table.game.is_private, events)) else msgspec.UNSET,
        )
    )


# ---- J7 ----


def digest_of(journals: Sequence[tuple[UUID, Sequence[bytes]]]) -> str:
    """The fold of these journals, (table, bodies), as every seat sees it after every row."""
    whole = blake2b(digest_size=16)
    for name, bodies in journals:
        rows = [msgspec.msgpack.decode(body, type=Body) for body in bodies]
        first = rows[0]
        assert isinstance(first, Opened)
        table = opened(name, first)
        for body in rows[1:]:
            table.apply(body)
            for seat in (None, *range(len(table.seats))):
                whole.update(view_digest(table.view(seat)))
    return whole.hexdigest()


def refolded(history: History) -> list[str]:
    """J7: other processes with other hash seeds fold the same.

    One version of the engine can be asked; what earlier ones wrote is held by the golden journals of tests/engine.
    """
    journals = [(each.table, [row.body for row in each.rows]) for each in history.journals.values()]
    here = digest_of(journals)
    found = []
    for seed in HASH_SEEDS:
        done = run(
            [sys.executable, "-m", __name__], input=msgspec.msgpack.encode(journals), capture_output=True, check=False,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )  # fmt: skip
        there = done.stdout.decode().strip()
        if there != here:
            found.append(f"J7: with hash seed {seed} the fold is {there or done.stderr.decode()[-500:]}, here {here}")
    return found


def main() -> None:
    """Fold what standard input holds; write the digest."""
    journals = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=list[tuple[UUID, list[bytes]]])
    print(digest_of(journals))


if __name__ == "__main__":
    main()
