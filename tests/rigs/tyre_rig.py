"""A wheel with a tyre that is led over ground, and one that runs free."""

import numpy as np

import bellcrank as bc

RADIUS, WIDTH, PRESSURE = 0.338, 0.028, 6e5
SUNK = 0.006  # m, at the start: about where LOAD is carried
LOAD = 481.0  # N
HEIGHT = RADIUS - SUNK


def tyre(**fields):
    """A tyre 28-622 at 6 bar."""
    return bc.Tyre(**{"radius": RADIUS, "width": WIDTH, "pressure": PRESSURE, **fields})


def led_wheel(speed=2.0, slip=0.0, camber=0.0, load=LOAD, ground=None, **fields):
    """A loaded wheel that is led along x at a speed, m/s, and may rise and spin.

    slip, camber: angles of its axle, rad. fields: of the tyre.
    """
    mech = bc.Mechanism("led wheel", gravity=(0.0, 0.0, 0.0))
    axle = np.array([-np.sin(slip), np.cos(slip) * np.cos(camber), -np.sin(camber)])
    spin = axle * speed / (RADIUS - SUNK / 3.0)
    place = {"position": (0.0, 0.0, HEIGHT), "velocity": (speed, 0.0, 0.0)}
    slide = mech.add_body("slide", mass=1.0, inertia=[0.1] * 3, **place)
    fork = mech.add_body("fork", mass=48.0, inertia=[0.1] * 3, **place)
    wheel = mech.add_body("wheel", mass=1.0, inertia=[0.1] * 3, angular_velocity=tuple(spin), **place)
    mech.replace(mech.ground, shapes=[ground or bc.Plane(size=2.0)])
    along = mech.ground.marker((0.0, 0.0, HEIGHT), axis=(1, 0, 0))
    mech.add_joint("x", bc.Prismatic(), along, slide.marker(axis=(1, 0, 0)))
    mech.add_joint("z", bc.Prismatic(), slide.marker(), fork.marker())
    mech.add_joint("spin", bc.Revolute(), fork.marker(axis=tuple(axle)), wheel.marker(axis=tuple(axle)))
    mech.add_drive("lead", joint="x", position=f"{speed} * t")
    mech.add_force("load", bc.Wrench(force=(0, 0, -load)), fork.marker())
    mech.add_force("damper", bc.JointFriction(viscous=800.0), joint="z")
    mech.add_force("tyre", tyre(**fields), wheel.marker(axis=tuple(axle)), "ground")
    return mech


def free_wheel(ground, speed=2.0, spinning=True, height=HEIGHT, **fields):
    """A loaded wheel that runs in the plane of x and z, without a drive."""
    mech = bc.Mechanism("free wheel")
    spin = speed / (RADIUS - SUNK / 3.0) if spinning else 0.0
    place = {"position": (0.0, 0.0, height), "velocity": (speed, 0.0, 0.0)}
    fork = mech.add_body("fork", mass=48.0, inertia=[0.1] * 3, **place)
    wheel = mech.add_body("wheel", mass=1.0, inertia=[0.1] * 3, angular_velocity=(0.0, spin, 0.0), **place)
    mech.replace(mech.ground, shapes=[ground] if isinstance(ground, bc.Shape) else ground)
    across = mech.ground.marker((0.0, 0.0, height), axis=(0, 1, 0))
    mech.add_joint("plane", bc.Planar(), across, fork.marker(axis=(0, 1, 0)))
    mech.add_joint("spin", bc.Revolute(), fork.marker(axis=(0, 1, 0)), wheel.marker(axis=(0, 1, 0)))
    mech.add_force("tyre", tyre(**fields), wheel.marker(axis=(0, 1, 0)), "ground")
    return mech


def force_at(mech):
    """The force of the tyre on its wheel at the start, N, with what its points are."""
    points = bc.simulate(mech, 1e-9, output_step=1e-9).contact("tyre").points(0)
    return points.force.sum(axis=0), points


def mean_force(run, after):
    """The mean force of the tyre on its wheel after a time, s, N."""
    frames = np.flatnonzero(run.time >= after)
    sums = [run.contact("tyre").points(int(k)).force.sum(axis=0) for k in frames]
    return np.mean(sums, axis=0)
