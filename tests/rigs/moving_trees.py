"""Random moving trees with every joint kind that a linkage takes, springs, motors and loads, by seed.

Poses and velocities follow from random coordinates and rates of joints by the kinematics of two frames, which
is written down here once more. Nothing is projected.
"""

import numpy as np
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism
from bellcrank.expression import cos, rotation_z, sin, translation
from bellcrank.mechanism import JOINT_KINDS

TOPOLOGIES = ("chain", "star", "near-chain", "binary", "random")
# Joints that a linkage takes, besides Free, which leaves a body on nothing.
KINDS = (
    "Revolute", "RevoluteX", "Prismatic", "PrismaticX", "Screw", "Cylindrical", "CylindricalX",
    "RevolutePrismatic", "PinInSlot", "Planar", "PlanarX", "PlanarHinge", "PlanarHingeX", "Oldham", "OldhamX",
    "Orientation", "ParallelAxes", "ParallelAxesX", "Universal", "PlungingUniversal", "Spherical",
    "SphericalSlot", "PlanarSlot", "PointOnLine", "PointOnPlane", "PointOnPlaneX", "SphereOnPlane", "Fixed",
)  # fmt: skip
# Those of which bodies bend in every direction without turning; joints given by formulas go with them.
BENDING = (
    "NoTwist", "NoTwistX", "KeyedPointOnPlane", "KeyedPointOnPlaneX", "GuidedPointOnPlane",
    "GuidedPointOnPlaneX", "PlungingConstantVelocity", "PlungingConstantVelocityX", "GuidedPointOnLine",
    "GuidedPointOnLineX", "ConstantVelocity", "ConstantVelocityX", "PlanarSlider",
)  # fmt: skip
RADIUS = 0.2  # of a ball on a plane, m
SIZES = ("none", "few", "half", "all but one", "all")


def moving_tree(
    seed, *, bodies=(2, 60), decades=0.5, speed=1.0, forces=True, between=False, floats=None, further=False
):
    """A random tree and its state, at a time at which functions of time are not at their start.

    bodies: the fewest and the most. decades: of mass, from the lightest body to the heaviest. speed: of rates
    of joints, rad/s and a third of it in m/s. forces: springs, dampers, motors, loads, gravity. between:
    springs, dampers and bushings between bodies that no joint connects, or the ground. floats:
    whether the first body hangs on nothing; None: every third one does. further: half of the joints are of
    BENDING or given by formulas.
    """
    rng = np.random.default_rng([seed, 20])
    count = int(np.exp(rng.uniform(np.log(bodies[0]), np.log(bodies[1] + 1))))
    topology = TOPOLOGIES[seed % len(TOPOLOGIES)]
    floats = seed % 3 == 0 if floats is None else floats
    gravity = tuple(rng.normal(0.0, 5.0, 3)) if forces else (0.0, 0.0, 0.0)
    mech = bc.Mechanism(f"moving {topology} {seed}", gravity=gravity)
    parents = [_parent(rng, topology, number, floats) for number in range(count)]
    masses = 10.0 ** (decades * rng.uniform(-0.5, 0.5, count))
    frames, joined = [_Frame()], []
    for parent in parents:
        frame, joint = _placed(rng, frames[parent + 1], parent < 0 and floats, speed, further)
        frames.append(frame)
        joined.append(joint)
    added = {-1: mech.ground}
    for number in rng.permutation(count).tolist():  # children may come before their parents
        added[number] = _add_body(rng, mech, number, frames[number + 1], masses[number])
    for number in rng.permutation(count).tolist():
        if joined[number] is not None:
            kind, ends, is_reversed, guess = joined[number]
            bodies_of = (added[parents[number]], added[number])
            markers = [
                body.marker(tuple(at), rotation=_quaternion(turn))
                for body, (at, turn) in zip(bodies_of, ends, strict=True)
            ]
            markers = markers[::-1] if is_reversed else markers
            mech.add_joint(f"joint {number}", kind, *markers, guess=guess)
    if forces:
        _add_efforts(rng, mech, masses)
        _add_loads(rng, mech, masses)
    if between:
        _add_between(np.random.default_rng([seed, 22]), mech, masses)
    return mech, compile_mechanism(mech).initial.at_time(float(rng.uniform(0.2, 2.0)))


