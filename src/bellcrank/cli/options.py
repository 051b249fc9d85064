"""What commands take on the command line: files, numbers with units, parameters, options of readers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

import click

from bellcrank.errors import Fault, FaultList, MechanismError

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism

    ParamType = click.ParamType[float]
else:
    ParamType = click.ParamType  # without a type in older versions of click

EXISTING: Final = click.Path(exists=True, dir_okay=False)
NEW: Final = click.Path(dir_okay=False)


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


def with_settings(mechanism: Mechanism, settings: tuple[str, ...]) -> Mechanism:
    """The mechanism with parameters set by texts NAME=VALUE: a number in SI units or with one, or arithmetic.

    Raises MechanismError for everything that is wrong with them.
    """
    values: dict[str, float] = {}
    faults = FaultList()
    for text in settings:
        with faults.collect():
            name, value = setting(text)
            values[name] = value
    faults.raise_any()
    return mechanism.with_parameters(**values) if values else mechanism


def setting(text: str, option: str = "--set") -> tuple[str, float]:
    """Name and value of a text NAME=VALUE. Raises MechanismError naming the option."""
    from bellcrank.expression.reading import read
    from bellcrank.mechanism.units import UnitError, read_quantity

    name, equals, value = (part.strip() for part in text.partition("="))
    if not name or not equals:
        raise MechanismError(Fault(option, "it is written as NAME=VALUE", text, "such as length=0.6"))
    try:
        return name, float(value)
    except ValueError:
        pass
    try:
        found = read_quantity(value)
    except UnitError as error:
        raise MechanismError(Fault(f"{option} {name}", str(error), value, error.advice)) from None
    return name, float(read(value, {}, f"{option} {name}") if found is None else found.value)


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
