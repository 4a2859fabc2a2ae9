"""Settings of the embedded run; each service's own settings may be set beside them in the environment."""

from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from libs.chassis.addresses import HostPort, HostPortOrNothing


class AllInOneSettings(BaseSettings):
    """One machine."""

    model_config = SettingsConfigDict(env_prefix="WHIST_", extra="ignore", frozen=True)

    data_dir: Path = Field(default=Path(".run/embedded"), description="PostgreSQL, secrets and mails of this machine.")
    platform_config: Path | None = Field(default=None, description="platform.toml; empty: the checkout's own.")
    http_listen: HostPort = Field(default="127.0.0.1:8080", description="host:port of page and REST.")
    socket_listen: HostPort = Field(default="127.0.0.1:8081", description="host:port of WebSockets.")
    admin_listen: HostPortOrNothing = Field(
        default="127.0.0.1:8090", description="host:port of the operators' listener; empty: none."
    )
    metrics_listen: HostPortOrNothing = Field(
        default="127.0.0.1:9100", description="host:port of Prometheus's scrape; empty: none."
    )
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "console"] = "console"
    otlp_endpoint: str = Field(default="", description="OpenTelemetry collector, host:port; empty: no traces.")
    trace_ratio: float = Field(default=0.01, ge=0, le=1, description="Share of requests traced.")

    def listens(self) -> dict[str, str]:
        """Every address that this run listens on, by its variable."""
        return {
            "WHIST_HTTP_LISTEN": self.http_listen,
            "WHIST_SOCKET_LISTEN": self.socket_listen,
            "WHIST_ADMIN_LISTEN": self.admin_listen,
            "WHIST_METRICS_LISTEN": self.metrics_listen,
        }
