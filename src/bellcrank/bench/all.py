"""All benchmarks with their defaults: tasora, scaling, loops, recursive, symbolic."""

from __future__ import annotations

import click

from bellcrank.bench import loops, recursive, scaling, symbolic, tasora
from bellcrank.bench.command_line import invoke, json_option
from bellcrank.bench.report import publish


@click.command
@json_option
def command(as_json: bool) -> None:
    """All benchmarks with their defaults: tasora, scaling, loops, recursive, symbolic."""
    publish([tasora.run(), scaling.run(), loops.run(), recursive.run(), symbolic.run()], as_json)


def main(arguments: list[str]) -> int:
    """The command line of `bellcrank bench all`."""
    return invoke(command, "all", arguments)
