"""What operators see of the queue (P81)."""

from prometheus_client import Counter, Gauge, Histogram

WAIT_BUCKETS = (0.1, 0.25, 0.5, 1, 2, 4, 6, 8, 10, 11, 12, 15, 20, 30, 60)

queue_wait_seconds = Histogram(
    "whist_queue_wait_seconds", "From a ticket's birth to its seat.", ["mode"], buckets=WAIT_BUCKETS
)
tickets_waiting = Gauge("whist_tickets_waiting", "Tickets in the queue, as the last matching saw it.", ["mode"])
tables_dealt = Counter("whist_tables_dealt", "Quick tables dealt, by how many people sit at them.", ["mode", "people"])
tickets_dropped = Counter("whist_tickets_dropped", "Tickets taken off a table or given up.", ["reason"])
matches_failed = Counter("whist_matches_failed", "Matches taken back because their table could not be made.")
