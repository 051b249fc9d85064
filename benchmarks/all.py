"""All benchmarks with their defaults: formulations, loops, choices, contacts, friction, beams, films."""

from __future__ import annotations

import click

from benchmarks import (
    adaptive,
    choose,
    cones,
    dca,
    derivatives,
    films,
    flexible,
    friction,
    humanoid,
    loops,
    page,
    piles,
    recursive,
    scaling,
    symbolic,
    tasora,
    towers,
)
from benchmarks.command_line import Form, form_option, invoke
from benchmarks.report import publish


@click.command
@form_option
def command(form: Form) -> None:
    """Run all benchmarks with their defaults."""
    runs = (
        tasora.run,
        scaling.run,
        loops.run,
        recursive.run,
        symbolic.run,
        dca.run,
        derivatives.run,
        choose.run,
        adaptive.run,
        cones.run,
        towers.run,
        piles.run,
        humanoid.run,
        friction.run,
        films.run,
        flexible.run,
        page.run,  # the last, since it uses all cores
    )
    publish([run() for run in runs], form)


def main(arguments: list[str]) -> int:
    """The command line of `bellcrank bench all`."""
    return invoke(command, "all", arguments)
