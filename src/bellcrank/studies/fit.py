"""Parameter identification: finding the parameters with which a run matches recorded data, `bc.fit`.

The sum of squares of  (data − prediction) / σ  is minimised. Where σ is not given, that of each quantity is
estimated from its residuals, the parameters are found again with these weights, and so on until they settle:
for independent normal noise this is the maximum-likelihood solution.

Near the solution, residuals r of unit variance change by  J δp , and the best parameters have the covariance
(JᵀJ)⁻¹ : G. A. F. Seber, C. J. Wild, Nonlinear Regression, 1989, section 2.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.extras import needed
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.mechanism.html import displayed
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.slips import answered, answering
from bellcrank.studies.data import Predictions, Record, records_of, union_of_times
from bellcrank.studies.evaluator import Evaluator, accuracy_of, free_parameters, noise_of
from bellcrank.studies.exact import SEARCHED, OfRecords, asked_for, exactly
from bellcrank.studies.experiment import Experiment, checked_analysis
from bellcrank.studies.progress import CountProgress
from bellcrank.studies.workers import workers_of
from bellcrank.trajectory.columns import quantity

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_FROM_ACCURACY: Final = 10.0  # singular values below that many relative errors of the Jacobian are zero
_TAKES_PART: Final = 1e-3  # of a direction that is not determined


def deviations_of(jacobian: Floats, accuracy: float = 1e-9) -> tuple[Floats, Floats]:
    """Standard deviations (n,) and correlations (n, n) of parameters, from (residuals, n).

    accuracy: relative error of the Jacobian.

    Deviations are infinite, correlations zero, where the residuals do not determine a parameter.
    """
    sizes = np.linalg.norm(jacobian, axis=0)
    felt = sizes > 0.0
    scaled = jacobian / np.where(felt, sizes, 1.0)
    _, values, right = np.linalg.svd(scaled, full_matrices=True)
    values = np.concatenate([values, np.zeros(len(right) - len(values))])
    determined = values > _FROM_ACCURACY * accuracy * values[0]
    covariance = (right[determined].T / values[determined] ** 2) @ right[determined]
    open_ones = ~felt | (np.abs(right[~determined]) > _TAKES_PART).any(axis=0)
    spread = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(
        np.where(spread > 0.0, spread, 1.0), np.where(spread > 0.0, spread, 1.0)
    )
    correlation[open_ones] = correlation[:, open_ones] = 0.0
    np.fill_diagonal(correlation, 1.0)
    return np.where(open_ones, np.inf, spread / np.where(felt, sizes, 1.0)), correlation


_TOGETHER: Final = 0.95  # correlations above it are named


@dataclass(frozen=True, eq=False)
class FittedQuantity:
    """Data (n,) of a quantity at times (n,), residuals of the fitted run, and the noise's standard deviation.

    given: whether the latter was given; else it is estimated from the residuals.
    """

    name: str
    unit: str
    times: Floats
    data: Floats
    residuals: Floats
    noise: float
    given: bool


@displayed("plot")
@answering
@dataclass(frozen=True, eq=False, repr=False)
class FitReport:
    """The parameters that best match the data.

    values, deviations, units: by name of the parameter; a standard deviation is infinite if the data do not
    determine the parameter. correlation: (parameters, parameters). quantities: data and residuals.
    chi_squared: the sum of squares of residuals over their deviations, near `degrees_of_freedom` if the noise
    was right. at_bound: parameters on a bound, whose deviations mean little. runs, failures: how many runs
    were computed and how many failed. derivatives: "exact", or "differences" and why. mechanism, run: with
    the values found.

    >>> truth = bc.simulate(pendulum.with_parameters(length=1.3), times=np.linspace(0, 1, 21))
    >>> data = {"joint.hinge.theta_z": (truth.time, truth.joint("hinge").position[:, 0])}
    >>> report = bc.fit(pendulum, ["length"], data)
    >>> print(f"{report.values['length']:.6f} m, {report.converged}, {report.derivatives}")
    1.300000 m, True, exact
    """

    mechanism: Mechanism
    values: Mapping[str, float]
    deviations: Mapping[str, float]
    units: Mapping[str, str]
    correlation: Floats
    quantities: tuple[FittedQuantity, ...]
    chi_squared: float
    degrees_of_freedom: int
    at_bound: tuple[str, ...]
    runs: int
    failures: int
    derivatives: str
    converged: bool
    message: str
    run: Any

    def plot(self, path: str | Path | None = None) -> Figure:
        """Plot data, the fitted run and residuals (needs matplotlib). path: PNG, PDF or SVG to write.

        >>> truth = bc.simulate(pendulum.with_parameters(length=1.3), times=np.linspace(0, 1, 21))
        >>> data = {"joint.hinge.theta_z": (truth.time, truth.joint("hinge").position[:, 0])}
        >>> figure = bc.fit(pendulum, ["length"], data).plot("fit.png")
        >>> len(figure.axes)    # the data with the run, and the residuals
        2
        """
        from bellcrank.studies.plots import plot_fit

        return plot_fit(self, path)

    def plot_parameters(
        self, known: Mapping[str, float] | None = None, path: str | Path | None = None
    ) -> Figure:
        """Plot the parameters with two standard deviations, and their correlations (needs matplotlib).

        known: values to compare with, by name; others are compared with those found. path: PNG, PDF or SVG to
        write.

        >>> truth = bc.simulate(pendulum.with_parameters(length=1.3), times=np.linspace(0, 1, 21))
        >>> data = {"joint.hinge.theta_z": (truth.time, truth.joint("hinge").position[:, 0])}
        >>> figure = bc.fit(pendulum, ["length"], data).plot_parameters({"length": 1.3}, "length.png")
        >>> len(figure.axes)
        3
        """
        from bellcrank.studies.plots import plot_parameters

        for name in known or {}:
            asked_for("parameter", tuple(self.values), name)
        return plot_parameters(self, known or {}, path)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, as it is printed as JSON.

        >>> truth = bc.simulate(pendulum.with_parameters(length=1.3), times=np.linspace(0, 1, 21))
        >>> data = {"joint.hinge.theta_z": (truth.time, truth.joint("hinge").position[:, 0])}
        >>> values = bc.fit(pendulum, ["length"], data).to_dict()
        >>> values["converged"], values["at_bound"]
        (True, [])
        """
        return {
            "mechanism": self.mechanism.name,
            "values": dict(self.values),
            "deviations": dict(self.deviations),
            "units": dict(self.units),
            "correlation": self.correlation.tolist(),
            "noise": {found.name: found.noise for found in self.quantities},
            "chi_squared": self.chi_squared,
            "degrees_of_freedom": self.degrees_of_freedom,
            "at_bound": list(self.at_bound),
            "runs": self.runs,
            "failures": self.failures,
            "derivatives": self.derivatives,
            "converged": self.converged,
            "message": self.message,
        }

    def __repr__(self) -> str:
        return f"<{str(self).splitlines()[0]}>"

    def __str__(self) -> str:
        ended = "converged" if self.converged else "not converged"
        lines = [f"fit of {self.mechanism.name!r}: {self.runs} runs, {self.failures} failed, {ended}"]
        for name, value in self.values.items():
            unit, note = self.units[name], "   at its bound" if name in self.at_bound else ""
            spread = self.deviations[name]
            text = f"± {spread:.2g}" if np.isfinite(spread) else "(the data do not determine it)"
            lines.append(f"  {name:24} {value:.7g} {text} {unit}".rstrip() + note)
        for found in self.quantities:
            source = "given" if found.given else "from the residuals"
            unit = f" {found.unit}" if found.unit else ""
            lines.append(
                f"  noise of {found.name}: {found.noise:.3g}{unit}, {source}; {len(found.data)} values"
            )
        if any(found.given for found in self.quantities):
            lines.append(
                f"  chi squared {self.chi_squared:.5g} for {self.degrees_of_freedom} degrees of freedom"
            )
        lines.append(f"  derivatives: {self.derivatives}")
        names = list(self.values)
        for i, j in np.argwhere(np.triu(np.abs(self.correlation), 1) > _TOGETHER):
            lines.append(f"  {names[i]} and {names[j]} are correlated: {self.correlation[i, j]:+.3f}")
        return "\n".join(lines)


