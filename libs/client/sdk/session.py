"""Who we are: access and refresh token, renewed before they end and kept where the caller wants."""

import asyncio
import contextlib
import hashlib
import json
import os
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from libs.client.sdk.api import Api, Json
from libs.client.sdk.errors import WhistError

FRESH_S = 60.0  # a token with less than this left is renewed before it is used
UNAUTHENTICATED = 401


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What a signed-in client holds. `access_until` is seconds of this machine's Unix time."""

    access: str
    access_until: float
    refresh: str


class TokenStore(Protocol):
    """Where tokens outlive the process. Both methods are quick and local."""

    def load(self) -> Mapping[str, Any] | None: ...

    def save(self, kept: Mapping[str, Any]) -> None: ...


class MemoryStore:
    """Forgets at the end of the process: each `Whist.connect` is a new guest."""

    def __init__(self) -> None:
        self._kept: Mapping[str, Any] | None = None

    def load(self) -> Mapping[str, Any] | None:
        return self._kept

    def save(self, kept: Mapping[str, Any]) -> None:
        self._kept = kept


class FileStore:
    """One file of mode 0600 for each server and `role`, under `folder` ($XDG_STATE_HOME/whist).

    A file that cannot be read counts as none; a folder that cannot be written keeps nothing.
    """

    def __init__(self, url: str, role: str = "player", folder: Path | None = None) -> None:
        state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
        server = hashlib.sha256(url.rstrip("/").encode()).hexdigest()[:16]
        self.path = (folder or Path(state) / "whist") / f"{role}-{server}.json"

    def load(self) -> Mapping[str, Any] | None:
        try:
            kept = json.loads(self.path.read_text())
        except (OSError, ValueError):
            return None
        return kept if isinstance(kept, Mapping) else None

    def save(self, kept: Mapping[str, Any]) -> None:
        fresh = self.path.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fresh.touch(mode=0o600)
            fresh.write_text(json.dumps(dict(kept)))
            fresh.replace(self.path)

    def forget(self) -> None:
        """Start over as nobody."""
        with contextlib.suppress(OSError):
            self.path.unlink()


class Session:
    """One account's tokens: `access_token` is always good for a while; one refresh at a time."""

    def __init__(self, api: Api, store: TokenStore) -> None:
        self._api = api
        self._store = store
        self._tokens: Tokens | None = None
        self._renewing = asyncio.Lock()
        self.account: Json = {}

    async def resume(self) -> bool:
        """Take the stored session up again; False when there is none or the server no longer knows the guest.

        Raises WhistError SIGN_IN_ENDED, once, where it was an account's: a guest in its place would look like a loss.
        """
        kept = self._store.load()
        if kept is None or not isinstance(kept.get("refresh_token"), str):
            return False
        try:
            self._take(await self._api.refresh(kept["refresh_token"]))
        except WhistError as error:
            if error.code == "UNREACHABLE" or error.status != UNAUTHENTICATED:
                raise
            account = kept.get("account") or {}
            if account.get("guest", True):
                return False
            self._store.save({})
            raise WhistError("SIGN_IN_ENDED", UNAUTHENTICATED, {"name": account.get("name")}) from None
        return True

    async def become_guest(self) -> None:
        """A new guest account."""
        self._take(await self._api.create_guest(device_name()))

    async def resume_guest(self) -> None:
        """Take the stored session up again if it is a guest's, so that the guest may become an account (P42)."""
        kept = self._store.load() or {}
        if (kept.get("account") or {}).get("guest"):
            await self.resume()

    async def sign_in(self, login_id: str, code: str, *, drop_guest: bool = False) -> None:
        """Finish a login by its e-mailed code, as the guest that we are if we are one.

        Raises WhistError CODE_WRONG, CODE_SPENT, GUEST_WOULD_BE_DROPPED.
        """
        guest = await self.access_token() if self.account.get("guest") else ""
        self._take(
            await self._api.finish_login(login_id, code, device_name(), guest_token=guest, drop_guest=drop_guest)
        )

    async def access_token(self, *, for_s: float = FRESH_S) -> str:
        """A token with at least `for_s` seconds left. Raises WhistError when the session has ended."""
        async with self._renewing:
            if self._held.access_until - time.time() < for_s:
                await self._renew()
            return self._held.access

    async def renew(self) -> str:
        """A new access token, whatever the old one still has. Raises WhistError when the session has ended."""
        async with self._renewing:
            await self._renew()
            return self._held.access

    async def request(self, method: str, path: str, body: Json | None = None) -> Json:
        """A signed request; a token that the server no longer takes is renewed once."""
        token = await self.access_token()
        try:
            return await self._api.request(method, path, token=token, body=body)
        except WhistError as error:
            if error.status != UNAUTHENTICATED:
                raise
        async with self._renewing:
            if self._held.access == token:
                await self._renew()
            token = self._held.access
        return await self._api.request(method, path, token=token, body=body)

    @property
    def _held(self) -> Tokens:
        if self._tokens is None:
            raise WhistError("NOT_SIGNED_IN")
        return self._tokens

    async def _renew(self) -> None:
        """Spend the refresh token: the stored one when another process of ours has renewed the same account."""
        refresh = self._held.refresh
        kept = self._store.load() or {}
        ours = self.account.get("account_id")
        if (kept.get("account") or {}).get("account_id") == ours and isinstance(kept.get("refresh_token"), str):
            refresh = kept["refresh_token"]
        self._take(await self._api.refresh(refresh))

    def _take(self, answer: Json) -> None:
        plain = answer["tokens"]
        self.account = answer.get("account") or self.account
        self._tokens = Tokens(
            access=plain["access_token"],
            access_until=_unix_s(plain["access_expires_at"]),
            refresh=plain["refresh_token"],
        )
        # Only the refresh token is worth keeping: an access token ends within minutes.
        self._store.save({"refresh_token": self._tokens.refresh, "account": self.account})


def device_name() -> str:
    """What the account's list of devices shows; at most 64 characters."""
    return f"whist command on {platform.node() or platform.system()}"[:64]


def _unix_s(value: str | float) -> float:
    """An RFC 3339 time, or Unix seconds, as Unix seconds."""
    return datetime.fromisoformat(value).timestamp() if isinstance(value, str) else float(value)
