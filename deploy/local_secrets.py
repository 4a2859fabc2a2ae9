"""`python -m deploy.local_secrets | kubectl apply -f -`: the secrets that the local overlay names.

They are kept in a folder outside of git (`.run/kubernetes`), so that a second run prints the same: the database keeps
its password. Elsewhere secrets come from the cluster's own store and its certificate issuer.
"""

import base64
import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from deploy.manifests import ROOT, SERVICES
from libs.chassis import localca
from libs.chassis.entropy import Entropy, SystemEntropy

NAMESPACE = "whist"
DATABASES = ("auth", "matchmaking", "tables", "wallet", "leagues", "coach")
KEY_BYTES = 32


def secrets(folder: Path, entropy: Entropy) -> list[dict[str, Any]]:
    """One manifest a secret; idempotent for the same folder."""
    kept = _Kept(folder, entropy)
    password = kept.word("postgres")
    url = f"postgresql+asyncpg://postgres:{password}@postgres:5432/whist"
    made = [
        _secret("whist-postgres", {"password": password.encode()}),
        *(_secret(f"whist-{name}-database", {"url": url.encode()}) for name in DATABASES),
        _secret("whist-auth-keys", kept.signing_key()),
        _secret("whist-auth-pepper", {"pepper": kept.word("pepper").encode()}),
        _secret("whist-smtp", {"host": b"mailpit", "user": b"", "password": b""}),
        _secret("whist-operators", {"operators": _admin(kept.word("operators"))}),
        _secret("whist-vip", {"key": kept.word("vip").encode()}),
    ]
    for name, files in localca.ensure(folder / "tls", SERVICES).items():
        pair = {"tls.crt": files.cert, "tls.key": files.key, "ca.crt": files.ca}
        content = {key: path.read_bytes() for key, path in pair.items()}
        made.append(_secret(f"whist-{name}-tls", content, "kubernetes.io/tls"))
    return made


def _admin(token: str) -> bytes:
    """The operators' file with one line: who shows this token may do everything."""
    return f"admin admin {hashlib.sha256(token.encode()).hexdigest()}\n".encode()


class _Kept:
    """Random words and keys that are made once and then read."""

    def __init__(self, folder: Path, entropy: Entropy) -> None:
        self._folder = folder
        self._entropy = entropy
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def word(self, name: str) -> str:
        """64 hexadecimal digits."""
        path = self._folder / name
        if not path.exists():
            self._write(path, self._entropy.bytes(KEY_BYTES).hex().encode())
        return path.read_text()

    def signing_key(self) -> dict[str, bytes]:
        """File name → PEM of the one Ed25519 key; its name sorts by age."""
        folder = self._folder / "keys"
        folder.mkdir(exist_ok=True)
        if not list(folder.glob("*.pem")):
            pem = Ed25519PrivateKey.from_private_bytes(self._entropy.bytes(KEY_BYTES)).private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            self._write(folder / f"{self._entropy.uuid7()}.pem", pem)
        return {path.name: path.read_bytes() for path in sorted(folder.glob("*.pem"))}

    @staticmethod
    def _write(path: Path, content: bytes) -> None:
        """Whole or not at all."""
        new = path.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_bytes(content)
        new.replace(path)


def _secret(name: str, content: Mapping[str, bytes], kind: str = "Opaque") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": {"app.kubernetes.io/part-of": "whist"}},
        "type": kind,
        "data": {key: base64.b64encode(value).decode() for key, value in content.items()},
    }


if __name__ == "__main__":
    yaml.safe_dump_all(secrets(ROOT / ".run" / "kubernetes", SystemEntropy()), sys.stdout)
