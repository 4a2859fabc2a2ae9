"""What coach measures besides the time of its calls."""

from prometheus_client import Counter, Gauge, Histogram

hints_refused = Counter("whist_coach_hints_refused", "Hints refused because the queue was full.")
analysis_seconds = Histogram(
    "whist_coach_analysis_seconds",
    "Time that the analysis of one finished game took, waiting for hints included.",
    ["game"],
    buckets=(0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128),
)
records_unreadable = Counter(
    "whist_coach_records_unreadable", "Finished games whose record does not play again: nobody is graded."
)
games_waiting = Gauge("whist_coach_games_waiting", "Finished games not analysed yet.")
oldest_game_seconds = Gauge("whist_coach_oldest_game_seconds", "How long the oldest of them has been waiting.")
