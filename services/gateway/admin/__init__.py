"""Operators' own listener, never reachable from where players are (reliability N6)."""
