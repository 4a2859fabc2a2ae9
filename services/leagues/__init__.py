"""Leagues: experience and levels, the weekly league's points, fire and ice (P43, P50, P54)."""
