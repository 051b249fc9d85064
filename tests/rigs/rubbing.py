"""A slider-crank that rubs in all its joints, as what they transmit makes it."""

from math import asin, cos, sin

import bellcrank as bc

G = 9.81


def about(angle):
    return (cos(angle / 2), 0.0, 0.0, sin(angle / 2))


def rub(load, **more):
    return bc.JointFriction(load=load, stribeck_velocity=None, **more)


def slider_crank(pins=0.2, slide=0.15, static=1.3, angle=0.3, speed=6.0):
    """A crank of 0.15 m, a rod of 0.5 m, journals of 30 mm, and a carriage of 0.1 m, in a vertical plane."""
    mech = bc.Mechanism("slider-crank", gravity=(0.0, -G, 0.0))
    crank = mech.add_body("crank", 1.0, (0.05, 0.05, 0.05), rotation=about(angle))
    tip = (0.15 * cos(angle), 0.15 * sin(angle))
    fall = asin(tip[1] / 0.5)
    middle = (tip[0] + 0.25 * cos(fall), tip[1] / 2, 0.0)
    rod = mech.add_body("rod", 0.8, (0.02, 0.02, 0.02), position=middle, rotation=about(-fall))
    carriage = mech.add_body("slider", 0.6, (1e-3, 1e-3, 1e-3), position=(tip[0] + 0.5 * cos(fall), 0.0, 0.0))
    mech.add_joint("A", bc.Revolute(), mech.ground.marker(), crank.marker(), position=angle, velocity=speed)
    mech.add_joint("B", bc.Revolute(), crank.marker((0.15, 0.0, 0.0)), rod.marker((-0.25, 0.0, 0.0)))
    mech.add_joint("C", bc.Revolute(), rod.marker((0.25, 0.0, 0.0)), carriage.marker())
    mech.add_joint("guide", bc.PrismaticX(), mech.ground.marker(), carriage.marker())
    for pin in "ABC":
        journal = bc.Journal(radius=0.03, coefficient=pins, static_coefficient=static * pins)
        mech.add_force(f"rub {pin}", rub(journal), pin)
    sliding = bc.Slide(length=0.1, coefficient=slide, static_coefficient=static * slide)
    mech.add_force("rub guide", rub(sliding), "guide")
    return mech
