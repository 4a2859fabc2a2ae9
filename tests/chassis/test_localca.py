"""The local CA: what it writes, and that two services shake hands with it over real gRPC and nobody else does."""

import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import grpc
import pytest
from cryptography import x509
from google.protobuf.empty_pb2 import Empty

from libs.chassis import localca
from libs.chassis.clock import ManualClock, SystemClock
from libs.chassis.errors import DomainError
from libs.chassis.rpc.peer import Peer
from libs.chassis.rpc.server import Server
from libs.chassis.rpc.tls import TlsFiles

METHOD = "/whist.test.v1.Purse/Open"


async def _open(request: Empty, context: Any) -> Empty:
    """Answers every call that the gatekeeper lets through."""
    del context
    return request


def register(server: grpc.aio.Server) -> None:
    handler = grpc.unary_unary_rpc_method_handler(_open, Empty.FromString, Empty.SerializeToString)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("whist.test.v1.Purse", {"Open": handler}),))


def opener(channel: grpc.aio.Channel) -> Any:
    return channel.unary_unary(
        METHOD, request_serializer=Empty.SerializeToString, response_deserializer=Empty.FromString
    )


@asynccontextmanager
async def wallet(files: TlsFiles) -> AsyncIterator[int]:
    """A server on all of 127/8 that the gateway alone may call; yields its port."""
    server = Server("wallet", {METHOD: frozenset({"gateway"})}, SystemClock(), files)
    await server.start("0.0.0.0:0", [register])
    try:
        yield server.port
    finally:
        await server.stop(0)


async def ask(target: str, files: TlsFiles | None, caller: str = "gateway") -> object:
    peer = Peer(target, caller, files)
    try:
        return await peer.call(opener(peer.channel), Empty(), seconds=5, tries=1)
    finally:
        await peer.close()


async def test_services_with_certificates_of_one_ca_shake_hands(tmp_path: Path) -> None:
    files = localca.ensure(tmp_path, ["gateway", "wallet"])
    async with wallet(files["wallet"]) as port:
        assert await ask(f"dns:///localhost:{port}", files["gateway"]) == Empty()
        assert await ask(f"ipv4:127.0.0.1:{port}", files["gateway"]) == Empty()


async def test_b33_the_certificate_names_the_caller_and_its_word_counts_for_nothing(tmp_path: Path) -> None:
    files = localca.ensure(tmp_path, ["coach", "wallet"])
    async with wallet(files["wallet"]) as port:
        with pytest.raises(DomainError) as refused:
            await ask(f"dns:///localhost:{port}", files["coach"], caller="gateway")
    assert refused.value.reason == "CALLER_NOT_ALLOWED"
    assert refused.value.facts == {"caller": "coach"}


async def test_b33_a_certificate_of_another_ca_is_refused(tmp_path: Path) -> None:
    ours = localca.ensure(tmp_path / "ours", ["wallet"])
    theirs = localca.ensure(tmp_path / "theirs", ["gateway"])["gateway"]
    stranger = TlsFiles(cert=theirs.cert, key=theirs.key, ca=ours["wallet"].ca)
    async with wallet(ours["wallet"]) as port:
        with pytest.raises(DomainError) as refused:
            await ask(f"dns:///localhost:{port}", stranger)
    assert refused.value.reason == "UNAVAILABLE"


async def test_b33_a_call_without_tls_is_refused(tmp_path: Path) -> None:
    files = localca.ensure(tmp_path, ["wallet"])
    async with wallet(files["wallet"]) as port:
        with pytest.raises(DomainError) as refused:
            await ask(f"dns:///localhost:{port}", None)
    assert refused.value.reason == "UNAVAILABLE"


async def test_an_address_outside_the_certificate_needs_the_name_of_the_service(tmp_path: Path) -> None:
    files = localca.ensure(tmp_path, ["gateway", "wallet"])
    async with wallet(files["wallet"]) as port:
        target = f"ipv4:127.0.0.2:{port}"
        with pytest.raises(DomainError) as refused:
            await ask(target, files["gateway"])
        assert refused.value.reason == "UNAVAILABLE"
        named = (("grpc.ssl_target_name_override", "wallet"),)
        async with grpc.aio.secure_channel(target, files["gateway"].channel(), options=named) as channel:
            assert await opener(channel)(Empty(), timeout=5) == Empty()


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_second_run_changes_nothing_and_a_new_name_leaves_the_others_alone(tmp_path: Path) -> None:
    localca.ensure(tmp_path, ["gateway", "wallet"])
    first = contents(tmp_path)
    localca.ensure(tmp_path, ["gateway", "wallet"])
    assert contents(tmp_path) == first
    localca.ensure(tmp_path, ["gateway", "wallet", "tables"])
    assert contents(tmp_path).items() > first.items()
    assert set(contents(tmp_path)) - set(first) == {"tables/tls.crt", "tables/tls.key", "tables/ca.crt"}


def test_keys_are_readable_by_their_owner_alone(tmp_path: Path) -> None:
    localca.ensure(tmp_path, ["wallet"])
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*.key")}
    assert modes == {"ca.key": 0o600, "tls.key": 0o600}


def test_the_service_is_the_first_name_of_its_certificate(tmp_path: Path) -> None:
    cert = x509.load_pem_x509_certificate(localca.ensure(tmp_path, ["wallet"])["wallet"].cert.read_bytes())
    names = cert.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(name.value) for name in names] == ["wallet", "localhost", "127.0.0.1"]


@pytest.mark.parametrize("lost", ["wallet/tls.key", "wallet/ca.crt"])
def test_a_lost_file_is_made_anew_together_with_its_certificate(tmp_path: Path, lost: str) -> None:
    localca.ensure(tmp_path, ["gateway", "wallet"])
    first = contents(tmp_path)
    (tmp_path / lost).unlink()
    localca.ensure(tmp_path, ["gateway", "wallet"])
    second = contents(tmp_path)
    assert {name for name in first if first[name] != second[name]} == {"wallet/tls.crt", "wallet/tls.key"}


def test_a_certificate_is_renewed_before_it_ends_and_a_new_ca_renews_all(tmp_path: Path) -> None:
    clock = ManualClock(datetime(2026, 11, 30, tzinfo=UTC))
    localca.ensure(tmp_path, ["wallet"], clock=clock)
    first = contents(tmp_path)
    clock.advance((localca.VALID - localca.RENEW_BEFORE).total_seconds() - 1)
    localca.ensure(tmp_path, ["wallet"], clock=clock)
    assert contents(tmp_path) == first
    clock.advance(1)
    localca.ensure(tmp_path, ["wallet"], clock=clock)
    second = contents(tmp_path)
    assert all(second[name] != first[name] for name in first)
    assert second["wallet/ca.crt"] == second["ca.crt"]
