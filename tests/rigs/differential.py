"""One mechanism under all formulations: accelerations, reactions, efforts and motions compared."""

from dataclasses import dataclass, replace

import numpy as np

import bellcrank as bc
from bellcrank.formulations.preparing import MOVING

ALLOWED = 1e-8  # relative to the largest number of its kind in the mechanism
ROUNDING = 1e-14  # m, or of a quaternion: what states are known to after a projection
COUNTS = ("flags of reactions", "flags of efforts", "redundant rows")


@dataclass(frozen=True)
class Finding:
    """A disagreement: which quantity, of which formulation against `lagrange`, by how much.

    flagged: the uncertainty that one of the two reports, where it covers the disagreement; 1 for a motion of
        which a run says how few digits it has; else 0.
    """

    quantity: str
    formulation: str
    size: float
    detail: str = ""
    flagged: float = 0.0

    def __str__(self):
        return f"{self.formulation}: {self.quantity} {self.size:.2g} {self.detail}"


def systems(mechanism):
    """The mechanism prepared for each formulation that accepts it, by name; `lagrange` first."""
    found = {"lagrange": bc.prepare(mechanism)}
    for name in MOVING:
        if name not in found:
            try:
                found[name] = bc.prepare(mechanism, name)
            except bc.Unsupported:
                continue
    return found


def disagreements(prepared, state=None, allowed=ALLOWED):
    """Findings at a state: accelerations, reactions, efforts, flags, numbers of redundant rows.

    prepared: as `systems` gives it. state: the initial one if there is none; it is projected first, which
    raises AssemblyError where drives contradict each other.
    """
    first = prepared["lagrange"]
    state = first.project(state)
    expected = first.accelerate(state)
    findings = []
    for name, system in prepared.items():
        if system is not first:
            system.set_state(state)
            compared = _compared(name, first, expected, system, system.accelerate(), allowed)
            if compared:  # of the two, the one that is less rough: what the state itself leaves open
                rounding = min(_moved_by_rounding(one, state) for one in (first, system))
            findings += [f for f in compared if f.quantity in COUNTS or not f.size <= 30 * rounding]
    return findings


def _moved_by_rounding(system, state):
    """How far answers move, relative to the largest of their kind, with the last places of the state."""
    rng, most = np.random.default_rng(0), 0.0
    expected = _answers(system, system.project(state))
    for _ in range(3):
        moved = replace(
            state,
            position=state.position + ROUNDING * rng.uniform(-1.0, 1.0, state.position.shape),
            rotation=state.rotation + ROUNDING * rng.uniform(-1.0, 1.0, state.rotation.shape),
        )
        for one, two in zip(_answers(system, system.project(moved)), expected, strict=True):
            most = max(most, np.abs(one - two).max(initial=0.0) / max(1.0, np.abs(two).max(initial=0.0)))
    system.set_state(state)
    system.accelerate()
    return most


def _answers(system, state):
    found = system.accelerate(state)
    return (
        found.linear,
        found.angular,
        found.reactions,
        found.multipliers,
        np.array(system.core.coordinates()),
    )


def _compared(name, first, expected, system, found, allowed):
    findings = []

    def compare(quantity, one, two, *beside):
        one, two = np.asarray(one, dtype=float), np.asarray(two, dtype=float)
        scale = max(1.0, *(np.abs(v).max(initial=0.0) for v in (two, *beside)))
        size = float(np.nan_to_num(np.abs(one - two), nan=np.inf).max(initial=0.0)) / scale
        if not size <= allowed:
            findings.append(Finding(quantity, name, size))

    # Bodies measure about 1 m: rounding of the one is rounding of the other.
    compare("linear accelerations", found.linear, expected.linear, expected.angular)
    compare("angular accelerations", found.angular, expected.angular, expected.linear)
    compare("reactions", found.reactions, expected.reactions)
    compare("efforts", found.multipliers, expected.multipliers)
    for quantity, one, two in (
        ("flags of reactions", found.unique, expected.unique),
        ("flags of efforts", found.determined, expected.determined),
    ):
        if wrong := int((one != two).sum()):
            findings.append(Finding(quantity, name, wrong))
    if len(system.stats.dropped) != len(first.stats.dropped):
        rows = f"{len(system.stats.dropped)} rows redundant, {len(first.stats.dropped)} in lagrange"
        findings.append(Finding("redundant rows", name, 1.0, rows))
    compare("energies", system.core.energy(), first.core.energy())
    compare("coordinates", system.core.coordinates(), first.core.coordinates())
    said = max(max(s.accelerations, s.efforts) for s in (system.accuracy(), first.accuracy()))
    covered = [said > 1e-9 and (f.size <= 10 * said or f.quantity in COUNTS) for f in findings]
    return [replace(f, flagged=said) if c else f for f, c in zip(findings, covered, strict=True)]


