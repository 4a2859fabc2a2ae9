"""What coach measures besides the time of its calls."""

from prometheus_client import Counter

hints_refused = Counter("whist_coach_hints_refused", "Hints refused because the queue was full.")
