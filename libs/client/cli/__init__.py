"""The `whist` command: play in the terminal, watch a policy play and have everything checked, read a game's record."""

from libs.client.cli.app import main

__all__ = ["main"]
