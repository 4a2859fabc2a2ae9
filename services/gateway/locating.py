"""Which worker owns a table, asked of any worker: the questions of one turn of the loop are one call.

A worker that dies leaves a thousand tables that are asked after until somebody has taken them. One call each would be
most of what the surviving workers do meanwhile (measured).
"""

import asyncio

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
    """`Locator` by any table worker; one try, the caller comes again."""

    def __init__(self, tables: Peer) -> None:
        self._tables = tables
        self._stub = tables_pb2_grpc.TablesServiceStub(tables.channel)
        self._asked: dict[bytes, asyncio.Future[_Answer]] = {}

    async def locate(self, table_id: bytes) -> Whereabouts:
        """Raises DomainError: TABLE_UNKNOWN, TABLE_FINISHED; kind UNAVAILABLE when it is worth asking again."""
        answer = self._asked.get(table_id)
        if answer is None:
            if len(self._asked) >= TABLES_MAX:
                self._asked = {}  # whoever asks for these has them; a new call for the rest
            answer = self._asked[table_id] = asyncio.get_running_loop().create_future()
            if len(self._asked) == 1:
                await self._ask(self._asked)
        found = await answer
        if isinstance(found, DomainError):
            raise found
        return found

    async def _ask(self, asked: dict[bytes, asyncio.Future[_Answer]]) -> None:
        """Ask for all that come during this turn; everybody gets an answer, whatever becomes of the one who asks."""
        found: dict[bytes, _Answer] = {}
        refusal: DomainError = Unavailable()
        try:
            await asyncio.sleep(0)
            if self._asked is asked:
                self._asked = {}
            request = tables_pb2.LocateTablesRequest(table_ids=list(asked))
            response = await self._tables.call(self._stub.LocateTables, request, seconds=LOCATE_SECONDS, tries=1)
            found = {each.table_id: _answer(each) for each in response.tables}
        except DomainError as error:
            refusal = error
        finally:
            if self._asked is asked:
                self._asked = {}
            for table_id, answer in asked.items():
                answer.set_result(found.get(table_id, refusal))


def _answer(found: tables_pb2.TablePlace) -> _Answer:
    if found.reason:
        kind = Kind.NOT_FOUND if found.reason in FINAL else Kind.UNAVAILABLE
        return Refusal(kind, found.reason, **({"status": found.status} if found.status else {}))
    return Whereabouts(address=found.worker_address, epoch=found.epoch)
