"""`bellcrank attach`: a terminal or a program in the session of another process."""

from __future__ import annotations

import io
import sys

import click


@click.command("attach")
@click.argument("where", required=False)
@click.option("--token", default="", metavar="TEXT", help="The token that a session at HOST:PORT requires.")
@click.option("--name", metavar="NAME", help="Name shown to others (default: terminal, or program).")
@click.option(
    "--protocol",
    type=click.Choice(["text", "json"]),
    help="Pass on the commands of another program, and the replies of the session.",
)
@click.option(
    "--poses", is_flag=True, help="With --protocol json: report the poses of the bodies while they move."
)
def command(where: str | None, token: str, name: str | None, protocol: str | None, poses: bool) -> None:
    """Type commands in a live session of another process, which `bellcrank view --listen` has opened.

    WHERE is the address that command printed: the path of a socket, or HOST:PORT. It can be left out if only
    one session of yours is listening. `quit` leaves the session, which goes on; Ctrl-C ends a run that a
    command has started.
    """
    from bellcrank.viewer import remote

    if protocol == "json":
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")
        sys.exit(remote.relay(where, token, name or "program", sys.stdin.buffer, poses))
    if protocol == "text" or not sys.stdin.isatty():
        sys.exit(remote.pipe(where, token, name or "program", sys.stdin.buffer))
    sys.exit(remote.terminal(where, token, name or "terminal"))
