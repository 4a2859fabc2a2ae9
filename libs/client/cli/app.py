"""Commands and exit codes: 0 well, 1 refused or a check failed (the reason is said), 2 wrong usage."""

import os
import signal
import sys
from importlib.metadata import version
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from libs.client.cli import admin
from libs.client.cli.commands import games, own, playing, tables

app = typer.Typer(
    help="Whist: play online or here, watch a bot play, read records.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def _main(
    context: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", help="Say the version and stop.")] = False,
) -> None:
    if show_version:
        print(f"whist {version('whist')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit(2)


app.command()(playing.play)
app.command()(playing.demo)
app.command()(games.record)
app.command()(tables.tables)
app.command("open")(tables.open_table)
app.command()(tables.sit)
app.command()(tables.watch)
app.command("league")(own.show_league)
app.command()(own.upload)
app.command()(games.replay)
app.command()(games.verify)
app.command()(games.analysis)
app.command()(games.story)
app.command()(own.wallet)
app.command()(own.history)
app.command()(own.rooms)
app.command()(own.coffee)
app.command()(own.refund)
app.command()(own.name)
app.command()(own.sessions)
app.command()(own.export)
app.add_typer(admin.app, name="admin")


def main() -> None:
    """The `whist` command."""
    for ending in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(ending) is signal.SIG_DFL:  # under nohup it is not
            # As an interrupt: a game's record is written, a place in the queue given back.
            signal.signal(ending, lambda _signal, _frame: signal.raise_signal(signal.SIGINT))
    for name, access in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by who started us: nothing to read, nobody who reads
            setattr(sys, name, Path(os.devnull).open(access))  # noqa: SIM115 - for as long as the process lives
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(
                errors="replace"
            )  # a terminal without suit signs shows ? and plays on, and so does wrong input
    app(prog_name="whist")
