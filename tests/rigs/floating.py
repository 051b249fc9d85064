"""Small mechanisms of free bodies with full inertias and skew markers, tied by one element under test."""

import numpy as np
from rigs.machine import Machine, matrix, quaternion, random_quaternion
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.mechanism import ForceKind

GRAVITY = (0.5, -1.0, -2.0)
# Marker 2 seen from marker 1 where a rig starts: clear of the singular places of all coordinates.
OFFSET = np.array([0.4, 0.25, 0.3])
TURN = np.array([0.3, -0.25, 0.4])
CROSSED_TURN = np.array([1.1, 0.4, 0.3])  # for axes that meet near a right angle


def mass_properties(rng):
    """Mass, full inertia and com of a random body: those of a cloud of points, hence possible ones."""
    cloud = rng.normal(size=(6, 3)) * np.array([0.3, 0.2, 0.12])
    mass = float(rng.uniform(0.5, 2.0))
    second = mass * cloud.T @ cloud / len(cloud)
    inertia = np.trace(second) * np.eye(3) - second
    return {"mass": mass, "inertia": inertia, "com": tuple(rng.uniform(-0.1, 0.1, 3).tolist())}


def add_body(mech, name, rng, position=None, rotation=None):
    """A random body; where it is not said, near the origin and turned at random."""
    return mech.add_body(
        name,
        **mass_properties(rng),
        position=tuple(rng.uniform(-0.3, 0.3, 3)) if position is None else tuple(position),
        rotation=random_quaternion(rng) if rotation is None else rotation,
        velocity=tuple(rng.uniform(-0.5, 0.5, 3)),
        angular_velocity=tuple(rng.uniform(-2.0, 2.0, 3)),
    )


def skew_marker(body, rng):
    """A marker somewhere on the body, turned at random."""
    return body.marker(tuple(rng.uniform(-0.2, 0.2, 3)), rotation=random_quaternion(rng))


def add_body_at(mech, name, rng, base, marker, offset=OFFSET, turn=TURN):
    """A body and a marker on it, whose pose seen from `marker` of `base` is (offset, turn); both returned."""
    at = np.array(base.position) + matrix(base.rotation) @ np.array(marker.position)
    axes = Rotation.from_matrix(matrix(base.rotation) @ matrix(marker.rotation))
    local, turned = rng.uniform(-0.2, 0.2, 3), Rotation.from_quat(rng.normal(size=4))
    rotation = axes * Rotation.from_rotvec(turn) * turned.inv()
    origin = at + axes.apply(offset) - rotation.apply(local)
    body = add_body(mech, name, rng, origin, quaternion(rotation))
    return body, body.marker(tuple(local), rotation=quaternion(turned))


def start_of(kind):
    """Where marker 2 should start for a joint kind: near its rows and clear of its own singular places."""
    if kind.name.startswith("PointOnCurve"):
        return np.array(kind.points[len(kind.points) // 2]) + np.array([0.1, 0.05, -0.05]), TURN
    return OFFSET, CROSSED_TURN if "azimuth_axis" in kind.free else TURN


def _two(name, seed, hung, offset=OFFSET, turn=TURN):
    """Bodies "a" and "b" and a marker on each; hung: "a" hangs on the ground by a ball joint."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism(name, gravity=GRAVITY)
    first = add_body(mech, "a", rng)
    marker = skew_marker(first, rng)
    _, other = add_body_at(mech, "b", rng, first, marker, offset, turn)
    if hung:
        hook = tuple(np.array(first.position) + np.array([0.1, 0.2, 0.4]))
        mech.add_joint("hook", bc.Spherical(), mech.ground.marker(hook), first.world_marker(hook))
    return mech, marker, other


def pair(kind, seed=0, hung=False):
    """Two bodies with the joint "joint" of this kind."""
    mech, marker, other = _two(kind.name, seed, hung, *start_of(kind))
    mech.add_joint("joint", kind, marker, other)
    return Machine(mech)


def led(function, joint=bc.Cylindrical, coordinate="theta_z", seed=0, hung=False):
    """Two bodies with a joint coordinate led by the drive "drive"; they start near where it leads."""
    mech, marker, other = _two("led", seed, hung)
    mech.add_joint("joint", joint(), marker, other)
    mech.add_drive("drive", "joint", coordinate, position=function)
    return Machine(mech)


def along(path, orientation=None, seed=0, hung=False):
    """Two bodies; a marker of the second is led along a path fixed to the first by the drive "drive"."""
    start = np.array([float(function(0.0)) for function in path.functions])
    mech, marker, other = _two("path", seed, hung, start)
    mech.add_drive("drive", marker=other, path=path, reference=marker, orientation=orientation)
    return Machine(mech)


def _in_a_row(name, letters, seed, coordinates):
    """Floating bodies in a row, and ends on them: markers (M) and coordinates of cylindrical joints (J)."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism(name, gravity=GRAVITY)
    last = add_body(mech, "b0", rng)
    end = skew_marker(last, rng)
    ends = []
    for number, letter in enumerate(letters):
        if letter == "M":
            ends.append(end)
        last, other = add_body_at(mech, f"b{number + 1}", rng, last, end)
        if letter == "J":
            joint = mech.add_joint(f"j{number}", bc.Cylindrical(), end, other)
            ends.append(joint.coordinate(coordinates[number % 2]))
        end = other
    return mech, ends


def constrained(kind, letters, seed=0):
    """Floating bodies with the constraint "tie" between markers (M) and cylindrical joints (J) on them."""
    mech, ends = _in_a_row(kind.name, letters, seed, ("theta_z", "z"))
    mech.add_constraint("tie", kind, *ends)
    return Machine(mech)


def carried(kind, letters, seed=0):
    """As `constrained`, but the bodies turn and slide on parallel axes of a carrier that hangs on the ground.

    For what needs bearings: gears keep their distance, and no angle comes near a place where it is not
    defined. Bevel gears have inclined axes.
    """
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism(kind.name, gravity=GRAVITY)
    arm = add_body(mech, "arm", rng)
    hook = (0.1, 0.2, 0.4)
    mech.add_joint("hook", bc.Spherical(), mech.ground.marker(hook), arm.world_marker(hook))
    tilt = 0.8 if getattr(kind, "about", "") == "azimuth_axis" else 0.0
    ends = []
    for number, letter in enumerate(letters):
        turn = quaternion(Rotation.from_rotvec([tilt * number, 0.0, 0.0]))
        bearing = arm.marker((0.5 * number, 0.1 * number, 0.0), rotation=turn)
        offset, angle = (0.0, 0.0, 0.1 + 0.2 * number), (0.0, 0.0, 0.3 - 0.4 * number)
        _, axle = add_body_at(mech, f"b{number}", rng, arm, bearing, offset, angle)
        joint = mech.add_joint(f"j{number}", bc.Cylindrical(), bearing, axle)
        ends.append(axle if letter == "M" else joint.coordinate("z" if number % 2 else "theta_z"))
    if isinstance(kind, ForceKind):
        mech.add_force("push", kind, *ends)
    else:
        mech.add_constraint("tie", kind, *ends)
    return Machine(mech)


def forced(kind, letters, seed=0):
    """Floating bodies in a row with the force "push" between markers (M) or on a cylindrical joint (J)."""
    if getattr(kind, "closed", False):  # wheels of belts need bearings
        return carried(kind, letters, seed)
    free = "z" if hasattr(kind, "stroke") else "theta_z"
    mech, ends = _in_a_row(kind.name, letters, seed, (free, free))
    mech.add_force("push", kind, *ends)
    return Machine(mech)
