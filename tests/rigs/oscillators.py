"""One body on the ground by one joint, to put a force on."""

import numpy as np

import bellcrank as bc

MASS = 2.5
INERTIA = (0.3, 0.4, 0.5)


def slider(position=0.0, speed=0.0, gravity=(0.0, 0.0, 0.0)):
    """A body on a rail along z; its travel is its height."""
    mech = bc.Mechanism("slider", gravity=gravity)
    body = mech.add_body(
        "body", mass=MASS, inertia=INERTIA, position=(0.0, 0.0, position), velocity=(0.0, 0.0, speed)
    )
    mech.add_joint("joint", bc.Prismatic(), mech.ground.marker(), body.marker())
    return mech, body


def wheel(angle=0.0, speed=0.0):
    """A body that turns about z with inertia 0.5."""
    mech = bc.Mechanism("wheel", gravity=(0.0, 0.0, 0.0))
    turn = (np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2))
    body = mech.add_body(
        "body", mass=MASS, inertia=INERTIA, rotation=turn, angular_velocity=(0.0, 0.0, speed)
    )
    mech.add_joint("joint", bc.Revolute(), mech.ground.marker(), body.marker())
    return mech, body


def free_body(**pose):
    """A body that nothing holds, without gravity."""
    mech = bc.Mechanism("free", gravity=(0.0, 0.0, 0.0))
    return mech, mech.add_body("body", mass=MASS, inertia=INERTIA, **pose)


def damped(time, start, speed, stiffness, damping, inertia):
    """The solution of  inertia x'' + damping x' + stiffness x = 0  from there: x and x'."""
    roots = np.roots([inertia, damping, stiffness]).astype(complex)
    parts = np.linalg.solve([[1.0, 1.0], roots], [start, speed])
    waves = parts * np.exp(np.outer(time, roots))
    return waves.sum(axis=1).real, (waves * roots).sum(axis=1).real
