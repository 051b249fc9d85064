"""Mechanisms with parameters whose motions are known in closed form, or cheap to compute."""

from __future__ import annotations

import bellcrank as bc


def oscillator() -> bc.Mechanism:
    """A mass on a spring along x, released at rest at x = 1 m: x = cos(sqrt(k/m) t) without damping."""
    mech = bc.Mechanism("oscillator", gravity=(0, 0, 0))
    mass = mech.add_parameter("mass", 1.0, unit="kg", low=0.1, high=50.0)
    stiffness = mech.add_parameter("stiffness", 10.0, unit="N/m", low=0.0, high=1000.0)
    damping = mech.add_parameter("damping", 0.0, unit="N s/m", low=0.0, high=100.0)
    cart = mech.add_body("cart", mass=mass, inertia=(1, 1, 1), position=(1, 0, 0))
    track = bc.PrismaticX()
    mech.add_joint("track", track, mech.ground, cart)
    spring = bc.SpringDamper(stiffness, damping, rest_length=5.0)
    mech.add_force("spring", spring, mech.ground.marker((-5, 0, 0)), cart)
    return mech


def pendulum() -> bc.Mechanism:
    """A rod that falls from the horizontal; too thick a rod for its length is no rigid body."""
    mech = bc.Mechanism("pendulum")
    length = mech.add_parameter("length", 0.5, unit="m", low=0.01, high=2.0)
    thick = mech.add_parameter("thick", 1e-4, unit="kg m^2", low=0.0, high=1.0)
    across = length**2 / 12
    rod = mech.add_body("rod", mass=1.0, inertia=(thick, across, across), position=(length / 2, 0, 0))
    ends = (mech.ground.marker(axis=(0, 1, 0)), rod.marker((-length / 2, 0, 0), axis=(0, 1, 0)))
    mech.add_joint("pivot", bc.Revolute(), *ends)
    return mech


def four_bar(rate: float = 6.0) -> bc.Mechanism:
    """A four-bar whose crank is driven: it closes for some lengths of the coupler alone."""
    mech = bc.Mechanism("four-bar", gravity=(0, -9.81, 0))
    coupler = mech.add_parameter("coupler", 0.36, unit="m", low=0.01, high=2.0)
    density = mech.add_parameter("density", 1.0, unit="kg/m", low=1e-3, high=100.0)
    lengths = {"crank": 0.12, "coupler": coupler, "rocker": 0.28}
    bodies = {
        name: mech.add_body(
            name,
            mass=density * bar,
            inertia=(1e-4, density * bar**3 / 12 + 1e-4, density * bar**3 / 12 + 1e-4),
            com=(bar / 2, 0, 0),
            position=at,
            rotation=turn,
        )
        for (name, bar), at, turn in zip(
            lengths.items(),
            ((0, 0, 0), (0.12, 0, 0), (0.4, 0, 0)),
            ((1, 0, 0, 0), (0.9, 0, 0, 0.19**0.5), (0.6, 0, 0, 0.8)),
            strict=True,
        )
    }
    crank, link, rocker = bodies.values()
    mech.add_joint("crank pivot", bc.Revolute(), mech.ground, crank)
    mech.add_joint("crank pin", bc.Revolute(), crank.marker((0.12, 0, 0)), link)
    mech.add_joint("rocker pin", bc.Revolute(), link.marker((coupler, 0, 0)), rocker.marker((0.28, 0, 0)))
    mech.add_joint("rocker pivot", bc.Revolute(), mech.ground.marker((0.4, 0, 0)), rocker)
    mech.add_drive("motor", joint="crank pivot", velocity=rate)
    return mech


def crank_rocker() -> bc.Mechanism:
    """A four-bar whose lengths, masses, spring and start are parameters; a torque acts on its crank."""
    mech = bc.Mechanism("crank and rocker", gravity=(0.0, -9.81, 0.0))
    a, b = mech.add_parameter("crank", 0.3, "m"), mech.add_parameter("coupler", 1.1, "m")
    stiffness, mass = mech.add_parameter("stiffness", 20.0, "N m/rad"), mech.add_parameter("mass", 2.0, "kg")
    start = mech.add_parameter("start", 0.4, "rad")
    crank = mech.add_body("crank", mass, (0.01, 0.01, 0.02), com=(a / 3, 0.0, 0.0))
    rod = mech.add_body("rod", 1.0, (0.1, 0.1, 0.1), com=(b / 2, 0.0, 0.0))
    rocker = mech.add_body("rocker", 1.5, (0.1, 0.1, 0.1), com=(0.4, 0.0, 0.0))
    mech.add_joint("A", bc.Revolute(), mech.ground.marker(), crank.marker(), position=start)
    mech.add_joint("B", bc.Revolute(), crank.marker((a, 0.0, 0.0)), rod.marker())
    mech.add_joint("C", bc.Revolute(), rod.marker((b, 0.0, 0.0)), rocker.marker((0.8, 0.0, 0.0)))
    mech.add_joint("D", bc.Revolute(), mech.ground.marker((1.2, 0.0, 0.0)), rocker.marker())
    mech.add_force("spring", bc.TorsionSpring(stiffness, 0.1), joint="A")
    mech.add_force("motor", bc.JointMotor(bc.Input("torque", 0.4, "N m")), joint="A")
    return mech


def parallelogram() -> bc.Mechanism:
    """A platform on three equal cranks: it moves at one length of the coupler only."""
    mech = bc.Mechanism("parallelogram", gravity=(-9.81, 0.0, 0.0))
    middle = mech.add_parameter("middle", 0.5)
    plate = mech.add_body("plate", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0.4, 0))
    for number, (place, at) in enumerate([(0.0, 0.0), (middle, 0.5), (1.0, 1.0)]):
        arm = mech.add_body(
            f"arm {number}", mass=0.2, inertia=(0.01, 0.01, 0.01), position=(at, 0, 0), com=(0, 0.2, 0)
        )
        mech.add_joint(f"foot {number}", bc.Revolute(), mech.ground.marker((at, 0, 0)), arm)
        mech.add_joint(f"head {number}", bc.Revolute(), arm.marker((0, 0.4, 0)), plate.marker((place, 0, 0)))
    return mech
