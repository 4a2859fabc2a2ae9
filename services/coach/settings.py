"""Settings of coach."""

from pydantic import Field

from libs.chassis.settings import ServiceSettings


class CoachSettings(ServiceSettings):
    """What coach reads besides what every service reads; database and Kafka are not used."""

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
