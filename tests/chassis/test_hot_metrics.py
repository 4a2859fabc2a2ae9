"""Cells are read as the metrics they feed: nothing lost, nothing counted twice."""

from prometheus_client import CollectorRegistry, generate_latest

from libs.chassis.telemetry.hot import HotCounter, HotHistogram


def test_p81_a_time_cell_is_read_as_the_histogram_it_feeds() -> None:
    registry = CollectorRegistry()
    histogram = HotHistogram("turn", "t", ["stage"], buckets=(0.001, 0.002), registry=registry)
    cell = histogram.cell("queue")
    assert histogram.cell("queue") is cell
    for seconds in (0.0005, 0.001, 0.0015, 3.0):
        cell.observe(seconds)
    for _ in range(2):  # read twice, counted once
        told = generate_latest(registry).decode()
        assert 'turn_bucket{le="0.001",stage="queue"} 2.0' in told
        assert 'turn_bucket{le="0.002",stage="queue"} 3.0' in told
        assert 'turn_bucket{le="+Inf",stage="queue"} 4.0' in told
        assert 'turn_sum{stage="queue"} 3.003' in told


def test_a_histogram_without_labels_has_one_cell() -> None:
    registry = CollectorRegistry()
    histogram = HotHistogram("thinking", "t", buckets=(1,), registry=registry)
    histogram.cell().observe(0.5)
    histogram.observe(2.0)
    told = generate_latest(registry).decode()
    assert 'thinking_bucket{le="1.0"} 1.0' in told
    assert 'thinking_bucket{le="+Inf"} 2.0' in told


def test_a_count_cell_is_read_as_the_counter_it_feeds() -> None:
    registry = CollectorRegistry()
    counter = HotCounter("moves", "m", ["by"], registry=registry)
    cell = counter.cell("bot")
    assert counter.cell("bot") is cell
    cell.count()
    cell.count()
    counter.labels("bot").inc()
    for _ in range(2):
        assert 'moves_total{by="bot"} 3.0' in generate_latest(registry).decode()
