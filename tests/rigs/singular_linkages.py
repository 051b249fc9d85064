"""Random linkages, overconstrained in space, that start at poses where rows lose rank or pass them.

Each comes with neighbours that stay away from such poses: bars of other lengths, or swings that do not
get there.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import atan2, cos, hypot, pi, sin, sqrt

import numpy as np
from rigs.closed_loops import turn
from scipy.spatial.transform import Rotation

import bellcrank as bc

AT = ("at", "through")
TOLERANCE = 1e-9
LEAST = TOLERANCE  # errors of energy that tell nothing


@dataclass(frozen=True)
class SingularLinkage:
    """A mechanism and its neighbours; where a drive leads them all, kinetic energy alone is constant."""

    name: str
    mechanism: bc.Mechanism
    neighbours: list[bc.Mechanism]
    driven: bool = False


def singular_linkage(seed):
    """One of the families by turns: at a singular pose at the start, or through it."""
    rng = np.random.default_rng(seed)
    family, how = FAMILIES[seed % len(FAMILIES)], AT[seed // len(FAMILIES) % len(AT)]
    return family(rng, how)


class _Plane:
    """Thin bars of 1 kg/m in a plane that lies anywhere in space. gravity: in this plane."""

    def __init__(self, name, rotation, gravity):
        self.turned = Rotation.from_quat(np.roll(rotation, -1))
        self.mech = bc.Mechanism(name, gravity=tuple(self.turned.apply([gravity[0], gravity[1], 0.0])))
        self.axis = tuple(self.turned.apply([0.0, 0.0, 1.0]))

    def at(self, point):
        return tuple(self.turned.apply([point[0], point[1], 0.0]))

    def bar(self, name, start, end, velocity, rate):
        """From start to end; the velocity of its start, and its rate."""
        start, end = np.array(start), np.array(end)
        along, length = end - start, hypot(*(end - start))
        middle = np.array(velocity) + 0.5 * rate * np.array([-along[1], along[0]])
        spin = Rotation.from_rotvec([0.0, 0.0, atan2(along[1], along[0])])
        inertia = (1e-3 * length, length**3 / 12 + 5e-4 * length, length**3 / 12 + 1e-3 * length)
        return self.mech.add_body(
            name, mass=length, inertia=inertia,
            position=self.at(0.5 * (start + end)), velocity=self.at(middle),
            rotation=tuple(np.roll((self.turned * spin).as_quat(), 1)),
            angular_velocity=tuple(rate * np.array(self.axis)),
        )  # fmt: skip

    def pin(self, name, first, second, point):
        ends = [body.world_marker(self.at(point), axis=self.axis) for body in (first, second)]
        return self.mech.add_joint(name, bc.Revolute(), *ends)

    def loop(self, points, rates):
        """Bars along points, hinged to the ground at both ends."""
        velocity, bodies = np.zeros(2), [self.mech.ground]
        for k, (start, end) in enumerate(pairwise(np.array(points, dtype=float))):
            bodies.append(self.bar(f"bar {k}", start, end, velocity, rates[k]))
            velocity = velocity + rates[k] * np.array([start[1] - end[1], end[0] - start[0]])
        bodies.append(self.mech.ground)
        for k, (one, two) in enumerate(pairwise(bodies)):
            self.pin(f"pin {k}", one, two, points[k])
        return self.mech


def four_bar(rng, how):
    """Bars that can lie in line.

    There their rates obey Σ s w = 0 and Σ s w² = 0, s the signed lengths: on two branches.
    """
    while True:
        signed = rng.uniform(0.4, 1.6, 3) * rng.choice([-1.0, 1.0], 3)
        base = signed.sum()
        # s1 + s2 w² + (s1 + s2 w)² / s3 = 0
        one, two, three = signed
        roots = np.roots([two * (three + two), 2.0 * one * two, one * (three + one)])
        if abs(base) > 0.3 and np.isreal(roots).all() and np.abs(roots).max() < 4.0:
            break
    second = float(rng.choice(roots.real))
    rates = 2.0 * np.array([1.0, second, -(one + two * second) / three])
    rotation, gravity = turn(rng, pi), 3.0 * rng.normal(size=2)
    points = np.array([np.append(0.0, signed.cumsum()), np.zeros(4)]).T

    def neighbour(factor):
        lengths = np.abs(signed) * (1.0, factor, 1.0)
        for angle in np.linspace(0.6, 2.6, 41):
            tip = lengths[0] * np.array([cos(angle), sin(angle)])
            knee = corner(tip, np.array([base, 0.0]), lengths[1], lengths[2])
            if knee is not None:
                plane = _Plane("neighbour", rotation, gravity)
                return plane.loop([(0.0, 0.0), tip, knee, (base, 0.0)], [rates[0], 0.0, 0.0])
        return None

    made = _Plane("four-bar", rotation, gravity).loop(points, rates)
    if how == "through":
        made = reversed_after(made, rng.uniform(0.15, 0.4))
    near = [n for n in (neighbour(f) for f in (0.92, 0.96, 1.04, 1.08)) if n is not None]
    return SingularLinkage(f"four-bar, {how}", made, near)


def corner(first, second, one, two):
    """The point at two distances from two points; None if there is none well away from their line."""
    gap = second - first
    length = hypot(*gap)
    along = (one**2 - two**2 + length**2) / (2.0 * length)
    height = one**2 - along**2
    if height < 0.05 * one**2:
        return None
    return first + along * gap / length + sqrt(height) * np.array([-gap[1], gap[0]]) / length


def windows(rng, how, driven=False):
    """Parallel cranks on couplers of different lengths: flat poses have a freedom more per window."""
    count, arm, rotation = int(rng.integers(1, 6)), rng.uniform(0.5, 1.5), turn(rng, pi)
    gaps = rng.uniform(0.4, 1.6, count)
    angle = 0.0 if how == "at" else rng.uniform(0.2, 1.2)
    gravity, speed = 2.0 * rng.normal(size=2), rng.uniform(3.0, 6.0)

    def made(angle, rate, gravity):
        plane = _Plane("windows", rotation, gravity)
        feet, up = np.append(0.0, gaps.cumsum()), arm * np.array([cos(angle), sin(angle)])
        tip = rate * np.array([-up[1], up[0]])
        cranks = []
        for k, x in enumerate(feet):
            cranks.append(plane.bar(f"crank {k}", (x, 0.0), (x + up[0], up[1]), (0.0, 0.0), rate))
            plane.pin(f"pivot {k}", plane.mech.ground, cranks[-1], (x, 0.0))
        for k in range(count):
            ends = [(x + up[0], up[1]) for x in feet[k : k + 2]]
            coupler = plane.bar(f"coupler {k}", *ends, tip, 0.0)
            plane.pin(f"left {k}", cranks[k], coupler, ends[0])
            plane.pin(f"right {k}", coupler, cranks[k + 1], ends[1])
        return plane.mech

    mech = made(angle, speed, gravity)
    if driven:
        bent = [made(a, 1.0, gravity) for a in (0.4, 0.7)]  # not flat within 2 s
        for one, rate in ((mech, speed), (bent[0], 1.0), (bent[1], 1.0)):
            one.add_drive("motor", "pivot 0", velocity=rate)
        return SingularLinkage(f"windows, driven, {how}", mech, bent, driven=True)
    swings = [made(-pi / 2 + a, 0.0, (0.0, -9.81)) for a in (0.8, 1.1)]
    return SingularLinkage(f"windows, {how}", mech, swings)


def driven_windows(rng, how):
    return windows(rng, how, driven=True)


def slider_crank(rng, how):
    """Crank and rod of one length: the slider passes the pivot, where the rod may turn with the crank."""
    arm, rotation, gravity = rng.uniform(0.5, 1.5), turn(rng, pi), 2.0 * rng.normal(size=2)
    angle, speed = (pi / 2 if how == "at" else rng.uniform(0.3, 1.2)), rng.uniform(3.0, 6.0)

    def made(angle, rate, gravity):
        plane = _Plane("slider-crank", rotation, gravity)
        tip = arm * np.array([cos(angle), sin(angle)])
        end, moving = np.array([2.0 * tip[0], 0.0]), rate * np.array([-tip[1], tip[0]])
        crank = plane.bar("crank", (0.0, 0.0), tip, (0.0, 0.0), rate)
        rod = plane.bar("rod", tip, end, moving, -rate)
        slider = plane.mech.add_body(
            "slider", 0.5, (1e-2,) * 3, position=plane.at(end), velocity=plane.at((2.0 * moving[0], 0.0))
        )
        plane.pin("pivot", plane.mech.ground, crank, (0.0, 0.0))
        plane.pin("elbow", crank, rod, tip)
        plane.pin("wrist", rod, slider, end)
        rail = [b.world_marker(plane.at(end), axis=plane.at((1.0, 0.0))) for b in (plane.mech.ground, slider)]
        plane.mech.add_joint("rail", bc.Prismatic(), *rail)
        return plane.mech

    swings = [made(a, 0.0, (9.81, 0.0)) for a in (0.6, 0.9)]
    return SingularLinkage(f"slider-crank, {how}", made(angle, speed, gravity), swings)


def spherical(rng, how):
    """A four-bar linkage on a sphere, opposite arcs equal: all axes can lie in one plane."""
    first, second = rng.uniform(0.3, 0.7, 2)
    rotation = Rotation.from_quat(np.roll(turn(rng, pi), -1))
    gravity, speed = 3.0 * rng.normal(size=3), rng.uniform(3.0, 6.0)

    def made(angles, rates, gravity):
        """angles: of the crank and, against it, of the coupler; the axes turned one after another."""
        mech = bc.Mechanism("spherical", gravity=tuple(gravity))
        frame, axes, bodies, spin = rotation, [], [mech.ground], np.zeros(3)
        for k, (arc, angle) in enumerate(zip((first, second, -first), angles, strict=True)):
            axis = frame.apply([0.0, 0.0, 1.0])
            axes.append(axis)
            frame = frame * Rotation.from_rotvec([0.0, 0.0, angle])
            spin = spin + rates[k] * axis
            out = frame.apply([0.0, -sin(0.5 * arc), cos(0.5 * arc)])
            bodies.append(
                mech.add_body(
                    f"arc {k}", mass=1.0, inertia=(0.02, 0.03, 0.04), com=tuple(frame.inv().apply(out)),
                    rotation=tuple(np.roll(frame.as_quat(), 1)), angular_velocity=tuple(spin),
                )
            )  # fmt: skip
            frame = frame * Rotation.from_rotvec([arc, 0.0, 0.0])
        axes.append(frame.apply([0.0, 0.0, 1.0]))
        bodies.append(mech.ground)
        for k, (one, two) in enumerate(pairwise(bodies)):
            mech.add_joint(
                f"hinge {k}", bc.Revolute(),
                *(b.world_marker((0.0, 0.0, 0.0), axis=tuple(axes[k])) for b in (one, two)),
            )  # fmt: skip
        return mech

    # All in one plane, arcs first, second, -first from axis to axis: q1 n1 + q2 n2 + q3 n3 + q4 n4 = 0 in it,
    # and out of it Σ qi qj ni × nj = 0 (i < j): two branches, of which parallel cranks are one.
    places = np.cumsum([0.0, first, second, -first])
    normals = np.array([-np.sin(places), np.cos(places)])  # of axes in their plane
    rates = branch(places, normals, rng)
    if rates is None:
        return spherical(rng, how)
    mech = made((0.0, 0.0, 0.0), speed * rates / np.abs(rates).max(), gravity)
    if how == "through":
        mech = reversed_after(mech, rng.uniform(0.1, 0.3))
    bent = [made((0.0, 0.5, a), (speed, 0.0, 0.0), gravity) for a in (0.6, 0.9, 1.2)]
    return SingularLinkage(f"spherical, {how}", mech, bent)


def branch(places, normals, rng):
    """Rates q of four joints with Σ q n = 0, Σ qi qj sin(place j - place i) = 0; None if there are none."""
    _, _, vectors = np.linalg.svd(normals)
    one, two = vectors[2:]
    weight = np.triu(np.sin(places[None, :] - places[:, None]), 1)
    square = [q @ weight @ p for q, p in ((two, two), (one, two), (two, one), (one, one))]
    roots = np.roots([square[0], square[1] + square[2], square[3]])
    if not np.isreal(roots).all():
        return None
    return (one + float(rng.choice(roots.real)) * two)[:3]


def reversed_after(mech, duration):
    """The mechanism where it is after a while, on its way back."""
    run = bc.simulate(
        mech, duration, tolerance=1e-10, formulation="dca", method="dopri5", output_step=duration
    )
    state = run.at(run.time[-1])
    for k, body in enumerate(list(mech.bodies.values())):
        mech.replace(
            body,
            position=tuple(state.position[k]),
            rotation=tuple(state.rotation[k]),
            velocity=tuple(-state.velocity[k]),
            angular_velocity=tuple(-state.angular_velocity[k]),
        )
    return mech


FAMILIES = (four_bar, windows, slider_crank, spherical, driven_windows)


@dataclass(frozen=True)
class Followed:
    """A run of 2 s: errors of energy, in parts of the largest kinetic energy, and how rows fared along it.

    neighbours: the largest error of energy of these, 1e-9 at least. violation: largest |C| and |C'|. pivot:
    the smallest of the rows that are needed. rank: its least and its largest.
    """

    name: str
    energy: float
    neighbours: float
    violation: tuple[float, float]
    iterations: float
    pivot: float
    rank: tuple[int, int]


def followed(linkage):
    """The run of a linkage, and those of its neighbours."""
    run = _run(linkage.mechanism)
    system, pivots, ranks = bc.prepare(linkage.mechanism, "dca"), [], []
    for time in run.time:
        system.accelerate(run.at(time))
        stats = system.stats
        pivots.append(stats.smallest_pivot)
        ranks.append(len(system.rows().names) - len(stats.dropped))
    return Followed(
        linkage.name,
        _error(run, linkage),
        max([LEAST, *(_error(_run(n), linkage) for n in linkage.neighbours)]),
        (float(run.violation.position.max()), float(run.violation.velocity.max())),
        mean_iterations(run, "accelerations"),
        min(pivots),
        (min(ranks), max(ranks)),
    )


def _run(mech):
    return bc.simulate(mech, 2.0, formulation="dca", method="dopri5", tolerance=TOLERANCE, output_step=0.04)


def _error(run, linkage):
    history = run.energy.kinetic if linkage.driven else run.energy.total
    return float(np.ptp(history) / run.energy.kinetic.max())


def histogram(run, level):
    """How often how many iterations were taken at a level."""
    return {i: n for i in range(32) if (n := run.statistics.get(f"{level} in {i} iterations", 0))}


def mean_iterations(run, level):
    counts = histogram(run, level)
    return sum(i * n for i, n in counts.items()) / max(1, sum(counts.values()))
