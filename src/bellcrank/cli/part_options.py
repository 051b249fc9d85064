"""The options of commands that read files with shapes of bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from bellcrank.cli.values import Quantity

T = TypeVar("T", bound=Callable[..., Any])


def part_options(command: T) -> T:
    """Add --density and --scale, which are arguments of `bellcrank.io.read`."""
    density = click.option(
        "--density",
        type=Quantity("kg/m^3"),
        metavar="RHO",
        help="Of a mesh file, or of links without masses: kg/m^3.",
    )
    scale = click.option(
        "--scale", type=float, metavar="S", help="Of a mesh file: factor to metres, 0.001 for millimetres."
    )
    return density(scale(command))
