"""Domain error to gRPC status and back, in one place (architecture: errors)."""

import json
from typing import Any

import grpc
from google.protobuf import any_pb2
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status

from libs.chassis.errors import DomainError, Kind, Refusal

DOMAIN = "whist"

_CODES = {
    Kind.NOT_FOUND: code_pb2.NOT_FOUND,
    Kind.INVALID: code_pb2.INVALID_ARGUMENT,
    Kind.CONFLICT: code_pb2.FAILED_PRECONDITION,
    Kind.FORBIDDEN: code_pb2.PERMISSION_DENIED,
    Kind.UNAUTHENTICATED: code_pb2.UNAUTHENTICATED,
    Kind.EXHAUSTED: code_pb2.RESOURCE_EXHAUSTED,
    Kind.UNAVAILABLE: code_pb2.UNAVAILABLE,
}
_KINDS = {code: kind for kind, code in _CODES.items()}


def status_of(error: DomainError) -> Any:
    """The gRPC status with an `ErrorInfo`: reason, and the facts as JSON text each."""
    info = error_details_pb2.ErrorInfo(
        reason=error.reason,
        domain=DOMAIN,
        metadata={name: json.dumps(value, default=str) for name, value in error.facts.items()},
    )
    detail = any_pb2.Any()
    detail.Pack(info)
    return rpc_status.to_status(status_pb2.Status(code=_CODES[error.kind], message=error.reason, details=[detail]))


def refusal_of(error: grpc.aio.AioRpcError) -> DomainError:
    """What the callee meant. An answer that is not one of our refusals is Unavailable or INTERNAL."""
    status = rpc_status.from_call(error)  # type: ignore[arg-type] # AioRpcError carries the same three methods
    if status is not None:
        for detail in status.details:
            info = error_details_pb2.ErrorInfo()
            if detail.Unpack(info) and info.domain == DOMAIN:
                facts = {name: json.loads(value) for name, value in info.metadata.items()}
                return Refusal(_KINDS.get(status.code, Kind.UNAVAILABLE), info.reason, **facts)
    code = error.code()
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return Refusal(Kind.UNAVAILABLE, "DEADLINE_EXCEEDED")
    if code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED):
        return Refusal(Kind.UNAVAILABLE, "UNAVAILABLE")
    return Refusal(Kind.UNAVAILABLE, "INTERNAL", code=code.name)