_ROUNDS: Final = 10  # of weights
_RESTS: Final = 1e-3  # relative change of weights at which they rest
_LEAST_NOISE: Final = 1e-12  # of a quantity's largest value
_LEADS: Final = (
    1e-6  # tolerance of derivatives that lead to where residuals are least; deviations take better ones
)
_ACCURATE: Final = 10.0  # times their tolerance, of exact derivatives
_AT_BOUND: Final = 1e-6  # of a parameter's scale


@answered
def fit(
    mechanism: Mechanism,
    parameters: Any,
    data: Any,
    *,
    noise: float | Mapping[str, float] | None = None,
    guess: Mapping[str, Any] | None = None,
    loss: str = "linear",
    derivatives: str = "auto",
    budget: int | None = None,
    analysis: str | Callable[..., Any] = "simulate",
    executor: Any = None,
    processes: int | None = 1,
    progress: bool | Callable[[float], None] | None = None,
    **arguments: Any,
) -> FitReport:
    """Find the parameters with which a run best matches recorded data, and their standard deviations.

    parameters: names, or a mapping from names to bounds (low, high), None for none.
    data: a mapping from quantities (as `bc.sweep` names them) to (times, values); or a table, such as a
        DataFrame, with a column "time [s]", whose other columns are quantities.
    noise: the standard deviation of the data, one for all or by quantity; those that are not given are
        estimated from the residuals of their quantity.
    guess: start values by name; by default the present values of the parameters.
    loss: "linear" for least squares, or "soft_l1", "huber", "cauchy", "arctan", which are robust to outliers.
    derivatives: "auto" for exact ones where that is possible, as by `bc.sensitivity`; "differences" for
        central differences alone, with steps matched to the tolerance of the runs. The report says which.
    budget: the largest number of runs, not counting those for derivatives.
    analysis, executor, processes, arguments: as for `bc.sweep`. Simulations record at the times of the data
        and need no duration.

    Runs that fail on the way are counted and avoided. Raises MechanismError for wrong arguments, and if the
    run at the start fails; Unsupported without scipy.

    >>> truth = bc.simulate(pendulum.with_parameters(length=1.3), times=np.linspace(0, 1, 21))
    >>> data = {"joint.hinge.theta_z": (truth.time, truth.joint("hinge").position[:, 0])}
    >>> report = bc.fit(pendulum, ["length"], data, noise=0.001)
    >>> print(f"{report.values['length']:.6f} m, standard deviation {report.deviations['length']:.4f} m")
    1.300000 m, standard deviation 0.0003 m
    """
    optimize = needed("scipy.optimize", "a fit")
    records = records_of(data)
    free = free_parameters(mechanism, parameters, guess)
    deviations = _noise_of(noise, records)
    with Check("fit") as check:
        loss = check.choice("loss", loss, ("linear", "soft_l1", "huber", "cauchy", "arctan"))
        most = 100 * len(free) if budget is None else check.integer("budget", budget, 1)
    arguments = _with_times(analysis, arguments, records)
    analysis = checked_analysis("fit", analysis, arguments)
    count = sum(len(record.times) for record in records)
    if count < len(free):
        rule, numbers = "there are fewer data than parameters", f"{count} values for {len(free)} parameters"
        raise MechanismError(Fault("fit", rule, numbers, "free fewer parameters"))
    experiment = Experiment(mechanism, analysis, arguments, Predictions(records), count)
    workers = workers_of(executor, processes)
    with CountProgress(progress, "fit", None) as shown:
        exact = exactly(OfRecords(records, _LEADS), derivatives, analysis)
        evaluator = Evaluator(experiment, free, workers, shown, **exact)
        first = evaluator.probe(np.array([one.start for one in free]))
        if first.reason:
            rule, advice = f"the run at the start fails: {first.reason}", "give other values by guess="
            raise MechanismError(Fault("fit", rule, None, advice))
        search = _Search(optimize, evaluator, records, loss, most)
        try:
            solution, sigmas = search.settled(deviations)
        finally:
            workers.close()
    return _report(mechanism, search, solution, sigmas, deviations)


