"""The scenarios, a module a kind of fault; importing this package registers them all."""

from tests.chaos.scenarios import illegal, secrecy

__all__ = ["illegal", "secrecy"]
