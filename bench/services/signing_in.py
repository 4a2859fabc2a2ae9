"""How long the exchange of a code for a session takes: FinishLogin over gRPC, its transaction in PostgreSQL included.

    python -m bench.services.signing_in

The service as it is wired, on a Unix socket, fsync on; its mail goes to a folder, from which the codes are read. First
SIGN_INS + WARM_UP addresses ask for codes, each from a network of its own. Then RATE of them a second finish, at
moments that are fixed beforehand: a latency counts from its moment, so that a stall is borne by all who come in it.
Each makes its account, session and events, which is the dearest kind of sign-in. Beside it the renewal of tokens at the
same rate.
"""

import asyncio
import re
import resource
import shutil
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from email import message_from_bytes
from pathlib import Path
from statistics import quantiles

from bench.services import bars
from bench.services.bars import Bar
from libs.chassis.clock import SystemClock
from libs.chassis.db import embedded
from libs.chassis.errors import DomainError
from libs.chassis.events.memory import MemoryBus
from libs.chassis.rpc.peer import Peer
from libs.chassis.run import running
from services.auth.settings import AuthSettings
from services.auth.wiring import MIGRATIONS, SPEC
from whist.auth.v1 import auth_pb2 as pb
from whist.auth.v1 import auth_pb2_grpc

HOME = Path(".run/bench/services/signing_in")
SIGN_INS, WARM_UP = 1_500, 100
RATE = 100  # a second
ASKING = 16  # addresses that ask at once, while nothing is measured
FINISH_P99_MS = 30.0
MAIL_SECONDS = 120.0

clock = SystemClock()


async def run() -> dict[str, object]:
    """Latencies in milliseconds; `finish_cpu_ms` is what a sign-in costs service and caller in CPU."""
    shutil.rmtree(HOME, ignore_errors=True)
    mail = HOME / "mail"
    mail.mkdir(parents=True)
    server = embedded.start(HOME / "postgres")
    try:
        server.create_database("signing_in")
        settings = AuthSettings(
            database_url=server.url("signing_in"),
            grpc_listen=f"unix:{server.socket_dir}/auth.sock",
            signing_keys=HOME / "keys",
            pepper_file=HOME / "pepper",
            keys_create=True,
            mail_dir=mail,
            health_listen="",
        )
        await MIGRATIONS.upgrade(settings.database_url)
        async with SPEC.open(settings, bus=MemoryBus()) as (chassis, service), running(SPEC, chassis, service):
            peer = Peer(chassis.address, "gateway")
            try:
                return await _measured(peer, mail)
            finally:
                await peer.close()
    finally:
        server.stop()


async def _measured(peer: Peer, mail: Path) -> dict[str, object]:
    stub = auth_pb2_grpc.AuthServiceStub(peer.channel)
    logins = await _codes(peer, stub, mail)
    tokens: list[str] = []  # of those who were answered

    async def finish(number: int) -> None:
        login_id, code = logins[number]
        request = pb.FinishLoginRequest(
            login_id=login_id, code=code, device="bench", network=_network(number), request_id=login_id
        )
        tokens.append((await peer.call(stub.FinishLogin, request)).tokens.refresh_token)

    async def renew(number: int) -> None:
        await peer.call(stub.Refresh, pb.RefreshRequest(refresh_token=tokens[number]))

    await _paced(finish, range(WARM_UP))
    before = _cpu_seconds()
    finishing = await _paced(finish, range(WARM_UP, WARM_UP + SIGN_INS))
    cpu_ms = (_cpu_seconds() - before) * 1000 / SIGN_INS
    renewing = await _paced(renew, range(len(tokens)))
    p50, p99 = _percentiles(finishing)
    renew_p50, renew_p99 = _percentiles(renewing)
    bar = Bar(what="finish_p99_ms", value=p99, side="at most", limit=FINISH_P99_MS)
    return {
        "sign_ins": len(finishing),
        "unanswered": SIGN_INS + WARM_UP - len(tokens),
        "rate": RATE,
        "finish_p50_ms": p50,
        "finish_p99_ms": p99,
        "finish_cpu_ms": round(cpu_ms, 2),
        "refresh_p50_ms": renew_p50,
        "refresh_p99_ms": renew_p99,
        "bars": [bar.shown()],
    }


async def _codes(peer: Peer, stub: "auth_pb2_grpc.AuthServiceAsyncStub", mail: Path) -> list[tuple[bytes, str]]:
    """Login and code of each address, once all letters have come."""
    at_once = asyncio.Semaphore(ASKING)

    async def ask(number: int) -> bytes:
        async with at_once:
            request = pb.StartLoginRequest(email=_email(number), network=_network(number), locale="en")
            return bytes((await peer.call(stub.StartLogin, request)).login_id)

    wanted = SIGN_INS + WARM_UP
    ids = await asyncio.gather(*(ask(number) for number in range(wanted)))
    codes: dict[str, str] = {}
    async with asyncio.timeout(MAIL_SECONDS):
        while len(codes) < wanted:
            for letter in mail.glob("[!.]*.eml"):  # a draft begins with a dot
                message = message_from_bytes(letter.read_bytes())
                found = re.search(r"\b[0-9]{8}\b", str(message.get_payload()))
                assert found is not None, "a letter without a code"
                codes[message["To"]] = found.group()
                letter.unlink()
            await asyncio.sleep(0.1)
    return [(login_id, codes[_email(number)]) for number, login_id in enumerate(ids)]


async def _paced(what: Callable[[int], Awaitable[None]], numbers: Sequence[int]) -> list[float]:
    """Seconds each took, from the moment at which it was due."""
    begin = clock.monotonic()
    taken: list[float] = []

    async def one(number: int, due: float) -> None:
        with suppress(DomainError):  # no answer in time: its seconds are above every bar
            await what(number)
        taken.append(clock.monotonic() - due)

    async with asyncio.TaskGroup() as group:
        for count, number in enumerate(numbers):
            due = begin + count / RATE
            await asyncio.sleep(max(0.0, due - clock.monotonic()))
            group.create_task(one(number, due))
    return taken


def _percentiles(taken: list[float]) -> tuple[float, float]:
    """Median and 99th of a hundred, in milliseconds."""
    cuts = quantiles(taken, n=100)
    return round(cuts[49] * 1000, 2), round(cuts[98] * 1000, 2)


def _cpu_seconds() -> float:
    """Of this process, caller and service together, without PostgreSQL."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _email(number: int) -> str:
    return f"person{number}@example.com"


def _network(number: int) -> str:
    return f"10.{number // 256 % 256}.{number % 256}.7"


if __name__ == "__main__":
    sys.exit(bars.alone(run))