def _noise_of(given: Any, records: Sequence[Record]) -> list[float | None]:
    """The standard deviation of each record's noise, None where it is to be estimated."""
    if not isinstance(given, Mapping):
        with Check("noise") as check:
            one = None if given is None else check.positive("noise", given)
        return [one] * len(records)
    names, faults = [record.name for record in records], FaultList()
    for name in given:
        if name not in names:
            faults.add(f"noise of {name!r}", "there are no data of this name", None, nearest(name, names))
    with faults.collect(), Check("noise") as check:
        found = {name: check.positive(f"noise of {name!r}", value) for name, value in given.items()}
    faults.raise_any()
    return [found.get(name) for name in names]


def _with_times(analysis: Any, arguments: dict[str, Any], records: Sequence[Record]) -> dict[str, Any]:
    """The arguments of the analysis, for a simulation with the times of the data."""
    if analysis != "simulate":
        return arguments
    given = sorted({"duration", "times", "output_step"} & set(arguments))
    if given:
        rule, advice = "the times of the data say when a simulation records", f"leave out {', '.join(given)}"
        raise MechanismError(Fault("fit", rule, None, advice))
    times = union_of_times(records)
    begin = float(arguments.get("start", 0.0))
    if len(times) == 1 and times[0] <= begin:
        raise MechanismError(Fault("data", "a time beyond the start is needed", float(times[0])))
    return {**arguments, "times": times}


