"""Guests, sign-in, tokens, oneself."""

from datetime import UTC, datetime

from pydantic import BaseModel, Field

from services.gateway.http.models.base import Id, Request
from services.gateway.http.models.leagues import FormName, Standing
from services.gateway.http.models.wallet import Wallet
from whist.auth.v1 import auth_pb2


class Device(Request):
    """Who asks, for the list of devices."""

    device: str = Field("", max_length=64)


class LoginStart(Request):
    """Ask for a code by mail (P40)."""

    email: str = Field(min_length=3, max_length=254)
    locale: str = Field("en", max_length=35, pattern="^[A-Za-z0-9-]+$")


class LoginFinish(Request):
    """The code that came."""

    code: str = Field(pattern="^[0-9]{8}$")
    device: str = Field("", max_length=64)
    drop_guest: bool = Field(False, description="Erase the guest who asks where the address has its account already.")


class RefreshToken(Request):
    """The refresh token; browsers leave it out and send their cookie."""

    refresh_token: str | None = Field(None, min_length=1, max_length=512)


class Config(BaseModel):
    """What a client must know before it begins."""

    version: str
    socket_url: str
    heartbeat_ms: int


class LoginStarted(BaseModel):
    """The same whether the address is known or not."""

    login_id: Id
    expires_at: datetime


class Account(BaseModel):
    """Public facts of an account; `named` when the name is its own alone, a ✓ at the table (P41)."""

    account_id: Id
    name: str
    guest: bool
    named: bool
    created_at: datetime

    @classmethod
    def of(cls, account: auth_pb2.Account) -> "Account":
        return cls(
            account_id=account.account_id.hex(),
            name=account.name,
            guest=account.guest,
            named=account.named,
            created_at=account.created_at.ToDatetime(UTC),
        )


class Tokens(BaseModel):
    """Of a session. `refresh_token` is null for pages, which get it as a cookie that no script can read."""

    access_token: str
    access_expires_at: datetime
    refresh_token: str | None
    refresh_expires_at: datetime


class SignedIn(BaseModel):
    """An account and its tokens; `created` when this request made the account."""

    tokens: Tokens
    account: Account
    created: bool = False


class Me(BaseModel):
    """Oneself. What a service cannot tell just now is null: nobody is kept from playing by it."""

    account: Account
    level: int | None
    experience: int | None
    next_level_at: int | None
    form: FormName | None
    standing: Standing | None
    wallet: Wallet | None
