"""What surrounds every gRPC call: refusals as they were meant, deadlines, callers, certificates."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import grpc
import pytest
from sqlalchemy.exc import DBAPIError

from libs.chassis.clock import SystemClock
from libs.chassis.errors import DomainError, Kind, Refusal
from libs.chassis.rpc.peer import Peer
from libs.chassis.rpc.server import Server
from libs.chassis.rpc.tls import TlsFiles
from libs.chassis.settings import ServiceSettings
from tests.chassis.certificates import Authority
from whist.coach.v1.coach_pb2 import (
    AnalysisRequest,
    AnalysisResponse,
    HintRequest,
    HintResponse,
    StoryRequest,
    StoryResponse,
)
from whist.coach.v1.coach_pb2_grpc import CoachServiceServicer, CoachServiceStub, add_CoachServiceServicer_to_server

HINT = "/whist.coach.v1.CoachService/Hint"
FACTS = {"field": "hand", "least": -3, "share": 0.5, "list": [1, "two", None], "nested": {"é": True}}


class Behaviour(CoachServiceServicer):
    """Answers as the request's `game` says."""

    def __init__(self) -> None:
        self.calls = 0

    async def Hint(self, request: HintRequest, context: Any) -> HintResponse:  # noqa: N802
        self.calls += 1
        if request.game == "fault":
            raise RuntimeError("the password is hunter2")
        if request.game == "read-only":
            raise DBAPIError("insert into secrets", {}, asyncpg.ReadOnlySQLTransactionError("not now"))
        if request.game == "flaky" and self.calls < 3:
            raise Refusal(Kind.UNAVAILABLE, "UNAVAILABLE")
        if request.game in set(Kind):
            raise Refusal(Kind(request.game), "SOME_REASON", **FACTS)
        if request.game == "slow":
            await context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, "")
        return HintResponse(turn=7)

    async def Analysis(self, request: AnalysisRequest, context: Any) -> AnalysisResponse:  # noqa: N802
        raise Refusal(Kind.NOT_FOUND, "ANALYSIS_UNKNOWN")

    async def Story(self, request: StoryRequest, context: Any) -> StoryResponse:  # noqa: N802
        raise Refusal(Kind.NOT_FOUND, "ANALYSIS_UNKNOWN")


@asynccontextmanager
async def serving(
    listen: str, tls: TlsFiles | None = None, allowed: frozenset[str] = frozenset({"gateway"})
) -> AsyncIterator[tuple[Server, Behaviour]]:
    behaviour = Behaviour()
    server = Server("sample", {HINT: allowed}, SystemClock(), tls)
    await server.start(listen, [partial(add_CoachServiceServicer_to_server, behaviour)])
    try:
        yield server, behaviour
    finally:
        await server.stop(0)


async def hint(
    target: str, game: str = "", *, caller: str = "gateway", tls: TlsFiles | None = None, tries: int = 1
) -> Any:
    peer = Peer(target, caller, tls)
    try:
        return await peer.call(CoachServiceStub(peer.channel).Hint, HintRequest(game=game), seconds=3, tries=tries)
    finally:
        await peer.close()


@pytest.mark.parametrize("kind", list(Kind))
async def test_a_refusal_comes_back_as_it_was_meant(tmp_path: Path, kind: Kind) -> None:
    target = f"unix:{tmp_path}/s"
    async with serving(target):
        with pytest.raises(DomainError) as refused:
            await hint(target, kind.value)
    assert (refused.value.kind, refused.value.reason, dict(refused.value.facts)) == (kind, "SOME_REASON", FACTS)


async def test_an_unknown_exception_is_internal_and_tells_nothing(tmp_path: Path) -> None:
    target = f"unix:{tmp_path}/s"
    async with serving(target):
        async with grpc.aio.insecure_channel(target) as channel:
            with pytest.raises(grpc.aio.AioRpcError) as failed:
                await CoachServiceStub(channel).Hint(
                    HintRequest(game="fault"), timeout=3, metadata=(("whist-caller", "gateway"),)
                )
        assert failed.value.code() is grpc.StatusCode.INTERNAL
        told = f"{failed.value.details()}{list(failed.value.trailing_metadata() or ())}{failed.value}"
        assert "hunter2" not in told
        assert "RuntimeError" not in told
        with pytest.raises(DomainError) as refused:
            await hint(target, "fault")
        assert (refused.value.kind, refused.value.reason) == (Kind.UNAVAILABLE, "INTERNAL")


async def test_n5_a_call_without_deadline_is_refused(tmp_path: Path) -> None:
    target = f"unix:{tmp_path}/s"
    async with serving(target) as (_, behaviour), grpc.aio.insecure_channel(target) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await CoachServiceStub(channel).Hint(HintRequest(), metadata=(("whist-caller", "gateway"),))
        assert failed.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert failed.value.details() == "DEADLINE_REQUIRED"
        assert behaviour.calls == 0


async def test_b23_a_database_that_cannot_be_written_is_named_as_the_reason(tmp_path: Path) -> None:
    target = f"unix:{tmp_path}/s"
    async with serving(target):
        with pytest.raises(DomainError) as refused:
            await hint(target, "read-only")
    assert (refused.value.kind, refused.value.reason, refused.value.facts) == (Kind.UNAVAILABLE, "DATABASE_AWAY", {})


