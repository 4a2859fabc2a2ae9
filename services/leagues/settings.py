"""Settings of leagues; the rules' own numbers lie in config/platform.toml."""

from pathlib import Path

from pydantic import Field

from libs.chassis.addresses import RpcTarget
from libs.chassis.settings import ServiceSettings


class LeaguesSettings(ServiceSettings):
    """What leagues reads besides what every service reads."""

    platform_config: Path | None = Field(default=None, description="platform.toml; empty: the packaged one.")
    wallet_target: RpcTarget = Field(
        default="dns:///wallet:50051", description="gRPC target of the wallet, which seals weeks."
    )
    close_seconds: float = Field(
        default=15, gt=0, le=3600, description="How often it is asked whether a week has ended that is to be closed."
    )
    check_seconds: float = Field(
        default=3600, gt=0, le=86_400, description="How often stored totals are compared with the rows they come from."
    )
