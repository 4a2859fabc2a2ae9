"""Settings of the gateway: listeners, who may connect, how fast, and where the other services are."""

from pathlib import Path

from limits import parse_many
from pydantic import Field, field_validator

from libs.chassis.settings import ServiceSettings

LISTEN = r"^[^:]+:\d+$"
OPTIONAL_LISTEN = r"^(|[^:]+:\d+)$"


class GatewaySettings(ServiceSettings):
    """What the gateway reads besides what every service reads."""

    http_listen: str = Field("127.0.0.1:8080", pattern=LISTEN, description="host:port of REST and pages.")
    socket_listen: str = Field("127.0.0.1:8081", pattern=LISTEN, description="host:port of WebSockets.")
    admin_listen: str = Field("", pattern=OPTIONAL_LISTEN, description="host:port for operators; empty: none.")
    operator_token_file: Path | None = Field(None, description="File with the operators' bearer token.")
    public_socket_url: str = Field(
        "", pattern=r"^(|wss?://\S+)$", description="What clients connect to; empty: the page's host and our port."
    )
    allowed_origins: tuple[str, ...] = Field(
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

    auth_target: str = Field("dns:///auth:50051", description="gRPC target of auth.")
    matchmaking_target: str = Field("dns:///matchmaking:50051", description="gRPC target of matchmaking.")
    tables_target: str = Field("dns:///tables:50051", description="gRPC target of any table worker, for Locate.")
    wallet_target: str = Field("dns:///wallet:50051", description="gRPC target of wallet.")
    leagues_target: str = Field("dns:///leagues:50051", description="gRPC target of leagues.")
    coach_target: str = Field("dns:///coach:50051", description="gRPC target of coach.")

    rate_network: str = Field("600/minute", description="REST requests of one network; empty: no limit.")
    rate_account: str = Field("300/minute", description="REST requests of one account; empty: no limit.")
    rate_guests: str = Field("30/minute", description="New guests of one network; empty: no limit.")
    rate_login: str = Field("30/minute", description="Sign-in requests of one network; empty: no limit.")
    socket_rate: float = Field(20, ge=0, le=100_000, description="Frames a second and socket; 0: no limit.")
    socket_burst: int = Field(40, ge=1, le=100_000, description="Frames at once.")
    sockets_per_network: int = Field(2000, ge=0, description="Open sockets of one network; 0: no limit.")
    http_concurrency: int = Field(1000, ge=1, description="REST connections served at once; more get 503.")

    @field_validator("rate_network", "rate_account", "rate_guests", "rate_login")
    @classmethod
    def _is_rate(cls, value: str) -> str:
        if value:
            parse_many(value)
        return value
