"""One's own name, devices, and all that is held of oneself."""

from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, Field

from services.gateway.http.models.accounts import Account
from services.gateway.http.models.base import Id, Request
from services.gateway.http.models.leagues import Progress, Standing
from services.gateway.http.models.wallet import Movement, Wallet
from whist.auth.v1 import auth_pb2


class Name(Request):
    """The name that one wants for oneself alone; what it may be is told by NAME_INVALID and its `rule`."""

    name: str = Field(max_length=64)


class NameClaimed(BaseModel):
    """The account under its name, and from when the next change is free."""

    account: Account
    next_change_at: datetime


class Session(BaseModel):
    """A device that is signed in; `current` is the one that asks."""

    session_id: Id
    device: str
    created_at: datetime
    used_at: datetime
    expires_at: datetime
    current: bool

    @classmethod
    def of(cls, session: auth_pb2.Session, *, current: bool) -> "Session":
        return cls(
            session_id=session.session_id.hex(),
            device=session.device,
            created_at=session.created_at.ToDatetime(UTC),
            used_at=session.used_at.ToDatetime(UTC),
            expires_at=session.expires_at.ToDatetime(UTC),
            current=current,
        )


class Sessions(BaseModel):
    """The last used first."""

    sessions: list[Session]


class Export(BaseModel):
    """All that is held of the account (P45). What a service keeps of persons is as that service tells it."""

    account: dict[str, Any]
    wallet: Wallet
    movements: list[Movement]
    progress: Progress
    standing: Standing
    tables: dict[str, Any]
