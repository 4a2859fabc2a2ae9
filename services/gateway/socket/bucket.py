"""A token bucket: so many frames a second, and a burst (reliability N4)."""


class Bucket:
    """Refills by the caller's clock; a rate of 0 never runs dry."""

    __slots__ = ("_at", "_burst", "_rate", "_tokens")

    def __init__(self, rate: float, burst: int, now: float) -> None:
        self._rate = rate
        self._burst = burst
        self._tokens = float(burst)
        self._at = now

    def take(self, now: float, cost: int = 1) -> bool:
        """Take `cost` tokens at monotonic time `now`; False when there are not so many, and none is taken."""
        if not self._rate:
            return True
        tokens = min(self._burst, self._tokens + (now - self._at) * self._rate)
        self._at = now
        if tokens < cost:
            self._tokens = tokens
            return False
        self._tokens = tokens - cost
        return True
