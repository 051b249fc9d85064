"""Measures of a run differentiated by parameters, with errors of both: `bc.gradient`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.errors import Unsupported
from bellcrank.linear.followed import FollowedRun
from bellcrank.mechanism.checking import Check, required_names
from bellcrank.mechanism.html import displayed
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.run.plan import METHODS
from bellcrank.slips import answered, answering
from bellcrank.studies.evaluator import Evaluator, accuracy_of, free_parameters, noise_of
from bellcrank.studies.exact import (
    asked_for,
    cheapest_way,
    differentiated,
    followed,
    reductions,
    values_of,
    watched,
)
from bellcrank.studies.experiment import Experiment, Measures
from bellcrank.studies.measures import Measure, measures_of
from bellcrank.studies.progress import CountProgress
from bellcrank.studies.workers import workers_of
from bellcrank.trajectory.columns import quantity
from bellcrank.trajectory.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MODES: Final = ("auto", "forward", "backward", "differences")
_FINER: Final = 32.0  # times smaller tolerances, of the run that shows errors of derivatives
_FIFTH: Final = 31.0 / 32.0  # of the error of the first is what the two differ by
_COARSE: Final = 0.1  # of the range of a quantity: an error beyond which it is a guess only


@answering
@displayed("plot")
@dataclass(frozen=True, eq=False, repr=False)
class Gradient:
    """Measures of a run, or numbers of modes, and their derivatives.

    of, by: names of measures, and of what they are differentiated by; of_units, by_units: their units. at:
    (by,), values of the latter. value: (of,). gradient: (of, by). value_error, gradient_error: (of,), (of,
    by), the estimated errors of both; nan where they were not asked for. mode: "forward", "backward" or
    "differences"; reason: why. warnings: what makes derivatives large, one-sided or meaningless. run: the
    run; None of differences and of modes.

    >>> found = bc.gradient(pendulum, "final joint.hinge.theta_z", by="length", duration=0.1)
    >>> found.of, found.by, found.mode
    (('final joint.hinge.theta_z',), ('length',), 'backward')
    >>> print(found.value.round(4), found.gradient.round(4))    # rad, rad/m
    [-0.0736] [[0.0735]]
    """

    of: tuple[str, ...]
    by: tuple[str, ...]
    of_units: tuple[str, ...]
    by_units: tuple[str, ...]
    at: Floats
    value: Floats
    gradient: Floats
    value_error: Floats
    gradient_error: Floats
    mode: str
    reason: str
    warnings: tuple[str, ...]
    run: Trajectory | None

    def __getitem__(self, names: tuple[str, str]) -> float:
        """The derivative of a measure by a parameter: `g["peak drive.motor.effort", "coupler"]`."""
        place = asked_for("measure", self.of, names[0]), asked_for("parameter", self.by, names[1])
        return float(self.gradient[place])

    def plot(
        self,
        changes: Mapping[str, float] | None = None,
        measure: str | None = None,
        path: str | Path | None = None,
    ) -> Figure:
        """Plot how far changes of each parameter move a measure: a tornado chart (needs matplotlib).

        changes: by name; by default one per cent of each value. measure: by default the first. path: PNG, PDF
        or SVG to write.

        >>> found = bc.gradient(pendulum, "final joint.hinge.theta_z", by="length", duration=0.3)
        >>> figure = found.plot({"length": 0.01}, path="gradient.png")
        >>> len(figure.axes)
        1
        """
        from bellcrank.studies.plots import plot_tornado

        place = 0 if measure is None else asked_for("measure", self.of, measure)
        for name in changes or {}:
            asked_for("parameter", self.by, name)
        return plot_tornado(self, place, changes, path)

    def to_dict(self) -> dict[str, Any]:
        """The results as plain values, as they are printed as JSON.

        >>> found = bc.gradient(pendulum, "final joint.hinge.theta_z", by="length", duration=0.3)
        >>> found.to_dict()["mode"]
        'backward'
        """
        return {
            "measures": {
                name: {
                    "value": float(self.value[k]),
                    "error": _number(self.value_error[k]),
                    "gradient": dict(zip(self.by, self.gradient[k].tolist(), strict=True)),
                    "gradient_error": dict(
                        zip(self.by, map(_number, self.gradient_error[k].tolist()), strict=True)
                    ),
                }
                for k, name in enumerate(self.of)
            },
            "units": dict(zip(self.by, self.by_units, strict=True)),
            "at": dict(zip(self.by, self.at.tolist(), strict=True)),
            "mode": self.mode,
            "reason": self.reason,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        lines = []
        for k, name in enumerate(self.of):
            lines.append(f"{name} = {self.value[k]:.8g}{_sure(self.value_error[k])}")
            for j, (by, unit) in enumerate(zip(self.by, self.by_units, strict=True)):
                per = f" per {unit}" if unit else ""
                lines.append(f"  {by:24} {self.gradient[k, j]: .8g}{_sure(self.gradient_error[k, j])}{per}")
        return "\n".join(
            [*lines, f"  {self.mode}: {self.reason}", *(f"  warning: {w}" for w in self.warnings)]
        )


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _sure(error: float) -> str:
    return "" if np.isnan(error) else f" ± {error:.1e}"


@answered
def gradient(
    mechanism: Mechanism,
    of: Any,
    *,
    by: Iterable[str] | str,
    duration: float | None = None,
    mode: str = "auto",
    errors: bool = True,
    **arguments: Any,
) -> Gradient:
    """Differentiate measures of a run by parameters, inputs and its start.

    of: measures, such as "peak drive.motor.effort" or "final joint.rocker.theta_z", as for `bc.sweep`; their
        quantities are those of `bc.sensitivity`. by, duration, arguments: as there.
    mode: "forward" follows the run along each direction; "backward" once for each measure, at a cost that
        does not depend on the number of parameters; "differences" runs anew beside each parameter. "auto"
        takes what costs least, and differences only where something has no derivatives; the result says why.
    errors: whether to estimate errors. Those of values come from the errors of all steps, weighed by the
        gradient; those of derivatives from a second run with finer steps. Differences know nothing of the
        errors of the run, only of their own. Frames are taken as they are: a
        peak between two of them is not looked for.

    Raises MechanismError for wrong arguments and for parameters that open a loop; Unsupported where
    something has no derivatives and differences are not possible either; what `simulate` raises.

    >>> found = bc.gradient(pendulum, "final joint.hinge.theta_z", by="length", duration=0.1)
    >>> about = 3 * 9.81 / 4 * 0.1**2    # 3 g t^2 / (4 L^2)
    >>> print(f"{found.gradient[0, 0]:.4f} rad/m, about {about:.4f} rad/m")
    0.0735 rad/m, about 0.0736 rad/m
    """
    measures, names = measures_of(of), required_names("by", by)
    with Check("gradient") as check:
        mode = check.choice("mode", mode, _MODES)
        errors = check.flag("errors", errors)
        check.instance("mechanism", mechanism, Mechanism, "give a Mechanism")
    arguments = {**arguments, **({} if duration is None else {"duration": duration})}
    if mode == "differences":
        return _by_differences(mechanism, measures, names, arguments, "as asked")
    try:
        return _exact(mechanism, measures, names, mode, errors, arguments)
    except Unsupported as error:
        differs = all(name in mechanism.parameters for name in names)
        if mode != "auto" or not differs or arguments.get("formulation") == "adaptive":
            raise
        return _by_differences(mechanism, measures, names, arguments, str(error))


def _exact(
    mechanism: Mechanism,
    measures: tuple[Measure, ...],
    by: Sequence[str],
    mode: str,
    errors: bool,
    arguments: Mapping[str, Any],
) -> Gradient:
    wanted = reductions(measures)
    way = mode if mode != "auto" else "backward" if errors else cheapest_way(len(by), len(measures))
    backward = way == "backward"
    quantities = watched(wanted)
    run = followed(mechanism, quantities, by, arguments)
    found, error, warnings = differentiated(run, wanted, backward, errors)
    gradient_error = np.full(found.shape, np.nan)
    for k, one in enumerate(run.of[: len(wanted)]):
        if abs(error[k]) > _COARSE * float(np.ptp(quantity(run.run, one.name).values)):
            warnings.append(f"the run is so coarse that errors of {measures[k].name!r} are guesses only")
    if errors:
        finer = followed(mechanism, quantities, by, _finer(arguments, run))
        gradient_error = np.abs(differentiated(finer, wanted, backward)[0] - found) / _FIFTH
    return Gradient(
        of=tuple(one.name for one in measures),
        by=run.by,
        of_units=tuple(one.unit for one in run.of[: len(wanted)]),
        by_units=run.units,
        at=run.values,
        value=values_of(run, wanted),
        gradient=found,
        value_error=np.abs(error),
        gradient_error=gradient_error,
        mode=way,
        reason="as asked" if mode != "auto" else _why(backward, errors),
        warnings=tuple(dict.fromkeys(warnings)),
        run=run.run,
    )


def _why(backward: bool, errors: bool) -> str:
    if not backward:
        return "there are few parameters for each measure"
    return "errors are asked for" if errors else "there are many parameters for each measure"


def _finer(arguments: Mapping[str, Any], run: FollowedRun) -> dict[str, Any]:
    """Arguments of a run with steps of half the length, at the same frames."""
    method = run.method
    given = {name: value for name, value in arguments.items() if name not in ("tolerance", "duration")}
    given |= {"method": method.method.name, "times": run.run.time.tolist()}
    given.pop("output_step", None)
    if not METHODS[method.method.name].adaptive:
        return given | {"step": 0.5 * method.step}
    given.pop("step", None)
    return given | {"rtol": method.rtol / _FINER, "atol": method.atol / _FINER}


def _by_differences(
    mechanism: Mechanism,
    measures: tuple[Measure, ...],
    by: Sequence[str],
    arguments: Mapping[str, Any],
    reason: str,
) -> Gradient:
    free = free_parameters(mechanism, dict.fromkeys(by), {})
    experiment = Experiment(mechanism, "simulate", dict(arguments), Measures(measures), len(measures))
    with CountProgress(None, "gradient", None) as shown:
        evaluator = Evaluator(experiment, free, workers_of(None, 1), shown)
        at = np.array([one.start for one in free])
        value = evaluator.probe(at).values
        found = evaluator.derivatives(at)
    size = np.abs(found) + np.abs(value)[:, None] / np.maximum(np.abs(at), 1e-3)
    return Gradient(
        of=tuple(one.name for one in measures),
        by=tuple(by),
        of_units=("",) * len(measures),
        by_units=tuple(one.unit for one in free),
        at=at,
        value=value,
        gradient=found,
        value_error=np.full(len(value), np.nan),
        gradient_error=accuracy_of(noise_of(experiment)) * size,
        mode="differences",
        reason=reason,
        warnings=tuple(evaluator.failures),
        run=None,
    )
