"""A hinged arm with a slider on it, and every kind of force."""

import bellcrank as bc
from bellcrank.expression import dot

Y = (0, 1, 0)
POINT, END = (-0.2, 0.0, 0.9), (0.35, 0.0, 0.02)


def arm():
    """A hinged arm with a slider on it, and every kind of force."""
    mech = bc.Mechanism("arm")
    inertia = (0.05, 0.2, 0.18)
    rod = mech.add_body("rod", 2.0, inertia, com=(0.05, 0.02, 0.01), position=(0.5, 0, 0))
    bead = mech.add_body("bead", 0.4, (0.01, 0.01, 0.01), com=(0.01, 0, 0.02), position=(0.6, 0, 0))
    hip, rail = (-0.5, 0, 0), (0.1, 0, 0)
    mech.add_joint("hip", bc.Revolute(), mech.ground.marker(axis=Y), rod.marker(hip, axis=Y))
    mech.add_joint("rail", bc.Prismatic(), rod.marker(rail, axis=(1, 0, 0)), bead.marker(axis=(1, 0, 0)))
    mech.add_force("strut", bc.SpringDamper(80.0, 1.5, 0.7), mech.ground.marker(POINT), rod.marker(END))
    mech.add_force("coil", bc.TorsionSpring(6.0, 0.1, 0.2), "hip")
    mech.add_force("table", bc.TabulatedSpring(bc.Polynomial((0.0, -30.0)), 0.2), "rail")
    mech.add_force("motor", bc.JointMotor("2*sin(3*t)", 0.05), "hip")
    mech.add_force("geared", bc.GearedMotor(5.0, 1e-3, "0.1*cos(t)", 1e-3), "hip")
    mech.add_force("rubbing", bc.JointFriction(0.05, 0.1, 0.15, regularisation_velocity=0.5), "rail")
    mech.add_force("brake", bc.Brake("0.2 + 0.1*t", 0.5), "hip")
    rubber = bc.Bushing((20.0, 0.0, 30.0), (1.0, 2.0, 0.0), (0.3, 0.0, 0.2), (0.0, 0.1, 0.0))
    mech.add_force("bush", rubber, mech.ground.marker((0.9, 0, 0.1)), rod.marker((0.4, 0, 0)))
    mech.add_force("string", bc.RubberString(15.0, 0.4, 0.8), mech.ground.marker(POINT), bead.marker())
    mech.add_force("stop", bc.OneSidedSpring(50.0, -0.02, damping=0.5), "rail")
    mech.add_force("load", bc.Wrench(force=(0, 0, "-3*cos(t)"), moment=(0, 0.4, 0)), bead.marker((0, 0, 0.1)))
    thrust = bc.Wrench(force=(1.5, 0, 0), axes="marker")
    mech.add_force("thrust", thrust, rod.marker((0.3, 0, 0.1), axis=(1, 0, 0)))
    mech.add_force("air", bc.BodyDamping((0.1, 0.2, 0.3), 0.02), rod.marker((0.1, 0, 0)))
    one, two = bc.EndPose("a"), bc.EndPose("b")
    apart = one.position - two.position
    well = bc.CustomForce((one, two), potential=4.0 * dot(apart, apart))
    mech.add_force("well", well, rod.marker((0.2, 0, 0.1)), mech.ground.marker((0.3, 0, -0.4)))
    q, s = bc.EndCoordinate("q"), bc.EndCoordinate("s")
    mech.add_force("coupled", bc.CustomForce((q, s), efforts=(-0.3 * s.value, 0.2 * q.rate)), "hip", "rail")
    return mech
