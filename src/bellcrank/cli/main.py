"""The group of commands, and the handling of errors.

Exit status: 0 done; 1 a verification failed; 2 wrong input, or standard output that cannot be written; 3 a
run broke down, what it computed is kept; 130 interrupted; 141 the reader of standard output has gone.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Final, TextIO

import click

from bellcrank import __version__
from bellcrank.errors import BellcrankError, SimulationError

_COMMANDS: Final = {
    "demo": "demo",
    "run": "run",
    **dict.fromkeys(("view", "attach", "shell"), "sessions"),
    "info": "info",
    **dict.fromkeys(("statics", "modes", "linearize", "gradient", "inverse", "verify"), "analyses"),
    **dict.fromkeys(("sweep", "optimize", "fit"), "studies"),
    **dict.fromkeys(("convert", "export"), "conversion"),
    **dict.fromkeys(("plot", "draw"), "pictures"),
    "bench": "bench",
}
"""The module in this folder with the function `NAME_command`, by command, in the order of the help."""


class Commands(click.Group):
    """Loads the module of a command when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names of all commands."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name, or None."""
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(
            import_module(f"bellcrank.cli.{_COMMANDS[cmd_name]}"), f"{cmd_name}_command"
        )
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command named by the arguments; a misspelt one is refused with suggestions."""
        if args and not args[0].startswith("-") and args[0] not in _COMMANDS:
            from bellcrank.mechanism.checking import nearest

            ctx.fail(f"there is no command {args[0]!r}; {nearest(args[0], _COMMANDS)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; errors of the user become messages."""
        from bellcrank.cli.output import report

        try:
            return super().invoke(ctx)
        except SimulationError as error:
            report(error)
            ctx.exit(3)
        except BrokenPipeError:
            ctx.exit(UNREAD)
        except (BellcrankError, OSError) as error:
            report(error)
            ctx.exit(2)
        except KeyboardInterrupt:
            ctx.exit(130)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", message="bellcrank %(version)s")
def bellcrank() -> None:
    """Multibody dynamics of mechanisms: describe, assemble, simulate, look."""


def main() -> None:
    """Entry point of the program `bellcrank`."""
    prepare()
    try:
        bellcrank(prog_name="bellcrank")
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except OSError as error:  # of what is written outside of Commands.invoke: help, usage, its own messages
        status = 2
        with suppress(OSError):
            click.echo(f"error: {error}", err=True)
    sys.exit(finished(status))


UNREAD: Final = 141
"""Exit status where nobody reads standard output any more, as of a program that SIGPIPE ends."""
_UNWRITTEN: Final = 2


def prepare() -> None:
    """Redirect closed streams to the null device, and make every character writable in some form."""
    # In this order each takes the lowest free number, which a file of results would otherwise be given.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 (until the end)
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def finished(status: int) -> int:
    """Flush the buffers; return the exit status, or another one if that fails."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        status = status or UNREAD
        _give_up(sys.stdout)
    except OSError as error:
        _give_up(sys.stdout)
        if status == 0:
            status = _UNWRITTEN
            with suppress(OSError):
                click.echo(f"error: standard output cannot be written: {error.strerror}", err=True)
    try:
        sys.stderr.flush()
    except OSError:
        _give_up(sys.stderr)
    return status


def _give_up(stream: TextIO) -> None:
    """Discard what is left: Python would try to write it again at exit."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, stream.fileno())
    os.close(nothing)
