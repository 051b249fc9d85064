"""`bellcrank view`: shows a mechanism live, for editing, or a recorded run, on a page in the browser."""

from __future__ import annotations

import io
import sys
import webbrowser
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bellcrank.cli.reading_options import reading_options
from bellcrank.cli.values import SECONDS

if TYPE_CHECKING:
    from bellcrank.viewer.page.page import Page

_RUNS = (".h5", ".hdf5")


@click.command("view")
@click.argument("file", type=click.Path(exists=True, dir_okay=False), required=False)
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
@click.option(
    "--poses", is_flag=True, help="With --protocol json: report the poses of the bodies while they move."
)
@click.option("--listen", is_flag=True, help="Let `bellcrank attach` in, from other processes of this user.")
@click.option(
    "--listen-at", metavar="WHERE",
    help="The same at the path of a socket, or at HOST:PORT, where the token is required.",
)  # fmt: skip
@reading_options
def command(
    file: str | None, play: bool, browser: bool, shell: bool, protocol: str | None, poses: bool, listen: bool,
    listen_at: str | None, **given: Any,
) -> None:  # fmt: skip
    """Show a mechanism live, or a recorded run (RUN.h5), on a page in the browser.

    The mechanism is simulated in real time; drag its bodies with the mouse. Without FILE the page is an empty
    bench to build on. Ctrl-C ends it. The page reads and writes files in the working folder only. Only this
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
        if protocol == "json" and isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")
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
    from bellcrank.cli.messages import note_left_out
    from bellcrank.cli.settings import with_settings
    from bellcrank.io import read

    content = read(file, **given["reading"])
    note_left_out(content.mechanism.left_out)
    named = {name: given[name] for name in ("formulation", "method", "step") if given[name] is not None}
    mechanism = with_settings(content.mechanism, given["parameters"])
    return view(mechanism, content.simulation.arguments() | named, **where)
