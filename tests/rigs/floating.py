"""Small mechanisms of free bodies with full inertias and skew markers, tied by one element under test."""

import numpy as np
from rigs.machine import Machine, matrix, quaternion, random_quaternion
from scipy.spatial.transform import Rotation

import bellcrank as bc

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
        angular_velocity=tuple(rng.uniform(-1.0, 1.0, 3)),
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


def pair(kind, seed=0, hung=False):
    """Bodies "a" and "b" with the joint "joint" of this kind; hung: "a" from the ground by a ball joint."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism(kind.name, gravity=GRAVITY)
    first = add_body(mech, "a", rng)
    marker = skew_marker(first, rng)
    offset, turn = start_of(kind)
    _, other = add_body_at(mech, "b", rng, first, marker, offset, turn)
    mech.add_joint("joint", kind, marker, other)
    if hung:
        hook = np.array(first.position) + np.array([0.1, 0.2, 0.4])
        mech.add_joint(
            "hook", bc.Spherical(), mech.ground.marker(tuple(hook)), first.world_marker(tuple(hook))
        )
    return Machine(mech)


def constrained(kind, letters, seed=0):
    """Floating bodies with the constraint "tie" between markers (M) and cylindrical joints (J) on them."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism(kind.name, gravity=GRAVITY)
    last = add_body(mech, "b0", rng)
    end = skew_marker(last, rng)
    ends = []
    for number, letter in enumerate(letters):
        if letter == "M":
            ends.append(end)
        last, other = add_body_at(mech, f"b{number + 1}", rng, last, end)
        if letter == "J":
            joint = mech.add_joint(f"j{number}", bc.Cylindrical(), end, other)
            ends.append(joint.coordinate("z" if number % 2 else "theta_z"))
        end = other
    mech.add_constraint("tie", kind, *ends)
    return Machine(mech)


def led(function, joint=bc.Cylindrical, coordinate="theta_z", seed=0):
    """Two bodies with a joint coordinate led by the drive "drive"; they start near where it leads."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism("led", gravity=GRAVITY)
    first = add_body(mech, "a", rng)
    marker = skew_marker(first, rng)
    _, other = add_body_at(mech, "b", rng, first, marker)
    mech.add_joint("joint", joint(), marker, other)
    mech.add_drive("drive", "joint", coordinate, position=function)
    return Machine(mech)


def along(path, orientation=None, seed=0):
    """Two bodies; a marker of the second is led along a path fixed to the first by the drive "drive"."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism("path", gravity=GRAVITY)
    first = add_body(mech, "a", rng)
    reference = skew_marker(first, rng)
    start = np.array([float(function(0.0)) for function in path.functions])
    _, marker = add_body_at(mech, "b", rng, first, reference, start)
    mech.add_drive("drive", marker=marker, path=path, reference=reference, orientation=orientation)
    return Machine(mech)
