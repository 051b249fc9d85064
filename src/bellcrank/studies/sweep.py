"""Parameter sweeps, one analysis at many points: `bc.sweep`."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

import numpy as np

from bellcrank.compile.compile import compile_mechanism
from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.mechanism.checking import Check, required_path
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.slips import answered
from bellcrank.studies.experiment import Experiment, Measures, Outcome, checked_analysis
from bellcrank.studies.measures import measures_of, quantity_of
from bellcrank.studies.points import Points, points_of
from bellcrank.studies.progress import CountProgress
from bellcrank.studies.result import SweepResult, result_of
from bellcrank.studies.sweep_file import SweepFile, description_of, read_sweep
from bellcrank.studies.workers import Here, Result, Workers, workers_of
from bellcrank.trajectory.columns import UnknownQuantity, quantity
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.store import MemoryStore
from bellcrank.trajectory.trajectory import Trajectory

_HERE_SECONDS: Final = 2.0  # of computing, for which starting processes does not pay
_WRITE_SECONDS: Final = 0.5  # of computing, between two writes


@answered
def sweep(
    mechanism: Mechanism,
    parameters: Any,
    measure: Any,
    *,
    analysis: str | Callable[..., Any] = "simulate",
    arrange: str = "grid",
    count: int | None = None,
    seed: int = 0,
    executor: Any = None,
    processes: int | None = None,
    path: str | Path | None = None,
    runs: bool | str | Path = False,
    progress: bool | Callable[[float], None] | None = None,
    **arguments: Any,
) -> SweepResult:
    """Run a mechanism at many values of its parameters, and measure each run.

    parameters: a mapping from names of parameters to lists of values (numbers in SI units, or texts with
        units); or a table with a row for each point: a DataFrame, or a list of mappings.
    measure: a text such as "max drive.motor.effort" (a reduction and a quantity: see `REDUCTIONS` and
        `trajectory.columns.quantity`), a function of the run that returns a number, a list of these, or a
        mapping from names to these.
    analysis: "simulate", "inverse_dynamics", "kinematics", or a function. arguments: those of the analysis.
    arrange: "grid" for all combinations, "zip" for lists side by side; or "sobol", "halton", "latin",
        "random" for `count` points between the lowest and the highest value of each parameter, from `seed`.
    executor: a Dask client, the address of its scheduler, or an executor of `concurrent.futures`.
    processes: on this machine instead; by default one for each core, if that is worth it.
    path: a file for the results so far; a sweep that was interrupted is resumed from it.
    runs: keep the runs too: True for in memory or, with `path`, in files; or a folder.
    progress: a bar (by default on a terminal), or a function of the fraction done.
    An error at a point is recorded in its row. Ctrl-C returns the results so far, with status "interrupted".
    Raises MechanismError for faults common to all points: unknown parameters, values out of bounds,
    misspelt quantities, wrong arguments; Unsupported for missing libraries.

    >>> lengths = np.array([0.5, 1.0, 2.0])
    >>> speed = "max joint.hinge.theta_z.rate"
    >>> result = bc.sweep(pendulum, {"length": lengths}, speed, duration=3.0, processes=1)
    >>> print(result.values[:, 0].round(3), np.sqrt(3 * 9.81 / lengths).round(3))    # rad/s, by energy
    [7.672 5.425 3.836] [7.672 5.425 3.836]
    """
    faults = FaultList()
    with faults.collect():
        points = points_of(mechanism, parameters, arrange, count, seed)
    with faults.collect():
        experiment = _experiment(mechanism, measure, analysis, arguments, runs, path)
    faults.raise_any()
    units = _units(experiment)
    file = None if path is None else SweepFile(path, description_of(experiment, points, units))
    if experiment.folder is not None:
        experiment.folder.mkdir(parents=True, exist_ok=True)
    names = [one.name for one in experiment.evaluate.measures]
    outcomes = {} if file is None else file.done(len(names))
    status, workers = "finished", None
    try:
        if executor is not None or processes is not None:
            workers = workers_of(executor, processes)
        with CountProgress(progress, "sweep", len(points)) as shown:
            _compute(experiment, points, outcomes, workers, file, shown)
    except KeyboardInterrupt:
        status = "interrupted"
    finally:
        for opened in (workers, file):
            if opened is not None:
                opened.close()
    return result_of(mechanism.name, points, names, outcomes, status, experiment.folder, units)


@answered
def load_sweep(path: str | Path) -> SweepResult:
    """Load the result in the file of a sweep, even one still being computed or interrupted.

    Raises MechanismError for a file that is not of a sweep.

    >>> options = {"duration": 0.3, "processes": 1, "path": "sweep.h5"}
    >>> result = bc.sweep(pendulum, {"length": [0.5, 1.0]}, "final joint.hinge.theta_z", **options)
    >>> (bc.load_sweep("sweep.h5").values == result.values).all().tolist()
    True
    """
    held, outcomes = read_sweep(path)
    names, units = zip(*held["parameters"], strict=True)
    axes = None if held["axes"] is None else tuple(np.array(axis) for axis in held["axes"])
    points = Points(names, units, np.array(held["points"], dtype=np.float64), axes)
    status = "finished" if len(outcomes) == len(points) else "interrupted"
    folder = None if held["runs"] is None else Path(held["runs"])
    return result_of(held["name"], points, held["measures"], outcomes, status, folder, held.get("units", {}))


def _experiment(
    mechanism: Mechanism,
    measure: Any,
    analysis: Any,
    arguments: dict[str, Any],
    runs: Any,
    path: str | Path | None,
) -> Experiment:
    analysis = checked_analysis("sweep", analysis, arguments)
    measures = measures_of(measure)
    with Check("sweep") as check:
        if not isinstance(runs, (str, Path)):
            check.flag("runs", runs)
    folder = None
    if isinstance(runs, (str, Path)):
        required_path("sweep, runs", runs)
        folder = Path(runs)
    elif runs and path is not None:
        folder = Path(f"{path}.runs")
    if folder is not None and not isinstance(analysis, str):
        rule, advice = "runs of a function are not written to files", "leave out runs=, or write them in it"
        raise MechanismError(Fault("sweep", rule, str(folder), advice))
    keep = runs is True and folder is None
    return Experiment(mechanism, analysis, arguments, Measures(measures), len(measures), keep, folder)


def _compute(
    experiment: Experiment,
    points: Points,
    outcomes: dict[int, Outcome],
    workers: Workers | None,
    file: SweepFile | None,
    shown: CountProgress,
) -> None:
    """Compute the missing outcomes."""
    shown.add(len(outcomes), sum(bool(outcome.reason) for outcome in outcomes.values()))
    with closing(_written(_computed(experiment, points, outcomes, workers), file)) as found:
        for results in found:
            shown.add(len(results), sum(bool(outcome.reason) for _, outcome in results))
            outcomes.update(results)


def _units(experiment: Experiment) -> dict[str, str]:
    """Units of the measures that are texts, if the mechanism as it is can be compiled."""
    try:
        model = compile_mechanism(experiment.mechanism)
    except MechanismError:
        return {}
    asked = {measure.name: quantity_of(measure) for measure in experiment.evaluate.measures}
    layout = observation(model, experiment.arguments.get("reactions", True), True).layout
    store = MemoryStore({name: np.zeros((1, *shape)) for name, shape in layout.shapes.items()})
    still = Trajectory(layout, store)
    found = {}
    for name, text in asked.items():
        with suppress(UnknownQuantity):  # which the first point reports
            found[name] = quantity(still, text).unit if text else ""
    return found


def _computed(
    experiment: Experiment, points: Points, known: dict[int, Outcome], workers: Workers | None
) -> Generator[list[Result], None, None]:
    """The missing outcomes. The first point reveals errors common to all, and how long a point takes."""
    left = [(number, points.at(number)) for number in range(len(points)) if number not in known]
    if not left:
        return
    begun = not known
    if begun:
        first = experiment.probe(*left[0])
        yield [(left.pop(0)[0], first)]
    if workers is None:
        workers = Here() if begun and first.seconds * len(left) < _HERE_SECONDS else workers_of(None, None)
    if left:
        yield from workers.outcomes(experiment, left)


def _written(
    found: Generator[list[Result], None, None], file: SweepFile | None
) -> Generator[list[Result], None, None]:
    """The same results, written to the file from time to time and at the end, however the sweep ends."""
    if file is None:
        yield from found
        return
    unwritten: list[Result] = []
    try:
        for results in found:
            unwritten += results
            if sum(outcome.seconds for _, outcome in unwritten) > _WRITE_SECONDS:
                file.add(unwritten)
                unwritten = []
            yield results
    finally:
        file.add(unwritten)
        found.close()
