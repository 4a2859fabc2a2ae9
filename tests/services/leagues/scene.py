"""One league of few people for many short histories: the service, two replicas that close, the wallet, and the time."""

import asyncio
import re
import tempfile
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from libs.chassis.db import Database, Store
from libs.chassis.events.envelope import Event
from libs.engine.record import plain
from libs.house import platform as house
from libs.house.calendar import week_id
from services.leagues import consumers
from services.leagues.handlers import closing
from services.leagues.peers import WalletPeer
from services.leagues.storage.ledger import LeaguesTransaction
from services.leagues.wiring import MIGRATIONS
from tests.conftest import MakeDatabase
from tests.services.leagues.builders import ENTROPY, Leagues, leagues_running, new_id
from tests.services.leagues.model import DOWN, DOWN_FROM, GROUP, OFFLINE_GAMES, UP
from tests.services.leagues.offline_games import person_of, played
from tests.services.leagues.test_closed_weeks import Cut, cut_before
from tests.services.leagues.wallet import Wallet, a_wallet, wallet_serving
from tests.time_machine import TimeMachine
from whist.auth.v1.events_pb2 import AuthEvent
from whist.tables.v1.events_pb2 import TablesEvent
from whist.wallet.v1.events_pb2 import WalletEvent

MONDAYS = [datetime(2026, 11, 2, tzinfo=ZoneInfo("Europe/Bucharest")) + timedelta(weeks=n) for n in range(6)]
WEEKS = [week_id(monday) for monday in MONDAYS]
RECORDS = 4
# By the topic's service.
MESSAGES: Mapping[str, Any] = {"auth": AuthEvent, "tables": TablesEvent, "wallet": WalletEvent}
CONSUMERS: Mapping[str, Any] = {
    "auth": consumers.on_auth, "tables": consumers.on_tables, "wallet": consumers.on_wallet,
}  # fmt: skip


# Rows alone: TRUNCATE locks table after table, and the service's relay has an order of its own to read them in.
EMPTY = """
do $$ declare kept record;
begin
  set local session_replication_role = replica;  -- what refers to what does not matter, all of it goes
  for kept in select tablename from pg_tables where schemaname = 'leagues' and tablename <> 'alembic_version' loop
    execute format('delete from leagues.%I', kept.tablename);
  end loop;
end $$
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One service and two replicas that do nothing but close, for all examples; each begins with empty tables."""

    loop: asyncio.AbstractEventLoop
    leagues: Leagues
    wallet: Wallet
    peer: WalletPeer
    platform: house.Platform
    machine: TimeMachine
    closers: Sequence[Store[LeaguesTransaction]]
    records: Sequence[tuple[str, int]]  # an offline game, and what it is worth online

    async def begin(self) -> None:
        self.wallet.forget()
        await self.leagues.rows(EMPTY)
        await self.turn_to(0)

    async def turn_to(self, week: int) -> None:
        """Monday noon."""
        await self.machine.travel_to(MONDAYS[week] + timedelta(hours=12))

    async def digest(self) -> Mapping[str, str]:
        """Of every table that an event may change; the inbox is what keeps repetitions out."""
        names = await self.leagues.rows(
            "select tablename as name from pg_tables where schemaname = 'leagues' "
            "and tablename !~ '^(inbox|outbox|event|alembic_version)$'"
        )
        each = " union all ".join(
            f"select '{row.name}' as name, md5(string_agg(t::text, '|' order by t::text)) as sum "
            f"from leagues.{row.name} t"
            for row in names
        )
        return {row.name: row.sum for row in await self.leagues.rows(each)}

    async def die_with(self, event: Event) -> None:
        """A process takes the event in and is gone before its commit. Raises Cut."""
        async with self.closers[0].transaction() as ledger:
            await CONSUMERS[event.topic.split(".")[1]](ledger, message_of(event), platform=self.platform)
            raise Cut

    async def close(self, cuts: Sequence[int | None]) -> bool:
        """Close what is due, by one or two at once, each to its end or to before its statement of that number.

        True: each came to its end.
        """
        works = []
        with ExitStack() as stack:
            for cut, closer in zip(cuts, self.closers, strict=False):
                if cut is not None:
                    stack.enter_context(cut_before(cut, closer))
                works.append(closing.close_weeks(books=closer, wallet=self.peer, platform=self.platform))
            ends = await asyncio.gather(*works, return_exceptions=True)
        for end in ends:
            if isinstance(end, BaseException) and not isinstance(end, Cut):
                raise end
        return not any(isinstance(end, Cut) for end in ends)


def message_of(event: Event) -> Any:
    return MESSAGES[event.topic.split(".")[1]].FromString(event.payload)


def under_another_id(event: Event) -> Event:
    """The same fact, told again by whoever does not know that it was."""
    message, event_id = message_of(event), new_id()
    message.event_id = event_id.bytes
    return replace(event, event_id=event_id, payload=message.SerializeToString())


async def at_once(*works: Coroutine[Any, Any, Any]) -> list[Any]:
    return await asyncio.gather(*works)


def small_league(folder: Path) -> Path:
    """The platform's numbers, with groups that a few people fill."""
    text = (Path(__file__).parents[3] / "config" / "platform.toml").read_text()
    smaller = {"group_size": GROUP, "up": UP, "down": DOWN, "down_from": DOWN_FROM}
    for table, numbers in (("league", smaller), ("offline", {"games_a_day": OFFLINE_GAMES})):
        before, rest = text.split(f"\n[{table}]\n")
        for name, number in numbers.items():
            rest, found = re.subn(rf"^{name} = \d+$", f"{name} = {number}", rest, count=1, flags=re.MULTILINE)
            assert found
        text = f"{before}\n[{table}]\n{rest}"
    file = folder / "platform.toml"
    file.write_text(text)
    return file


def offline_record(seed: str) -> tuple[str, int]:
    """A game of six rounds of the person's own bids, and what it would be worth online (P43)."""
    record = played(seed)
    result, seat = plain.to_json(record)["result"], person_of(record)
    made = sum(bid == taken for _, bid, taken, _ in result["seats"][seat])
    return plain.dumps(record), 60 + 5 * made + (50, 30, 20, 0, 0, 0)[result["ranking"].index(seat)]


@asynccontextmanager
async def scene_of(make_database: MakeDatabase) -> AsyncIterator[Scene]:
    url, wallet = await make_database(MIGRATIONS), a_wallet()
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="whist-leagues-")))
        machine = await TimeMachine.install(url, folder / "ahead")
        config, target = small_league(folder), f"unix:{folder}/wallet.sock"
        peer = await stack.enter_async_context(wallet_serving(wallet, target))
        leagues = await stack.enter_async_context(
            leagues_running(url, folder, wallet_target=target, platform_config=config)
        )
        closers = [Database.open(url, "leagues", pool=2) for _ in range(2)]
        for database in closers:
            stack.push_async_callback(database.close)
        yield Scene(
            loop=asyncio.get_running_loop(), leagues=leagues, wallet=wallet, peer=peer, machine=machine,
            platform=house.load(config), records=[offline_record(f"machine {number}") for number in range(RECORDS)],
            closers=[Store(database, LeaguesTransaction, ENTROPY) for database in closers],
        )  # fmt: skip
