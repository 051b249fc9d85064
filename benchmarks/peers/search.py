"""Finds, per peer and problem size, the cheapest setting within the accuracy bounds; writes a table as JSON.

    python search.py --peer mujoco --problem four_bar --n 1 10 40 --duration 10 --out table.json
    python search.py --peer mujoco --replay best_settings.json --out table.json

The second form only measures again what an earlier search found (a search takes minutes, for N = 40 tens of
minutes).

Every combination of a family's settings walks a geometric grid of steps from coarse to fine; the first step
whose whole run stays within both bounds (energy 1e-3 J, gap 1e-7 m; on the four-bar also the reference's
branch) is timed. A walk ends early once its cost must exceed the family's cheapest so far. The settings in
`refine` are then tried one by one on the winner, each walk starting two grid points coarser than the winner's
step. The winner is timed again with --repeat repeats, and also run at a step of 1 ms.
"""

# run as scripts, so siblings import by plain name; a checker that sees a package cannot find them
# mypy: disable-error-code="import-not-found,no-any-return"

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import math
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from loop_problems import PROBLEMS, Judge, Problem, ring
from measurement import MakeRun, judge_run, pin_to_one_core, report

PEERS = ("mujoco", "exudyn", "pinocchio")
GRID_RATIO = 2.0**0.25
# a run on another branch of the four-bar is a metre away; one on the same branch, millimetres
BRANCH_BOUND = 0.05
# a run that would cost more CPU time than this is not tried
MOST_SECONDS = 30.0
FINEST_STEP = 2e-6

Options = dict[str, str]


@dataclass
class Family:
    """Settings searched together: every combination of `grid`, then each of `refine` on the winner."""

    name: str
    coarsest: float
    grid: dict[str, list[str]]
    refine: list[Options] = field(default_factory=list)


FAMILIES = {
    "mujoco": [
        Family(
            "RK4, hardened rows",
            0.08,
            {
                "integrator": ["RK4"],
                "softness": ["1e-4", "1e-6", "1e-8"],
                "alpha": ["0.3", "0.6", "1.0", "1.4"],
            },
            [
                {"zeta": "0.7"},
                {"zeta": "1.4"},
                {"tolerance": "1e-4"},
                {"iterations": "1"},
                {"jacobian": "dense"},
            ],
        ),
        Family(
            "RK4, rows as compiled",
            0.02,
            {"integrator": ["RK4"], "alpha": ["0.6", "1.0", "1.4", "1.8"], "zeta": ["0.7", "1.0"]},
            [{"tolerance": "1e-4"}, {"iterations": "1"}, {"jacobian": "dense"}],
        ),
        Family(
            "first order",
            3e-4,
            {
                "integrator": ["Euler", "implicitfast", "discrete"],
                "alpha": ["0.5"],
                "softness": ["1.0", "1e-6"],
            },
            [{"tolerance": "1e-4"}],
        ),
    ],
    "exudyn": [
        Family(
            "constraints",
            4e-3,
            {
                "integrator": ["generalized_alpha", "newmark_index2", "trapezoidal_index2"],
                "newton": ["full", "modified"],
                "rho": ["0.9", "0.6"],
                "tolerance": ["1e-5", "1e-4"],
            },
            [{"linear": "EXUdense"}, {"linear": "EigenDense"}, {"tolerance": "1e-6"}, {"rho": "0.97"}],
        ),
        Family("penalty", 4e-5, {"integrator": ["verlet", "rk44"], "penalty": ["1e9", "5e9"]}),
    ],
    "pinocchio": [
        Family(
            "rk4",
            0.08,
            {"integrator": ["rk4"], "gain": ["0.05", "0.1", "0.2", "0.4", "0.7", "1.0"]},
            [
                {"mu": "1e-12", "prox_iterations": "1"},
                {"mu": "1e-11", "prox_iterations": "2"},
                {"mu": "1e-8"},
                {"mu": "1e-6", "prox_iterations": "20"},
            ],
        ),
        Family(
            "any explicit method",
            0.12,
            {
                "integrator": ["abm4", "abm5", "abm6", "ab3", "ab4", "dopri5", "dop853"],
                "gain": ["0.05", "0.1", "0.2", "0.4", "0.7"],
            },
            [{"mu": "1e-12", "prox_iterations": "1"}, {"mu": "1e-11", "prox_iterations": "2"}],
        ),
    ],
}


@dataclass
class Best:
    """The cheapest setting so far (CPU seconds of the whole run)."""

    cpu: float = math.inf
    step: float = math.nan
    options: Options = field(default_factory=dict)


def within(judge: Judge) -> bool:
    """Whether a run is within its bounds and ended on the reference's branch."""
    if judge.energy_error > judge.bounds[0] or judge.gap > judge.bounds[1]:
        return False
    tip = judge.tip_error()
    return tip is None or tip < BRANCH_BOUND


def steps_for(duration: float, step: float) -> int:
    """Number of equal steps, none longer than `step`."""
    return max(1, math.ceil(duration / step - 1e-9))


def cost_per_step(make: MakeRun, problem: Problem, step: float, options: Options) -> float:
    """CPU seconds per step from a short run; 0 if that run fails (it may pass at finer steps)."""
    count = 300
    seconds = make(problem, step, count, options).timed()[0]
    return seconds / count if math.isfinite(seconds) else 0.0


