"""Random weights on slides with stops and cables, and their motion through impacts, by trying every mode.

All rows have constant coefficients, so that between impacts the motion is a parabola: what a run does can be
compared to rounding, loads, impacts and cables that go slack included.
"""

from dataclasses import dataclass, field
from itertools import count

import numpy as np
from rigs.struck import MOST_ROWS, RANK, after_impact
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.formulations.preparing import MOVING

FAR = 5.0  # m: eyelets lie beyond every way
CLOSED, SLOWEST, NEAREST, MOST = 1e-9, 0.02, 1e-3, 12  # m or m/s, m/s, s, 1: impacts that are looked at
DURATION, STEP, LONG = 0.7, 1e-4, 2e-3  # s
EXACT, COARSE = 1e-9, 0.05  # m, m/s: of what meets stops at their moments, and of steps by impulses
METHODS = ("adams", "dopri5", "bdf")


@dataclass
class Slides:
    """n weights on slides; gaps, which must not be negative, are coefficients @ x + gap.

    equations: (m, n), of velocities; the first ones drives, at the speeds of `driven`, the others couplings.
    """

    mass: np.ndarray
    axes: np.ndarray
    gravity: np.ndarray
    coefficients: np.ndarray
    gap: np.ndarray
    restitution: np.ndarray
    equations: np.ndarray
    driven: list = field(default_factory=list)
    cables: list = field(default_factory=list)  # (row, slides, signs)
    stops: list = field(default_factory=list)  # (row, slide, sign)
    speed: np.ndarray = None

    @property
    def force(self):
        return self.mass * (self.axes @ self.gravity)

    def gaps(self, x):
        return self.coefficients @ x + self.gap

    def free(self):
        """(n, d) velocities N that the equations allow, Nᵀ M N = 1."""
        root = 1.0 / np.sqrt(self.mass)
        if len(self.equations) == 0:
            return np.diag(root)
        _, s, vt = np.linalg.svd(self.equations * root)
        return root[:, None] * vt[np.sum(s > RANK * s[0]) :].T


def _slides(rng):
    """Two to four weights, up to five rows, some of them closed at the start; None where rows contradict."""
    n, k = int(rng.integers(2, 5)), int(rng.integers(2, MOST_ROWS + 1))
    system = Slides(
        mass=10.0 ** rng.uniform(-0.5, 0.7, n),
        axes=Rotation.from_quat(rng.normal(size=(n, 4))).as_matrix()[:, :, 2],
        gravity=rng.normal(0.0, 6.0, 3),
        coefficients=np.zeros((k, n)),
        gap=np.where(rng.random(k) < 0.5, 0.0, rng.uniform(0.02, 0.3, k)),
        restitution=np.zeros(k),
        equations=np.zeros((0, n)),
    )
    for row in range(k):
        _add_row(system, row, rng)
    if rng.random() < 0.3:
        _add_again(system, *rng.choice(k, 2, replace=False))
    opposed = system.coefficients[:, None] == -system.coefficients
    if np.any(opposed.all(axis=2) & (system.gap[:, None] + system.gap == 0.0)):
        return None
    if n > 2 and rng.random() < 0.25:
        system.driven = [float(rng.normal(0.0, 0.5))]
        system.equations = np.eye(n)[[int(rng.integers(n))]]
    if n > 2 and rng.random() < 0.25:
        line = np.zeros((1, n))
        line[0, rng.choice(n, 2, replace=False)] = rng.uniform(0.5, 1.5, 2) * rng.choice([-1, 1], 2)
        system.equations = np.vstack([system.equations, line])
    return system if _start(system, rng) else None


def _add_row(system, row, rng):
    if rng.random() < 0.45:
        which, sign = int(rng.integers(len(system.mass))), float(rng.choice([-1, 1]))
        system.stops.append((row, which, sign))
        system.coefficients[row, which] = sign
        system.restitution[row] = rng.choice([0.0, rng.uniform(0.1, 0.9)], p=[0.3, 0.7])
    else:
        which, signs = rng.choice(len(system.mass), 2, replace=False), rng.choice([-1, 1], 2)
        system.cables.append((row, which, signs))
        system.coefficients[row, which] = signs


