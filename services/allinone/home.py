"""The data folder of a machine that runs everything: PostgreSQL, secrets, mails, and a short place for sockets."""

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from libs.chassis.db import embedded
from libs.chassis.entropy import Entropy

SECRET_BYTES = 32


class HomeTaken(Exception):
    """Another process runs on this folder."""


class Home:
    """One folder, made on first use; everything in it survives `kill -9`."""

    def __init__(self, folder: Path, entropy: Entropy) -> None:
        self.folder = folder.absolute()
        self._entropy = entropy
        self.folder.mkdir(parents=True, exist_ok=True)

    @property
    def mails(self) -> Path:
        """Where mails are written instead of being sent."""
        return self._made(self.folder / "mail")

    @property
    def signing_keys(self) -> Path:
        """Keys of access tokens."""
        return self._made(self.folder / "keys", mode=0o700)

    @property
    def certificates(self) -> Path:
        """CA and certificates of a cluster on this machine."""
        return self._made(self.folder / "tls", mode=0o700)

    @property
    def sockets(self) -> Path:
        """Unix sockets: their paths may have 107 bytes, so they do not lie in the folder itself."""
        return self._made(self._short_place, mode=0o700)

    @property
    def _short_place(self) -> Path:
        short = hashlib.sha256(str(self.folder).encode()).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"whist-{os.geteuid()}-{short}"

    def secret(self, name: str) -> Path:
        """A file with 64 hexadecimal digits, made once, readable by its owner alone."""
        path = self._made(self.folder / "secrets", mode=0o700) / name
        if not path.exists():
            self._write(path, self._entropy.bytes(SECRET_BYTES).hex())
        return path

    @staticmethod
    def _write(path: Path, text: str) -> None:
        """Whole or not at all, for its owner alone."""
        fresh = path.with_suffix(".new")
        fresh.touch(mode=0o600)
        fresh.write_text(text)
        fresh.rename(path)

    @property
    def operators(self) -> Path:
        """Who may act as an operator: at first `admin`, by the secret "operator-token"; kept when edited."""
        token = self.secret("operator-token").read_text().strip()
        path = self.folder / "secrets" / "operators"
        if not path.exists():
            self._write(path, f"admin admin {hashlib.sha256(token.encode()).hexdigest()}\n")
        return path

    def postgres(self) -> embedded.EmbeddedPostgres:
        """Start the folder's PostgreSQL, or adopt the one that runs."""
        return embedded.start(self.folder / "postgres")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep others out; nothing is left in the short place afterwards. Raises HomeTaken."""
        with (self.folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise HomeTaken(f"another Whist runs on {self.folder}; stop it, or set WHIST_DATA_DIR") from None
            try:
                yield
            finally:
                shutil.rmtree(self._short_place, ignore_errors=True)

    @staticmethod
    def _made(path: Path, mode: int = 0o755) -> Path:
        path.mkdir(parents=True, exist_ok=True)
        path.chmod(mode)
        return path