def walk(
    make: MakeRun, problem: Problem, duration: float, coarsest: float, options: Options, best: Best
) -> Best:
    """The coarsest passing step of one setting, unless it must cost more than `best`; the better of both."""
    step, per_step = coarsest, 0.0
    while step > FINEST_STEP:
        steps = steps_for(duration, step)
        if per_step == 0.0 or best.cpu == math.inf:
            per_step = cost_per_step(make, problem, step, options)
        # an implicit solver's steps get cheaper as they get shorter: leave room before giving up
        if 0.7 * per_step * steps > best.cpu or per_step * steps > MOST_SECONDS:
            return best
        exact = duration / steps
        run = make(problem, exact, steps, options)
        if within(judge_run(run, problem, exact, bounded=True)):
            cpu = run.timed()[0]
            return Best(cpu, exact, options) if cpu < best.cpu else best
        step /= GRID_RATIO
    return best


def search_family(make: MakeRun, problem: Problem, duration: float, family: Family) -> Best:
    """The cheapest setting of a family; its cost is infinite if none was found."""
    best = Best()
    for values in itertools.product(*family.grid.values()):
        best = walk(
            make, problem, duration, family.coarsest, dict(zip(family.grid, values, strict=True)), best
        )
    for extra in family.refine:
        if math.isfinite(best.cpu):
            best = walk(make, problem, duration, best.step * GRID_RATIO**2, {**best.options, **extra}, best)
    return best


def tabulate(peer: str, problem: Problem, duration: float, repeat: int) -> list[dict[str, Any]]:
    """One row per family: the winner at its step, and the same setting at 1 ms."""
    make: MakeRun = importlib.import_module(f"{peer}_loops").make
    rows = []
    for family in FAMILIES[peer]:
        best = search_family(make, problem, duration, family)
        row: dict[str, Any] = {
            "peer": peer,
            "problem": problem.name,
            "n": problem.n,
            "family": family.name,
            "found": math.isfinite(best.cpu),
        }
        if row["found"]:
            row["solution"] = report(peer, make, problem, best.step, duration, repeat, best.options)
        fallback = {name: values[0] for name, values in family.grid.items()}
        if family.coarsest > 1e-3 / 4:
            row["at_1ms"] = report(
                peer, make, problem, 1e-3, duration, min(3, repeat), best.options or fallback
            )
        rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)
    return rows


def replay(peer: str, path: Path, repeat: int) -> list[dict[str, Any]]:
    """Measure a peer's settings from an earlier search again, in the form that `tabulate` gives."""
    make: MakeRun = importlib.import_module(f"{peer}_loops").make
    rows = []
    for entry in json.loads(path.read_text()):
        if entry["peer"] == peer:
            problem = PROBLEMS[entry["problem"]](entry["n"])
            row = {key: entry[key] for key in ("peer", "problem", "n", "family")}
            for key, step in (("solution", entry["step"]), ("at_1ms", 1e-3)):
                if step is not None:
                    row[key] = report(peer, make, problem, step, entry["duration"], repeat, entry["options"])
            rows.append(row)
            print(json.dumps(row), file=sys.stderr, flush=True)
    return rows


def ring_divergence(
    n: int, duration: float, step: float, peer: str = "pinocchio"
) -> list[tuple[float, float]]:
    """Largest difference of the rods' directions (−) between runs with steps h and h/2, every 20 ms."""
    make: MakeRun = importlib.import_module(f"{peer}_loops").make
    problem = ring(n)
    poses: list[dict[float, Any]] = []
    for h in (step, step / 2):
        judge = Judge(problem)
        judge.keep = []
        make(problem, h, steps_for(duration, h), {}).record(judge, round(0.02 / h))
        poses.append({round(t, 6): angle for t, angle in judge.keep})
    return [
        (t, float(np.abs(np.exp(1j * poses[0][t]) - np.exp(1j * poses[1][t])).max()))
        for t in sorted(poses[0].keys() & poses[1].keys())
    ]


def ring_whip(divergence: list[tuple[float, float]]) -> float:
    """Instant of the whip: where the difference grows most over 100 ms, after the first 0.3 s."""
    late = [(t, d) for t, d in divergence if t >= 0.3]
    growth = [(late[i + 5][1] / max(late[i][1], 1e-15), late[i + 5][0]) for i in range(len(late) - 5)]
    return max(growth)[1]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", choices=PEERS, required=True)
    parser.add_argument("--problem", choices=sorted(PROBLEMS), default="four_bar")
    parser.add_argument("--n", type=int, nargs="+", default=[1, 10, 40])
    parser.add_argument("--duration", type=float, default=10.0, help="simulated time in s")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--out", type=Path, help="where the table goes; default: standard output")
    parser.add_argument("--replay", type=Path, help="measure this file's settings instead of searching")
    parser.add_argument(
        "--whip", action="store_true", help="only report when the rings' solutions diverge (Pinocchio)"
    )
    arguments = parser.parse_args()
    pin_to_one_core()
    if arguments.whip:
        for n in arguments.n:
            divergence = ring_divergence(n, arguments.duration, 4e-4)
            print(json.dumps({"n": n, "whip_s": ring_whip(divergence), "divergence": divergence}))
        return
    rows = replay(arguments.peer, arguments.replay, arguments.repeat) if arguments.replay else []
    for n in () if arguments.replay else arguments.n:
        rows += tabulate(arguments.peer, PROBLEMS[arguments.problem](n), arguments.duration, arguments.repeat)
    text = json.dumps(rows, indent=1)
    if arguments.out:
        arguments.out.write_text(text + "\n")
    else:
        print(text)


if __name__ == "__main__":
    main()