@pytest.mark.parametrize(
    "garbage", [b"\xff", b"\x0a\x05abc", b"\x0a\x02\xff\xfe"], ids=["no tag", "cut off", "no UTF-8"]
)
async def test_b32_bytes_that_are_no_message_are_refused_without_a_traceback(
    tmp_path: Path, garbage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    target = f"unix:{tmp_path}/s"
    async with serving(target) as (_, behaviour), grpc.aio.insecure_channel(target) as channel:
        call: Any = channel.unary_unary(HINT)
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await call(garbage, timeout=3, metadata=(("whist-caller", "gateway"),))
        assert failed.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert failed.value.details() == "MALFORMED_REQUEST"
        with pytest.raises(grpc.aio.AioRpcError) as stranger:
            await call(garbage, timeout=3, metadata=(("whist-caller", "wallet"),))
        assert stranger.value.details() == "CALLER_NOT_ALLOWED"
    assert behaviour.calls == 0 and not caplog.records


@pytest.mark.parametrize("caller", ["wallet", "", "Gateway", "gateway "])
async def test_n5_a_caller_that_is_not_named_is_refused(tmp_path: Path, caller: str) -> None:
    target = f"unix:{tmp_path}/s"
    async with serving(target) as (_, behaviour):
        with pytest.raises(DomainError) as refused:
            await hint(target, caller=caller)
        assert (refused.value.kind, refused.value.reason) == (Kind.FORBIDDEN, "CALLER_NOT_ALLOWED")
        assert behaviour.calls == 0


async def test_n5_a_method_without_an_entry_is_refused_to_all(tmp_path: Path) -> None:
    target = f"unix:{tmp_path}/s"
    async with serving(target, allowed=frozenset()):
        with pytest.raises(DomainError) as refused:
            await hint(target)
    assert refused.value.reason == "CALLER_NOT_ALLOWED"


async def test_what_did_not_arrive_is_sent_again_and_a_refusal_is_not(tmp_path: Path) -> None:
    target = f"unix:{tmp_path}/s"
    async with serving(target) as (_, behaviour):
        assert (await hint(target, "flaky", tries=3)).turn == 7
        assert behaviour.calls == 3
        with pytest.raises(DomainError):
            await hint(target, "conflict", tries=3)
        assert behaviour.calls == 4


async def test_a_passed_deadline_and_a_missing_callee_are_unavailable(tmp_path: Path) -> None:
    target = f"unix:{tmp_path}/s"
    async with serving(target):
        with pytest.raises(DomainError) as late:
            await hint(target, "slow")
    assert (late.value.kind, late.value.reason) == (Kind.UNAVAILABLE, "DEADLINE_EXCEEDED")
    with pytest.raises(DomainError) as missing:
        await hint(f"unix:{tmp_path}/nobody", tries=2)
    assert (missing.value.kind, missing.value.reason) == (Kind.UNAVAILABLE, "UNAVAILABLE")


async def test_n5_a_message_above_256_kib_is_refused(tmp_path: Path) -> None:
    target = f"unix:{tmp_path}/s"
    async with serving(target) as (_, behaviour):
        with pytest.raises(DomainError):
            await hint(target, "x" * (256 * 1024 + 1))
        assert behaviour.calls == 0
        assert (await hint(target, "x" * (200 * 1024))).turn == 7


async def test_b33_mutual_tls(tmp_path: Path) -> None:
    ours, foreign = Authority(tmp_path, "ours"), Authority(tmp_path, "foreign")
    gateway, wallet, stranger = ours.issue("gateway"), ours.issue("wallet"), foreign.issue("gateway")
    async with serving("localhost:0", ours.issue("coach", "localhost")) as (server, behaviour):
        target = f"localhost:{server.port}"
        assert (await hint(target, tls=gateway)).turn == 7
        assert (await hint(target, tls=gateway, caller="wallet")).turn == 7, "the certificate counts, not the word"
        accepted = behaviour.calls

        with pytest.raises(DomainError) as wrong_name:
            await hint(target, tls=wallet, caller="gateway")
        assert (wrong_name.value.kind, wrong_name.value.reason) == (Kind.FORBIDDEN, "CALLER_NOT_ALLOWED")

        with pytest.raises(DomainError) as plaintext:
            await hint(target)
        assert plaintext.value.reason == "UNAVAILABLE"

        trusting = TlsFiles(cert=stranger.cert, key=stranger.key, ca=gateway.ca)
        with pytest.raises(DomainError) as unknown_ca:
            await hint(target, tls=trusting)
        assert unknown_ca.value.reason == "UNAVAILABLE"

        credentials = grpc.ssl_channel_credentials(root_certificates=gateway.ca.read_bytes())
        async with grpc.aio.secure_channel(target, credentials) as channel:
            with pytest.raises(grpc.aio.AioRpcError) as nameless:
                await CoachServiceStub(channel).Hint(HintRequest(), timeout=3, metadata=(("whist-caller", "gateway"),))
        assert nameless.value.code() is grpc.StatusCode.UNAVAILABLE
        assert behaviour.calls == accepted


async def test_b33_a_server_of_another_authority_or_name_is_not_called(tmp_path: Path) -> None:
    ours, foreign = Authority(tmp_path, "ours"), Authority(tmp_path, "foreign")
    gateway = ours.issue("gateway")
    for certificate in (foreign.issue("coach", "localhost"), ours.issue("coach")):
        async with serving("localhost:0", certificate) as (server, behaviour):
            with pytest.raises(DomainError) as refused:
                await hint(f"localhost:{server.port}", tls=gateway)
            assert refused.value.reason == "UNAVAILABLE"
            assert behaviour.calls == 0


def test_tls_files_belong_together(tmp_path: Path) -> None:
    assert TlsFiles.of(ServiceSettings()) is None
    with pytest.raises(ValueError, match="WHIST_TLS_CERT, WHIST_TLS_KEY and WHIST_TLS_CA"):
        TlsFiles.of(ServiceSettings(tls_cert=tmp_path))
