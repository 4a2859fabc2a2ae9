"""Settings of leagues; the rules' own numbers lie in config/platform.toml."""

from pathlib import Path

from pydantic import Field

from libs.chassis.settings import ServiceSettings


class LeaguesSettings(ServiceSettings):
    """What leagues reads besides what every service reads."""

    platform_config: Path | None = Field(default=None, description="platform.toml; empty: the packaged one.")
    check_seconds: float = Field(
        default=3600, gt=0, le=86_400, description="How often stored totals are compared with the rows they come from."
    )
