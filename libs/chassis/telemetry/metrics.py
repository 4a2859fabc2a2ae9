"""Prometheus: metrics common to all services, and the listener of their own that shows them.

No metric carries an id as a label. Services declare theirs in their own `metrics.py`.
"""

import contextlib
import threading
from collections.abc import Iterator

from prometheus_client import Counter, Gauge, Histogram, start_http_server

from libs.chassis.settings import WrongSettings

LATENCY_BUCKETS = (
    0.0005,
    0.001,
    0.002,
    0.004,
    0.008,
    0.016,
    0.032,
    0.064,
    0.125,
    0.25,
    0.5,
    1,
    2,
    5,
    10,
)

rpc_seconds = Histogram(
    "whist_rpc_seconds",
    "Time to answer a gRPC call.",
    ["service", "method", "code"],
    buckets=LATENCY_BUCKETS,
)
events_published = Counter("whist_events_published", "Events acknowledged by the bus.", ["service", "type"])
events_handled = Counter("whist_events_handled", "Events taken by a consumer.", ["consumer", "type", "outcome"])
events_parked = Gauge("whist_events_parked", "Events waiting behind a poisoned key.", ["consumer"])
outbox_waiting = Gauge("whist_outbox_waiting", "Events not yet acknowledged by the bus.", ["service"])
job_failures = Counter("whist_job_failures", "Runs of a periodic job that raised.", ["service", "job"])
job_last_success = Gauge(
    "whist_job_last_success_timestamp_seconds",
    "Unix time of a job's last good run.",
    ["service", "job"],
)
loop_lag_seconds = Gauge("whist_loop_lag_seconds", "How late the event loop ran its last tick.", ["service"])


@contextlib.contextmanager
def metrics_listener(listen: str) -> Iterator[int]:
    """Serve `/metrics` on `host:port` from a thread of its own. Yields the port; empty `listen`: none, port 0.

    Raises WrongSettings when the address cannot be had.
    """
    if not listen:
        yield 0
        return
    host, _, port = listen.rpartition(":")
    try:
        server, thread = start_http_server(int(port), host)
    except OSError as error:
        raise WrongSettings(f"WHIST_METRICS_LISTEN: {listen}: {error}") from error
    assert isinstance(thread, threading.Thread)
    try:
        yield int(server.server_port)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
