"""B15: a player goes away for three deals and comes back, another never does; a bot keeps each seat by the rules."""

import asyncio
import time
from functools import partial
from uuid import UUID

from libs.house.prizes import PLACE_BP
from services.tables.domain.entries import By, Moved, Opened
from tests.chaos import purse
from tests.chaos.history import Journal
from tests.chaos.players import Player, room
from tests.chaos.scenario import Run, scenario
from tests.chaos.system import Plan, running
from tests.chaos.verdict import judged

SCALE = 0.03  # of the platform's turn limits
AWAY_DEALS = 3
BACK_SECONDS = 1.0
GAMES_SECONDS = 150.0
PRIZE = 250  # coins of the first place in the room that was paid for (config/platform.toml)
PRIZES = """
select account_id, amount from wallet.posting p join wallet.transfer t on t.id = p.transfer_id
 where t.reason = 'prize' and account_id is not null
"""


@scenario("B15", "a player away for three deals, another for good: bots keep seats by the rules, prizes by own rounds")
async def absent_players(run: Run) -> None:
    tables = 3 if run.small else 30
    plan = Plan(services=("wallet",), workers=1, environment={"WHIST_TURN_LIMIT_SCALE": str(SCALE)})
    async with running(plan, run.folder) as system, room(system, run.random) as people, system.database() as database:
        await people.deal(tables, people=3, think_seconds=0.03, room=purse.ROOM, entry=partial(purse.held, system))
        seats: dict[UUID, list[Player]] = {}
        for player in people.players:
            seats.setdefault(player.log.table, []).append(player)
        leaves = {table: run.random.randint(0, 2) for table in seats}
        async with asyncio.timeout(GAMES_SECONDS):
            backs = await asyncio.gather(*(at_table(seats[table], leaves[table]) for table in seats))
        run.inject(f"at {tables} tables one player away for {AWAY_DEALS} deals, one for good")
        slowest = max(backs)
        assert slowest <= run.bar(BACK_SECONDS), f"somebody was back after {slowest:.2f} s"
        run.held(f"who came back had the whole table within {slowest:.2f} s")
        history = await judged(run, people, finishes=True)
        await purse.settled(database, people.tables)
        rows = await database.fetch(PRIZES)
        paid = {UUID(bytes=row["account_id"].bytes).bytes: row["amount"] for row in rows}
        due: dict[bytes, int] = {}
        for journal in history.journals.values():
            due |= prizes(journal)
        assert paid == due, f"paid {paid}, due {due}"
        run.held(f"E6: {len(due)} prizes of {3 * tables} players, as their own rounds and places say")
        entries = [row.entry for journal in history.journals.values() for row in journal.rows]
        bots = sum(isinstance(entry, Moved) and entry.by != By.PERSON for entry in entries)
        run.held(f"{bots} moves by bots and time-outs, all legal")


async def at_table(seats: list[Player], first_away: int) -> float:
    """One stays, one is away for three deals from `first_away` (0-based) on, one never comes; seconds of the return."""
    stays, returns, never = seats

    async def away() -> float:
        await returns.play(lambda: (returns.table.view["round"] or 0) >= first_away)
        await returns.go()
        while (stays.table.view["round"] or 0) < first_away + AWAY_DEALS:
            await stays.table.changed(stays.table.version)
        began = time.monotonic()
        returns.come()
        await returns.table.joined()
        back = time.monotonic() - began
        await returns.play()
        return back

    await never.go()
    playing = asyncio.create_task(stays.play())
    back = await away()
    await playing
    return back


def prizes(journal: Journal) -> dict[bytes, int]:
    """By account, what P6 and P16 give: places as in the journal, for whoever bid in two thirds of the rounds."""
    first = journal.rows[0].entry
    assert isinstance(first, Opened)
    bids: list[list[bool]] = [[] for _ in first.seats]  # by seat: whether the person bid, a round each
    ranking: list[int] = []
    for row in journal.rows:
        for event in getattr(row.entry, "events", []):
            if event[0] == "bid" and isinstance(row.entry, Moved):
                bids[event[1]].append(row.entry.by == By.PERSON)
            if event[0] == "over":
                ranking = event[1]
    found = {}
    for place, seat in enumerate(ranking[:3], 1):
        own = bids[seat]
        if first.seats[seat].account and 3 * sum(own) >= 2 * len(own) and any(own[-3:]):
            found[first.seats[seat].account] = PRIZE * PLACE_BP[place - 1] // 10_000
    return found