class _Search:
    """Least squares of weighted residuals."""

    def __init__(
        self, optimize: Any, evaluator: Evaluator, records: Sequence[Record], loss: str, most: int
    ) -> None:
        self.optimize, self.evaluator, self.records = optimize, evaluator, records
        self.loss, self.most = loss, most
        self.data = np.concatenate([record.values for record in records])
        ends = np.cumsum([0, *(len(record.times) for record in records)])
        self.parts = [slice(*pair) for pair in pairwise(ends.tolist())]
        self._derivatives: tuple[bytes, Floats] = b"", np.zeros(0)
        self.floor = [_LEAST_NOISE * max(float(np.max(np.abs(r.values))), 1e-300) for r in records]

    def settled(self, given: Sequence[float | None]) -> tuple[Any, Floats]:
        """The solution, and the standard deviation of each record's noise."""
        at = np.array([one.start for one in self.evaluator.free])
        sigmas = np.array([self._first_guess(k, one) for k, one in enumerate(given)])
        for _ in range(_ROUNDS):
            solution = self._solved(at, sigmas)
            at = solution.x
            found = self._estimated(at, given)
            rests = np.max(np.abs(found / sigmas - 1.0)) < _RESTS
            # With one unknown deviation the weights change nothing but the scale.
            if all(one is not None for one in given) or rests or len(self.records) == 1:
                return solution, found
            sigmas = found
        return solution, found

    def predictions(self, point: Floats) -> Floats:
        """The predictions (data,); NaN where the run fails."""
        return self.evaluator.at([point])[0].values

    def jacobian(self, point: Floats, sigmas: Floats) -> Floats:
        """The Jacobian of the weighted residuals (data, parameters). Raises MechanismError if it fails."""
        if self._derivatives[0] != point.tobytes():
            self._derivatives = point.tobytes(), self.evaluator.derivatives(point)
        found = -self._derivatives[1] / self._spread(sigmas)[:, None]
        for k, column in enumerate(found.T):
            if not np.isfinite(column).all():
                reason = self.evaluator.failures[-1]
                rule = f"runs beside {point[k]:.6g} fail, so there is no derivative: {reason}"
                advice = "give other bounds, or another guess"
                raise MechanismError(Fault(f"parameter {self.evaluator.names[k]!r}", rule, None, advice))
        return found

    def refine(self) -> None:
        """Take derivatives that are good enough for deviations, from here on."""
        if self.evaluator.exact is not None:
            self.evaluator.exact, self._derivatives = OfRecords(tuple(self.records)), (b"", np.zeros(0))

    def residuals(self, point: Floats) -> Floats:
        """Data less predictions (data,), in the units of the data."""
        return self.data - self.predictions(point)

    def _solved(self, at: Floats, sigmas: Floats) -> Any:
        noise = noise_of(self.evaluator.experiment)
        return self.optimize.least_squares(
            lambda x: self.residuals(x) / self._spread(sigmas),
            at,
            jac=lambda x: self.jacobian(x, sigmas),
            bounds=(self.evaluator.low, self.evaluator.high),
            x_scale=self.evaluator.scale,
            loss=self.loss,
            max_nfev=self.most,
            xtol=max(1e-10, noise),
            ftol=1e-10,
            gtol=1e-10,
        )

    def _first_guess(self, k: int, given: float | None) -> float:
        spread = float(np.std(self.data[self.parts[k]])) or float(np.max(np.abs(self.data[self.parts[k]])))
        return given or max(spread, self.floor[k]) or 1.0

    def _estimated(self, at: Floats, given: Sequence[float | None]) -> Floats:
        """Standard deviations of the noise from residuals, corrected for the number of free parameters."""
        residuals = self.residuals(at)
        share = len(self.data) / max(len(self.data) - len(self.evaluator.free), 1)
        found = [
            max(float(np.sqrt(np.mean(residuals[part] ** 2) * share)), self.floor[k])
            for k, part in enumerate(self.parts)
        ]
        return np.array([f if g is None else g for f, g in zip(found, given, strict=True)])

    def _spread(self, sigmas: Floats) -> Floats:
        return np.concatenate([np.full(p.stop - p.start, s) for p, s in zip(self.parts, sigmas, strict=True)])


