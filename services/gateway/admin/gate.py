"""Who asks at the operators' listener, whether they may, and the words of what they do."""

from collections.abc import Callable
from typing import Annotated
from uuid import UUID

import structlog
from fastapi import Depends, Header, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from libs.chassis.errors import DomainError, Kind
from services.gateway.admin.operators import Operator, Operators, Power
from services.gateway.http import models
from services.gateway.http.parts import PartsOf
from whist.types.v1 import audit_pb2

audit = structlog.get_logger("audit")

_scheme = HTTPBearer(auto_error=False, description="The operator's own token.")

# Once more with the same one is answered as the first time, and done once.
ActKey = Annotated[models.Uuid, Header(alias="Idempotency-Key", description="A random UUID of yours, one an act.")]


class NotAnOperator(DomainError):
    """The token is missing, or nobody's."""

    kind = Kind.UNAUTHENTICATED
    reason = "NOT_AN_OPERATOR"


class RoleNotAllowed(DomainError):
    """The operator is known and may not do this: `role` is theirs, `power` what it takes."""

    kind = Kind.FORBIDDEN
    reason = "ROLE_NOT_ALLOWED"


def _operator(
    request: Request, parts: PartsOf, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_scheme)]
) -> Operator:
    """Who asks. Raises NotAnOperator, RateLimited after too many of these from one network."""
    network = request.state.network
    parts.limits.operator_may_try(network)
    operators = request.app.state.operators
    assert isinstance(operators, Operators)
    found = operators.recognise(credentials.credentials) if credentials else None
    if found is None:
        audit.warning("operator_unknown", network=network, request_id=request.state.request_id)
        parts.limits.operator_unknown(network)
        raise NotAnOperator
    return found


def allowed(power: Power) -> Callable[..., Operator]:
    """A dependency: the operator who asks, if the role has this power. Raises RoleNotAllowed."""

    def check(request: Request, operator: Annotated[Operator, Depends(_operator)]) -> Operator:
        if not operator.may(power):
            audit.warning("operator_refused", operator=operator.name, power=power, path=request.url.path)
            raise RoleNotAllowed(role=operator.role, power=power)
        return operator

    return check


Looks = Annotated[Operator, Depends(allowed(Power.LOOK))]
Silences = Annotated[Operator, Depends(allowed(Power.SILENCE))]
Corrects = Annotated[Operator, Depends(allowed(Power.CORRECT))]
Proves = Annotated[Operator, Depends(allowed(Power.PROVE))]
Rules = Annotated[Operator, Depends(allowed(Power.RULE))]


def act(operator: Operator, key: str, reason: str) -> audit_pb2.Act:
    """Who does it and why, for the service that does it and writes it down."""
    return audit_pb2.Act(request_id=UUID(key).bytes, operator=operator.name, reason=reason)