def _add_again(system, row, other):
    """One row becomes another, which is met at the same time; a stop has a restitution of its own."""
    system.coefficients[row], system.gap[row] = system.coefficients[other], system.gap[other]
    for listed in (system.stops, system.cables):
        listed[:] = [entry for entry in listed if entry[0] != row]
        listed += [(row, *entry[1:]) for entry in listed if entry[0] == other]
    system.restitution[row] *= any(entry[0] == row for entry in system.stops)


def _start(system, rng):
    """Speeds with which closed rows stay closed; whether there are such."""
    n = len(system.mass)
    speed = rng.normal(0.0, 0.5, n) if rng.random() < 0.6 else np.zeros(n)
    held = np.vstack([system.equations, system.coefficients[system.gap == 0.0]])
    wanted = np.zeros(len(held))
    wanted[: len(system.driven)] = system.driven
    speed -= np.linalg.pinv(held) @ (held @ speed - wanted)
    system.speed = np.where(np.abs(speed) < 1e-12, 0.0, speed)
    return np.max(np.abs(held @ speed - wanted), initial=0.0) < 1e-12


def _acceleration(system, N, x, v):
    """With what pushes among the rows that are closed, and which are; None where they contradict."""
    closed = np.flatnonzero((np.abs(system.gaps(x)) < CLOSED) & (np.abs(system.coefficients @ v) < CLOSED))
    free = N @ (N.T @ system.force)
    if len(closed) == 0:
        return free, closed
    across = system.coefficients[closed] @ N
    found = after_impact(across @ across.T, system.coefficients[closed] @ free, np.zeros(len(closed)))
    return None if found is None else free + N @ (across.T @ found[1]), closed


def _times_to_close(system, x, v, a, closed):
    """(k,) until each row closes, infinite if it does not; those that are closed stay so."""
    gap, rate, change = system.gaps(x), system.coefficients @ v, system.coefficients @ a
    times = np.full(len(gap), np.inf)
    for i in set(range(len(gap))) - set(closed):
        leaves = abs(gap[i]) < 1e-12
        coefficients = [0.5 * change[i], rate[i]] if leaves else [0.5 * change[i], rate[i], gap[i]]
        while coefficients and abs(coefficients[0]) < 1e-14:
            coefficients.pop(0)
        roots = np.roots(coefficients) if coefficients else np.zeros(0)
        times[i] = np.min(roots[(np.imag(roots) == 0.0) & (np.real(roots) > CLOSED)].real, initial=np.inf)
    return times


def _struck(system, N, x, v):
    """Velocities after an impact, how many rows rested, and whether one opens; None if one does slowly."""
    touching = np.flatnonzero(np.abs(system.gaps(x)) < CLOSED)
    rates = system.coefficients[touching] @ v
    rests = np.abs(rates) < CLOSED
    across = system.coefficients[touching] @ N
    found = after_impact(across @ across.T, np.where(rests, 0.0, rates), system.restitution[touching])
    if found is None:
        return None
    after = v + N @ (across.T @ found[1])
    rates_after = system.coefficients[touching] @ after
    for speeds in (rates, rates_after):
        if np.any((np.abs(speeds) < SLOWEST) & (np.abs(speeds) > CLOSED)):
            return None
    return after, int(np.sum(rests)), bool(np.any(rates_after[rests] > CLOSED))


def motion(system, duration):
    """Positions and velocities after a time, and (time, rows that rested, whether one opened) of impacts.

    None where that is no test: something comes to rest, or impacts follow each other closely.
    """
    N = system.free()
    x, v, t, impacts = np.zeros(len(system.mass)), system.speed.copy(), 0.0, []
    while len(impacts) <= MOST:
        a, closed = _acceleration(system, N, x, v)
        if a is None:
            return None
        times = _times_to_close(system, x, v, a, closed)
        left = duration - t
        step = min(times.min(initial=np.inf), left)
        if step < NEAREST or np.any((times > step + 1e-12) & (times < step + NEAREST)):
            return None
        x, v, t = x + step * v + 0.5 * step**2 * a, v + step * a, t + step
        if step == left:
            return x, v, impacts
        struck = _struck(system, N, x, v)
        if struck is None:
            return None
        v = struck[0]
        impacts.append((float(t), *struck[1:]))
    return None


