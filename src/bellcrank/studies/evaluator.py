"""Evaluates an experiment at the points an algorithm requests, in parallel, each once; and differentiates.

Derivatives are exact where they can be, and central differences elsewhere. A run by adaptive steps has errors
of about its tolerance ε (relative) that are no smooth functions of the parameters; the difference over ± h of
a function whose third derivative is of its own size has the error  h²/6 + ε/h , least at  h = (3 ε)^(1/3) :
about ε^(2/3). J. Nocedal, S. J. Wright, Numerical Optimization, 2nd ed., section 8.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.errors import BellcrankError, Fault, FaultList, MechanismError, Unsupported
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.parameters import Parameter
from bellcrank.run.plan import AUTO_TOLERANCE, DEFAULT_TOLERANCE, find_method
from bellcrank.studies.exact import Jacobian
from bellcrank.studies.experiment import Experiment, Outcome
from bellcrank.studies.points import number_of, parameters_of
from bellcrank.studies.progress import CountProgress
from bellcrank.studies.workers import Workers

_SMOOTH: Final = 1e-13  # of runs with fixed steps, whose errors change smoothly with parameters
_SOLVED: Final = 1e-11  # of motions that follow from the constraints
_NEAR_ZERO: Final = 0.01  # of a parameter's scale, that steps refer to where its value is smaller
_TO_NOISE: Final = 10.0  # errors of a run at its end beside its tolerance


@dataclass(frozen=True)
class Free:
    """A parameter that an algorithm changes: where it begins, its bounds (infinite for none), its scale."""

    name: str
    unit: str
    start: float
    low: float
    high: float

    @property
    def scale(self) -> float:
        """The size of a change that matters."""
        span = self.high - self.low
        if np.isfinite(span):
            return max(abs(self.start), 0.1 * span)
        return abs(self.start) or 1.0


def free_parameters(mechanism: Mechanism, given: Any, guess: Mapping[str, Any] | None) -> tuple[Free, ...]:
    """The free parameters with their bounds: those given, limited by those of the parameters themselves.

    given: their names, or a mapping from these to (low, high), either of which may be None.
    Raises MechanismError with everything that is wrong.
    """
    bounds = (
        dict(given)
        if isinstance(given, Mapping)
        else dict.fromkeys([given] if isinstance(given, str) else given)
    )
    known, faults, found = parameters_of(mechanism, bounds), FaultList(), []
    for name in guess or ():
        if name not in known:
            faults.add(
                f"parameter {name!r}", "it has a guess but is not free", None, "add it to the free ones"
            )
    for name, parameter in known.items():
        with faults.collect():
            low, high = _bounds(parameter, bounds[name])
            begin = number_of(parameter, (guess or {}).get(name, min(max(parameter.value, low), high)))
            if not low <= begin <= high:
                rule = f"its guess must lie between {low:g} and {high:g}"
                raise MechanismError(Fault(f"parameter {name!r}", rule, begin))
            found.append(Free(name, parameter.unit, begin, low, high))
    faults.raise_any()
    return tuple(found)


def _bounds(parameter: Parameter, given: Any) -> tuple[float, float]:
    own = (
        -np.inf if parameter.low is None else parameter.low,
        np.inf if parameter.high is None else parameter.high,
    )
    element = f"parameter {parameter.name!r}"
    if given is None:
        return own
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence) or len(given) != 2:
        raise MechanismError(Fault(element, "its bounds must be (low, high)", given, "None for no bound"))
    low, high = (o if g is None else number_of(parameter, g) for g, o in zip(given, own, strict=True))
    if not low < high:
        raise MechanismError(Fault(element, "its lower bound must be less than the upper one", (low, high)))
    return low, high


def noise_of(experiment: Experiment) -> float:
    """The relative error in an experiment's results that is not a smooth function of the parameters."""
    given = experiment.arguments
    if experiment.analysis in ("kinematics", "inverse_dynamics"):
        return _SOLVED
    tolerances = [given[name] for name in ("tolerance", "rtol") if given.get(name) is not None]
    if isinstance(experiment.analysis, str) and not tolerances:
        method = given.get("method", "auto")
        fixed = given.get("step") is not None if method == "auto" else not find_method(method).adaptive
        if fixed:
            return _SMOOTH
        return _TO_NOISE * (AUTO_TOLERANCE if method == "auto" else DEFAULT_TOLERANCE)
    largest = [max(t.values()) if isinstance(t, Mapping) else float(t) for t in tolerances]
    return _TO_NOISE * max(largest, default=AUTO_TOLERANCE)


def step_of(noise: float) -> float:
    """The best relative step of central differences for results with a given error."""
    return float(np.cbrt(3.0 * noise))


def accuracy_of(noise: float) -> float:
    """The relative error of central differences with such steps."""
    return float(noise ** (2.0 / 3.0))


