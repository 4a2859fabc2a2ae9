"""Matchmaking: from a ticket to a seat at a quick table (P1-P9)."""
