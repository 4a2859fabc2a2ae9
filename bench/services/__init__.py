"""How fast the services are without a table in play: one module a service, each with bars of its own.

    python -m bench.services            # all, in turn, each in a process of its own; one JSON object
    python -m bench.services.matching   # one alone

A module measures real services over real PostgreSQL and has `async def run() -> dict[str, object]`. What it returns
can be written as JSON and has at least ``bars``, a list of `bars.Bar.shown()`; the other keys are figures of its own
(counts, medians, seconds). It ends with ``if __name__ == "__main__": sys.exit(bars.alone(run))``, which prints what
`run` returned as the last line and exits with 1 where a bar is missed. Seeds and sizes are constants of the module; its
databases lie under ``.run/bench/services/<module>`` and are wiped at its start. `PARTS` names the modules.
"""

PARTS = ("settling", "matching", "closing", "signing_in")
