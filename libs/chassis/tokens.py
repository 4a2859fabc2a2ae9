"""Access tokens as whoever receives one verifies them: signed JWTs of one issuer, for one audience, with known keys.

What is accepted is a list of one: EdDSA over Ed25519, type ``at+jwt`` (RFC 9068), keys from the issuer's own JWK set.
Headers that name or carry a key (`jku`, `x5u`, `jwk`) are never read (RFC 8725).
"""

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from libs.chassis.errors import DomainError, Kind

ISSUER = "whist-auth"
AUDIENCE = "whist"
ALGORITHM = "EdDSA"
TOKEN_TYPE = "at+jwt"  # noqa: S105 - a media type
LEEWAY = timedelta(seconds=30)  # clocks of two machines differ
TOKEN_MAX = 2048  # characters; ours have about 450, and nobody shall make us parse a megabyte

_ID = re.compile(r"[0-9a-f]{32}")
_CLAIMS = {"require": ["sub", "sid", "jti", "iss", "aud", "exp", "nbf", "iat"]}
# Times are compared with the caller's clock, not with the library's.
_OPTIONS: Any = {**_CLAIMS, "verify_exp": False, "verify_nbf": False, "verify_iat": False}


class TokenInvalid(DomainError):
    """Not a token of ours: forged, broken, meant for another, or not yet valid."""

    kind = Kind.UNAUTHENTICATED
    reason = "TOKEN_INVALID"


class TokenExpired(DomainError):
    """Was ours; a new one is to be had for the refresh token."""

    kind = Kind.UNAUTHENTICATED
    reason = "TOKEN_EXPIRED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What a verified token says of its bearer."""

    account_id: UUID
    session_id: UUID
    guest: bool
    expires_at: datetime


class AccessTokens:
    """Verifies tokens. Keeps the parsed keys of the last JWK set it was given."""

    def __init__(self, issuer: str = ISSUER, audience: str = AUDIENCE) -> None:
        self._issuer = issuer
        self._audience = audience
        self._jwks: str | None = None
        self._keys: Mapping[str, Ed25519PublicKey] = {}

    def verify(self, token: str, jwks: str, now: datetime) -> Claims:
        """Who bears `token`. `jwks` is the issuer's set as JSON text, `now` aware UTC.

        Raises TokenInvalid, or TokenExpired when only its time is over (30 s of leeway). A key that the set does not
        name is TokenInvalid: whoever keeps the set fetches it anew before believing that.
        """
        if jwks != self._jwks:
            self._keys = keys_of(jwks)
            self._jwks = jwks
        payload = self._payload(token)
        try:
            claims = Claims(
                account_id=_id(payload["sub"]),
                session_id=_id(payload["sid"]),
                guest=_flag(payload["guest"]),
                expires_at=_moment(payload["exp"]),
            )
            begins_at = _moment(payload["nbf"])
        except (KeyError, TypeError, ValueError, OverflowError, OSError) as error:
            raise TokenInvalid from error
        if now + LEEWAY < begins_at:
            raise TokenInvalid
        if now >= claims.expires_at + LEEWAY:
            raise TokenExpired
        return claims

    def _payload(self, token: str) -> Mapping[str, Any]:
        if len(token) > TOKEN_MAX:
            raise TokenInvalid
        try:
            header = jwt.get_unverified_header(token)
            kid = header.get("kid")
            if header.get("alg") != ALGORITHM or header.get("typ") != TOKEN_TYPE or "crit" in header:
                raise TokenInvalid
            if not isinstance(kid, str) or kid not in self._keys:
                raise TokenInvalid
            payload: Mapping[str, Any] = jwt.decode(
                token,
                self._keys[kid],
                algorithms=[ALGORITHM],
                audience=self._audience,
                issuer=self._issuer,
                options=_OPTIONS,
            )
        except (jwt.InvalidTokenError, ValueError, RecursionError) as error:
            raise TokenInvalid from error
        return payload


def keys_of(jwks: str) -> Mapping[str, Ed25519PublicKey]:
    """The Ed25519 signing keys of a JWK set by `kid`; other kinds of key are passed over.

    Raises ValueError for a text that is no JWK set.
    """
    document = json.loads(jwks)
    if not isinstance(document, dict) or not isinstance(document.get("keys"), list):
        raise ValueError("not a JWK set")  # noqa: TRY004 - the text is wrong, not its type
    found: dict[str, Ed25519PublicKey] = {}
    try:
        for key in document["keys"]:
            if (key.get("kty"), key.get("crv"), key.get("use", "sig")) == ("OKP", "Ed25519", "sig"):
                found[str(key["kid"])] = Ed25519PublicKey.from_public_bytes(_unbase64url(key["x"]))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError("not a JWK set") from error
    return found


def jwk_of(kid: str, key: Ed25519PublicKey) -> Mapping[str, str]:
    """One public key as a member of a JWK set (RFC 8037)."""
    x = base64.urlsafe_b64encode(key.public_bytes_raw()).rstrip(b"=").decode()
    return {"kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": ALGORITHM, "kid": kid, "x": x}


def _unbase64url(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error as error:
        raise ValueError("not base64url") from error


def _id(value: object) -> UUID:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise ValueError("not an id")
    return UUID(hex=value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError("not a flag")
    return value


def _moment(value: object) -> datetime:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("not a number of seconds")
    return datetime.fromtimestamp(value, UTC)
