"""Tables and access tokens for a load, made in bulk: guests of whom auth has never heard, at the harness's tables.

Making guests through auth costs four calls a table and more time than everything measured afterwards. A token that
bears auth's signature is all that gateway and tables ask for.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from bench.servers import Running
from libs.chassis import localca
from libs.chassis.clock import SystemClock
from libs.chassis.entropy import SystemEntropy
from libs.chassis.rpc.peer import Peer
from libs.chassis.rpc.tls import TlsFiles
from libs.house.ids import table_id as new_table_id
from services.auth.domain.accounts import Account, AccountId, SessionId
from services.auth.storage.keys import KeyRing
from whist.tables.v1 import tables_pb2, tables_pb2_grpc

SEATS = 4
AT_ONCE = 16  # calls; the worker's pool has ten connections
CALL_SECONDS = 30.0  # on a machine that starts nine processes at the same time


@dataclass(frozen=True, slots=True, kw_only=True)
class Seated:
    """A table and its four guests' accounts and tokens. Seats are drawn by lot: a guest's number is not its seat."""

    table: UUID
    accounts: Sequence[UUID]
    tokens: Sequence[str]


class Seating:
    """Seats guests at one worker's tables. A token is good for ten minutes."""

    def __init__(self, signing_keys: Path, target: str, tls: TlsFiles | None = None) -> None:
        """`target` is the worker's gRPC name; `tls` the gateway's files where the services speak TLS."""
        self._clock = SystemClock()
        self._entropy = SystemEntropy()
        self._keys = KeyRing(signing_keys, self._entropy, self._clock)
        self._peer = Peer(target, "gateway", tls, server_name="tables" if tls else "")
        self._stub = tables_pb2_grpc.TablesServiceStub(self._peer.channel)

    async def open(self, count: int, rounds: int) -> list[Seated]:
        """Deal `count` tables of so many rounds of eight cards."""
        at_once = asyncio.Semaphore(AT_ONCE)

        async def one() -> Seated:
            async with at_once:
                return await self._table(rounds)

        async with asyncio.TaskGroup() as group:
            made = [group.create_task(one()) for _ in range(count)]
        return [each.result() for each in made]

    def guest(self) -> tuple[UUID, str]:
        """An account that sits nowhere, and its token."""
        account = self._entropy.uuid7()
        now = self._clock.now()
        who = Account(account_id=AccountId(account), name="Bench", guest=True, created_at=now)
        token, _ = self._keys.sign(who, SessionId(self._entropy.uuid7()), now)
        return account, token

    async def _table(self, rounds: int) -> Seated:
        guests = [self.guest() for _ in range(SEATS)]
        table = new_table_id(self._entropy.uuid7())
        await self._peer.call(
            self._stub.CreateTable,
            tables_pb2.CreateTableRequest(
                table_id=table.bytes,
                kind=tables_pb2.TABLE_KIND_BENCH,
                game="romanian",
                options_json=json.dumps({"mode": "bench", "rounds": rounds}),
                players=[
                    tables_pb2.Player(account_id=account.bytes, name=f"Bench {number}", guest=True)
                    for number, (account, _) in enumerate(guests)
                ],
                seats=SEATS,
            ),
            seconds=CALL_SECONDS,
        )
        return Seated(table=table, accounts=[account for account, _ in guests], tokens=[token for _, token in guests])

    async def close(self) -> None:
        await self._peer.close()


def seating_at(running: Running, worker: str = "") -> Seating:
    """At the tables of one worker of a cluster, or of the one process that everything runs in."""
    if not worker:
        return Seating(running.folder / "keys", running.workers[""])
    files = localca.ensure(running.folder / "tls", ["gateway"])["gateway"]
    return Seating(running.folder / "keys", running.workers[worker], files)


async def seated_at(running: Running, count: int, rounds: int) -> list[Seated]:
    """Tables shared by all workers of a run."""
    made: list[Seated] = []
    for number, worker in enumerate(running.workers):
        share = (count + number) // len(running.workers)
        seating = seating_at(running, worker)
        made += await seating.open(share, rounds)
        await seating.close()
    return made
