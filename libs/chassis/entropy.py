"""The only reader of the system's random source, and the maker of ids (UUIDv7, RFC 9562)."""

import os
import random
import secrets
from typing import Protocol
from uuid import UUID

import uuid_utils.compat


class Entropy(Protocol):
    """Randomness as a port, so that tests can seed it."""

    def bytes(self, size: int) -> bytes: ...

    def below(self, limit: int) -> int:
        """Uniform in 0..limit-1."""
        ...

    def uuid7(self) -> UUID:
        """Time-ordered id."""
        ...


class SystemEntropy:
    """The operating system's cryptographic source."""

    def bytes(self, size: int) -> bytes:
        return os.urandom(size)

    def below(self, limit: int) -> int:
        return secrets.randbelow(limit)

    def uuid7(self) -> UUID:
        return uuid_utils.compat.uuid7()


class SeededEntropy:
    """Repeatable and therefore worthless as a secret; for tests only."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - repeatable by purpose
        self._count = 0

    def bytes(self, size: int) -> bytes:
        return self._random.randbytes(size)

    def below(self, limit: int) -> int:
        return self._random.randrange(limit)

    def uuid7(self) -> UUID:
        self._count += 1
        tail = int.from_bytes(self._random.randbytes(9), "big") & ((1 << 62) - 1)
        return UUID(int=(self._count << 80) | (0x7 << 76) | (0b10 << 62) | tail)
