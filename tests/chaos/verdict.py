"""The end of every scenario: everybody looks once more and goes, then the history is read and judged."""

from datetime import datetime

from tests.chaos.history import ClientLog, History, proved, reading
from tests.chaos.players import Room
from tests.chaos.scenario import Run


async def judged(
    run: Run,
    people: Room,
    *,
    healed_at: datetime | None = None,
    finishes: bool = False,
    others: tuple[ClientLog, ...] = (),
) -> History:
    """What was seen holds, and no process logged a fault of its own. Raises AssertionError with every complaint.

    `healed_at` is the database's time of the last repair; `others` are logs of clients that the room does not know.
    """
    await people.part()
    async with people.system.database() as database:
        history = await reading.read(
            database, people.tables, [*people.logs(), *others], healed_at=healed_at, finishes=finishes
        )
    run.held(proved(history))
    faults = people.system.faults()
    assert not faults, f"logged by processes: {faults}"
    return history
