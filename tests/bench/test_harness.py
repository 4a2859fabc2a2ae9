"""The load harness: a tiny run against a real server, and what it makes of bad results."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from bench.servers import PEERS
from bench.tables import Row, best, failures, main

KEYS = {"target", "tables", "think_ms", "moves_per_s", "p50_ms", "p99_ms", "server_cpu", "referee_errors", "lost_acked"}
GOOD = Row(
    target="whist", tables=10, think_ms=0, moves_per_s=2000.0, p50_ms=2.0, p99_ms=5.0, server_cpu=0.9,
    us_per_move=450.0,
    load_cpu=0.2, foreign_cpu=0.0, referee_errors=0, lost_acked=0, acked=9, errors=0,
)  # fmt: skip


@pytest.mark.skipif(shutil.which("node") is None, reason="the load runs on Node")
async def test_a_tiny_run_is_refereed_durable_and_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--tables", "2", "--seconds", "2", "--warm", "1", "--targets", "whist", "--attempts", "1", "--deals", "2"]
    assert await main([*words, "--folder", str(folder), "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out.splitlines()[-1])["rows"]
    assert row.keys() >= KEYS
    assert (row["target"], row["tables"], row["referee_errors"], row["lost_acked"]) == ("whist", 2, 0, 0)
    assert row["acked"] > 72  # more than a game of two deals, so that a table was closed and another made
    assert row["errors"] == 0 and 0 < row["p50_ms"] <= row["p99_ms"] and row["server_cpu"] > 0


def test_lost_moves_referee_errors_and_a_slower_run_fail() -> None:
    bar = replace(GOOD, target="boardgameio", moves_per_s=1000.0)
    assert failures([GOOD, bar]) == []
    assert len(failures([replace(GOOD, lost_acked=1), bar])) == 1
    assert len(failures([GOOD, replace(bar, referee_errors=2)])) == 1
    assert len(failures([replace(GOOD, moves_per_s=1000.0), bar])) == 1
    assert failures([replace(GOOD, moves_per_s=1.0), replace(bar, tables=50)]) == []


def test_the_best_attempt_counts_and_keeps_what_went_wrong_in_the_others() -> None:
    row = best([replace(GOOD, moves_per_s=10.0, lost_acked=1, referee_errors=2), GOOD])
    assert (row.moves_per_s, row.lost_acked, row.referee_errors) == (2000.0, 1, 2)


def test_no_lock_file_names_a_registry() -> None:
    locks = list(PEERS.glob("*/package-lock.json"))
    assert len(locks) == 3
    assert all('"resolved"' not in lock.read_text() for lock in locks)
