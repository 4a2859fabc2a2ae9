"""Metrics of the gateway. Stages of a turn are in `libs.wire.metrics`, shared with the table workers."""

from prometheus_client import Counter, Gauge, Histogram

from libs.chassis.telemetry.metrics import LATENCY_BUCKETS

sockets_open = Gauge("whist_sockets_open", "Sockets connected to this gateway.")
accounts_connected = Gauge("whist_accounts_connected", "Accounts with a socket at this gateway.")
tables_followed = Gauge("whist_tables_followed", "Tables followed by sockets of this gateway.")
links_open = Gauge("whist_links_open", "Streams to table workers.")
links_lost = Counter("whist_links_lost", "Streams to table workers that broke.")
frames = Counter("whist_socket_frames", "Frames of players' sockets.", ["direction"])
frames_in = frames.labels("in")
frames_out = frames.labels("out")
frames_refused = Counter("whist_socket_frames_refused", "Frames refused by the gateway itself.", ["reason"])
sockets_closed = Counter("whist_sockets_closed", "Sockets closed by the gateway, by close code.", ["code"])
handshakes_refused = Counter("whist_socket_handshakes_refused", "Handshakes refused.", ["reason"])
resumes = Counter("whist_socket_resumes", "Joins by whether they resumed from a sequence number.", ["kind"])
resumes_fresh = resumes.labels("snapshot")
resumes_since = resumes.labels("since")
relocations = Counter("whist_tables_relocated", "Tables located anew, by what caused it.", ["cause"])
commands_expired = Counter("whist_commands_expired", "Commands that no worker answered in time.")
http_seconds = Histogram(
    "whist_http_seconds", "Time to answer a REST request.", ["route", "method", "status"], buckets=LATENCY_BUCKETS
)