def moving_slides(seed):
    """The first slides of a seed, and their motion, in which some row rests at an impact."""
    for k in count():
        system = _slides(np.random.default_rng([seed, k]))
        moved = system and motion(system, DURATION)
        if moved and any(rests for _, rests, _ in moved[2]):
            break
    return system, moved


def described(system):
    """The same as a mechanism."""
    mech = bc.Mechanism("slides", gravity=tuple(system.gravity))
    places = [np.array([0.0, 0.0, 20.0 * i]) for i in range(len(system.mass))]
    for i, (mass, axis, at) in enumerate(zip(system.mass, system.axes, places, strict=True)):
        velocity = tuple(system.speed[i] * axis)
        body = mech.add_body(
            f"weight {i}", mass=mass, inertia=(0.1 * mass,) * 3, position=at, velocity=velocity
        )
        ends = mech.ground.marker(at, axis=tuple(axis)), body.marker(axis=tuple(axis))
        limits = {
            row: bc.Limit(
                **{"lower" if sign > 0.0 else "upper": -sign * system.gap[row]},
                restitution=system.restitution[row],
            )
            for row, which, sign in system.stops
            if which == i
        }
        first = min(limits, default=None)
        mech.add_joint(f"slide {i}", bc.Prismatic(), *ends, limits=limits.pop(first, ()))
        for row, limit in limits.items():
            mech.add_joint(f"stop {row}", bc.Free(), *ends, limits={"z": limit})
    for row, which, signs in system.cables:
        (first, hook), (second, other) = (
            (mech.bodies[f"weight {i}"].marker(), mech.ground.marker(places[i] + sign * FAR * system.axes[i]))
            for i, sign in zip(which, signs, strict=True)
        )
        between = np.linalg.norm(np.subtract(other.position, hook.position))
        cable = bc.Cable(length=2.0 * FAR + between + system.gap[row], slack=True)
        mech.add_constraint(f"cable {row}", cable, first, hook, other, second)
    for line, speed in zip(system.equations, system.driven, strict=False):
        drive = bc.Polynomial((0.0, speed))
        mech.add_drive("drive", f"slide {np.flatnonzero(line)[0]}", position=drive)
    for line in system.equations[len(system.driven) :]:
        which = np.flatnonzero(line)
        coupling = bc.Coupling(coefficients=tuple(line[which]), constant=0.0)
        mech.add_constraint("tie", coupling, *[f"slide {i}" for i in which])
    return mech


def wrong_ways(seed):
    """Where formulations and methods differ from the motion of a seed's slides; "" if nowhere."""
    system, (x, v, impacts) = moving_slides(seed)
    runs = [(formulation, METHODS[(seed + i) % 3], 0.0) for i, formulation in enumerate(MOVING)]
    runs += [(MOVING[seed % 4], "rk4", STEP), (MOVING[seed // 2 % 4], "rk4", LONG)]
    runs += [(("lagrange", "recursive")[seed // 2 % 2], "moreau", STEP)]
    wrong = []
    for formulation, method, step in runs:
        settings = {"step": step} if step else {"tolerance": 1e-12}
        run = bc.simulate(
            described(system),
            DURATION,
            output_step=DURATION,
            formulation=formulation,
            method=method,
            **settings,
        )
        joints = [run.joint(f"slide {i}") for i in range(len(x))]
        errors = [abs(j.position[-1, 0] - x[i]) for i, j in enumerate(joints)]
        errors += [abs(j.velocity[-1, 0] - v[i]) for i, j in enumerate(joints)]
        if not max(errors) <= (COARSE if method == "moreau" else EXACT):
            wrong.append(f"{formulation}, {method} is off by {max(errors):.1e}")
    return "; ".join(wrong) + (f" after {impacts}" if wrong else "")
