"""Mechanisms with stops."""

from math import cos, sin

import numpy as np
from rigs import linkages

import bellcrank as bc

GRAVITY = 9.81
DOWN = (0.0, 0.0, -GRAVITY)


def ball(restitution=0.0, height=1.0, speed=0.0, upper=None):
    """A body of 2 kg that falls along z onto a stop at z = 0."""
    mech = bc.Mechanism("ball", gravity=DOWN)
    body = mech.add_body(
        "ball", mass=2.0, inertia=(0.1, 0.2, 0.25), position=(0.0, 0.0, height), velocity=(0.0, 0.0, speed)
    )
    limit = bc.Limit(lower=0.0, upper=upper, restitution=restitution)
    mech.add_joint("fall", bc.Prismatic(), mech.ground.marker(), body.marker(), limits=limit)
    return mech


def pendulum(restitution=0.0, angle=1.0, stop=0.0):
    """A bar of 1.5 kg, com 1 m below the pivot, released at an angle, with a stop at a smaller one."""
    mech = bc.Mechanism("pendulum", gravity=DOWN)
    turn = (cos(angle / 2), 0.0, sin(angle / 2), 0.0)
    body = mech.add_body("bar", mass=1.5, inertia=(0.5, 0.5, 0.01), com=(0.0, 0.0, -1.0), rotation=turn)
    axis = (0.0, 1.0, 0.0)
    limit = bc.Limit(lower=stop, restitution=restitution)
    ends = mech.ground.marker(axis=axis), body.marker(axis=axis)
    mech.add_joint("pivot", bc.Revolute(), *ends, limits=limit)
    return mech


def train(masses, restitution=0.0, gap=0.0, speed=1.0):
    """Wagons on x that must stay 0.1 m apart; the first comes with a speed, the others stand."""
    mech = bc.Mechanism("train", gravity=DOWN)
    along = (1.0, 0.0, 0.0)
    last = None
    for k, mass in enumerate(masses):
        wagon = mech.add_body(
            f"wagon{k}",
            mass=mass,
            inertia=(0.01, 0.01, 0.01),
            position=(k * (0.1 + gap), 0.0, 0.0),
            velocity=(speed if k == 0 else 0.0, 0.0, 0.0),
        )
        mech.add_joint(f"rail{k}", bc.Prismatic(), mech.ground.marker(axis=along), wagon.marker(axis=along))
        if last is not None:
            limit = {"z": bc.Limit(lower=0.1, restitution=restitution)}
            ends = last.marker(axis=along), wagon.marker(axis=along)
            mech.add_joint(f"buffer{k}", bc.Free(), *ends, limits=limit)
        last = wagon
    return mech


def stack(count, restitution=0.0, gap=0.0):
    """Bodies of 1, 2, 3, ... kg one above the other, at least 0.5 m apart, the first above z = 0."""
    mech = bc.Mechanism("stack", gravity=DOWN)
    last = mech.ground
    for k in range(count):
        body = mech.add_body(
            f"body{k}", mass=1.0 + k, inertia=(0.1, 0.1, 0.1), position=(0.0, 0.0, 0.5 * k + gap * (k + 1))
        )
        limit = bc.Limit(lower=0.5 if k else 0.0, restitution=restitution)
        mech.add_joint(f"guide{k}", bc.Prismatic(), last.marker(), body.marker(), limits=limit)
        last = body
    return mech


def limited(mech, joints, coordinate, limit):
    """The same mechanism with a limit on that coordinate of some of its joints."""
    for name in joints:
        mech.replace(mech.joints[name], limits=((coordinate, limit),))
    return mech


def limited_crank(restitution=0.0):
    """A slider-crank that falls until its slider meets a stop at |x| = 1.2 m."""
    limit = bc.Limit(-1.2, 1.2, restitution)
    return limited(linkages.slider_crank(), ["rail"], "x", limit)


def limited_parallelogram(restitution=0.0, joints=("pin1",)):
    """A parallelogram with stops at ±1 rad on one crank, or on both, which says the same twice."""
    limit = bc.Limit(-1.0, 1.0, restitution)
    return limited(linkages.parallelogram(speed=2.0), joints, "theta_z", limit)


def tethered(length=1.0, speed=1.0):
    """A small body at the end of a cable that may go slack, launched along x from the lowest point."""
    mech = bc.Mechanism("tether", gravity=DOWN)
    body = mech.add_body(
        "bob", mass=0.7, inertia=(1e-3, 1e-3, 1e-3), position=(0.0, 0.0, -length), velocity=(speed, 0.0, 0.0)
    )
    mech.add_constraint("cable", bc.Cable(length, slack=True), mech.ground.marker(), body.marker())
    return mech


def impact_times(time, height, speed):
    """When a ball in flight at these times left the ground: v₀² = v² + 2 g z, t = time − (v₀ − v)/g.

    For a ball at rest the square is zero up to rounding, of either sign.
    """
    launch = np.sqrt(np.maximum(speed**2 + 2.0 * GRAVITY * height, 0.0))
    return time - (launch - speed) / GRAVITY, launch
