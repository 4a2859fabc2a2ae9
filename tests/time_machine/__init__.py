"""Another day for a whole system under test: weeks close and VIP days come at once, without a hook in the product.

Days, weeks and leases are the database's (`libs/chassis/db`), and product SQL calls the clock by its bare name
(tests/architecture/test_clock_in_sql.py holds that), so a schema that stands before `pg_catalog` in the database's
search path decides what time it is. Tokens are checked by the machine's clock (`libs/chassis/clock.py`): the processes
of a run read theirs through the same offset when they are started with `TimeMachine.environment`.

    machine = await TimeMachine.install(database_url, folder / "ahead")   # before any service connects
    with machine.here(): ...                                              # services of this process
    await machine.travel_to(datetime(2026, 12, 7, 0, 5, tzinfo=ZoneInfo("Europe/Bucharest")))
    await machine.advance(timedelta(hours=3))

Travel forwards, and when no table is at play: a turn that is under way is measured by monotonic clocks, which stay.
"""

from tests.time_machine.machine import TimeMachine

__all__ = ["TimeMachine"]
