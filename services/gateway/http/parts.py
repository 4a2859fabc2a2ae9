"""What routes work with, handed to each of them by FastAPI."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from libs.chassis.clock import Clock
from libs.chassis.entropy import Entropy
from services.gateway.clients import Clients
from services.gateway.limits import Limits
from services.gateway.sessions import Sessions
from services.gateway.settings import GatewaySettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The gateway's collaborators as routes see them. `socket_port` is known before the first request."""

    settings: GatewaySettings
    clients: Clients
    sessions: Sessions
    limits: Limits
    clock: Clock
    entropy: Entropy
    socket_port: int

    def socket_url(self, host: str) -> str:
        """Where sockets are, for a client that reached us as `host`."""
        return self.settings.public_socket_url or f"ws://{host}:{self.socket_port}/v1/ws"


def _parts(request: Request) -> Parts:
    parts = request.app.state.parts
    assert isinstance(parts, Parts)
    return parts


PartsOf = Annotated[Parts, Depends(_parts)]
