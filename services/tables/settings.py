"""Settings of the table workers. Turn limits and the bots' pace are the platform's numbers (config/platform.toml)."""

from pathlib import Path

from pydantic import Field

from libs.chassis.addresses import RpcTargetOrNothing
from libs.chassis.settings import ServiceSettings


class TablesSettings(ServiceSettings):
    """One worker."""

    worker_id: str = Field(
        default="", max_length=63, description="Stable name of this worker; empty: a new one each start."
    )
    advertise: RpcTargetOrNothing = Field(
        default="", description="Address that gateways dial; empty: where gRPC listens."
    )
    platform_config: Path | None = Field(default=None, description="platform.toml; empty: the packaged one.")
    bot_pace_scale: float = Field(
        default=1.0, ge=0, le=10, description="Multiplies the bots' thinking time; 0: at once."
    )
    turn_limit_scale: float = Field(default=1.0, gt=0, le=10, description="Multiplies people's turn limits.")
