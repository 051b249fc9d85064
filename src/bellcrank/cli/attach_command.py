"""`bellcrank attach`: a terminal or a program in the session of another process."""

from __future__ import annotations

import io
import sys

import click


@click.command("attach")
@click.argument("where", required=False)
@click.option("--token", default="", metavar="TEXT", help="What a session at HOST:PORT asks for.")
@click.option("--name", metavar="NAME", help="By which others see who it is (default: terminal, or program).")
@click.option(
    "--protocol",
    type=click.Choice(["text", "json"]),
    help="Pass on commands that another program writes, and what the session answers.",
)
@click.option(
    "--poses", is_flag=True, help="With --protocol json: report where the bodies are while they move."
)
def command(where: str | None, token: str, name: str | None, protocol: str | None, poses: bool) -> None:
    """Type commands in a live session of another process, which `bellcrank view --listen` has opened.

    WHERE is what that command printed: the path of a socket, or HOST:PORT. It can be left out where one
    session of yours listens. `quit` leaves the session, which goes on; Ctrl-C ends a run that a command has
    started.
    """
    from bellcrank.viewer import remote

    if protocol == "json":
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")
        sys.exit(remote.relay(where, token, name or "program", sys.stdin.buffer, poses))
    if protocol == "text" or not sys.stdin.isatty():
        sys.exit(remote.pipe(where, token, name or "program", sys.stdin.buffer))
    sys.exit(remote.terminal(where, token, name or "terminal"))
