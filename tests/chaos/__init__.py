"""Whole systems in processes of their own, broken on purpose by a seed, and what must be true afterwards."""
