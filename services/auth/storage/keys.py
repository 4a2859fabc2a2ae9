"""Key files: the Ed25519 keys that sign access tokens, and the pepper.

A signing key is a PEM file (PKCS 8) whose stem is its `kid`. Stems sort by age, the newest last, as UUIDv7 do. The
newest key signs and all are published; so a new key is added beside the old one, and the old one is removed when its
last token has expired.
"""

import json
import os
from datetime import datetime, timedelta
from pathlib import Path

import jwt
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from libs.chassis.clock import Clock
from libs.chassis.entropy import Entropy
from libs.chassis.tokens import ALGORITHM, AUDIENCE, ISSUER, TOKEN_TYPE, jwk_of
from services.auth.domain.accounts import Account, SessionId
from services.auth.domain.pepper import PEPPER_BYTES, Pepper
from services.auth.domain.refresh import ACCESS_LIFE

PUBLISHED_AHEAD = timedelta(minutes=10)  # other replicas have read the folder, and gateways their set, long before
NONCE_BYTES = 12
PRIVATE = 0o600


class KeyRing:
    """Signs with the newest key of a folder. A key that appears later signs when all replicas publish it."""

    def __init__(self, folder: Path, entropy: Entropy, clock: Clock) -> None:
        """Raises ValueError naming the folder or file that cannot be used."""
        self._folder = folder
        self._entropy = entropy
        self._clock = clock
        self._keys = read_keys(folder)
        self._signs_from = dict.fromkeys(self._keys, clock.monotonic())
        self._jwks = _jwks(self._keys)

    def reload(self) -> None:
        """Take up keys that were added and drop those removed. Raises ValueError, and goes on with what it had."""
        self._keys = read_keys(self._folder)
        begins = self._clock.monotonic() + PUBLISHED_AHEAD.total_seconds()
        self._signs_from = {kid: self._signs_from.get(kid, begins) for kid in self._keys}
        self._jwks = _jwks(self._keys)

    def jwks(self) -> str:
        return self._jwks

    def sign(self, account: Account, session_id: SessionId, now: datetime) -> tuple[str, datetime]:
        """An access token of ten minutes; it names neither address nor name."""
        issued = now.replace(microsecond=0)
        expires_at = issued + ACCESS_LIFE
        payload = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": account.account_id.hex,
            "sid": session_id.hex,
            "jti": self._entropy.uuid7().hex,
            "guest": account.guest,
            "iat": issued,
            "nbf": issued,
            "exp": expires_at,
        }
        kid = self._signing()
        token = jwt.encode(payload, self._keys[kid], algorithm=ALGORITHM, headers={"kid": kid, "typ": TOKEN_TYPE})
        return token, expires_at

    def _signing(self) -> str:
        """The newest key that has been published long enough; the newest of all when none has."""
        moment = self._clock.monotonic()
        return max((kid for kid in self._keys if self._signs_from[kid] <= moment), default=max(self._keys))


class CodeSealer:
    """AES-256-GCM under a key of the pepper, bound to the letter it lies in."""

    def __init__(self, pepper: Pepper, entropy: Entropy) -> None:
        self._cipher = AESGCM(pepper.sealing_key())
        self._entropy = entropy

    def seal(self, letter_id: bytes, code: str) -> bytes:
        nonce = self._entropy.bytes(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, code.encode(), letter_id)

    def open(self, letter_id: bytes, sealed: bytes) -> str:
        try:
            return self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], letter_id).decode()
        except InvalidTag:
            raise ValueError("sealed under another pepper, or for another letter") from None


def read_keys(folder: Path) -> dict[str, Ed25519PrivateKey]:
    """The folder's keys by `kid`. Raises ValueError when there are none, or one is not an Ed25519 key."""
    keys: dict[str, Ed25519PrivateKey] = {}
    for path in sorted(folder.glob("*.pem")):
        try:
            key = serialization.load_pem_private_key(path.read_bytes(), password=None)
        except (OSError, TypeError, ValueError) as error:
            raise ValueError(f"WHIST_SIGNING_KEYS: {path} is no readable PEM private key") from error
        if not isinstance(key, Ed25519PrivateKey):
            raise ValueError(f"WHIST_SIGNING_KEYS: {path} is not an Ed25519 key")  # noqa: TRY004
        keys[path.stem] = key
    if not keys:
        raise ValueError(f"WHIST_SIGNING_KEYS: {folder} has no *.pem file")
    return keys


def read_pepper(path: Path) -> Pepper:
    """The pepper of a file of 64 or more hexadecimal digits. Raises ValueError."""
    try:
        return Pepper(bytes.fromhex(path.read_text().strip()))
    except (OSError, ValueError) as error:
        raise ValueError(f"WHIST_PEPPER_FILE: {path} must hold {2 * PEPPER_BYTES} or more hex digits") from error


def ensure_key(folder: Path, entropy: Entropy) -> None:
    """Make a signing key where the folder has none; for one machine."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(folder.glob("*.pem")):
        return
    pem = Ed25519PrivateKey.from_private_bytes(entropy.bytes(32)).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    _write_once(folder / f"{entropy.uuid7()}.pem", pem)


def ensure_pepper(path: Path, entropy: Entropy) -> None:
    """Make the pepper where there is none; for one machine."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        _write_once(path, entropy.bytes(PEPPER_BYTES).hex().encode())


def _write_once(path: Path, content: bytes) -> None:
    """The whole file or none, readable by its owner alone; what is there already stays."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def _jwks(keys: dict[str, Ed25519PrivateKey]) -> str:
    return json.dumps({"keys": [jwk_of(kid, key.public_key()) for kid, key in keys.items()]})
