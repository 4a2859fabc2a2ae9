"""Shuffles that anyone can check afterwards (P70).

One secret of 256 bits a game; its SHA-256 is published first, the secret itself after the game.
Every draw is `permutation(secret, label, size)`:

1. the stream is HMAC-SHA256(key=secret, message=label in UTF-8 ‖ counter in 4 bytes, big-endian),
   counter = 0, 1, 2, …, each digest cut into eight 32-bit big-endian words;
2. Fisher–Yates from the end: for i = size-1 … 1 take the next word w below the largest multiple of
   i+1 within 2³² (larger ones are skipped, so no value is favoured) and swap i with w mod (i+1).
"""

import hashlib
import hmac
import struct
from collections.abc import Iterator

SECRET_BYTES = 32
WORDS = struct.Struct(">8I")  # one SHA-256 digest


def commitment(secret: bytes) -> bytes:
    """What is published before the first card: SHA-256 of the secret."""
    return hashlib.sha256(secret).digest()


def permutation(secret: bytes, label: str, size: int) -> tuple[int, ...]:
    """A uniformly random order of range(size), the same for ever for the same three values."""
    order = list(range(size))
    words = _words(secret, label.encode())
    for last in range(size - 1, 0, -1):
        chosen = _below(last + 1, words)
        order[last], order[chosen] = order[chosen], order[last]
    return tuple(order)


def _below(bound: int, words: Iterator[int]) -> int:
    limit = 2**32 - 2**32 % bound
    return next(word for word in words if word < limit) % bound


def _words(secret: bytes, label: bytes) -> Iterator[int]:
    counter = 0
    while True:
        message = label + counter.to_bytes(4, "big")
        yield from WORDS.unpack(hmac.digest(secret, message, "sha256"))
        counter += 1
