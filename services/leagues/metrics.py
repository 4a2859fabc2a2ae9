"""What leagues measures."""

from prometheus_client import Gauge

leagues_difference = Gauge(
    "whist_leagues_difference",
    "Accounts, groups and weeks whose stored totals differed from what they stand for at the last check.",
)
week_late_seconds = Gauge(
    "whist_leagues_week_late_seconds",
    "For how long a week has ended without being closed; 0: none waits.",
)
last_closed_week = Gauge(
    "whist_leagues_last_closed_week",
    "The last closed week as a number, 202648 for 2026-W48; 0: none.",
)
