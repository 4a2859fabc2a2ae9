"""One town's weeks from the first gift to the last podium, and everything proved at the end."""

import random
import time
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

from services.leagues.handlers.proof import check
from services.wallet.handlers.ledger_check import ledger_check
from tests.simulation.books import Books
from tests.simulation.system import System, at_once, running_system
from tests.simulation.town import Town
from tests.simulation.week import Chronicle

# The last week in which a game may be given back three times a day, and the first in which once, on VIP days (P14).
START = datetime.fromisoformat("2026-11-09T18:00:00+02:00")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was played, and how long it took."""

    players: int
    weeks: tuple[str, ...]
    games: int
    refunds: int
    podium_bars: int
    repeated_events: int
    seconds: float


async def history(database_url: str, folder: Path, *, seed: int, players: int, weeks: int, evenings: int) -> Report:
    """Live it. Raises AssertionError where a purse, a group or a proof is not as the books say."""
    began = time.monotonic()
    async with running_system(database_url, folder, START) as system:
        zone = system.platform.zone
        books, names = Books(platform=system.platform), []
        town = Town(seed, players, START - timedelta(days=2))
        chronicle = Chronicle(town=town, system=system, books=books, zone=zone)
        await chronicle.settle_in()
        for number in range(weeks):
            monday = (START + timedelta(weeks=number)).astimezone(zone)
            for evening in range(evenings):
                day = monday.replace(hour=18) + timedelta(days=evening * 6 // max(1, evenings - 1))
                if day > await system.machine.now():
                    await system.machine.travel_to(day)
                await chronicle.evening()
            year, week, _ = monday.isocalendar()
            names.append(f"{year}-W{week:02}")
            await chronicle.end_of_week(names[-1])
            await same_purses(system, books)
            await same_standings(system, books, names[-1])
        await proved(system)
        again = await replayed(system, chronicle, seed)
        await same_purses(system, books)
        bars = await system.rows("select coalesce(sum(p.amount), 0) as n from wallet.posting p "
                                 "join wallet.transfer t on t.id = p.transfer_id "
                                 "where t.key like 'league_prize:%' and p.asset = 'bar' and p.amount > 0")  # fmt: skip
        return Report(
            players=players, weeks=tuple(names), games=sum(len(each) for each in system.tables.finished.values()),
            refunds=sum(books.refunds.values()), podium_bars=int(bars[0].n), repeated_events=again,
            seconds=round(time.monotonic() - began, 1),
        )  # fmt: skip


async def same_purses(system: System, books: Books) -> None:
    """Everybody owns what the books say, to the last coin."""
    expected = {account: dict(+purse) for account, purse in books.purses.items() if +purse}
    found = await system.purses()
    wrong = {account: (found.get(account), expected.get(account)) for account in {*found, *expected}
             if found.get(account) != expected.get(account)}  # fmt: skip
    assert not wrong, f"{len(wrong)} purses differ (found, expected): {dict(list(wrong.items())[:3])}"


async def same_standings(system: System, books: Books, week: str) -> None:
    """Points and games of everybody, guests too, are the sums of what was played and kept (P50, P52)."""
    rows = await system.rows("select account_id, points, games from leagues.standing where week_id = :week", week=week)
    found = {row.account_id: (row.points, row.games) for row in rows if row.points or row.games}
    points, games = books.points[week], books.games[week]
    assert found == {who: (points[who], games[who]) for who in {*+points, *+games}}


async def proved(system: System) -> None:
    """Sums are zero asset by asset, each group is closed and each podium paid once, the services' own proofs find
    nothing (P17, P55, E1).
    """
    sums = await system.rows("select asset, sum(amount) as total from wallet.posting group by asset")
    assert sums and {row.asset: row.total for row in sums if row.total} == {}
    [[groups, still_open]] = await system.rows("select count(*), count(*) - count(closed_at) from leagues.league_group "
                                               "where week_id in (select week_id from leagues.week)")  # fmt: skip
    assert groups and not still_open
    assert await ledger_check(wallets=system.wallets) == []
    assert await check(books=system.leagues, platform=system.platform) == 0
    weeks = Counter[tuple[str, UUID]]()
    for row in await system.rows("select key from wallet.transfer where key like 'league_prize:%'"):
        _, week, account = row.key.split(":")
        weeks[week, UUID(account)] += 1
    assert weeks and set(weeks.values()) == {1}


async def replayed(system: System, chronicle: Chronicle, seed: int) -> int:
    """Everything that was ever told comes again in any order, to consumers that know no event's id any more."""
    events = [*system.seen, *chronicle.late, *await system.told()]
    random.Random(seed).shuffle(events)
    await system.settled()
    before = await system.digest()
    await system.forget_inboxes()
    await at_once(system.bus.publish([event]) for event in events)
    await system.settled()
    after = await system.digest()
    assert {name for name in after if after[name] != before[name]} == set()
    return len(events)
