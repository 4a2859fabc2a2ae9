"""How often a network or an account may ask (reliability N4, N8): moving windows in this replica's memory."""

from limits import RateLimitItem, parse_many
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from libs.chassis.clock import Clock
from libs.chassis.errors import DomainError, Kind
from services.gateway.settings import GatewaySettings


class RateLimited(DomainError):
    """Too many requests; `retry_after_seconds` says when one is taken again."""

    kind = Kind.EXHAUSTED
    reason = "RATE_LIMITED"


class Limits:
    """One window a rule and key. Replicas count each for itself: a limit here guards this process."""

    def __init__(self, settings: GatewaySettings, clock: Clock) -> None:
        self._clock = clock
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._network = _rules(settings.rate_network)
        self._account = _rules(settings.rate_account)
        self._guests = _rules(settings.rate_guests)
        self._login = _rules(settings.rate_login)
        self._tables = _rules(settings.rate_tables)
        self._chat = _rules(settings.rate_chat)
        self._exports = _rules(settings.rate_exports)
        self._operators = _rules(settings.rate_operators)

    def network(self, network: str) -> None:
        """Any request. Raises RateLimited."""
        self._take(self._network, "network", network)

    def account(self, account_id: bytes) -> None:
        """A request with a token. Raises RateLimited."""
        self._take(self._account, "account", account_id.hex())

    def guest(self, network: str) -> None:
        """A new guest. Raises RateLimited."""
        self._take(self._guests, "guest", network)

    def login(self, network: str) -> None:
        """A code asked for or tried, a token renewed. Raises RateLimited."""
        self._take(self._login, "login", network)

    def table(self, account_id: bytes) -> None:
        """A friends' table opened, or somebody reported. Raises RateLimited."""
        self._take(self._tables, "table", account_id.hex())

    def chat(self, account_id: bytes) -> None:
        """A line of chat. Raises RateLimited."""
        self._take(self._chat, "chat", account_id.hex())

    def export(self, account_id: bytes) -> None:
        """A copy of all that is held, which every service works for. Raises RateLimited."""
        self._take(self._exports, "export", account_id.hex())

    def operator_may_try(self, network: str) -> None:
        """A request at the operators' listener. Raises RateLimited while too many tokens from there were wrong."""
        for rule in self._operators:
            if not self._limiter.test(rule, "operator", network):
                raise self._limited(rule, "operator", network)

    def operator_unknown(self, network: str) -> None:
        """A wrong operator's token."""
        for rule in self._operators:
            self._limiter.hit(rule, "operator", network)

    def _take(self, rules: list[RateLimitItem], name: str, key: str) -> None:
        for rule in rules:
            if not self._limiter.hit(rule, name, key):
                raise self._limited(rule, name, key)

    def _limited(self, rule: RateLimitItem, name: str, key: str) -> RateLimited:
        reset_at = self._limiter.get_window_stats(rule, name, key).reset_time
        return RateLimited(retry_after_seconds=max(1, round(reset_at - self._clock.now().timestamp() + 0.5)))


def _rules(text: str) -> list[RateLimitItem]:
    return parse_many(text) if text else []
