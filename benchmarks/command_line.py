"""Common parts of the command lines of all benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

import click

Form = Literal["json", "markdown"] | None
"""How a report is printed; None: as tables for the terminal."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


def form_option(function: _Function) -> _Function:
    """Add --json and --markdown, the form of the report."""
    for form, what in (("markdown", "tables of Markdown, for a page"), ("json", "JSON")):
        option = click.option(f"--{form}", "form", flag_value=form, help=f"Print the results as {what}.")
        function = option(function)
    return function


def peer_python_option(function: _Function) -> _Function:
    """Add --peer-python: the interpreter that has other engines."""
    option = click.option("--peer-python", default="", help="An interpreter that has the other engines.")
    return option(function)


def repeats_option(default: int) -> Callable[[_Function], _Function]:
    """Add --repeats: the number of repetitions of each measurement."""
    return click.option(
        "--repeats",
        default=default,
        show_default=True,
        type=click.IntRange(1),
        help="Medians of so many measurements.",
    )


def invoke(command: click.Command, name: str, arguments: list[str]) -> int:
    """Run a benchmark's command; click's exceptions are left to the caller."""
    command.main(args=arguments, prog_name=f"bellcrank bench {name}", standalone_mode=False)
    return 0
