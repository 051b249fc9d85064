"""Work and precision of dopri5, adams and bdf beside CVODE: evaluations for an accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import click
import numpy as np

import bellcrank as bc
from benchmarks.command_line import Form, form_option, invoke
from benchmarks.environment import environment
from benchmarks.oracle_problems import OracleProblem, problems
from benchmarks.report import Column, Report, Row, Table, publish

TOLERANCES: Final = tuple(10.0**-k for k in range(4, 12))
ACCURACIES: Final = tuple(10.0**-k for k in range(4, 9))
"""Errors at the end for which evaluations are compared."""
FORMULATIONS: Final = ("lagrange", "symbolic", "recursive")
RATIO: Final = 1.5
"""At most so many times the evaluations of CVODE, the geometric mean over accuracies that both reach."""
_METHODS: Final = {"dopri5": "", "adams": "Adams", "bdf": "BDF"}
"""Ours, and CVODE's of the same kind."""


@dataclass(frozen=True)
class Work:
    """Runs of one method at several tolerances: final errors, and evaluations of accelerations."""

    problem: str
    method: str
    tolerances: tuple[float, ...]
    errors: tuple[float, ...]
    evaluations: tuple[int, ...]

    def needed(self, accuracy: float) -> float:
        """The fewest evaluations for a final error, interpolated on logarithmic scales; or nan."""
        points = sorted(zip(np.log(self.errors), np.log(self.evaluations), strict=True), reverse=True)
        best, wanted = np.nan, float(np.log(accuracy))
        for (e1, n1), (e2, n2) in pairwise(points):
            if e2 <= wanted <= e1 and e1 > e2:
                found = float(np.exp(n1 + (n2 - n1) * (e1 - wanted) / (e1 - e2)))
                best = found if np.isnan(best) else min(best, found)
        return best


def cvode_available() -> bool:
    """Whether scikit-sundae, which brings CVODE, is installed."""
    try:
        import sksundae.cvode  # noqa: F401
    except ImportError:
        return False
    return True


def exact(problem: OracleProblem) -> np.ndarray:
    """The final state of the motion, by dopri5 at a tolerance near rounding."""
    run = bc.simulate(
        problem.mechanism(), problem.duration, method="dopri5", tolerance=1e-13, output_step=problem.duration,
        reactions=False,
    )  # fmt: skip
    return problem.result(run)


def own_work(
    problem: OracleProblem, method: str, formulation: str, end: np.ndarray, tolerances: Sequence[float]
) -> Work:
    """Run one of bellcrank's methods; evaluations for difference quotients are not counted."""
    errors, evaluations = [], []
    for tolerance in tolerances:
        run = bc.simulate(
            problem.mechanism(), problem.duration, method=method, formulation=formulation,
            tolerance=tolerance, output_step=problem.duration, reactions=False,
        )  # fmt: skip
        errors.append(_error(problem.result(run), end))
        evaluations.append(int(run.statistics["evaluations"]) - _of_differences(run))
    return Work(
        problem.name, f"{method}, {formulation}", tuple(tolerances), tuple(errors), tuple(evaluations)
    )


def _of_differences(run: bc.Trajectory) -> int:
    """Evaluations used for difference quotients, which CVODE does not count either."""
    return int(run.statistics.get("difference_evaluations", 0))


def cvode_work(problem: OracleProblem, method: str, end: np.ndarray, tolerances: Sequence[float]) -> Work:
    """Run CVODE. Evaluations for its Jacobian are not counted."""
    from sksundae.cvode import CVODE

    errors, evaluations = [], []
    for tolerance in tolerances:
        solver = CVODE(problem.rates, method=method, rtol=tolerance, atol=tolerance, max_num_steps=1_000_000)
        solution = solver.solve(np.array([0.0, problem.duration]), problem.start)
        errors.append(_error(problem.observe(solution.y[-1]), end))
        evaluations.append(int(solution.nfev))
    return Work(problem.name, f"CVODE {method}", tuple(tolerances), tuple(errors), tuple(evaluations))


def _error(found: np.ndarray, end: np.ndarray) -> float:
    return max(float(np.max(np.abs(found - end))), 1e-16)


def run(tolerances: Sequence[float] = TOLERANCES, accuracies: Sequence[float] = ACCURACIES) -> Report:
    """Compare all methods on all problems."""
    works: list[Work] = []
    for problem in problems():
        end = exact(problem)
        for method, other in _METHODS.items():
            if problem.stiff and method == "adams":
                continue
            works += [own_work(problem, method, f, end, tolerances) for f in FORMULATIONS]
            if other and cvode_available():
                works.append(cvode_work(problem, other, end, tolerances))
    rows = [_needed(work, accuracies) for work in works]
    ratios = beside_cvode(works, accuracies)
    columns = [
        Column("problem", "problem"),
        Column("method", "method"),
        *(Column(f"at_{k}", f"error {accuracy:.0e}") for k, accuracy in enumerate(accuracies)),
    ]
    runs: list[Row] = [
        {"problem": w.problem, "method": w.method, "tolerance": t, "error": e, "evaluations": n}
        for w in works
        for t, e, n in zip(w.tolerances, w.errors, w.evaluations, strict=True)
    ]
    keys = ("problem", "method", "tolerance", "error", "evaluations")
    return Report(
        "integrators",
        environment(),
        {"tolerances": list(tolerances), "accuracies": list(accuracies)},
        [
            Table("needed", "evaluations for an error at the end", columns, rows),
            Table("ratios", "evaluations beside CVODE's", [Column(key, key) for key in _RATIO_KEYS], ratios),
            Table("runs", "runs", [Column(key, key) for key in keys], runs),
        ],
        [
            "Evaluations between runs are interpolated on logarithmic scales; derivatives count nowhere.",
            *([] if cvode_available() else ["CVODE is missing: pip install scikit-sundae"]),
        ],
    )


_RATIO_KEYS: Final = ("problem", "method", "beside", "ratio", "limit", "met")


def beside_cvode(works: Sequence[Work], accuracies: Sequence[float]) -> list[Row]:
    """Evaluations of each method relative to those of CVODE's method of the same kind."""
    rows: list[Row] = []
    for theirs in works:
        for ours in works:
            other = _METHODS.get(ours.method.split(",")[0], "")
            if ours.problem != theirs.problem or not other or theirs.method != f"CVODE {other}":
                continue
            logs = [np.log(ours.needed(accuracy) / theirs.needed(accuracy)) for accuracy in accuracies]
            ratio = float(np.exp(np.nanmean(logs)))
            rows.append(
                {
                    "problem": ours.problem, "method": ours.method, "beside": theirs.method, "ratio": ratio,
                    "limit": RATIO, "met": ratio <= RATIO,
                }
            )  # fmt: skip
    return rows


def _needed(work: Work, accuracies: Sequence[float]) -> Row:
    found: dict[str, Any] = {"problem": work.problem, "method": work.method}
    return found | {f"at_{k}": work.needed(accuracy) for k, accuracy in enumerate(accuracies)}


@click.command
@click.option("--tolerance", "tolerances", multiple=True, type=float, help="Run at these only.")
@form_option
def command(tolerances: tuple[float, ...], form: Form) -> None:
    """Work and precision of dopri5, adams and bdf beside CVODE (pip install scikit-sundae)."""
    publish([run(tolerances or TOLERANCES)], form)


def main(arguments: list[str]) -> int:
    """The command line of `bellcrank bench integrators`."""
    return invoke(command, "integrators", arguments)
