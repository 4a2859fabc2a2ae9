"""What surrounds every handler: who calls, until when, how long it took, and what its refusal means on the wire."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import grpc
import structlog
from google.protobuf.message import DecodeError
from opentelemetry.trace import SpanKind

from libs.chassis.clock import Clock
from libs.chassis.errors import DatabaseAway, DomainError, Kind, Refusal
from libs.chassis.events.delivery import is_passing
from libs.chassis.rpc.errors import status_of
from libs.chassis.telemetry.metrics import rpc_seconds
from libs.chassis.telemetry.tracing import span

log = structlog.get_logger()

CALLER_KEY = "whist-caller"
TRACE_KEY = "traceparent"
HEALTH_PREFIX = "/grpc.health.v1.Health/"
ANYONE = "*"


def caller_of(context: grpc.aio.ServicerContext[Any, Any], *, tls: bool) -> str:
    """The calling service: by its certificate, or (without TLS) by its word."""
    if tls:
        names = context.auth_context().get("x509_subject_alternative_name", ())
        return next(iter(names), b"").decode()
    metadata = dict(context.invocation_metadata() or ())
    caller = metadata.get(CALLER_KEY, "")
    return caller if isinstance(caller, str) else ""


class MalformedRequest(DomainError):
    """The bytes are no message of the method's type."""

    kind = Kind.INVALID
    reason = "MALFORMED_REQUEST"


class Gatekeeper(grpc.aio.ServerInterceptor):
    """Allows by method and caller, demands a deadline, maps domain errors, measures and traces.

    `allow` names for each full method who may call it; a method that is not named is refused to all.
    """

    def __init__(self, service: str, allow: Mapping[str, frozenset[str]], clock: Clock, *, tls: bool) -> None:
        self._service = service
        self._allow = allow
        self._clock = clock
        self._tls = tls

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        handler = await continuation(handler_call_details)
        method = handler_call_details.method
        if handler is None or method.startswith(HEALTH_PREFIX):
            return handler
        if handler.request_streaming and handler.response_streaming:
            return grpc.stream_stream_rpc_method_handler(
                self._stream(handler.stream_stream, method),
                handler.request_deserializer,
                handler.response_serializer,
            )
        read = _reader(handler.request_deserializer)
        if handler.response_streaming:
            return grpc.unary_stream_rpc_method_handler(
                self._stream(handler.unary_stream, method), read, handler.response_serializer
            )
        assert not handler.request_streaming, "client streaming is not used here"
        return grpc.unary_unary_rpc_method_handler(
            self._unary(handler.unary_unary, method), read, handler.response_serializer
        )

    def _admit(self, method: str, request: Any, context: Any, *, needs_deadline: bool) -> None:
        allowed = self._allow.get(method, frozenset())
        caller = caller_of(context, tls=self._tls)
        if ANYONE not in allowed and caller not in allowed:
            raise Refusal(Kind.FORBIDDEN, "CALLER_NOT_ALLOWED", caller=caller)
        if needs_deadline and context.time_remaining() is None:
            raise Refusal(Kind.INVALID, "DEADLINE_REQUIRED")
        if request is None:
            raise MalformedRequest

    def _unary(self, behaviour: Any, method: str) -> Any:
        name = method.rpartition("/")[2]

        async def wrapped(request: Any, context: Any) -> Any:
            started = self._clock.monotonic()
            code = "OK"
            try:
                self._admit(method, request, context, needs_deadline=True)
                with span(name, _traceparent(context), kind=SpanKind.SERVER, service=self._service):
                    return await behaviour(request, context)
            except DomainError as error:
                code = error.reason
                await context.abort_with_status(status_of(error))
            except (asyncio.CancelledError, grpc.aio.AbortError):
                code = "CANCELLED"
                raise
            except Exception as error:
                code = DatabaseAway.reason if is_passing(error) else "INTERNAL"
                await self._abort(error, context, name)
            finally:
                rpc_seconds.labels(self._service, name, code).observe(self._clock.monotonic() - started)

        return wrapped

    def _stream(self, behaviour: Any, method: str) -> Any:
        name = method.rpartition("/")[2]

        async def wrapped(request: Any, context: Any) -> AsyncIterator[Any]:
            try:
                self._admit(method, request, context, needs_deadline=False)
                async for response in behaviour(request, context):
                    yield response
            except DomainError as error:
                await context.abort_with_status(status_of(error))
            except (asyncio.CancelledError, grpc.aio.AbortError, GeneratorExit):
                raise
            except Exception as error:
                await self._abort(error, context, name)

        return wrapped

    async def _abort(self, error: Exception, context: Any, method: str) -> None:
        """End a call that no refusal has ended: the database is away, full or read-only, or the fault is ours."""
        if is_passing(error):
            log.warning("rpc_unavailable", service=self._service, method=method, error=type(error).__name__)
            await context.abort_with_status(status_of(DatabaseAway()))
        log.exception("rpc_failed", service=self._service, method=method)
        await context.abort(grpc.StatusCode.INTERNAL, "INTERNAL")


def _reader(parse: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """None for bytes that are no such message: gRPC itself would log each with a traceback and answer UNKNOWN."""

    def read(raw: bytes) -> Any:
        try:
            return parse(raw)
        except DecodeError:
            return None

    return read


def _traceparent(context: Any) -> str:
    metadata = dict(context.invocation_metadata() or ())
    value = metadata.get(TRACE_KEY, "")
    return value if isinstance(value, str) else ""
