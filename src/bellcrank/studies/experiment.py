"""What a study does at each point: it analyses the mechanism with other parameters and takes measures."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Final, TypeAlias

import numpy as np

from bellcrank.analysis.kinematics import inverse_dynamics, kinematics
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.state import Floats
from bellcrank.errors import BellcrankError, MechanismError, Unsupported
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.run.simulate import simulate
from bellcrank.studies.measures import Measure
from bellcrank.trajectory.columns import UnknownQuantity

Evaluate: TypeAlias = Callable[[Any], Floats]

ANALYSES: Final[Mapping[str, Callable[..., Any]]] = {
    "simulate": simulate,
    "inverse_dynamics": inverse_dynamics,
    "kinematics": kinematics,
}
_OWN: Final = ("mechanism", "path", "progress", "description")
"""Arguments of analyses that a study gives itself."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended an analysis."""


@dataclass(frozen=True)
class Outcome:
    """The outcome at a point.

    values: of the measures, NaN if it failed. reason: why it failed; empty if it did not.
    seconds: computing time. run: what the analysis returned, where that is kept.
    """

    values: Floats
    reason: str
    seconds: float
    run: Any = None


@dataclass(frozen=True)
class Experiment:
    """An analysis of a mechanism at any point.

    analysis: a name of ANALYSES, or a function of the mechanism and the arguments. evaluate: computes `width`
    numbers from what it returns. keep: whether outcomes contain what it returned. folder: where runs are
    recorded, by the number of their point.
    """

    mechanism: Mechanism
    analysis: str | Callable[..., Any]
    arguments: Mapping[str, Any]
    evaluate: Any
    width: int
    keep: bool = False
    folder: Path | None = None

    def at(self, number: int, values: Mapping[str, float]) -> Outcome:
        """The outcome at a point; an error there becomes its reason.

        Raises UnknownQuantity and Unsupported, which would occur at every point, and Interrupted.
        """
        return self._tried(number, values)[0]

    def probe(self, number: int, values: Mapping[str, float]) -> Outcome:
        """The outcome at the first point.

        Raises the errors of `at`, and MechanismError if the mechanism itself is valid at this point: then the
        arguments are wrong, at every point.
        """
        outcome, error = self._tried(number, values)
        if isinstance(error, MechanismError) and self._is_in_order(values):
            raise error
        return outcome

    def run(self, number: int, values: Mapping[str, float]) -> Any:
        """What the analysis returns at a point."""
        mechanism = self.mechanism.with_parameters(**values)
        if not isinstance(self.analysis, str):
            return self.analysis(mechanism, **self.arguments)
        where = {} if self.folder is None else {"path": run_path(self.folder, number)}
        run = ANALYSES[self.analysis](mechanism, **self.arguments, **where)
        if run.status == "interrupted":
            raise Interrupted
        return run

    def _is_in_order(self, values: Mapping[str, float]) -> bool:
        try:
            compile_mechanism(self.mechanism.with_parameters(**values))
        except MechanismError:
            return False
        return True

    def _tried(self, number: int, values: Mapping[str, float]) -> tuple[Outcome, Exception | None]:
        begun = perf_counter()
        failed: Exception | None = None
        numbers, run = np.full(self.width, np.nan), None
        try:
            run = self.run(number, values)
            numbers = self.evaluate(run)
        except (UnknownQuantity, Unsupported):
            raise
        except BellcrankError as error:
            failed, reason = error, _in_a_line(error)
        except Exception as error:
            if isinstance(self.analysis, str):
                raise
            failed, reason = error, f"{type(error).__name__}: {error}"
        else:
            reason = ""
        kept = run if self.keep and failed is None else None
        return Outcome(numbers, reason, perf_counter() - begun, kept), failed


def run_path(folder: Path, number: int) -> Path:
    """The path where the run at a point is recorded."""
    return folder / f"{number:06d}.h5"


def checked_analysis(who: str, analysis: Any, arguments: Mapping[str, Any]) -> str | Callable[..., Any]:
    """The analysis, checked: a known name or a function, which takes these arguments.

    Raises MechanismError listing all faults.
    """
    with Check(who) as check:
        if not callable(analysis):
            analysis = check.choice("analysis", analysis, ANALYSES)
        function = ANALYSES[analysis] if isinstance(analysis, str) else analysis
        known = inspect.signature(function).parameters
        open_ended = any(item.kind is item.VAR_KEYWORD for item in known.values())
        for name in arguments:
            if isinstance(analysis, str) and name in _OWN:
                check.fault(f"{name} is not taken by studies", arguments[name], "see runs= and path=")
            elif name not in known and not open_ended:
                check.fault("there is no argument of this name", name, nearest(name, known))
        if analysis == "simulate" and arguments.get("duration") is None and arguments.get("times") is None:
            check.fault("simulations need a duration, or times", None, "such as duration=1.0")
        if analysis in ("kinematics", "inverse_dynamics") and "duration" not in arguments:
            check.fault(f"{analysis} needs a duration", None, "such as duration=1.0")
    checked: str | Callable[..., Any] = analysis
    return checked


@dataclass(frozen=True)
class Measures:
    """Measures as one function: an array of numbers from what an analysis returned."""

    measures: tuple[Measure, ...]

    def __call__(self, run: Any) -> Floats:
        """The numbers (measures,). Raises NoMeasure where one has none."""
        return np.array([measure.of(run) for measure in self.measures], dtype=np.float64)


def _in_a_line(error: BellcrankError) -> str:
    if isinstance(error, MechanismError):
        return "; ".join(" ".join(str(fault).split()) for fault in error.faults[:3])
    return " ".join(str(error).split())