class Evaluator:
    """Outcomes at points (parameters,) in SI units, computed once each.

    runs: how many were computed. failures: the reasons of those that failed. exact: the Jacobian, None for
    differences; inexact: why there are only these. followed: how many runs exact derivatives took; missed: at
    how many points they failed.
    """

    def __init__(
        self,
        experiment: Experiment,
        free: Sequence[Free],
        workers: Workers,
        shown: CountProgress,
        exact: Jacobian | None = None,
        inexact: str = "as asked",
    ) -> None:
        self.exact, self.inexact, self.followed, self.missed = exact, inexact, 0, 0
        self.differentiated = False
        self.experiment = experiment
        self.free = tuple(free)
        self.names = tuple(one.name for one in free)
        self.low, self.high = np.array([[one.low, one.high] for one in free]).T
        self.scale = np.array([one.scale for one in free])
        self.order: list[tuple[Floats, Outcome]] = []
        self._workers, self._shown = workers, shown
        self._known: dict[bytes, Outcome] = {}

    @property
    def runs(self) -> int:
        """How many were computed."""
        return len(self.order)

    @property
    def failures(self) -> list[str]:
        """Reasons of those that failed."""
        return [outcome.reason for _, outcome in self.order if outcome.reason]

    def probe(self, point: Floats) -> Outcome:
        """The outcome at the first point. Raises MechanismError for errors that occur at every point."""
        outcome = self.experiment.probe(0, self._named(point))
        self._note(point, outcome)
        return outcome

    def at(self, points: Sequence[Floats]) -> list[Outcome]:
        """Outcomes at several points at once."""
        new = {p.tobytes(): p for p in points if p.tobytes() not in self._known}
        listed = list(new.values())
        tasks = [(number, self._named(point)) for number, point in enumerate(listed)]
        found: dict[int, Outcome] = {}
        for results in self._workers.outcomes(self.experiment, tasks):
            found.update(results)
        for number, point in enumerate(listed):
            self._note(point, found[number])
        return [self._known[point.tobytes()] for point in points]

    @property
    def says(self) -> str:
        """How it differentiates, and why."""
        if self.exact is None:
            return f"differences: {self.inexact}"
        return f"exact, but at {self.missed} points differences: {self.inexact}" if self.missed else "exact"

    def derivatives(self, point: Floats) -> Floats:
        """Derivatives of all values (values, parameters).

        Central differences, all runs at once, are one-sided at a bound, and beside a point that fails, from
        three or two points; columns for which that is impossible are NaN.
        """
        self.differentiated = True
        found = self._exactly(point)
        return self._differences(point) if found is None else found

    def _exactly(self, point: Floats) -> Floats | None:
        if self.exact is None:
            return None
        given = self.experiment
        try:
            found = self.exact(
                given.mechanism.with_parameters(**self._named(point)), self.names, given.arguments
            )
        except Unsupported as error:
            self.exact, self.inexact = None, str(error)
            return None
        except BellcrankError as error:  # the run fails here: beside it some may not
            self.missed, self.inexact = self.missed + 1, str(error)
            return None
        self.followed += 1
        return found

    def _differences(self, point: Floats) -> Floats:
        step = step_of(noise_of(self.experiment)) * np.maximum(np.abs(point), _NEAR_ZERO * self.scale)
        middle = self.at([point])[0].values
        sides = []
        for k, h in enumerate(step):
            room = self.high[k] - point[k], point[k] - self.low[k]
            if min(room) >= h:
                sides.append((h, -h))
            else:
                h = min(h, 0.5 * max(room))
                sides.append((h, 2.0 * h) if room[0] > room[1] else (-h, -2.0 * h))
        moved = [_moved(point, k, h) for k, pair in enumerate(sides) for h in pair]
        found = [outcome.values for outcome in self.at(moved)]
        columns = [_difference(middle, pair, found[2 * k : 2 * k + 2]) for k, pair in enumerate(sides)]
        return np.stack(columns, axis=1)

    def _named(self, point: Floats) -> dict[str, float]:
        return dict(zip(self.names, np.clip(point, self.low, self.high).tolist(), strict=True))

    def _note(self, point: Floats, outcome: Outcome) -> None:
        self._known[point.tobytes()] = outcome
        self.order.append((point.copy(), outcome))
        self._shown.add(1, bool(outcome.reason))


def _moved(point: Floats, k: int, h: float) -> Floats:
    moved = point.copy()
    moved[k] += h
    return moved


def _difference(middle: Floats, steps: tuple[float, float], found: Sequence[Floats]) -> Floats:
    """The derivative from values at 0 and at two steps: of a parabola, or of a line if one step fails."""
    (a, b), (first, second) = steps, found
    good = np.isfinite(first).all(), np.isfinite(second).all()
    if not any(good):
        return np.full_like(middle, np.nan)
    if not all(good):
        return (first - middle) / a if good[0] else (second - middle) / b
    return (b * b * (first - middle) - a * a * (second - middle)) / (a * b * (b - a))
