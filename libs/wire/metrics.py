"""The first number of every dashboard: how long a turn takes, by stage (P81).

gateway: a frame's receipt until it is on the stream. queue: on the worker until it is decided. decide: the rules.
journal: until the commit. fanout: until the frames are on the streams. total: the gateway's receipt until its own
acknowledgement is written. Each process observes the stages it can see.
"""

from libs.chassis.telemetry.hot import HotHistogram

turn_seconds = HotHistogram(
    "whist_turn_seconds",
    "Time of a move by stage.",
    ["stage"],
    buckets=(
        0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.003, 0.004, 0.006, 0.008, 0.012, 0.016, 0.025, 0.05, 0.1, 0.25, 0.5,
        1, 2.5, 5, 10,
    ),
)  # fmt: skip

gateway_stage = turn_seconds.cell("gateway")
queue_stage = turn_seconds.cell("queue")
decide_stage = turn_seconds.cell("decide")
journal_stage = turn_seconds.cell("journal")
fanout_stage = turn_seconds.cell("fanout")
total_stage = turn_seconds.cell("total")
