"""Accounts, e-mailed codes, sessions and guests (P40-P42)."""
