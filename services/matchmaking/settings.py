"""Settings of matchmaking; the rules' own numbers lie in config/platform.toml."""

from pathlib import Path

from pydantic import Field, SecretStr

from libs.chassis.addresses import RpcTarget
from libs.chassis.settings import ServiceSettings, WrongSettings
from libs.house.vip import VIP_KEY_LEAST


class MatchmakingSettings(ServiceSettings):
    """What matchmaking reads besides what every service reads."""

    wallet_target: RpcTarget = Field("dns:///wallet:50051", description="gRPC target of the wallet.")
    tables_target: RpcTarget = Field("dns:///tables:50051", description="gRPC target of the table workers.")
    platform_config: Path | None = Field(None, description="platform.toml; empty: the packaged one.")
    vip_key: SecretStr = Field(
        SecretStr(""),
        description="Key of the hash that gives each account its VIP days (P13), the same in every service that asks; "
        "needed to serve, not to migrate.",
    )

    def vip_key_bytes(self) -> bytes:
        """Raises WrongSettings when the key is missing or too short to be one."""
        key = self.vip_key.get_secret_value().encode()
        if len(key) < VIP_KEY_LEAST:
            raise WrongSettings(f"WHIST_VIP_KEY: at least {VIP_KEY_LEAST} characters are needed")
        return key
