"""`bellcrank shell`: the command language, typed, from a script or from another program."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import click


@click.command("shell")
@click.argument("script", type=click.Path(exists=True, dir_okay=False), required=False)
@click.option(
    "--protocol",
    type=click.Choice(["text", "json"]),
    help="Replies for people (the default), or one JSON object for each command. Given either way, commands "
    "write files in the working folder only.",
)
@click.option("--any-folder", is_flag=True, help="With --protocol: let commands write files anywhere.")
@click.option("--keep-going", is_flag=True, help="Continue a script after a refused command.")
def command(script: str | None, protocol: str | None, any_folder: bool, keep_going: bool) -> None:
    """Build and control a mechanism by commands.

    Commands are read from SCRIPT, from piped standard input, or typed. A script stops at the first command
    that is refused, a pipe goes on; both then end with status 2. For the commands, type `help` in the shell.
    """
    from bellcrank.shell import drivers
    from bellcrank.shell.interpreter import Shell
    from bellcrank.shell.places import Places

    as_json = protocol == "json"
    if as_json and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    places = Places(None if protocol is None or any_folder else Path.cwd())
    if script is not None:
        sys.exit(drivers.script(script, places, as_json, keep_going))
    if as_json or not sys.stdin.isatty():
        sys.exit(drivers.pipe(sys.stdin.buffer, places, as_json))
    sys.exit(drivers.interactive(Shell(places)))
