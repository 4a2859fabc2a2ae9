"""Which worker owns a table, asked of any worker: questions that come while one is on its way are the next call.

A worker that dies leaves a thousand tables that are asked after until somebody has taken them. One call each would be
most of what the surviving workers do meanwhile (measured).
"""

import asyncio
from itertools import islice

from libs.chassis.errors import DomainError, Kind, Refusal, Unavailable
from libs.chassis.rpc.peer import Peer
from services.gateway.ports import Whereabouts
from whist.tables.v1 import tables_pb2, tables_pb2_grpc

LOCATE_SECONDS = 2.0
TABLES_MAX = 500  # a call; a worker refuses more than a thousand
# What a worker says instead of an address and is final; anything else is worth another question.
FINAL = ("TABLE_FINISHED", "TABLE_UNKNOWN")

_Answer = Whereabouts | DomainError


class Locating:
    """`Locator` by any table worker; one try, the caller comes again. A call carries all that wait for it."""

    def __init__(self, tables: Peer) -> None:
        self._tables = tables
        self._stub = tables_pb2_grpc.TablesServiceStub(tables.channel)
        self._waiting: dict[bytes, asyncio.Future[_Answer]] = {}
        self._calling = asyncio.Lock()

    async def locate(self, table_id: bytes) -> Whereabouts:
        """Raises DomainError: TABLE_UNKNOWN, TABLE_FINISHED; kind UNAVAILABLE when it is worth asking again."""
        answer = self._waiting.get(table_id)
        if answer is None:
            answer = self._waiting[table_id] = asyncio.get_running_loop().create_future()
        async with self._calling:
            while not answer.done():  # older questions, whose askers have gone, may fill a call
                await self._ask()
        found = answer.result()
        if isinstance(found, DomainError):
            raise found
        return found

    async def _ask(self) -> None:
        """One call for the oldest of those who wait; each of them gets an answer, whatever becomes of who asks."""
        asked = dict(islice(self._waiting.items(), TABLES_MAX))
        for table_id in asked:
            del self._waiting[table_id]
        found: dict[bytes, _Answer] = {}
        refusal: DomainError = Unavailable()
        try:
            request = tables_pb2.LocateTablesRequest(table_ids=list(asked))
            response = await self._tables.call(self._stub.LocateTables, request, seconds=LOCATE_SECONDS, tries=1)
            found = {each.table_id: _answer(each) for each in response.tables}
        except DomainError as error:
            refusal = error
        finally:
            for table_id, answer in asked.items():
                answer.set_result(found.get(table_id, refusal))


def _answer(found: tables_pb2.TablePlace) -> _Answer:
    if found.reason:
        kind = Kind.NOT_FOUND if found.reason in FINAL else Kind.UNAVAILABLE
        return Refusal(kind, found.reason, **({"status": found.status} if found.status else {}))
    return Whereabouts(address=found.worker_address, epoch=found.epoch)
