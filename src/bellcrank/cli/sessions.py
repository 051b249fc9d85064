"""`bellcrank shell`, `view` and `attach`: sessions by commands, on a page, and from other processes."""

from __future__ import annotations

import io
import sys
import webbrowser
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bellcrank.cli.options import EXISTING, SECONDS, reading_options, with_settings
from bellcrank.cli.output import note_left_out

if TYPE_CHECKING:
    from bellcrank.viewer.page.page import Page


def _write_utf8() -> None:
    """Programs read JSON in UTF-8, whatever the terminal has."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")


@click.command("shell")
@click.argument("script", type=EXISTING, required=False)
@click.option(
    "--protocol",
    type=click.Choice(["text", "json"]),
    help="Replies for people (the default), or one JSON object for each command. Given either way, commands "
    "write files in the working folder only.",
)
@click.option("--any-folder", is_flag=True, help="With --protocol: let commands write files anywhere.")
@click.option("--keep-going", is_flag=True, help="Continue a script after a refused command.")
def shell_command(script: str | None, protocol: str | None, any_folder: bool, keep_going: bool) -> None:
    """Build and control a mechanism by commands.

    Commands are read from SCRIPT, from piped standard input, or typed. A script stops at the first command
    that is refused, a pipe goes on; both then end with status 2. For the commands, type `help` in the shell.
    """
    from bellcrank.shell import drivers
    from bellcrank.shell.interpreter import Shell
    from bellcrank.shell.places import Places

    as_json = protocol == "json"
    if as_json:
        _write_utf8()
    places = Places(None if protocol is None or any_folder else Path.cwd())
    if script is not None:
        sys.exit(drivers.script(script, places, as_json, keep_going))
    if as_json or not sys.stdin.isatty():
        sys.exit(drivers.pipe(sys.stdin.buffer, places, as_json))
    sys.exit(drivers.interactive(Shell(places)))


_RUNS = (".h5", ".hdf5")
_POSES = click.option(
    "--poses", is_flag=True, help="With --protocol json: report the poses of the bodies while they move."
)


@click.command("view")
@click.argument("file", type=EXISTING, required=False)
@click.option("--formulation", "-f", metavar="NAME", help="How the equations are formed and solved.")
@click.option("--method", "-m", metavar="NAME", help="Integration method (default: rk4).")
@click.option("--step", "-s", type=SECONDS, metavar="H", help="Time step, s (default: 1 ms).")
@click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE", help="Value of a parameter.")
@click.option("--play", is_flag=True, help="Start playing at once.")
@click.option(
    "--host",
    default="localhost",
    show_default=True,
    help="Address to listen on; 0.0.0.0 admits other machines.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True)
@click.option(
    "--token", metavar="TEXT", help="The token that is required (default: random for other machines)."
)
@click.option("--browser/--no-browser", default=True, help="Open the page in the browser.")
@click.option("--shell", is_flag=True, help="Type commands for the same mechanism here; quit ends the page.")
@click.option(
    "--protocol",
    type=click.Choice(["text", "json"]),
    help="Run the commands of another program, as `bellcrank shell --protocol`; report what others do.",
)
@_POSES
@click.option("--listen", is_flag=True, help="Let `bellcrank attach` in, from other processes of this user.")
@click.option(
    "--listen-at", metavar="WHERE",
    help="The same at the path of a socket, or at HOST:PORT, where the token is required.",
)  # fmt: skip
@reading_options
def view_command(
    file: str | None, play: bool, browser: bool, shell: bool, protocol: str | None, poses: bool, listen: bool,
    listen_at: str | None, **given: Any,
) -> None:  # fmt: skip
    """Show a mechanism live, or a recorded run (RUN.h5), on a page in the browser.

    The mechanism is simulated in real time; drag its bodies with the mouse. Without FILE the page is empty,
    to build on. Ctrl-C ends it. The page reads and writes files in the working folder only. Only this
    machine can reach it, unless --host admits others, which then need the token in the printed address.
    """
    page = _opened(file, given)
    with page, ExitStack() as more:
        click.echo(f"{page.session.name}: {page.url}   (Ctrl-C ends it)", err=protocol is not None)
        if listen or listen_at is not None:
            from bellcrank.viewer.listening import Listener

            listener = more.enter_context(Listener(page.session, listen_at, given["token"]))
            token = f" --token {listener.token}" if listener.token else ""
            click.echo(f"bellcrank attach {listener.address}{token}", err=protocol is not None)
        if play:
            page.session.do("play")
        if browser:
            webbrowser.open(page.url)
        if not shell and protocol is None:
            page.wait()
            return
        from bellcrank.viewer import clients

        if shell:
            sys.exit(clients.terminal(page.session))
        if protocol == "json":
            _write_utf8()
        sys.exit(clients.pipe(page.session, sys.stdin.buffer, protocol == "json", poses))


def _opened(file: str | None, given: dict[str, Any]) -> Page:
    from bellcrank.viewer.opening import view

    where = {name: given[name] for name in ("host", "port", "token")}
    if file is None:
        from bellcrank.mechanism.mechanism import Mechanism

        named = {name: given[name] for name in ("formulation", "method", "step") if given[name] is not None}
        return view(Mechanism(gravity=(0.0, 0.0, 0.0)), named, **where)
    if Path(file).suffix.lower() in _RUNS:
        from bellcrank.trajectory.moves import run_in

        return view(run_in(file), **where)
    from bellcrank.io import read

    content = read(file, **given["reading"])
    note_left_out(content.mechanism.left_out)
    named = {name: given[name] for name in ("formulation", "method", "step") if given[name] is not None}
    mechanism = with_settings(content.mechanism, given["parameters"])
    return view(mechanism, content.simulation.arguments() | named, **where)


@click.command("attach")
@click.argument("where", required=False)
@click.option("--token", default="", metavar="TEXT", help="The token that a session at HOST:PORT requires.")
@click.option("--name", metavar="NAME", help="Name shown to others (default: terminal, or program).")
@click.option(
    "--protocol",
    type=click.Choice(["text", "json"]),
    help="Pass on the commands of another program, and the replies of the session.",
)
@_POSES
def attach_command(
    where: str | None, token: str, name: str | None, protocol: str | None, poses: bool
) -> None:
    """Type commands in a live session of another process, which `bellcrank view --listen` has opened.

    WHERE is the address that command printed: the path of a socket, or HOST:PORT. It can be left out if only
    one session of yours is listening. `quit` leaves the session, which goes on; Ctrl-C ends a run that a
    command has started.
    """
    from bellcrank.viewer import remote

    if protocol == "json":
        _write_utf8()
        sys.exit(remote.relay(where, token, name or "program", sys.stdin.buffer, poses))
    if protocol == "text" or not sys.stdin.isatty():
        sys.exit(remote.pipe(where, token, name or "program", sys.stdin.buffer))
    sys.exit(remote.terminal(where, token, name or "terminal"))
