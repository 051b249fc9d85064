"""Common parts of commands that analyse one mechanism: options, equilibrium, output."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from bellcrank.cli.values import SECONDS, show_json

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism

_EXISTING = click.Path(exists=True, dir_okay=False)


def study(function: Callable[..., None]) -> Callable[..., None]:
    """The arguments of all analyses."""
    for decorate in (
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
        click.option(
            "--set", "parameters", multiple=True, metavar="NAME=VALUE", help="Value of a parameter."
        ),
        click.option(
            "--time", type=SECONDS, default=0.0, metavar="T", help="Time at which drives are evaluated, s."
        ),
        click.argument("file", type=_EXISTING),
    ):
        function = decorate(function)
    return function


def about(function: Callable[..., None]) -> Callable[..., None]:
    """The arguments of analyses of small motions."""
    for decorate in (
        click.option("--any-state", is_flag=True, help="Accept a start that is not steady."),
        click.option("--at-rest", is_flag=True, help="Find the static equilibrium first."),
        click.option(
            "--state", "states", multiple=True, metavar="NAME", help="A coordinate to prefer as a state."
        ),
        click.option(
            "--formulation", "-f", default="auto", metavar="NAME", help="Formulation for the accelerations."
        ),
    ):
        function = decorate(function)
    return function


def mechanism_of(file: str, parameters: tuple[str, ...], time: float, at_rest: bool = False) -> Mechanism:
    """The mechanism in a file, with parameters set, and moved to its equilibrium if requested."""
    from bellcrank.cli.messages import note_left_out
    from bellcrank.cli.settings import with_settings
    from bellcrank.io import read

    mechanism = read(file).mechanism
    note_left_out(mechanism.left_out)
    mechanism = with_settings(mechanism, parameters)
    if at_rest:
        from bellcrank.analysis.statics import find_equilibrium

        find_equilibrium(mechanism, time)
    return mechanism


def show_result(result: Any, as_json: bool) -> None:
    """Print a result that has a text and `to_dict`."""
    if as_json:
        show_json(result.to_dict())
    else:
        click.echo(str(result))
