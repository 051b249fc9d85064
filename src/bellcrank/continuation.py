"""What a method of integration knows at the end of a run, kept for the run that goes on from there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from bellcrank import _core
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import State
from bellcrank.errors import Unsupported
from bellcrank.formulations.system import System
from bellcrank.integrate.methods import MethodOptions
from bellcrank.turns import Turn


class Continuation:
    """Lets runs that follow each other keep the method's history: `simulate(..., continuation=this)` in each.

    A run goes on with the history of the last one where it starts from the state in which that one ended,
    `run.at(end)`, with the same model, formulation and method and their options; otherwise the method starts
    anew, which multistep methods do at order 1. Only a `Model` can be the same, for a Mechanism may have been
    changed. Events may be others. It serves one run at a time: another one in a second thread is refused with
    Unsupported. It cannot be copied or pickled.
    """

    def __init__(self) -> None:
        self._kept = _core.Continuation()
        self._last: tuple[Model, System] | None = None
        self._model: Model | None = None
        self._asked: tuple[Any, ...] = ()
        self._end: State | None = None
        self.turn = Turn("a Continuation serves one run at a time: use one for each row of runs")

    def __reduce__(self) -> NoReturn:
        raise Unsupported(
            "a Continuation is tied to this process and cannot be copied or pickled: make a new one, with "
            "which the method starts anew"
        )

    def at(
        self,
        model: Model,
        formulation: tuple[str, Mapping[str, Any]],
        method: MethodOptions,
        state: State | None,
    ) -> tuple[Model, System] | None:
        """The model, assembled, and the system of the last run, if a run of this kind goes on from its end.

        Otherwise that run is forgotten.
        """
        asked = (formulation[0], dict(formulation[1]), method)
        if model is self._model and asked == self._asked and _same(state, self._end):
            self._end = None  # the system moves on: only a run that finishes can be gone on from
            return self._last
        self._kept, self._last = _core.Continuation(), None
        self._model, self._asked, self._end = model, asked, None
        return None

    @property
    def model(self) -> Model | None:
        """The model with which the last run ended, assembled or closed; None if no run has finished."""
        return None if self._last is None else self._last[0]

    @property
    def core(self) -> Any:
        """What the core keeps."""
        return self._kept

    def keep(self, model: Model, system: System, end: State) -> None:
        """The run has finished at a state."""
        self._last, self._end = (model, system), end


def _same(one: State | None, other: State | None) -> bool:
    if one is None or other is None or one.time != other.time:
        return False
    return all(
        a is b or (a is not None and b is not None and np.array_equal(a, b))
        for a, b in (
            (one.position, other.position),
            (one.rotation, other.rotation),
            (one.velocity, other.velocity),
            (one.angular_velocity, other.angular_velocity),
            (one.angles, other.angles),
        )
    )
