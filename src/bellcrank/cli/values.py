"""Input and output of commands: numbers with units on the command line, results as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from bellcrank.errors import Fault, MechanismError

if TYPE_CHECKING:
    ParamType = click.ParamType[float]
else:
    ParamType = click.ParamType  # without a type in older versions of click


class Quantity(ParamType):
    """A number in SI units, or one with a unit: "0.5" and "500 ms" are the same duration."""

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.name = f"number with a unit such as {unit}"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; any other text is refused."""
        try:
            return in_unit(value, self.unit)
        except MechanismError as error:
            fault = error.faults[0]
            self.fail(
                f"{fault.rule}, got {value!r}" + (f"; {fault.advice}" if fault.advice else ""), param, ctx
            )


SECONDS: Final = Quantity("s")


def in_unit(text: Any, unit: str) -> float:
    """A number from a text: in SI units, or with a unit that fits; without a unit if it has none.

    Raises MechanismError for anything else.
    """
    try:
        return float(text)
    except ValueError:
        if not unit:
            raise MechanismError(Fault("number", "a plain number is needed here", text)) from None
        from bellcrank.mechanism.units import quantity

        return quantity(str(text).strip(), unit)


def listed(option: str, text: str, unit: str, rule: str, example: str) -> tuple[float, ...]:
    """Numbers separated by commas, each with or without a unit. Raises MechanismError naming the option."""
    try:
        return tuple(in_unit(part.strip(), unit) for part in text.split(","))
    except MechanismError:
        raise MechanismError(Fault(option, rule, text, f"such as {example}")) from None


def show_json(content: Mapping[str, Any]) -> None:
    """Write an object to standard output; numbers that JSON cannot represent become null."""
    click.echo(json.dumps(_plain(content), indent=2))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)
