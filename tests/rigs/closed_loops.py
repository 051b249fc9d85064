"""Closed loops in space with random joints, and platforms: closed as described, to be shaken apart."""

from math import cos, pi, sin

import numpy as np

import bellcrank as bc

KINDS = ((bc.Revolute, 1), (bc.Spherical, 3), (bc.Prismatic, 1), (bc.Cylindrical, 2), (bc.Universal, 2))


def unit(vector):
    return vector / np.linalg.norm(vector)


def turn(rng, largest):
    """A quaternion of a turn by up to `largest` rad about a random axis."""
    axis, angle = unit(rng.standard_normal(3)), rng.uniform(0.0, largest)
    return np.array([cos(angle / 2), *(sin(angle / 2) * axis)])


def product(a, b):
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def random_loop(rng, freedoms=7):
    """Four to eight links of about 1 m, the ground among them; the joints have so many freedoms or more."""
    count = int(rng.integers(4, 9))
    kinds = []
    while sum(free for _, free in kinds) < freedoms:
        kinds = [KINDS[k] for k in rng.integers(0, len(KINDS), count)]
    angles = 2 * pi * np.arange(count) / count
    circle = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1) / (2 * sin(pi / count))
    points = circle + rng.uniform(-0.3, 0.3, (count, 3))
    mech = bc.Mechanism("random loop", gravity=(0, 0, 0))
    carriers = [mech.ground]
    for i in range(1, count):
        length = float(np.linalg.norm(points[i] - points[i - 1]))
        carriers.append(
            mech.add_body(
                f"link {i}",
                mass=length,
                inertia=(0.01 * length, length**3 / 12, length**3 / 12),
                position=0.5 * (points[i] + points[i - 1]),
                rotation=turn(rng, pi),
            )
        )
    for i, (kind, _) in enumerate(kinds):
        one, two = carriers[i], carriers[(i + 1) % count]
        z = unit(rng.standard_normal(3))
        y = unit(np.cross(z, rng.standard_normal(3)))
        if kind is bc.Universal:
            ends = (
                one.world_marker(points[i], x_axis=np.cross(y, z), z_axis=z),
                two.world_marker(points[i], y_axis=y, z_axis=z),
            )
        else:
            ends = one.world_marker(points[i], axis=z), two.world_marker(points[i], axis=z)
        mech.add_joint(f"joint {i}", kind(), *ends)
    return mech


def stewart_platform():
    """A plate on six legs, each a cylinder and a piston: universal, prismatic, spherical."""
    mech = bc.Mechanism("Stewart platform", gravity=(0, 0, -9.81))
    plate = mech.add_body("plate", mass=5.0, inertia=(0.2, 0.2, 0.4), position=(0, 0, 1.0))
    for i in range(6):
        low = np.array([cos(pi / 3 * i + 0.3 * (-1) ** i), sin(pi / 3 * i + 0.3 * (-1) ** i), 0.0])
        high = np.array(
            [0.6 * cos(pi / 3 * i - 0.3 * (-1) ** i), 0.6 * sin(pi / 3 * i - 0.3 * (-1) ** i), 1.0]
        )
        along = unit(high - low)
        across = unit(np.cross(along, (0.0, 0.0, 1.0)))
        other = np.cross(along, across)
        cylinder = mech.add_body(f"cylinder {i}", 1.0, (0.03, 0.03, 0.01), position=low + 0.3 * along)
        piston = mech.add_body(f"piston {i}", 1.0, (0.03, 0.03, 0.01), position=high - 0.3 * along)
        mech.add_joint(
            f"base {i}",
            bc.Universal(),
            mech.ground.marker(low, x_axis=across, z_axis=along),
            cylinder.world_marker(low, y_axis=other, z_axis=along),
        )
        slide = 0.5 * (low + high)
        mech.add_joint(
            f"slide {i}",
            bc.Prismatic(),
            cylinder.world_marker(slide, axis=along),
            piston.world_marker(slide, axis=along),
        )
        mech.add_joint(f"top {i}", bc.Spherical(), piston.world_marker(high), plate.world_marker(high))
    return mech


def shaken(mech, rng, distance=1.0, angle=pi / 3):
    """The mechanism with its bodies displaced at random: each component of a position, and turned."""
    for body in list(mech.bodies.values()):
        mech.replace(
            body,
            position=np.array(body.position) + rng.uniform(-distance, distance, 3),
            rotation=product(np.array(body.rotation), turn(rng, angle)),
        )
    return mech


def largest_gap(mech):
    """Largest constraint error of the mechanism as it is described."""
    return float(np.max(np.abs(bc.prepare(mech).rows().error)))
