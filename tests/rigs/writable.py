"""Random mechanisms of what URDF and MJCF have: trees, forces, limits, inputs, starts, odd names."""

from __future__ import annotations

import numpy as np
from rigs import examples
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.expression import rotation_x, rotation_y, rotation_z, symbol, translation

KINDS = (
    *("Revolute", "Revolute", "RevoluteX", "Prismatic", "Cylindrical", "Universal", "PlungingUniversal"),
    *("Planar", "PinInSlot", "Oldham", "ParallelAxes", "Orientation", "Fixed", "Chain", "Chain"),
)
BALLS = ("Spherical", "PointOnLine", "PointOnPlane", "Free", "Free")
NAMES = ("world", "arm", "arm (ground)", "a/b", 'x<&">', "é ü", "arm 1", "arm.tip", "start")


def chain(rng):
    """Two to six hinges and slides one after the other, about and along any axes."""
    turns = (rotation_x, rotation_y, rotation_z)
    names = [f"q{k}" for k in range(int(rng.integers(2, 5)))]
    symbols = tuple(symbol(name) for name in names)
    pose, units = translation(0.0, 0.0, 0.0), []
    for one in symbols:
        pose = (
            pose @ translation(*rng.uniform(-0.2, 0.2, 3)) @ turns[rng.integers(3)](float(rng.uniform(-1, 1)))
        )
        if rng.random() < 0.7:
            pose = pose @ turns[rng.integers(3)](one)
            units.append("rad")
        else:
            axis = np.eye(3)[rng.integers(3)]
            pose = pose @ translation(*(float(c) * one for c in axis))
            units.append("m")
    return bc.CustomJoint(symbols, pose, tuple(units))


def writable(seed, balls=True):
    """The mechanism of this seed, without ball joints and loops if `balls` is False."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism(
        f"writable {seed}", gravity=tuple(rng.normal(0.0, 5.0, 3)) if seed % 3 else (0, 0, -9.81)
    )
    names = list(rng.permutation(NAMES))
    bodies = [mech.ground]
    for k in range(int(rng.integers(1, 6))):
        name = str(names.pop()) if rng.random() < 0.5 else f"body {k}"
        points = rng.normal(size=(5, 3)) * 0.2 * rng.choice([1.0, 1.0, 0.0], 3)
        second = points.T @ points + 1e-4 * np.eye(3) * (rng.random() < 0.8)
        inertia = np.trace(second) * np.eye(3) - second
        broken = rng.random() < 0.1
        if broken or np.linalg.eigvalsh(inertia)[0] < 1e-6:
            axes = Rotation.from_quat(rng.normal(size=4)).as_matrix()
            inertia, broken = axes @ np.diag([0.01, 0.02, 0.05]) @ axes.T, True
        bodies.append(
            mech.add_body(
                name,
                float(rng.uniform(0.5, 2.0)),
                0.5 * (inertia + inertia.T),
                tuple(rng.uniform(-0.2, 0.2, 3)),
                tuple(rng.uniform(-1, 1, 3)),
                tuple(np.roll(Rotation.from_quat(rng.normal(size=4)).as_quat(), 1)),
                tuple(rng.normal(size=3)),
                tuple(rng.normal(size=3)),
                check_inertia=not broken,
            )
        )
    kinds = KINDS + (BALLS if balls else ())
    for k, body in enumerate(bodies[1:]):
        if rng.random() < 0.15:
            continue
        _join(mech, rng, f"joint {k}", kinds[rng.integers(len(kinds))], bodies[rng.integers(k + 1)], body)
    _acting(mech, rng)
    return mech


def _join(mech, rng, name, kind, one, two):
    made = chain(rng) if kind == "Chain" else examples.joint(kind)
    ends = [body.marker(tuple(rng.uniform(-0.3, 0.3, 3)), tuple(rng.normal(size=3))) for body in (one, two)]
    if rng.random() < 0.4:
        ends.reverse()
    spherical = any(free.startswith("rot_") for free in made.free)
    several = [free for free in made.free if not free.startswith("rot_")]
    position = {free: float(rng.uniform(-1.0, 1.0)) for free in several} if rng.random() < 0.6 else {}
    if not spherical and position and made.custom is None and rng.random() < 0.2 and "theta_z" in position:
        position["theta_z"] += 2 * np.pi
    velocity = {free: float(rng.uniform(-1.0, 1.0)) for free in several} if rng.random() < 0.5 else {}
    limits = {}
    if several and rng.random() < 0.3:
        free = several[rng.integers(len(several))]
        low = position.get(free, 0.0) - 0.5
        limits[free] = bc.Limit(low, low + 9.0) if rng.random() < 0.5 else bc.Limit(low - 9.0)
    mech.add_joint(name, made, *ends, limits, position or None, velocity or None)


def _acting(mech, rng):
    free = [(j.name, c) for j in mech.joints.values() for c in j.kind.free if not c.startswith("rot_")]
    inputs = [bc.Input(name, value) for name, value in (("u", 0.0), ("v", 0.7), ("push", -2.0))]
    for k in range(int(rng.integers(0, 6))):
        if not free:
            break
        joint, coordinate = free[rng.integers(len(free))]
        force = inputs[rng.integers(3)]
        kinds = (
            bc.TorsionSpring(2.0, 0.3, 0.2), bc.TorsionSpring(0.0, 0.3), bc.JointFriction(0.2, 0.5),
            bc.JointFriction(0.2, 0.5, regularisation_velocity=0.3), bc.JointMotor(2.0 * force + 0.5, 0.1),
            bc.JointMotor(bc.Harmonic(1.0, 2.0)), bc.GearedMotor(5.0, 0.01, force, 0.02),
            bc.GearedMotor(5.0, 0.01, bc.Constant(0.3)), bc.GearedMotor(-3.0, 0.02),
            bc.GearedMotor(2.0, 0.1, force), bc.Brake(0.3), bc.TorsionSpring(2.0, 0.0, None),
            bc.JointMotor(3.0),
        )  # fmt: skip
        mech.add_force(f"it {k}", kinds[rng.integers(len(kinds))], joint=joint, coordinate=coordinate)
    bodies = [mech.ground, *mech.bodies.values()]
    for k in range(int(rng.integers(0, 3))):
        one, two = (
            bodies[i].marker(tuple(rng.uniform(-0.5, 0.5, 3))) for i in rng.choice(len(bodies), 2, False)
        )
        if rng.random() < 0.6:
            mech.add_force(
                f"rope {k}", bc.SpringDamper(3.0, 0.2, 0.3 if rng.random() < 0.7 else None), one, two
            )
        else:
            mech.add_force(f"push {k}", bc.Wrench((1.0, 0.0, 2.0)), two if two.body != "ground" else one)
        if rng.random() < 0.4:
            mech.add_constraint(f"rope {k}", bc.Cable(length=30.0, slack=True), one, two)
    turns = [one for one in free if one[1].startswith("theta")]
    if len(turns) > 1 and rng.random() < 0.5:
        ends = [mech.joints[j].coordinate(c) for j, c in turns[:3]]
        held = [mech.joints[j] for j, _ in turns[:3]]
        if not any(joint.position or joint.velocity for joint in held):
            mech.add_constraint("gear", bc.Coupling((1.0, -2.0, 0.5)[: len(ends)], 0.3), *ends)
