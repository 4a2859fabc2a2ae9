"""A service that is called: one channel, a deadline on each call, refusals as domain errors."""

from collections.abc import AsyncIterator
from typing import Any

import grpc
import stamina
from google.protobuf.message import Message

from libs.chassis.errors import DomainError, Kind
from libs.chassis.rpc.errors import refusal_of
from libs.chassis.rpc.interceptors import CALLER_KEY, TRACE_KEY
from libs.chassis.rpc.tls import TlsFiles
from libs.chassis.telemetry.tracing import current_traceparent

CALL_SECONDS = 5.0
TRIES = 3  # every call of ours is idempotent, so what did not arrive may be sent again
MESSAGE_MAX = 256 * 1024

OPTIONS: tuple[tuple[str, Any], ...] = (
    ("grpc.max_receive_message_length", 4 * 1024 * 1024),
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 3_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    ("grpc.lb_policy_name", "round_robin"),
    # Several channels to one address would share one connection otherwise, streams and calls alike.
    ("grpc.use_local_subchannel_pool", 1),
)


def is_unavailable(error: Exception) -> bool:
    """Whether sending the same request again may help."""
    return isinstance(error, DomainError) and error.kind is Kind.UNAVAILABLE and error.reason == "UNAVAILABLE"


class Peer:
    """One callee. `target` is a gRPC name: ``dns:///wallet:50051``, ``ipv4:127.0.0.1:1,127.0.0.1:2``, ``unix:/…``."""

    def __init__(self, target: str, caller: str, tls: TlsFiles | None = None, *, server_name: str = "") -> None:
        """`server_name` is what the callee's certificate must say where the target is an address it cannot name."""
        self.target = target
        self._caller = caller
        named = (("grpc.ssl_target_name_override", server_name),) if server_name else ()
        self.channel: grpc.aio.Channel = (
            grpc.aio.insecure_channel(target, options=OPTIONS)
            if tls is None
            else grpc.aio.secure_channel(target, tls.channel(), options=(*OPTIONS, *named))
        )

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """Who calls, and the running trace."""
        traceparent = current_traceparent()
        caller = ((CALLER_KEY, self._caller),)
        return (*caller, (TRACE_KEY, traceparent)) if traceparent else caller

    async def call(self, method: Any, request: Message, *, seconds: float = CALL_SECONDS, tries: int = TRIES) -> Any:
        """Call a unary method of a stub on `channel`.

        Raises DomainError: the callee's own refusal, or Unavailable after `tries`.
        """
        async for attempt in stamina.retry_context(
            on=is_unavailable, attempts=tries, timeout=seconds, wait_initial=0.05, wait_max=0.5
        ):
            with attempt:
                try:
                    return await method(request, timeout=seconds, metadata=self.metadata())
                except grpc.aio.AioRpcError as error:
                    raise refusal_of(error) from error
        raise AssertionError("unreachable: retry_context raises")

    async def watch(self, method: Any, request: Message) -> AsyncIterator[Any]:
        """Read a server stream until it ends. Raises DomainError like `call`; never repeats by itself."""
        stream = method(request, metadata=self.metadata())
        try:
            async for response in stream:
                yield response
        except grpc.aio.AioRpcError as error:
            raise refusal_of(error) from error
        finally:
            stream.cancel()

    async def close(self) -> None:
        await self.channel.close()
