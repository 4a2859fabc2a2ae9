"""Access tokens at the edge: keys fetched from auth and kept, sessions that have ended refused at once."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from libs.chassis.clock import Clock
from libs.chassis.errors import DomainError, Unavailable
from libs.chassis.tokens import AccessTokens, TokenInvalid

FETCH_GAP_SECONDS = 10.0  # between two fetches: made-up key ids must not become calls to auth
FAILED_GAP_SECONDS = 1.0  # after one that failed: who waited for it is not to wait for another, one behind the other
REVOKED_SECONDS = 15 * 60.0  # longer than any access token lives


@dataclass(frozen=True, slots=True, kw_only=True)
class Bearer:
    """Who holds a good access token; ids as 16 bytes."""

    account_id: bytes
    session_id: bytes
    guest: bool
    expires_at: datetime


class Sessions:
    """Verifies access tokens with auth's public keys."""

    def __init__(self, fetch_jwks: Callable[[], Awaitable[str]], clock: Clock) -> None:
        self._fetch_jwks = fetch_jwks
        self._clock = clock
        self._tokens = AccessTokens()
        self._jwks = ""
        self._fetch_from = float("-inf")
        self._failed = False  # the last fetch
        self._fetching = asyncio.Lock()
        self._revoked: dict[bytes, float] = {}
        self._upgraded: dict[bytes, float] = {}

    def verify(self, token: str) -> Bearer:
        """Check a token with the keys at hand. Raises TokenInvalid (perhaps for want of a key) or TokenExpired."""
        if not self._jwks:
            raise TokenInvalid
        claims = self._tokens.verify(token, self._jwks, self._clock.now())
        if claims.session_id.bytes in self._revoked:
            raise TokenInvalid
        return Bearer(
            account_id=claims.account_id.bytes,
            session_id=claims.session_id.bytes,
            guest=claims.guest,
            expires_at=claims.expires_at,
        )

    async def verified(self, token: str) -> Bearer:
        """Check a token, asking auth for newer keys before it is refused.

        Raises TokenInvalid, TokenExpired, or a DomainError of kind UNAVAILABLE when auth cannot be asked.
        """
        try:
            return self.verify(token)
        except TokenInvalid:
            if not await self._refresh():
                raise
        return self.verify(token)

    async def _refresh(self) -> bool:
        """Fetch the keys, at most every ten seconds; whether they are other than before.

        Raises a DomainError of kind UNAVAILABLE when auth cannot be asked, or could not a second ago.
        """
        before = self._jwks
        async with self._fetching:
            if self._jwks != before:
                return True  # somebody fetched while we waited
            if self._clock.monotonic() < self._fetch_from:
                if self._failed:
                    raise Unavailable
                return False
            try:
                self._jwks = await self._fetch_jwks()
            except DomainError:
                self._failed, self._fetch_from = True, self._clock.monotonic() + FAILED_GAP_SECONDS
                raise
            self._failed, self._fetch_from = False, self._clock.monotonic() + FETCH_GAP_SECONDS
            return self._jwks != before

    def revoke(self, session_id: bytes) -> None:
        """Refuse the session's tokens from now on, though they have not expired."""
        self._keep(self._revoked, session_id)

    def upgraded(self, account_id: bytes) -> None:
        """The guest is an account from now on: what it was given as a guest is worth nothing to the account."""
        self._keep(self._upgraded, account_id)

    def outgrown(self, bearer: Bearer) -> bool:
        """Whether the token is of a guest who has become an account (P42)."""
        return bearer.guest and bearer.account_id in self._upgraded

    def _keep(self, kept: dict[bytes, float], key: bytes) -> None:
        now = self._clock.monotonic()
        for old in [each for each, until in kept.items() if until < now]:
            del kept[old]
        kept[key] = now + REVOKED_SECONDS
