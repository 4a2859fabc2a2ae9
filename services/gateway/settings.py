"""Settings of the gateway: listeners, who may connect, how fast, and where the other services are."""

import json
from pathlib import Path
from typing import Annotated

from limits import parse_many
from pydantic import Field, field_validator
from pydantic_settings import NoDecode

from libs.chassis.addresses import HostPort, HostPortOrNothing, Origin, RpcTarget
from libs.chassis.settings import ServiceSettings


class GatewaySettings(ServiceSettings):
    """What the gateway reads besides what every service reads."""

    http_listen: HostPort = Field("127.0.0.1:8080", description="host:port of REST and pages.")
    socket_listen: HostPort = Field("127.0.0.1:8081", description="host:port of WebSockets.")
    admin_listen: HostPortOrNothing = Field("", description="host:port for operators; empty: none.")
    operators_file: Path | None = Field(
        None, description="Operators, one a line: name, role (support, treasurer, admin), SHA-256 of the token."
    )
    public_socket_url: str = Field(
        "", pattern=r"^(|wss?://\S+)$", description="What clients connect to; empty: the page's host and our port."
    )
    allowed_origins: Annotated[tuple[Origin, ...], NoDecode] = Field(
        ("http://localhost:8080", "http://127.0.0.1:8080"),
        description="Exact Origins of pages that may open sockets and use the refresh cookie (JSON list).",
    )
    secure_cookies: bool = Field(False, description="On behind TLS: __Host- prefix and Secure.")
    trusted_proxies: int = Field(
        0, ge=0, le=5, description="Proxies of ours in front, each adding one X-Forwarded-For entry."
    )
    web_dir: Path | None = Field(None, description="Built web client; unset: the landing page.")
    mail_dir: Path | None = Field(None, description="Development: show this folder's mails at /dev/mail.")
    docs: bool = Field(True, description="Serve /docs, /openapi.json and /asyncapi.json.")

    auth_target: RpcTarget = Field("dns:///auth:50051", description="gRPC target of auth.")
    matchmaking_target: RpcTarget = Field("dns:///matchmaking:50051", description="gRPC target of matchmaking.")
    tables_target: RpcTarget = Field("dns:///tables:50051", description="gRPC target of any table worker, for Locate.")
    wallet_target: RpcTarget = Field("dns:///wallet:50051", description="gRPC target of wallet.")
    leagues_target: RpcTarget = Field("dns:///leagues:50051", description="gRPC target of leagues.")
    coach_target: RpcTarget = Field("dns:///coach:50051", description="gRPC target of coach.")

    rate_network: str = Field("600/minute", description="REST requests of one network; empty: no limit.")
    rate_account: str = Field("300/minute", description="REST requests of one account; empty: no limit.")
    rate_guests: str = Field("30/minute", description="New guests of one network; empty: no limit.")
    rate_login: str = Field("30/minute", description="Sign-in requests of one network; empty: no limit.")
    rate_tables: str = Field("20/minute", description="Friends' tables and reports of one account; empty: no limit.")
    rate_chat: str = Field("5/10seconds", description="Chat lines of one account; empty: no limit.")
    rate_exports: str = Field("6/hour", description="Copies of its data for one account; empty: no limit.")
    rate_operators: str = Field("10/minute", description="Wrong operators' tokens of one network; empty: no limit.")
    socket_rate: float = Field(20, ge=0, le=100_000, description="Frames a second and socket; 0: no limit.")
    socket_burst: int = Field(40, ge=1, le=100_000, description="Frames at once.")
    sockets_per_network: int = Field(2000, ge=0, description="Open sockets of one network; 0: no limit.")
    http_concurrency: int = Field(1000, ge=1, description="REST connections served at once; more get 503.")

    @field_validator("allowed_origins", mode="before")
    @classmethod
    def _is_list(cls, value: object) -> object:
        # Read here and not by pydantic-settings, whose complaint names no variable.
        return json.loads(value) if isinstance(value, str) else value

    @field_validator(
        "rate_network",
        "rate_account",
        "rate_guests",
        "rate_login",
        "rate_tables",
        "rate_chat",
        "rate_exports",
        "rate_operators",
    )
    @classmethod
    def _is_rate(cls, value: str) -> str:
        if value:
            parse_many(value)
        return value
