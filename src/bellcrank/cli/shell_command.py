"""`bellcrank shell`: the command language, typed, from a script or from another program."""

from __future__ import annotations

import sys

import click


@click.command("shell")
@click.argument("script", type=click.Path(exists=True, dir_okay=False), required=False)
@click.option(
    "--protocol",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Replies for people, or one JSON object for each command.",
)
@click.option("--keep-going", is_flag=True, help="Go on with a script after a command that is refused.")
def command(script: str | None, protocol: str, keep_going: bool) -> None:
    """Build and steer a mechanism by commands.

    From SCRIPT, from standard input where something is piped into it, or typed. A script stops at the first
    command that is refused, a pipe goes on; both end with status 2 then. The commands: `help` in the shell.
    """
    from bellcrank.shell import drivers

    as_json = protocol == "json"
    if script is not None:
        sys.exit(drivers.script(script, as_json, keep_going))
    if as_json or not sys.stdin.isatty():
        sys.exit(drivers.pipe(sys.stdin, as_json))
    sys.exit(drivers.interactive())
