"""Chains and platforms whose bodies differ in mass by any ratio."""

import numpy as np
from rigs.linkages import pin

import bellcrank as bc


def link(mech, name, start, end, mass, rng=None):
    """A body between two points, its inertia that of a bar 0.1 as thick as long; it turns at random."""
    start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    along = end - start
    length = float(np.linalg.norm(along))
    unit = along / length
    slender = mass * length**2 / 12.0
    inertia = slender * (np.eye(3) - np.outer(unit, unit)) + 0.02 * slender * np.outer(unit, unit)
    spin = np.zeros(3) if rng is None else rng.uniform(-1.0, 1.0, 3)
    return mech.add_body(
        name, mass=mass, inertia=inertia, position=tuple(0.5 * (start + end)), angular_velocity=tuple(spin)
    )


def chain(masses, kinds=(bc.Revolute, bc.Universal, bc.Spherical), seed=0, at_rest=False):
    """Links of these masses, from the ground on, in a spatial zigzag, with joints of these kinds in turn."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism("chain")
    last, point = mech.ground, np.zeros(3)
    for k, mass in enumerate(masses):
        step = np.array([0.5, 0.2 * (-1.0) ** k, -0.15])
        body = link(mech, f"link{k}", point, point + step, mass, None if at_rest else rng)
        axis = rng.normal(size=3)
        pin(mech, f"joint{k}", last, body, point, kinds[k % len(kinds)](), tuple(axis / np.linalg.norm(axis)))
        last, point = body, point + step
    return mech


def platform(light, heavy):
    """A plate hung on three rods from a ceiling, swinging: loops that the plate closes, three freedoms."""
    mech = bc.Mechanism("platform")
    speed = (0.5, 0.3, 0.0)
    inertia = tuple(heavy * np.array([0.2, 0.25, 0.4]))
    plate = mech.add_body("plate", mass=heavy, inertia=inertia, position=(0.0, 0.0, -1.0), velocity=speed)
    for k in range(3):
        turn = 2.0 * np.pi * k / 3.0
        out = np.array([np.cos(turn), np.sin(turn), 0.0])
        top, bottom = 0.8 * out, 0.7 * out - [0.0, 0.0, 1.0]
        rod = link(mech, f"rod{k}", top, bottom, light)
        mech.replace(rod, velocity=(0.25, 0.15, 0.0), angular_velocity=(0.3, -0.5, 0.0))
        along = tuple((bottom - top) / np.linalg.norm(bottom - top))  # the joint's axes across the rod
        pin(mech, f"top{k}", mech.ground, rod, top, bc.Universal(), along)
        pin(mech, f"bottom{k}", rod, plate, bottom, bc.Spherical())
    return mech


def four_bar(masses):
    """A spatial four-bar with joints that leave it one freedom, its links of these three masses."""
    mech = bc.Mechanism("four-bar", gravity=(1.0, 2.0, -9.81))
    points = [np.array(p) for p in ((0, 0, 0), (0, 0.2, 0.5), (1.2, 0.6, 1.0), (1.5, 0.0, 0.0))]
    bodies = [
        mech.ground,
        *(link(mech, f"link{k}", points[k], points[k + 1], m) for k, m in enumerate(masses)),
    ]
    pin(mech, "a", bodies[0], bodies[1], points[0], bc.Revolute(), (1.0, 0.0, 0.0))
    pin(mech, "b", bodies[1], bodies[2], points[1], bc.Spherical())
    pin(mech, "c", bodies[2], bodies[3], points[2], bc.Universal(), (0.0, 0.6, 0.8))
    pin(mech, "d", bodies[3], bodies[0], points[3], bc.Revolute(), (0.0, 1.0, 0.0))
    return mech


def hinged_rods(count):
    """Rods of 1 m in a row along x, each on a hinge about y at the end of the one before."""
    mech = bc.Mechanism("chain")
    previous, tip = mech.ground, (0.0, 0.0, 0.0)
    for i in range(count):
        rod = mech.add_body(f"rod {i}", mass=1.0, inertia=(0.001, 0.083, 0.083), position=(0.5 + i, 0, 0))
        mech.add_joint(
            f"pivot {i}",
            bc.Revolute(),
            previous.marker(tip, axis=(0.0, 1.0, 0.0)),
            rod.marker((-0.5, 0, 0), axis=(0.0, 1.0, 0.0)),
        )
        previous, tip = rod, (0.5, 0.0, 0.0)
    return mech


def spinning_chain():
    """A top on a ball joint with a second body on a universal joint: nothing plane, no axis fixed."""
    mech = bc.Mechanism("spinning chain")
    top = mech.add_body(
        "top", mass=1.0, inertia=(0.02, 0.03, 0.04), position=(0.3, 0, 0), angular_velocity=(5.0, 1.0, 2.0)
    )
    tail = mech.add_body(
        "tail", mass=0.5, inertia=(0.01, 0.02, 0.02), com=(0.05, 0.02, 0), position=(0.9, 0, 0),
        angular_velocity=(5.0, -1.0, 1.0),
    )  # fmt: skip
    mech.add_joint("ball", bc.Spherical(), mech.ground.marker(), top.marker((-0.3, 0, 0)))
    mech.add_joint("cross", bc.Universal(), top.marker((0.3, 0, 0)), tail.marker((-0.3, 0, 0)))
    bc.assemble(mech)
    return mech
