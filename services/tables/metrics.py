"""Metrics of the table workers. Stages of a turn are in `libs.wire.metrics`, shared with the gateway."""

from prometheus_client import Counter, Gauge, Histogram

from libs.chassis.telemetry.hot import CountCell, HotCounter, HotHistogram
from services.tables.domain.entries import By

tables_live = Gauge("whist_tables_live", "Tables this worker owns.")
moves = HotCounter("whist_moves", "Journaled decisions by who made them.", ["by"])
moves_by: dict[int, CountCell] = {by: moves.cell(by.word) for by in (By.PERSON, By.TIME_OUT, By.BOT)}
refusals = Counter("whist_moves_refused", "Commands refused, by reason.", ["reason"])
journal_batch = Histogram(
    "whist_journal_batch_entries", "Entries of one commit.", buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
)
commit_seconds = Histogram(
    "whist_journal_commit_seconds",
    "Time of one group commit.",
    buckets=(0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.125, 0.25, 0.5, 1, 5),
)
slow_commits = Counter("whist_journal_slow_commits", "Commits that took more than 20 ms.")
unknown_outcomes = Counter("whist_journal_unknown_outcomes", "Commits whose answer was lost and read back.")
fenced = Counter("whist_journal_fenced", "Entries refused because the table is another's.")
recoveries = Counter("whist_tables_recovered", "Tables taken over from a worker that had gone.")
recovery_seconds = Histogram(
    "whist_table_pause_seconds",
    "Time nobody could move at a table that changed its worker.",
    buckets=(0.1, 0.25, 0.5, 1, 2, 3, 4, 5, 6, 10, 30),
)
games_finished = Counter("whist_games_finished", "Games played to the end.", ["kind"])
games_voided = Counter("whist_games_voided", "Games ended by our fault.", ["reason"])
thinking_seconds = HotHistogram(
    "whist_thinking_seconds", "Time a person took for a move.", buckets=(0.5, 1, 2, 3, 5, 8, 12, 20, 60)
)
thinking = thinking_seconds.cell()
bot_seconds = Histogram(
    "whist_bot_seconds", "Time a bot thought about a move.", buckets=(0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1)
)
bot_failures = Counter("whist_bot_failures", "Moves made for a bot that raised or answered what is not legal.")