def held_joints(mechanism, seed, size=None):
    """A random choice of the joints that can be held, by name; size: one of SIZES, by seed if None."""
    rng = np.random.default_rng([seed, 21])
    names = [joint.name for joint in mechanism.joints.values() if joint.kind.name != "Free"]
    size = SIZES[int(rng.integers(len(SIZES)))] if size is None else size
    counts = {"none": 0, "few": min(3, len(names)), "half": len(names) // 2}
    counts |= {"all but one": max(0, len(names) - 1), "all": len(names)}
    return [str(name) for name in rng.permutation(names)[: counts[size]]]


class _Frame:
    """Where a body's frame is and how it moves, world axes."""

    def __init__(self, position=(0, 0, 0), turn=None, velocity=(0, 0, 0), spin=(0, 0, 0)):
        self.position, self.velocity = np.array(position, dtype=float), np.array(velocity, dtype=float)
        self.spin, self.turn = np.array(spin, dtype=float), Rotation.identity() if turn is None else turn

    def then(self, offset, turn, rate=(0, 0, 0), spin=(0, 0, 0)):
        """A frame seen from this one at offset and turn; it moves with these rates, in axes of this one."""
        arm = self.turn.apply(offset)
        velocity = self.velocity + np.cross(self.spin, arm) + self.turn.apply(rate)
        return _Frame(self.position + arm, self.turn * turn, velocity, self.spin + self.turn.apply(spin))

    def before(self, offset, turn, rate=(0, 0, 0), spin=(0, 0, 0)):
        """The frame from which this one is seen like that."""
        axes = self.turn * turn.inv()
        arm, own = axes.apply(offset), self.spin - axes.apply(spin)
        return _Frame(self.position - arm, axes, self.velocity - np.cross(own, arm) - axes.apply(rate), own)


def _parent(rng, topology, number, floats):
    if number == 0 or topology == "chain":
        return number - 1
    if topology == "star":
        return 0
    if topology == "binary":
        return (number - 1) // 2
    if topology == "near-chain" and rng.random() < 0.85:
        return number - 1
    if topology == "near-chain":
        return int(rng.integers(max(0, number - 5), number))
    return int(rng.integers(0 if floats and rng.random() < 0.9 else -1, number))


def _marker(rng):
    return rng.uniform(-0.3, 0.3, 3), Rotation.from_quat(rng.normal(size=4))


def _placed(rng, carrier, is_loose, speed, further):
    """A frame that a random joint carries, with that joint: kind, markers, whether reversed, coordinates."""
    ends, is_reversed = (_marker(rng), _marker(rng)), bool(rng.random() < 0.4)
    if is_loose:
        turn, spin = Rotation.from_quat(rng.normal(size=4)), speed * rng.normal(size=3)
        frame = _Frame(rng.normal(size=3), turn, speed / 3 * rng.normal(size=3), spin)
        return frame, (bc.Free(), ends, is_reversed, ()) if rng.random() < 0.5 else None
    guess = ()
    if further and rng.random() < 0.5:
        name = (*BENDING, "wire", "helix")[int(rng.integers(len(BENDING) + 2))]
        if name in ("wire", "helix"):
            kind, seen, guess = _by_formulas(name, rng, speed)
        else:
            kind = JOINT_KINDS[name]()
            seen = _motion(kind, rng, speed)
    else:
        kind = _kind(KINDS[int(rng.integers(len(KINDS)))], rng)
        seen = _motion(kind, rng, speed)
    hook = carrier.then(*ends[0])
    end = hook.before(*seen) if is_reversed else hook.then(*seen)
    return end.before(*ends[1]), (kind, ends, is_reversed, guess)


def _kind(name, rng):
    if name == "Screw":
        return bc.Screw(pitch=float(rng.uniform(0.2, 2.0) * rng.choice((-1.0, 1.0))))
    return bc.SphereOnPlane(RADIUS) if name == "SphereOnPlane" else JOINT_KINDS[name]()


def _by_formulas(name, rng, speed):
    """A bead that turns on a wavy wire, or a body that follows a helix; with the motion of marker 2."""
    u, v = bc.symbol("u"), bc.symbol("v")
    (a, b), (da, db) = rng.uniform(-1.0, 1.0, 2), speed * rng.uniform(-0.5, 0.5, 2)
    if name == "wire":
        pose = translation(u, 0, 0.3 * sin(2 * u)) @ rotation_z(v)
        offset, rate = (a, 0.0, 0.3 * np.sin(2 * a)), (da, 0.0, 0.6 * np.cos(2 * a) * da)
        turn, spin = Rotation.from_euler("z", b), (0.0, 0.0, db)
        return bc.CustomJoint((u, v), pose, units=("m", "rad")), (offset, turn, rate, spin), (a, b)
    pose = translation(0.2 * cos(u), 0.3 * sin(u), 0.1 * u) @ rotation_z(u)
    offset, rate = (0.2 * np.cos(a), 0.3 * np.sin(a), 0.1 * a), (-0.2 * np.sin(a), 0.3 * np.cos(a), 0.1)
    rate = tuple(da * one for one in rate)
    turn, spin = Rotation.from_euler("z", a), (0.0, 0.0, da)
    return bc.CustomJoint((u,), pose, units="rad"), (offset, turn, rate, spin), (a,)


def _motion(kind, rng, speed):
    """Marker 2 seen from marker 1: offset, turn, their rates, in axes of marker 1."""
    free = np.array([axis in kind.free for axis in "xyz"])
    offset, rate = rng.uniform(-0.4, 0.4, 3) * free, speed / 3 * rng.uniform(-1.0, 1.0, 3) * free
    angles, rates = rng.uniform(-2.5, 2.5, 3), speed * rng.uniform(-1.0, 1.0, 3)
    turning = [k for k in range(3) if f"e{k + 1}" not in kind.locked]
    if "dot_xy" in kind.locked:
        first = Rotation.from_rotvec([angles[0], 0.0, 0.0])
        turn = first * Rotation.from_rotvec([0.0, 0.45 * angles[1], 0.0])
        spin = np.array([rates[0], 0.0, 0.0]) + first.apply([0.0, rates[1], 0.0])
    elif len(turning) == 2:  # with the shaft that halves the bend the velocity has no part along its axis
        across = np.isin(np.arange(3), turning)
        turn = Rotation.from_rotvec(angles * across)
        spin = Rotation.from_rotvec(0.5 * angles * across).apply(rates * across)
    elif len(turning) == 3:
        turn, spin = Rotation.from_quat(rng.normal(size=4)), rates
    else:
        axis = np.isin(np.arange(3), turning)
        turn, spin = Rotation.from_rotvec(angles * axis), rates * axis
    if kind.name == "Screw":
        lead = kind.pitch / (2.0 * np.pi)
        offset[2], rate[2] = lead * angles[2], lead * rates[2]
    if kind.name == "SphereOnPlane":
        offset[2] = RADIUS
    return offset, turn, rate, spin


def _quaternion(turn):
    return tuple(np.roll(turn.as_quat(), 1).tolist())


def _add_body(rng, mech, number, frame, mass):
    points = rng.normal(size=(6, 3)) * rng.uniform(0.03, 0.3, 3)
    second = mass * points.T @ points / len(points)
    return mech.add_body(
        f"body {number}",
        mass=float(mass),
        inertia=np.trace(second) * np.eye(3) - second,
        com=tuple(rng.uniform(-0.2, 0.2, 3)),
        position=tuple(frame.position),
        rotation=_quaternion(frame.turn),
        velocity=tuple(frame.velocity),
        angular_velocity=tuple(frame.spin),
    )


def _harmonic(rng, size):
    return bc.Harmonic(
        size * rng.normal(), float(rng.uniform(1.0, 9.0)), phase=float(rng.uniform(0.0, 6.0)), offset=size
    )


def _add_efforts(rng, mech, masses):
    """Springs, dampers, motors along every second coordinate, in the size of the body that they move."""
    for joint in list(mech.joints.values()):
        mass = float(masses[int(joint.name.split()[1])])
        for coordinate in joint.kind.free if joint.kind.name != "Free" else ():
            if coordinate.startswith("rot") or rng.random() < 0.5:
                continue
            size = mass * (1.0 if coordinate in "xyz" else 0.1)
            stiffness, damping = (float(x) for x in size * rng.uniform([1.0, 0.1], [80.0, 3.0]))
            kind = (
                bc.TorsionSpring(stiffness, damping, rest_angle=float(rng.normal()), preload=size),
                bc.TabulatedSpring(bc.Polynomial((size, -stiffness, 0.0, -stiffness)), damping),
                bc.JointMotor(_harmonic(rng, 20.0 * size), droop=damping),
                bc.JointFriction(viscous=damping),
            )[int(rng.integers(4))]
            mech.add_force(f"effort {joint.name} {coordinate}", kind, joint.coordinate(coordinate))


def _add_loads(rng, mech, masses):
    """Wrenches on some bodies; along their axes or the world's, some functions of time."""
    for load in range(int(rng.integers(0, 5))):
        number = int(rng.integers(len(masses)))
        size = float(10.0 * masses[number])
        force, moment = (
            tuple(_harmonic(rng, s) if rng.random() < 0.3 else float(s * rng.normal()) for _ in range(3))
            for s in (size, 0.2 * size)
        )
        at, turn = _marker(rng)
        marker = mech.bodies[f"body {number}"].marker(tuple(at), rotation=_quaternion(turn))
        axes = "marker" if rng.random() < 0.5 else "world"
        mech.add_force(f"load {load}", bc.Wrench(force=force, moment=moment, axes=axes), marker)


def _add_between(rng, mech, masses):
    """Springs and bushings between any two bodies, or one and the ground."""
    for number in range(int(rng.integers(1, 6))):
        one, two = rng.choice(len(masses) + 1, size=2, replace=False) - 1
        size = float(masses[max(one, two)])
        ends = []
        for body in (one, two):
            at, turn = _marker(rng)
            carrier = mech.ground if body < 0 else mech.bodies[f"body {body}"]
            ends.append(carrier.marker(tuple(at), rotation=_quaternion(turn)))
        stiffness, damping = size * rng.uniform(1.0, 40.0), size * rng.uniform(0.1, 2.0)
        kind = (
            bc.SpringDamper(stiffness, damping, rest_length=0.3),
            bc.Bushing(
                (stiffness, 0.0, stiffness), (0.0, 0.2 * stiffness, 0.1 * stiffness), (damping, damping, 0.0)
            ),
        )[number % 2]
        mech.add_force(f"between {number}", kind, *ends)
