"""The wallet's metrics."""

from prometheus_client import Counter, Gauge

coins_created = Counter("whist_wallet_coins_created", "Coins that came into players' reach.", ["reason"])
coins_destroyed = Counter("whist_wallet_coins_destroyed", "Coins that left players' reach for good.", ["reason"])
holds_released = Counter("whist_wallet_old_holds_released", "Holds released because their table will never be dealt.")
oldest_hold_seconds = Gauge("whist_wallet_oldest_hold_seconds", "Age of the oldest open hold; 0: none.")
ledger_unproved = Gauge(
    "whist_ledger_unproved", "What the last proof said nothing of: older than the rule needs.", ["rule"]
)
ledger_imbalance = Gauge("whist_ledger_imbalance", "Differences the last proof of the ledger found; must be 0.")
