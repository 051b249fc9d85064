"""All benchmarks with their defaults: tasora, scaling, loops, recursive, symbolic."""

from __future__ import annotations

import click

from benchmarks import loops, recursive, scaling, symbolic, tasora
from benchmarks.command_line import Form, form_option, invoke
from benchmarks.report import publish


@click.command
@form_option
def command(form: Form) -> None:
    """All benchmarks with their defaults: tasora, scaling, loops, recursive, symbolic."""
    publish([tasora.run(), scaling.run(), loops.run(), recursive.run(), symbolic.run()], form)


def main(arguments: list[str]) -> int:
    """The command line of `bellcrank bench all`."""
    return invoke(command, "all", arguments)
