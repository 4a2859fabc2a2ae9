"""Settings of the wallet; rooms, prizes and gifts lie in config/platform.toml."""

from pathlib import Path

from pydantic import Field, SecretStr

from libs.chassis.addresses import RpcTarget
from libs.chassis.settings import ServiceSettings, WrongSettings
from libs.house.vip import VIP_KEY_LEAST


class WalletSettings(ServiceSettings):
    """What the wallet reads besides what every service reads."""

    tables_target: RpcTarget = Field(
        "dns:///tables:50051", description="gRPC target of the table workers, asked about old holds."
    )
    platform_config: Path | None = Field(None, description="platform.toml; empty: the packaged one.")
    vip_key: SecretStr = Field(
        SecretStr(""),
        description="Key of the hash that gives each account its VIP days (P13), the same in every service that asks; "
        "needed to serve, not to migrate.",
    )
    hold_ask_seconds: float = Field(
        120, gt=0, le=86_400, description="Age from which a hold's table is asked whether it will ever be dealt."
    )
    hold_check_seconds: float = Field(15, gt=0, le=3600, description="How often old holds are looked for.")
    ledger_check_seconds: float = Field(600, gt=0, le=86_400, description="How often the ledger is proved.")

    def vip_key_bytes(self) -> bytes:
        """Raises WrongSettings when the key is missing or too short to be one."""
        key = self.vip_key.get_secret_value().encode()
        if len(key) < VIP_KEY_LEAST:
            raise WrongSettings(f"WHIST_VIP_KEY: at least {VIP_KEY_LEAST} characters are needed")
        return key
