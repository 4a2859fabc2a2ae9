"""B23: a database that is read-only, or has no room left, under play. Nothing is said of it, and it heals by itself."""

import asyncio
import os
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID, uuid4

import httpx
from prometheus_client import REGISTRY

from libs.wire import frames
from services.wallet.domain.ledger import AccountId
from tests.chaos.home import Home, home
from tests.chaos.house import ENTRY, MIGRATIONS, PRIZES, House, house
from tests.chaos.logs import logged
from tests.chaos.scenario import Run, scenario
from tests.services.gateway.world import Stage, staged
from tests.services.tables.conftest import Gateway, Player, eventually

SIZE = "96m"  # migrations take about 30 MB
TABLES = 4
PERSISTENT = 3  # tries of the journal that must come to nothing
OPENINGS_MAX = 200  # friends' tables opened until one does not fit any more
CHOICES = {"game": "romanian", "options": {"mode": "8-1-8"}, "players": 4}
Act = Callable[[], Awaitable[None]]


@contextmanager
def small_volume(place: Home) -> Iterator[Path | None]:
    """A file system of its own, as big as `SIZE`; None where this user may mount none."""
    folder = place.folder / "small"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "whist-chaos", str(folder)]
    mounted = subprocess.run(words, capture_output=True, check=False)
    if mounted.returncode:
        yield None
        return
    try:
        owner = (place.postgres.data / "postmaster.pid").stat()
        data = folder / "data"
        data.mkdir()
        os.chown(data, owner.st_uid, owner.st_gid)
        yield data
    finally:
        # Lazily: PostgreSQL lets go of its files when it is stopped, a moment later.
        subprocess.run(["umount", "-l", folder], check=True)


def fill(ballast: Path) -> int:
    """Write until nothing more fits; how many bytes that were."""
    with ballast.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    return ballast.stat().st_size


def _tries() -> float:
    return REGISTRY.get_sample_value("whist_journal_unknown_outcomes_total") or 0.0


async def _opened(stage: Stage, client: httpx.AsyncClient) -> httpx.Response:
    """A friends' table asked for by somebody new."""
    token = stage.world.keys.token(uuid4())
    return await client.post("/v1/friends-tables", json=CHOICES, headers={"Authorization": f"Bearer {token}"})


class Siege:
    """Games under way while the database is broken, and afterwards."""

    def __init__(self, made: House, stage: Stage, client: httpx.AsyncClient) -> None:
        self.made, self.stage, self.client = made, stage, client
        self.gateway = Gateway(made.worker.gateway)
        self.people: list[tuple[bytes, AccountId, Player]] = []

    async def outage(self, run: Run, name: str, broken: Act, heal: Act) -> None:
        """Break the database while people play, see what they and REST are told, heal it and see all to the end."""
        self.people = []
        for _ in range(TABLES):
            table, who = await self.made.open()
            player = await Player(self.gateway, table, who.bytes, next(self.made.numbers)).joined()
            self.people.append((table, who, player))
        await eventually(self._all_paid)
        before = _tries()
        await broken()
        games = asyncio.gather(*(player.play_on() for _, _, player in self.people))
        refused = await self._refused()
        await eventually(lambda: _more_tries(before + PERSISTENT))
        acknowledged = await self._no_row_is_missing()
        await heal()
        await asyncio.wait_for(games, 90)
        statuses = [player.seen.of(frames.Over)[0].status for _, _, player in self.people]
        assert statuses == ["finished"] * TABLES, statuses
        rows = await self._no_row_is_missing()
        for _, who, _ in self.people:
            await eventually(lambda account=who: self._settled(account))  # type: ignore[misc]
        assert (await _opened(self.stage, self.client)).status_code == 201
        run.inject(f"{name} under {TABLES} games")
        run.held(f"{name}: {refused}; {_tries() - before:.0f} commits came to nothing, none was acknowledged")
        run.held(
            f"{name}: healed without a hand: {TABLES} games finished and settled, {acknowledged} rows told before, "
            f"{rows} after, no gap and no row twice"
        )

    async def _refused(self) -> str:
        """The first answer of REST that is no table, of so many asked for."""
        for number in range(OPENINGS_MAX):
            answer = await _opened(self.stage, self.client)
            if answer.status_code != 201:
                problem = answer.json()
                assert (answer.status_code, problem["code"]) == (503, "DATABASE_AWAY"), answer.text
                assert answer.headers["retry-after"] == "1" and "facts" not in problem
                return f"REST answers 503 DATABASE_AWAY, retry after 1 s, at request {number + 1}"
        raise AssertionError(f"{OPENINGS_MAX} tables were opened in a database that cannot be written")

    async def _no_row_is_missing(self) -> int:
        """J1, J4, J5: what anybody was told stands in the journal, once and without a gap. How many rows were told."""
        told = 0
        for table, _, player in self.people:
            rows = await self.made.query(
                "select seq, command_id from tables.table_log where table_id = :t order by seq", t=UUID(bytes=table)
            )
            [head] = await self.made.query(
                "select next_seq from tables.table_head where table_id = :t", t=UUID(bytes=table)
            )
            assert [row.seq for row in rows] == list(range(len(rows))) and head.next_seq == len(rows)
            assert len({row.command_id for row in rows}) == len(rows)
            seen = [delta.seq for delta in player.seen.of(frames.Delta)]
            assert seen == sorted(set(seen)) and max(seen, default=0) < len(rows)
            told += len(seen)
        return told

    async def _all_paid(self) -> bool:
        return [await self.made.purse(who) for _, who, _ in self.people] == [(1000 - ENTRY, 0)] * TABLES

    async def _settled(self, account: AccountId) -> bool:
        coins, held = await self.made.purse(account)
        games = await self.made.query(
            "select 1 from wallet.game g join wallet.hold h using (table_id) "
            "where h.account_id = :a and g.state = 'finished'",
            a=account,
        )  # fmt: skip
        return bool(games) and held == 0 and coins in {1000 - ENTRY + prize for prize in (0, *PRIZES)}


async def _more_tries(wanted: float) -> bool:
    return _tries() >= wanted


@scenario("B23", "a database that is read-only, then one that is full")
async def b23(run: Run) -> None:
    async with home() as place:
        with small_volume(place) as volume, logged():
            url = await place.database(*MIGRATIONS, on=volume)
            async with (
                house(place, url, limit_scale=1.0) as made,
                staged(place.folder, tables_target=made.worker.address) as stage,
                httpx.AsyncClient(base_url=stage.http_url, timeout=30) as client,
            ):
                siege = Siege(made, stage, client)
                await siege.outage(run, "read-only", lambda: _read_only(place, "on"), lambda: _read_only(place, "off"))
                if volume is None:
                    run.inject("no full disk: this user may mount no file system of its own")
                else:
                    ballast = volume.parent / "ballast"
                    await siege.outage(run, "a full disk", lambda: _filled(ballast), lambda: _emptied(ballast))
                await siege.gateway.close()


async def _read_only(place: Home, value: str) -> None:
    await place.command(f"alter system set default_transaction_read_only = {value}")
    await place.command("select pg_reload_conf()")


async def _filled(ballast: Path) -> None:
    await asyncio.to_thread(fill, ballast)


async def _emptied(ballast: Path) -> None:
    ballast.unlink()
