"""Options that several commands take."""

from typing import Annotated

import typer

HERE = "http://localhost:8080"

Url = Annotated[str, typer.Option(envvar="WHIST_URL", help="The server.")]
AsJson = Annotated[bool, typer.Option("--json", help="For programs: JSON on standard output.")]
Email = Annotated[str, typer.Option(help="Sign in by a code sent there, instead of playing as a guest.")]
