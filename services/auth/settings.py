"""Settings of auth; the numbers that are rules lie in config/platform.toml."""

from email.headerregistry import HeaderRegistry
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator

from libs.chassis.settings import ServiceSettings


class AuthSettings(ServiceSettings):
    """What auth reads besides what every service reads."""

    platform_config: Path | None = Field(default=None, description="platform.toml; empty: the packaged one.")
    signing_keys: Path = Field(
        default=Path(".run/keys"), description="Folder of Ed25519 PEM files, <kid>.pem; newest signs."
    )
    pepper_file: Path = Field(default=Path(".run/pepper"), description="File of 64 or more hex digits.")
    keys_create: bool = Field(
        default=False, description="Make the signing key and the pepper when they are missing; for one machine only."
    )
    mail_dir: Path | None = Field(default=None, description="Write mail here as .eml files instead of sending it.")
    mail_from: str = Field(default="Whist <noreply@whist.example>", min_length=3, description="Sender of all mail.")
    smtp_host: str = Field(default="", description="Mail server; needed where mail_dir is not set.")
    smtp_port: int = Field(default=587, ge=1, le=65535)
    smtp_security: Literal["tls", "starttls", "none"] = "starttls"
    smtp_user: str = ""
    smtp_password: SecretStr = SecretStr("")
    codes_per_network_hour: int = Field(
        default=20, ge=1, le=1_000_000, description="Codes one /24 or /64 may ask for (P40)."
    )
    guests_per_network_hour: int = Field(default=60, ge=1, le=1_000_000, description="Guests from one /24 or /64.")
    codes_per_hour: int = Field(
        default=10_000,
        ge=1,
        le=1_000_000,
        description="Addresses that may ask for codes together: the mail server's breaker.",
    )

    @field_validator("mail_from")
    @classmethod
    def _is_sender(cls, value: str) -> str:
        header: Any = HeaderRegistry()("From", value)
        if header.defects or [bool(each.username and each.domain) for each in header.addresses] != [True]:
            raise ValueError("must be one address, as in: Whist <noreply@whist.example>")
        return value

    @model_validator(mode="after")
    def _one_way_for_mail(self) -> Self:
        if (self.mail_dir is None) == (not self.smtp_host):
            raise ValueError("set one of WHIST_MAIL_DIR and WHIST_SMTP_HOST")
        return self
