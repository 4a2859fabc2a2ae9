"""The one secret of the service, and everything that is derived from it.

The database keeps nothing that its thief could use: codes and networks lie there as HMACs under the pepper, refresh
tokens as SHA-256 of 256 random bits.
"""

import hashlib
import hmac
import re
from dataclasses import dataclass, field

CODE_DIGITS = 8
CODE_SPACE = 10**CODE_DIGITS
PEPPER_BYTES = 32
SECRET_BYTES = 32
_CODE = re.compile(rf"[0-9]{{{CODE_DIGITS}}}")


@dataclass(frozen=True, slots=True)
class Pepper:
    """HMAC-SHA256 keys by purpose. Changing it voids codes under way and retries within their grace, nothing else."""

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.secret) < PEPPER_BYTES:
            raise ValueError(f"the pepper needs {PEPPER_BYTES} bytes, not {len(self.secret)}")

    def code_hash(self, login_id: bytes, code: str) -> bytes:
        """What is stored of a code (P40): worth nothing without the asking browser's `login_id`."""
        return self._mac(b"code", login_id, code.encode())

    def opening(self, *request: bytes) -> "Opening":
        """The beginning of the session that `request` opens; it holds 128 random bits that are stored nowhere."""
        return Opening(self, request)

    def opening_key(self, request: tuple[bytes, ...]) -> bytes:
        """What is stored of such a request, to recognise it by."""
        return self._mac(b"opening", *request)

    def first_token(self, session_id: bytes, request: tuple[bytes, ...]) -> bytes:
        """The refresh token that a session starts with; not to be had from what is stored."""
        return self._mac(b"first", session_id, *request)

    def successor(self, token: bytes) -> bytes:
        """The refresh token that replaces `token`: derived, so that a lost answer can be given again unstored."""
        return self._mac(b"successor", token)

    def subject(self, *parts: bytes) -> bytes:
        """Whom a limit counts; names neither address nor network to who reads the table."""
        return self._mac(b"subject", *parts)

    def sealing_key(self) -> bytes:
        """256-bit key for codes that wait in the mail queue."""
        return self._mac(b"seal")

    def _mac(self, purpose: bytes, *parts: bytes) -> bytes:
        """Each part is preceded by its length, so that no two lists of parts are one text."""
        mac = hmac.new(self.secret, digestmod=hashlib.sha256)
        for part in (purpose, *parts):
            mac.update(len(part).to_bytes(4, "big"))
            mac.update(part)
        return mac.digest()


@dataclass(frozen=True, slots=True)
class Opening:
    """A request that opens a session: whoever repeats it can be given the same answer, though no answer is kept."""

    _pepper: Pepper
    _request: tuple[bytes, ...] = field(repr=False)

    @property
    def key(self) -> bytes:
        """Stored with the session."""
        return self._pepper.opening_key(self._request)

    def token(self, session_id: bytes) -> bytes:
        """The refresh token that the session starts with."""
        return self._pepper.first_token(session_id, self._request)


def code_text(number: int) -> str:
    """Eight digits with leading zeros; `number` in 0..10^8-1."""
    return f"{number:0{CODE_DIGITS}}"


def is_code(text: str) -> bool:
    """Whether it is eight ASCII digits."""
    return _CODE.fullmatch(text) is not None


def same(one: bytes, other: bytes) -> bool:
    """Equality in constant time."""
    return hmac.compare_digest(one, other)
