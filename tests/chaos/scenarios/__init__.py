"""The scenarios, a module a kind of fault; importing this package registers them all."""

from tests.chaos.scenarios import full_database, illegal, planted_fault, random_bytes, rogue_sockets, secrecy

__all__ = ["full_database", "illegal", "planted_fault", "random_bytes", "rogue_sockets", "secrecy"]
