"""Random scenes of bodies that touch each other and a plane: shapes, poses, masses, friction, hinges."""

from dataclasses import replace

import numpy as np

import bellcrank as bc


def shape(rng, size):
    """A shape of about a size, m."""
    lengths = tuple((size * rng.uniform(0.4, 1.0, 3)).tolist())
    kinds = (
        lambda: bc.Sphere(radius=0.5 * size),
        lambda: bc.Box(size=lengths),
        lambda: bc.Capsule(radius=0.3 * size, length=lengths[0]),
        lambda: bc.Cylinder(radius=0.4 * size, length=lengths[1]),
        lambda: bc.Cone(radius=0.4 * size, height=lengths[2]),
        lambda: bc.Ellipsoid(radii=tuple(0.5 * x for x in lengths)),
    )
    return kinds[rng.integers(len(kinds))]()


def orientation(rng):
    """A random one, or axes along those of the world, as boxes that are put down have them."""
    if rng.random() < 0.3:
        return (1.0, 0.0, 0.0, 0.0)
    found = rng.normal(size=4)
    return tuple((found / np.linalg.norm(found)).tolist())


def scene(seed, length=1.0, time=1.0):
    """A mechanism of one to six bodies on a plane, some of them hinged to each other.

    length, time: units in which all numbers but masses are, m and s: the motion is the same in these.
    """
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism(f"scene {seed}", gravity=(0.0, 0.0, -9.81 * length / time**2))
    tilt = rng.uniform(-0.3, 0.3) if rng.random() < 0.3 else 0.0
    floor = bc.Plane(rotation=(np.cos(tilt / 2), 0.0, np.sin(tilt / 2), 0.0))
    mech.replace(mech.ground, shapes=[floor])
    names = []
    for k in range(rng.integers(1, 7)):
        size = rng.uniform(0.05, 0.3)
        mass = 10.0 ** rng.uniform(-2.0, 2.0)
        position = (rng.uniform(-0.2, 0.2), rng.uniform(-0.2, 0.2), 0.25 + 0.35 * k)
        position = tuple(length * x for x in position)
        body = mech.add_body(
            f"body {k}",
            mass=mass,
            shapes=[replace(shape(rng, length * size), density=1000.0)],
            position=position,
            rotation=orientation(rng),
            velocity=tuple(rng.normal(scale=1.0, size=3) * length / time),
            angular_velocity=tuple(rng.normal(scale=4.0, size=3) / time),
        )
        if names and rng.random() < 0.25:
            mech.add_joint(
                f"hinge {k}",
                bc.Revolute(),
                mech.bodies[names[-1]].world_marker(position),
                body.world_marker(position),
            )
        names.append(body.name)
    weight = 9.81 * min(mech.bodies[name].mass for name in names)
    kinetic = rng.uniform(0.0, 1.5)
    stiffness, exponent = weight / 10.0 ** rng.uniform(-5.0, -3.0), rng.choice([1.0, 1.5])
    mech.add_force(
        "touch",
        bc.Contact(
            stiffness=stiffness * length ** (1.0 - exponent) / time**2,
            exponent=exponent,
            impact_speed=length / time,
            restitution=rng.uniform(0.0, 1.0),
            friction=kinetic,
            static_friction=kinetic * rng.choice([1.0, 1.3]),
        ),
        *names,
        "ground",
    )
    return mech


def resisting(mech, seed):
    """The same scene with resistance to rolling or spinning, to some centimetres, and any law of impact."""
    rng = np.random.default_rng([seed, 1])
    lengths = np.where(rng.random(2) < 0.7, 10.0 ** rng.uniform(-4.0, -1.5, 2), 0.0)
    lengths = dict(zip(("rolling_resistance", "spinning_resistance"), lengths.tolist(), strict=True))
    law = str(rng.choice(["newton", "poisson"]))
    mech.replace(mech.forces["touch"], kind=replace(mech.forces["touch"].kind, impact_law=law, **lengths))
    return mech


def alone(mech):
    """The same scene with its first body only."""
    contact = mech.forces["touch"].kind
    for name in list(mech.bodies)[1:]:
        mech.remove(mech.bodies[name], cascade=True)
    if "touch" not in mech.forces:
        mech.add_force("touch", contact, *mech.bodies, "ground")
    return mech
