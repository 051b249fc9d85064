"""`bellcrank linearize`: state-space matrices about a state."""

from __future__ import annotations

from typing import Any

import click

from bellcrank.cli.analysis_options import about, mechanism_of, show_result, study


@click.command("linearize")
@study
@about
@click.option("--input", "inputs", multiple=True, metavar="NAME", help="An input, motor, joint or parameter.")
@click.option("--output", "outputs", multiple=True, metavar="NAME", help="A recorded number.")
def command(
    file: str,
    time: float,
    parameters: tuple[str, ...],
    as_json: bool,
    at_rest: bool,
    any_state: bool,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    **given: Any,
) -> None:
    """Linearize the mechanism in FILE about its start: x' = A x + B u, y = C x + D u.

    By default the inputs are those of the mechanism, and the outputs are the states. Names of outputs are
    those in tables of runs, such as joint.pivot.theta_z.
    """
    from bellcrank.linear.linearize import linearize

    mechanism = mechanism_of(file, parameters, time, at_rest)
    found = linearize(
        mechanism, inputs=inputs or None, outputs=outputs or None, time=time, steady=not any_state, **given
    )
    show_result(found, as_json)
