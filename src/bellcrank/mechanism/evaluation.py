"""Evaluation of a mechanism's expressions at the values of its parameters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bellcrank.errors import FaultList, MechanismError
from bellcrank.mechanism.arguments import required
from bellcrank.mechanism.contents import TABLES, Contents
from bellcrank.mechanism.parameter import values_of
from bellcrank.mechanism.parametric import evaluated, expressions_in, holds_expressions

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism


def with_numbers(mechanism: Mechanism) -> Mechanism:
    """The mechanism with each expression replaced by its present value; itself if it has none.

    Raises MechanismError naming the elements whose numbers break a rule at these values, and for anything but
    a Mechanism.
    """
    required(
        "mechanism", mechanism, Contents, "make one with bc.Mechanism(name), or read one with bc.load(path)"
    )
    held = {
        (table, name): element
        for table in TABLES
        if table != "parameters"
        for name, element in getattr(mechanism, table).items()
        if holds_expressions(element)
    }
    whole = [value for value in (mechanism.gravity, mechanism.ground) if holds_expressions(value)]
    if not held and not whole:
        return mechanism
    known = {parameter.symbol: parameter.value for parameter in mechanism.parameters.values()}
    faults = FaultList()
    numbers: dict[Any, float] = {}
    for (table, name), element in held.items():
        with _of(faults, table, name):
            numbers.update(values_of(expressions_in(element), known))
    faults.raise_any()
    numbers.update(values_of(expressions_in(whole), known))
    copy = mechanism.copy()
    for (table, name), element in held.items():
        with _of(faults, table, name):
            getattr(copy, f"_{table}")[name] = evaluated(element, numbers.__getitem__)
    faults.raise_any()
    copy.gravity = evaluated(mechanism.gravity, numbers.__getitem__)
    copy._ground = evaluated(mechanism.ground, numbers.__getitem__)  # noqa: SLF001
    return copy


@contextmanager
def _of(faults: FaultList, table: str, name: str) -> Iterator[None]:
    """Collect the faults of an element's numbers, under the name of the element."""
    element = f"{TABLES[table]} {name!r}"
    try:
        yield
    except MechanismError as error:
        for fault in error.faults:
            inner = "" if fault.element in ("expression", element) else f", {fault.element}"
            with faults.collect():
                raise MechanismError(replace(fault, element=f"{element}{inner}")) from None
