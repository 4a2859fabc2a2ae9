"""Settings of coach; the grades' own numbers lie in config/platform.toml."""

from pathlib import Path

from pydantic import Field

from libs.chassis.settings import ServiceSettings


class CoachSettings(ServiceSettings):
    """What coach reads besides what every service reads."""

    platform_config: Path | None = Field(default=None, description="platform.toml; empty: the packaged one.")
    hint_workers: int = Field(default=2, ge=1, le=64, description="Hints thought about side by side.")
    hint_queue: int = Field(
        default=64, ge=0, le=10_000, description="Hints that may wait for a worker; one more is refused."
    )
    hint_samples: int = Field(
        default=1000,
        ge=10,
        le=100_000,
        description="Deals that a hint tries each move on; the standard error falls with the root of it.",
    )
    analysis_samples: int = Field(
        default=1000,
        ge=10,
        le=100_000,
        description="Deals that an analysis tries each move on; the same in all replicas, for rewards go by it.",
    )
    analysis_check_seconds: float = Field(
        default=1, gt=0, le=3600, description="How often finished games are looked for that wait for their analysis."
    )
