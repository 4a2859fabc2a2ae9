"""What leagues measures."""

from prometheus_client import Gauge

leagues_difference = Gauge(
    "whist_leagues_difference",
    "Accounts whose stored totals differed from the sums of their results and prizes at the last check.",
)
