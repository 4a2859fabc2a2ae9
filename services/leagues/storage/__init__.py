"""Leagues' tables and the SQL over them."""