@dataclass(frozen=True)
class Ended:
    """A run: its frames, and the error that ended it, if one did."""

    trajectory: bc.Trajectory
    error: str = ""


def run_of(mechanism, formulation, **settings):
    """The run of a mechanism under one formulation; None if it refuses the mechanism."""
    try:
        return Ended(bc.simulate(mechanism, formulation=formulation, **settings))
    except bc.Unsupported:
        return None
    except bc.SimulationError as error:
        return Ended(error.trajectory, str(error))


def runs_apart(prepared, mechanism, duration=2.0, tolerance=1e-11, allowed=ALLOWED, method="adams"):
    """Findings along a run of each formulation, and the errors that ended runs, by formulation.

    At three instants accelerations and the rest are compared as by `disagreements`, all formulations at the
    state of `lagrange`. Poses and velocities are compared as far as both runs came. How far errors grow in
    this motion is measured by runs at a tolerance a thousand times as large, and a tenth of that is allowed,
    too; where it exceeds 0.01, motions are too sensitive to be compared. Motions that are still apart are
    compared once more by `dopri5`: errors of `adams` may fall more slowly than its tolerance.
    """
    settings = {"times": duration * np.array([0.0, 0.25, 0.5, 1.0]), "method": method}
    first = run_of(mechanism, "lagrange", tolerance=tolerance, **settings)
    errors = {"lagrange": first.error} if first.error else {}
    findings = []
    for time in first.trajectory.time[1:]:
        findings += disagreements(prepared, first.trajectory.at(time))
    for name in list(MOVING)[1:]:
        other = run_of(mechanism, name, tolerance=tolerance, **settings)
        if other is None:
            continue
        if other.error:
            errors[name] = other.error
        if _motion_apart(mechanism, name, first, other, tolerance, settings, allowed):
            again = {**settings, "method": "dopri5"}
            runs = [run_of(mechanism, f, tolerance=tolerance, **again) for f in ("lagrange", name)]
            findings += _motion_apart(mechanism, name, *runs, tolerance, again, allowed)
    return findings, errors


def _motion_apart(mechanism, name, first, other, tolerance, settings, allowed):
    """The finding, in a list, that a formulation moves otherwise than `lagrange`, the first run."""
    size = _apart(other.trajectory, first.trajectory)
    if size <= allowed:
        return []

    def grown(formulation, run):
        rough = run_of(mechanism, formulation, tolerance=1e3 * tolerance, **settings)
        return _apart(rough.trajectory, run.trajectory)

    rough = max(grown("lagrange", first), grown(name, other))
    if size <= 0.1 * rough or rough > 0.01:
        return []
    said = any("accuracy" in run.trajectory.statistics for run in (first, other))
    return [Finding("motion", name, size, f"at 1000 times the tolerance: {rough:.2g}", float(said))]


def _apart(one, two):
    """The largest difference of positions, turns and velocities in the frames that both have.

    Each is relative to the largest of its kind, or to 1.
    """

    def relative(a, b):
        return float(np.abs(a - b).max(initial=0.0)) / max(1.0, float(np.abs(b).max(initial=0.0)))

    return max(relative(a, b) for a, b in zip(*_motions(one, two), strict=True))


def _motions(*runs):
    """Positions, turns (products of quaternion components: no sign) and velocities of each run."""
    frames = min(len(run) for run in runs)
    for run in runs:
        bodies = [run.body(name) for name in run.bodies]
        q = np.array([body.rotation[:frames] for body in bodies])
        fields = ("position", "velocity", "angular_velocity")
        yield [
            q[..., :, None] * q[..., None, :],
            *(np.array([getattr(b, f)[:frames] for b in bodies]) for f in fields),
        ]
