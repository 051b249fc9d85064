"""Mechanisms whose equations of motion stand in textbooks, with parameters for all numbers."""

import bellcrank as bc


def _with(name, **parameters):
    mech = bc.Mechanism(name)
    found = {key: mech.add_parameter(key, value, low=0.01) for key, value in parameters.items()}
    mech.gravity = (0.0, -found["g"], 0.0)
    return mech, found


def _rod(mech, name, mass, length, position=(0.0, 0.0, 0.0)):
    """A slender rod that hangs from its frame's origin."""
    across = mass * length**2 / 12
    return mech.add_body(
        name,
        mass=mass,
        inertia=(across, 0.1 * across, across),
        com=(0.0, -length / 2, 0.0),
        position=position,
    )


def pendulum():
    """A slender rod: m l^2/3 a = -m g l/2 sin(theta)."""
    mech, p = _with("pendulum", m=2.0, l=0.5, g=9.81)
    mech.add_joint("theta", bc.Revolute(), mech.ground, _rod(mech, "rod", p["m"], p["l"]))
    return mech


def double_pendulum(limits=()):
    """Two slender rods, the second angle relative to the first."""
    mech, p = _with("double pendulum", m1=1.0, m2=2.0, l1=0.5, l2=0.3, g=9.81)
    upper = _rod(mech, "upper", p["m1"], p["l1"])
    forearm = _rod(mech, "forearm", p["m2"], p["l2"], (0.0, -0.5, 0.0))
    mech.add_marker(forearm.marker((0.0, -p["l2"], 0.0), name="tip"))
    mech.add_joint("shoulder", bc.Revolute(), mech.ground, upper)
    mech.add_joint("elbow", bc.Revolute(), upper.marker((0.0, -p["l1"], 0.0)), forearm, limits=limits)
    return mech


def cart_pole():
    """A cart of mass M, a rod of mass m and length 2 l that stands on it, a force F."""
    mech, p = _with("cart-pole", M=1.0, m=0.2, l=0.5, g=9.81)
    cart = mech.add_body("cart", mass=p["M"], inertia=(0.1, 0.1, 0.1))
    across = p["m"] * p["l"] ** 2 / 3
    pole = mech.add_body("pole", mass=p["m"], inertia=(across, 0.1 * across, across), com=(0.0, p["l"], 0.0))
    mech.add_joint("x", bc.Prismatic(), mech.ground.marker(z_axis="x"), cart.marker(z_axis="x"))
    mech.add_joint("theta", bc.Revolute(), cart, pole)
    mech.add_force("push", bc.JointMotor(bc.Input("F", unit="N")), "x")
    return mech


def spherical_pendulum():
    """A point mass on a rod that turns about the vertical and then away from it."""
    mech, p = _with("spherical pendulum", m=2.0, l=0.5, g=9.81)
    ring = mech.add_body("ring", mass=1e-9, inertia=(1e-12, 1e-12, 1e-12))
    bob = mech.add_body("bob", mass=p["m"], inertia=(1e-12, 1e-12, 1e-12), com=(0.0, -p["l"], 0.0))
    mech.add_joint("azimuth", bc.Revolute(), mech.ground.marker(z_axis="y"), ring.marker(z_axis="y"))
    mech.add_joint("polar", bc.Revolute(), ring, bob)
    return mech


def chain_of_universal_joints(count):
    """A chain whose equations fill pages."""
    mech = bc.Mechanism("chain")
    before = mech.ground.marker()
    for number in range(count):
        body = mech.add_body(f"link {number}", mass=1.0, inertia=(0.1, 0.2, 0.3), com=(0.1, 0.02, 0.4),
                             position=(0.0, 0.0, number))  # fmt: skip
        mech.add_joint(f"joint {number}", bc.Universal(), before, body.marker())
        before = body.marker((0.0, 0.0, 1.0))
    return mech
