"""The options of commands that read files of other programs."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from bellcrank.cli.values import Quantity


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add options that are arguments of `bellcrank.io.read`; the command gets these as `reading`."""

    @wraps(command)
    def taking(density: float | None, scale: float | None, keyframe: str | None, **given: Any) -> Any:
        return command(reading={"density": density, "scale": scale, "start": keyframe}, **given)

    for option in (
        click.option("--keyframe", metavar="NAME", help="Of MJCF: the key frame to start at."),
        click.option(
            "--scale",
            type=float,
            metavar="S",
            help="Of a mesh file: factor to metres, 0.001 for millimetres.",
        ),
        click.option(
            "--density",
            type=Quantity("kg/m^3"),
            metavar="RHO",
            help="Of a mesh file, or of links without masses: kg/m^3.",
        ),
    ):
        taking = option(taking)
    return taking
