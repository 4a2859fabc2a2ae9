"""Refresh tokens: opaque, used once each, one family a session (reliability 4, RFC 9700)."""

import base64
import binascii
import hashlib
from datetime import datetime, timedelta

from services.auth.domain.errors import RefreshInvalid
from services.auth.domain.pepper import SECRET_BYTES

ACCESS_LIFE = timedelta(minutes=10)
ANSWER_GRACE = timedelta(seconds=10)  # a lost answer is given again for so long, while its token is unused
GUEST_RETRY = timedelta(hours=24)  # then a guest's request id is forgotten and opens nothing any more


def token_text(token: bytes) -> str:
    """256 bits as 43 characters of base64url."""
    return base64.urlsafe_b64encode(token).rstrip(b"=").decode()


def token_of(text: str) -> bytes:
    """The 32 bytes of a token's text. Raises RefreshInvalid."""
    try:
        token = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise RefreshInvalid from None
    # One text a token: trailing bits that decode to the same bytes are refused.
    if len(token) != SECRET_BYTES or token_text(token) != text:
        raise RefreshInvalid
    return token


def token_hash(token: bytes) -> bytes:
    """What is stored of a token; 256 random bits need no slow hash."""
    return hashlib.sha256(token).digest()


def refresh_expiry(used_at: datetime, session_expires_at: datetime, idle: timedelta) -> datetime:
    """When the token given at `used_at` stops working if nobody uses it."""
    return min(used_at + idle, session_expires_at)
