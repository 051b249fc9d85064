"""The arguments of `bc.simulate` and `bc.start` by name, for type checkers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

import numpy as np

from bellcrank.compile.state import State
from bellcrank.formulations.options import FormulationOptions
from bellcrank.integrate.events import Event
from bellcrank.run.controllers import Controller

Assemble = bool | Literal["projection", "constraint_forces"]


class QuasistaticArguments(TypedDict, total=False):
    """The arguments of a quasi-static run, other than a duration."""

    start: float
    formulation: str
    step: float | None
    output_step: float | None
    max_error: float | None
    measure: str | None
    assemble: bool
    left_out: Literal["refuse", "allow"]
    path: str | Path | None
    description: str


class DynamicArguments(FormulationOptions, total=False):
    """The arguments of a dynamic run, other than a duration."""

    times: Sequence[float] | np.ndarray[Any, Any] | None
    start: float
    state: State | None
    formulation: str
    method: str
    step: float | None
    output_step: float | None
    tolerance: float | None
    rtol: float | Mapping[str, float] | None
    atol: float | Mapping[str, float] | None
    max_step: float | None
    max_order: int | None
    events: Event | Iterable[Event]
    controllers: Controller | Iterable[Controller]
    inputs: Mapping[str, float] | None
    reactions: bool
    accelerations: bool
    ledger: bool
    path: str | Path | None
    progress: bool | Callable[[float], None]
    assemble: Assemble
    left_out: Literal["refuse", "allow"]
    description: str
