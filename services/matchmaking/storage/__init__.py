"""PostgreSQL schema `matchmaking`."""
