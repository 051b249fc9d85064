"""Redundant loops through a singular pose, by divide and conquer with and without projections.

P. Malczyk, J. Fraczek, Nonlinear Dynamics 70 (2012) 871, section 4: a five-bar linkage (w = -1, two degrees
of freedom) and two coupled loops (eight bodies, ten hinges, w = -2, four degrees of freedom), modelled in
space, so that rows are redundant in every pose. Bars are 0.2 m long, with 1 kg and 0.25 kg m^2. The settings
are the paper's: tolerance 1e-6 of an embedded method of order 5, penalty 1e6, at most 10 iterations that end
at 1e-14, 1e-12 and 1e-10; beside them the default penalty, 1e10. The ground of the five-bar linkage is two
bars long, so that all its bars can lie in line, where rows lose rank besides. The start is so that this
happens after 1 s, at speed.
"""

from typing import Any

import figures
import numpy as np
from coupled_bars import before, coupled_loops, five_bar

import bellcrank as bc

out = figures.output_folder()
DURATION, SINGULAR = 10.0, 1.0
PAPER: dict[str, Any] = {"penalty": 1e6, "max_penalty": 1e6, "max_iterations": 10}
VARIANTS: dict[str, dict[str, Any]] = {
    "without projections": {**PAPER, "projections": False, "frequency": 1.0},
    "with projections": PAPER,
    "with the default penalty": {},
}


def levels(mech: bc.Mechanism, run: bc.Trajectory, options: dict[str, Any]) -> np.ndarray:
    """Largest error of positions, velocities and accelerations by frame."""
    system = bc.prepare(mech, "dca", **options)
    errors = np.empty((len(run), 3))
    for k in range(len(run)):
        state = run.at(run.time[k])
        rows, found = system.rows(state), system.accelerate(state)
        motion = np.hstack([state.velocity, state.angular_velocity]).ravel()
        rates = np.hstack([found.linear, found.angular]).ravel()
        jacobian = rows.jacobian.reshape(len(rows.error), -1)
        errors[k] = [
            np.abs(e).max()
            for e in (rows.error, jacobian @ motion + rows.drift, jacobian @ rates - rows.bias)
        ]
    return errors


def singular_values(mech: bc.Mechanism, run: bc.Trajectory) -> np.ndarray:
    """All singular values of the rows, each scaled to one, by frame."""
    system = bc.prepare(mech, "dca")
    found = []
    for time in run.time:
        jacobian = system.rows(run.at(time)).jacobian
        jacobian = jacobian.reshape(len(jacobian), -1)
        found.append(np.linalg.svd(jacobian / np.linalg.norm(jacobian, axis=1)[:, None], compute_uv=False))
    return np.array(found)


def plain_multipliers(mech: bc.Mechanism) -> str:
    """The matrix that has to be solved where every row counts."""
    system = bc.prepare(mech)
    rows = system.rows(system.state())
    jacobian = rows.jacobian.reshape(len(rows.error), -1)
    size = jacobian.shape[1]
    masses = np.tile([1.0] * 3 + [0.25] * 3, size // 6)
    matrix = np.block([[np.diag(masses), jacobian.T], [jacobian, np.zeros((len(jacobian),) * 2)]])
    return f"{np.linalg.cond(matrix):.0e}, rank {np.linalg.matrix_rank(matrix)} of {len(matrix)}"


def followed(mech: bc.Mechanism, start: bc.State, options: dict[str, Any]) -> bc.Trajectory:
    """The motion, or what there is of it where a run ends by itself."""
    settings = {"formulation": "dca", "method": "dopri5", "tolerance": 1e-6, "output_step": 0.02}
    try:
        return bc.simulate(mech, DURATION, state=start, **settings, **options)
    except bc.SimulationError as error:
        print(f"  {error}")
        return error.trajectory


def histogram(run: bc.Trajectory, level: str) -> dict[int, int]:
    """How many iterations were taken how often at a level."""
    return {i: n for i in range(32) if (n := run.statistics.get(f"{level} in {i} iterations", 0))}


def mean(counts: dict[int, int]) -> float:
    return sum(i * n for i, n in counts.items()) / sum(counts.values())


mechanisms = {"five-bar linkage": five_bar(), "coupled loops": coupled_loops()}
fig, axes = figures.subplots(4, 2, size=(9.0, 9.6), sharex="row")
for column, (name, mech) in enumerate(mechanisms.items()):
    info = bc.info(mech)
    print(f"{name}: Gruebler's count {info.grubler}, all rows as equations in the singular pose:")
    print(f"  condition {plain_multipliers(mech)}")
    axes[0, column].set_title(name)
    start = before(mech, SINGULAR)
    for (variant, options), line in zip(VARIANTS.items(), ("--", "-", ":"), strict=True):
        run = followed(mech, start, options)
        errors, energy = levels(mech, run, options), run.energy.total
        drift = float(np.abs(energy - energy[0]).max())
        print(f"  {variant}: " + ", ".join(f"{e:.1e}" for e in errors.max(axis=0)), end=" ")
        print(f"at three levels, energy {drift:.1e} J")
        for level, colour in zip(range(3), figures.COLOURS, strict=False):
            words = ("positions", "velocities", "accelerations")[level]
            label = words if variant == "with projections" else None
            axes[0, column].semilogy(run.time, errors[:, level] + 1e-18, line, color=colour, label=label)
        axes[1, column].semilogy(run.time, np.abs(energy - energy[0]) + 1e-16, line, label=variant)
        if variant == "with projections":
            counts = {level: histogram(run, level) for level in ("positions", "velocities", "accelerations")}
            for level, histogram_of in counts.items():
                print(f"  iterations for {level}: {histogram_of}, mean {mean(histogram_of):.2f}")
            values = singular_values(mech, run)
    for k in range(values.shape[1]):
        axes[2, column].semilogy(run.time, values[:, k] + 1e-18, color=figures.BLUE, linewidth=0.7)
    rank = (values > 1e-9).sum(axis=1)
    rows = len(bc.prepare(mech).rows().names)
    needed = values[:, rank.max() - 1]
    print(f"  rank {rank.max()} of {rows} rows, freedom {6 * len(mech.bodies) - rank.max()};", end=" ")
    print(f"in line at t = {run.time[needed.argmin()]:.2f} s, freedom {info.freedom} there:")
    print(f"  smallest singular value of needed rows {needed.min():.0e}, elsewhere {np.median(needed):.1g}")
    for offset, (level, histogram_of) in enumerate(counts.items()):
        places = np.array(list(histogram_of)) + 0.27 * (offset - 1)
        share = np.array(list(histogram_of.values())) / sum(histogram_of.values())
        axes[3, column].bar(places, share, width=0.25, label=level)
    axes[3, column].set_xlabel("iterations")
    axes[2, column].set_xlabel("time [s]")
for row, what in enumerate(
    ("largest error", "error of energy [J]", "singular values of rows", "part of all")
):
    axes[row, 0].set_ylabel(what)
    if row != 2:
        axes[row, 1].legend(fontsize=6.5, loc="upper center" if row == 0 else "best")
for axis in axes[3]:
    axis.set_xticks(range(1, 11))
axes[0, 0].set_title("five-bar linkage: -- stabilized, - projected, : penalty 1e10", fontsize=8)
figures.save(fig, out / "29_coupled_loops.png")