def _report(
    mechanism: Mechanism, search: _Search, solution: Any, sigmas: Floats, given: Sequence[float | None]
) -> FitReport:
    free, names, at = search.evaluator.free, search.evaluator.names, solution.x
    search.refine()
    jacobian = search.jacobian(at, sigmas)
    is_exact = search.evaluator.exact is not None
    accuracy = _ACCURATE * SEARCHED if is_exact else accuracy_of(noise_of(search.evaluator.experiment))
    deviations, correlation = deviations_of(jacobian, accuracy)
    residuals = search.residuals(at)
    values = dict(zip(names, at.tolist(), strict=True))
    fitted = mechanism.with_parameters(**values)
    run = search.evaluator.experiment.run(0, values)
    quantities = tuple(
        FittedQuantity(
            record.name,
            quantity(run, record.name).unit,
            record.times,
            record.values,
            residuals[part],
            float(sigma),
            one is not None,
        )
        for record, part, sigma, one in zip(search.records, search.parts, sigmas, given, strict=True)
    )
    edges = [abs(at - search.evaluator.low), abs(search.evaluator.high - at)]
    at_bound = np.min(edges, axis=0) <= _AT_BOUND * search.evaluator.scale
    return FitReport(
        fitted,
        values,
        dict(zip(names, deviations.tolist(), strict=True)),
        {one.name: one.unit for one in free},
        correlation,
        quantities,
        float(np.sum((residuals / search._spread(sigmas)) ** 2)),  # noqa: SLF001
        len(residuals) - len(free),
        tuple(name for name, bound in zip(names, at_bound, strict=True) if bound),
        search.evaluator.runs,
        len(search.evaluator.failures),
        search.evaluator.says,
        bool(solution.success),
        str(solution.message).strip().rstrip("."),
        run,
    )
