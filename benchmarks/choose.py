"""The choice of "auto" compared with every sensible pair of formulation and method: times of whole runs."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final

import click

import bellcrank as bc
from bellcrank.errors import SimulationError, Unsupported
from benchmarks.choose_mechanisms import Choice, choices
from benchmarks.command_line import Form, form_option, invoke, repeats_option
from benchmarks.environment import environment
from benchmarks.report import Column, Report, Row, Table, publish

TOLERANCES: Final = (1e-6, 1e-9)
USUAL, MOST = 1.5, 3.0
"""Times of "auto", in those of the best pair: for nine rows of ten, and for all."""
SHARE: Final = 0.9
_FORMULATIONS: Final = ("lagrange", "recursive", "symbolic", "dca")
_METHODS: Final = ("adams", "dopri5", "bdf")
_DERIVABLE: Final = (
    40  # bodies up to which `symbolic` is tried: it derives equations in more than linear time
)
_PATIENCE: Final = 5.0  # factor on the best time: a pair that takes longer is abandoned
_LEAST: Final = 0.5  # s; nothing is abandoned earlier


class _TooSlow(Exception):
    """Raised when a run takes too long to be the best."""


@dataclass(frozen=True)
class Timed:
    """A pair and the seconds of its run, None if it failed or was abandoned; the choice of "auto"."""

    formulation: str
    method: str
    seconds: float | None
    outcome: str = "finished"
    chosen: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Duel:
    """A mechanism at a tolerance: the times of the pairs, and of "auto"."""

    mechanism: str
    tolerance: float
    auto: Timed
    pairs: Sequence[Timed] = field(default=())

    @property
    def best(self) -> Timed:
        """The fastest pair."""
        return min(self.pairs, key=_seconds)

    @property
    def ratio(self) -> float:
        """Time of "auto" relative to that of the best pair; infinite if it failed."""
        return _seconds(self.auto) / _seconds(self.best)

    def row(self) -> Row:
        """The row of the table."""
        return {
            "mechanism": self.mechanism,
            "tolerance": self.tolerance,
            "chosen": "-".join(self.auto.chosen),
            "auto_ms": 1e3 * _seconds(self.auto),
            "best": f"{self.best.formulation}-{self.best.method}",
            "best_ms": 1e3 * _seconds(self.best),
            "ratio": self.ratio,
            "pairs": {
                f"{p.formulation}-{p.method}": p.outcome if p.seconds is None else p.seconds
                for p in self.pairs
            },
        }


def _seconds(timed: Timed) -> float:
    return float("inf") if timed.seconds is None else timed.seconds


def duel(choice: Choice, tolerance: float, repeats: int) -> Duel:
    """Time all pairs on a mechanism, including "auto", each as a median of runs with new descriptions."""
    bodies = len(choice.make().bodies)
    auto = timed(choice, tolerance, "auto", "auto", repeats)
    best, pairs = _seconds(auto), []
    for method, formulation in itertools.product(_METHODS, _FORMULATIONS):
        if formulation == "symbolic" and bodies > _DERIVABLE:
            continue
        pairs.append(timed(choice, tolerance, formulation, method, repeats, max(_LEAST, _PATIENCE * best)))
        best = min(best, _seconds(pairs[-1]))
    return Duel(choice.name, tolerance, auto, pairs)


def timed(
    choice: Choice, tolerance: float, formulation: str, method: str, repeats: int, most: float = float("inf")
) -> Timed:
    """The time of a run from description to trajectory, with reactions. most: s, then it is abandoned."""
    samples, chosen = [], ("", "")
    for _ in range(repeats):
        mechanism, begun = choice.make(), time.perf_counter()
        try:
            run = bc.simulate(
                mechanism, choice.duration, formulation=formulation, method=method, tolerance=tolerance,
                progress=_patience(begun + most),
            )  # fmt: skip
        except _TooSlow:
            return Timed(formulation, method, None, "given up")
        except (SimulationError, Unsupported) as error:
            return Timed(formulation, method, None, str(error))
        samples.append(time.perf_counter() - begun)
        chosen = (str(run.statistics["formulation"]), str(run.statistics["method"]))
        if samples[0] > _LEAST:
            break
    return Timed(formulation, method, median(samples), chosen=chosen)


def _patience(end: float) -> Callable[[float], None]:
    def wait(_: float) -> None:
        if time.perf_counter() > end:
            raise _TooSlow

    return wait


def run(repeats: int = 3, names: Sequence[str] = ()) -> Report:
    """The table of all mechanisms, or of some by name."""
    machine = environment()
    asked = [choice for choice in choices() if not names or choice.name in names]
    duels = [duel(choice, tolerance, repeats) for choice in asked for tolerance in TOLERANCES]
    columns = (
        Column("mechanism", "mechanism"), Column("tolerance", "tolerance"), Column("chosen", "auto is"),
        Column("auto_ms", "ms"), Column("best", "best pair"), Column("best_ms", "ms"),
        Column("ratio", "ratio"),
    )  # fmt: skip
    table = Table("choose", '"auto" beside the best pair', columns, [d.row() for d in duels])
    usual = sum(d.ratio <= USUAL for d in duels) / max(1, len(duels))
    most = max((d.ratio for d in duels), default=0.0)
    failed = [f"{d.mechanism} at {d.tolerance:g}: {d.auto.outcome}" for d in duels if d.auto.seconds is None]
    notes = [
        f"from description to trajectory, with reactions; medians of {repeats}, one above {_LEAST:g} s",
        f"at most {USUAL:g} times the best in {usual:.0%} of the rows (target {SHARE:.0%})",
        f"at most {most:.2f} times the best in any row (target {MOST:g}); failures: {len(failed)}",
        *failed,
    ]
    settings = {"repeats": repeats, "tolerances": TOLERANCES, "patience": _PATIENCE}
    return Report("choose", machine, settings, [table], notes)


@click.command
@click.option("--mechanism", "names", multiple=True, help="Only this one, by its name; may be repeated.")
@repeats_option(3)
@form_option
def command(names: tuple[str, ...], repeats: int, form: Form) -> None:
    """The choice of "auto" compared with every sensible pair of formulation and method."""
    publish([run(repeats, names)], form)


def main(arguments: list[str]) -> int:
    """The command line of `bellcrank bench choose`."""
    return invoke(command, "choose", arguments)
