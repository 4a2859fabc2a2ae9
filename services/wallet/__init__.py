"""Wallet: the double-entry ledger of coins, bars and coffee; entries, prizes, gifts (P6, P10-P12, P17)."""
