"""``python -m libs.client.cli``: the `whist` command where it is not on the path."""

from libs.client.cli.app import main

main()
