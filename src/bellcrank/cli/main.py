"""The group of commands, and the handling of errors.

Exit status: 0 done; 1 a verification failed; 2 wrong input, or standard output that cannot be written; 3 a
run broke down, what it computed is kept; 130 interrupted; 141 the reader of standard output has gone.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from typing import Final

import click

from bellcrank import __version__
from bellcrank.cli import streams
from bellcrank.errors import BellcrankError, SimulationError

_COMMANDS: Final = (
    *("demo", "run", "view", "attach", "shell", "info", "statics", "modes", "linearize", "inverse", "verify"),
    *("sweep", "optimize", "fit", "convert", "export", "plot", "draw", "bench"),
)


class Commands(click.Group):
    """Loads a command's module (`bellcrank.cli.NAME_command`) when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names of all commands."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name, or None."""
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"bellcrank.cli.{cmd_name}_command").command
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
        from bellcrank.cli.messages import report

        try:
            return super().invoke(ctx)
        except SimulationError as error:
            report(error)
            ctx.exit(3)
        except BrokenPipeError:
            ctx.exit(streams.UNREAD)
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
    streams.prepare()
    try:
        bellcrank(prog_name="bellcrank")
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except OSError as error:  # of what is written outside of Commands.invoke: help, usage, its own messages
        status = 2
        with suppress(OSError):
            click.echo(f"error: {error}", err=True)
    sys.exit(streams.finished(status))
