"""Joints, constraints and forces given by formulas, for random mechanisms."""

import numpy as np
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.expression import cos, dot, exp, rotation_z, sin, t, translation


def custom_joint(rng):
    """A joint by formulas, its coordinates, and the pose (offset, Rotation) of marker 2 there."""
    u, v = bc.symbol("u"), bc.symbol("v")
    a, b = rng.uniform(-1.0, 1.0, 2)
    if rng.random() < 0.5:  # a bead that turns on a wavy wire
        joint = bc.CustomJoint(
            (u, v), translation(u, 0, 0.3 * sin(2 * u)) @ rotation_z(v), units=("m", "rad")
        )
        return joint, (a, b), (np.array([a, 0.0, 0.3 * np.sin(2 * a)]), Rotation.from_euler("z", b))
    joint = bc.CustomJoint(
        (u,), translation(0.2 * cos(u), 0.3 * sin(u), 0.1 * u) @ rotation_z(u), units="rad"
    )
    return joint, (a,), (np.array([0.2 * np.cos(a), 0.3 * np.sin(a), 0.1 * a]), Rotation.from_euler("z", a))


def custom_constraint(places):
    """An equation that two markers, now at these places (2, 3) in the world, keep."""
    one, two = bc.EndPose("one"), bc.EndPose("two")
    apart = places[1] - places[0]

    def held(d):
        return d[0] * d[0] + 2 * d[1] * d[1] + 0.5 * d[2] * d[2]

    return bc.CustomConstraint((one, two), held(two.position - one.position) - float(held(apart)))


def custom_force(rng):
    """A force by formulas on two markers: a potential, or a force with drag that depends on time."""
    one, two = bc.EndPose("one"), bc.EndPose("two")
    apart = two.position - one.position
    if rng.random() < 0.5:
        square = dot(apart, apart)
        return bc.CustomForce((one, two), potential=2.0 * square * exp(-square) + dot(one.z_axis, two.x_axis))
    drag = two.velocity - one.velocity
    moment = 0.1 * sin(2 * t) * two.angular_velocity
    return bc.CustomForce(
        (one, two), force=0.3 * drag + apart * cos(t), moment=moment - 0.2 * one.angular_velocity
    )
