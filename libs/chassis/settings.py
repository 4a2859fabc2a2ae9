"""Settings from the environment, one class a service; a wrong one stops the start with a message that names it."""

from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from libs.chassis.addresses import Brokers, Collector, DatabaseUrl, HostPortOrNothing, RpcListener

ENV_PREFIX = "WHIST_"


class ServiceSettings(BaseSettings):
    """What every service reads. Environment names are the field names in capitals behind ``WHIST_``."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, extra="ignore", frozen=True, allow_inf_nan=False)

    database_url: DatabaseUrl = Field(
        default="postgresql+asyncpg://postgres@127.0.0.1:5432/whist",
        description="SQLAlchemy URL of this service's PostgreSQL.",
    )
    database_pool: int = Field(
        default=10, ge=1, le=200, description="Most connections for transactions, opened as they are needed and kept."
    )
    kafka_bootstrap: Brokers = Field(
        default="",
        description="host:port,…; empty: the in-process bus (only where all services share a process).",
    )
    kafka_idempotent: bool = Field(default=False, description="Idempotent producer; on with Apache Kafka.")
    grpc_listen: RpcListener = Field(default="127.0.0.1:0", description="host:port or unix:/path.")
    health_listen: HostPortOrNothing = Field(
        default="",
        description="host:port of a plain gRPC health server for probes; empty: none.",
    )
    metrics_listen: HostPortOrNothing = Field(default="", description="host:port of Prometheus's scrape; empty: none.")
    tls_cert: Path | None = Field(default=None, description="PEM chain of this service (SAN = its name).")
    tls_key: Path | None = Field(default=None, description="PEM key of this service.")
    tls_ca: Path | None = Field(default=None, description="PEM of the CA that signs all services.")
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "console"] = "json"
    otlp_endpoint: Collector = Field(default="", description="OpenTelemetry collector, host:port; empty: no traces.")
    trace_ratio: float = Field(default=0.01, ge=0, le=1, description="Share of requests traced.")
    drain_seconds: float = Field(default=30, ge=0, le=600, description="Longest time to finish after SIGTERM.")


S = TypeVar("S", bound=BaseSettings)


class WrongSettings(ValueError):
    """The environment does not fit; `str()` names each field and what is wrong with it."""


def load_settings(kind: type[S], **given: Any) -> S:
    """Read `kind` from the environment; `given` goes before it. Raises WrongSettings naming each wrong variable."""
    try:
        return kind(**given)
    except ValidationError as error:
        problems = error.errors(include_input=False, include_url=False)
        raise WrongSettings("\n".join(_line(problem["loc"], problem["msg"]) for problem in problems)) from error


def _line(place: tuple[int | str, ...], message: str) -> str:
    """What is wrong, behind the variable's name; a check of several fields names them itself."""
    message = message.removeprefix("Value error, ")  # pydantic's, before what a check of ours says
    return f"{ENV_PREFIX}{str(place[0]).upper()}: {message}" if place else message
