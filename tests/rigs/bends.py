"""Bodies on joints that bend but do not turn about one axis, thrown round so that they bend through turns."""

import numpy as np
from rigs import floating
from rigs.examples import joint
from rigs.machine import matrix, quaternion, random_quaternion
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank import _core
from bellcrank.mechanism import JOINT_KINDS

GRAVITY = (0.5, -1.0, -2.0)


def held_axis(kind):
    """The one axis that a joint kind does not turn about, 0 to 2; None if there are none or several."""
    held = [axis for axis, e in enumerate(("e1", "e2", "e3")) if e in getattr(kind, "locked", ())]
    return held[0] if len(held) == 1 else None


KINDS = tuple(
    name for name, kind in JOINT_KINDS.items() if held_axis(kind) is not None and not kind.shorthand
)


def _marker(body, position, axes):
    """A marker of a body with these world axes."""
    inner = Rotation.from_matrix(matrix(body.rotation)).inv() * axes
    return body.marker(tuple(position), rotation=quaternion(inner))


def chain(name, *, bodies=1, bend=0.3, speed=9.0, reversed_=False, seed=1, closed=False):
    """Bodies one after another on joints "j0", ... of a kind, from the ground on; energy stays what it is.

    bend: rad, at the start. speed: rad/s, in the sense of the bend for the first body, less for the others.
    reversed_: the body carries marker 1. closed: the last body is tied to the ground by a ball joint "end".
    """
    rng = np.random.default_rng(seed)
    across = np.roll((0.8, 0.6, 0.0), held_axis(JOINT_KINDS[name]) + 1)
    mech = bc.Mechanism(f"bends of {name}", gravity=GRAVITY)
    before = mech.ground.marker((0.1, 0.2, 0.3), rotation=random_quaternion(rng))
    axes, point, spin = Rotation.from_matrix(matrix(before.rotation)), np.array(before.position), np.zeros(3)
    for number in range(bodies):
        behind = axes * Rotation.from_rotvec(bend * across)
        spin = spin + axes.apply((speed if number == 0 else 0.3 * speed) * across)
        turned, local = Rotation.from_quat(rng.normal(size=4)), rng.uniform(-0.2, 0.2, 3)
        rotation = behind * turned.inv()
        origin = point - rotation.apply(local)
        body = mech.add_body(
            f"b{number}",
            **floating.mass_properties(rng),
            position=tuple(origin),
            rotation=quaternion(rotation),
            velocity=tuple(np.cross(spin, origin - point)),
            angular_velocity=tuple(spin),
        )
        here = body.marker(tuple(local), rotation=quaternion(turned))
        ends = (here, before) if reversed_ else (before, here)
        mech.add_joint(f"j{number}", joint(name), *ends)
        local = rng.uniform(-0.3, 0.3, 3)
        before, axes, point = body.marker(tuple(local)), rotation, origin + rotation.apply(local)
    if closed:
        mech.add_joint("end", bc.Spherical(), mech.ground.marker(tuple(point)), before)
    return mech


def half_cosine(mechanism, run, name="j0"):
    """The cosine of half the bend in every frame: it changes its sign where the bend is half a turn."""
    joint = mechanism.joints[name]
    first, second = _axes(run, joint.marker_1), _axes(run, joint.marker_2)
    return np.sum(first * second, axis=-1)


def _axes(run, marker):
    """Quaternions from marker to world axes, continuous in time."""
    local = np.array(marker.rotation)
    if marker.body not in run.bodies:
        return local
    return np.array([_core.quaternion_product(q, local) for q in run.body(marker.body).rotation])
