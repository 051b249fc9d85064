"""Mechanisms that rub: a belt, a four-bar, a slider-crank on journals, Painleve and Klein's rod."""

from math import asin, cos, pi, sin, tan

import numpy as np

import bellcrank as bc

G = 9.81


def holding(coulomb, **more):
    return bc.JointFriction(coulomb=coulomb, regularisation_velocity=None, **more)


def names_and_times(run):
    return [event.name for event in run.events], np.array([event.time for event in run.events])


def about(angle):
    return (cos(angle / 2), 0.0, 0.0, sin(angle / 2))


def rub(load, **more):
    return bc.JointFriction(load=load, stribeck_velocity=None, **more)


def block_on_a_belt():
    """A block of 1 kg on a spring of 100 N/m and a belt of 0.2 m/s, which holds it up to 6 N."""
    mech, along = bc.Mechanism("belt", gravity=(0.0, 0.0, -G)), (1.0, 0.0, 0.0)
    belt = mech.add_body("belt", 1.0, (0.1, 0.1, 0.1))
    block = mech.add_body("block", 1.0, (0.1, 0.1, 0.1))
    ends = mech.ground.marker(axis=along), belt.marker(axis=along)
    mech.add_joint("rail", bc.Prismatic(), *ends, velocity=0.2)
    mech.add_joint("slide", bc.Prismatic(), belt.marker(axis=along), block.marker(axis=along))
    mech.add_drive("run", "rail", velocity=0.2)
    spring = bc.SpringDamper(100.0, rest_length=10.0)
    mech.add_force("spring", spring, mech.ground.marker((-10.0, 0.0, 0.0)), block.marker())
    mech.add_force("friction", holding(4.0, stiction=6.0, stribeck_velocity=None), joint="slide")
    return mech


def four_bar(friction, speed=0.0, torque=None):
    """Pins in space, so that three rows are redundant; what holds in several pins is shared."""
    mech = bc.Mechanism("four-bar")
    crank = mech.add_body("crank", 1.0, (0.01, 0.01, 0.01), com=(0.15, 0.0, 0.0))
    rod = mech.add_body("rod", 2.0, (0.1, 0.1, 0.1), com=(0.5, 0.0, 0.0))
    rocker = mech.add_body("rocker", 1.5, (0.05, 0.05, 0.05), com=(0.4, 0.0, 0.0))
    mech.add_joint("A", bc.Revolute(), mech.ground.marker(), crank.marker(), position=0.8, velocity=speed)
    mech.add_joint("B", bc.Revolute(), crank.marker((0.3, 0.0, 0.0)), rod.marker())
    mech.add_joint("C", bc.Revolute(), rod.marker((1.0, 0.0, 0.0)), rocker.marker((0.8, 0.0, 0.0)))
    mech.add_joint("D", bc.Revolute(), mech.ground.marker((1.1, 0.0, 0.0)), rocker.marker())
    for name, effort in friction.items():
        mech.add_force(f"friction {name}", holding(effort), joint=name)
    if torque is not None:
        mech.add_force("motor", bc.JointMotor(torque), joint="A")
    return mech


PINS = {"A": 0.3, "B": 0.2, "C": 0.25, "D": 0.15}


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


def klein(coefficient, force):
    """Two masses on parallel guides, joined by a rod at 70 degrees; only the first guide is rough."""
    mech = bc.Mechanism("Painleve-Klein", gravity=(0.0, 0.0, 0.0))
    slope = np.radians(70.0)
    one = mech.add_body("one", 1.0, (0.1, 0.1, 0.1))
    two = mech.add_body("two", 1.0, (0.1, 0.1, 0.1), position=(cos(slope), sin(slope), 0.0))
    guide = {"velocity": 1.0}
    mech.add_joint("rough", bc.PrismaticX(), mech.ground.marker(), one.marker(), **guide)
    mech.add_joint(
        "smooth", bc.PrismaticX(), mech.ground.marker((0.0, sin(slope), 0.0)), two.marker(), **guide
    )
    mech.add_joint("rod", bc.Distance(1.0), one.marker(), two.marker())
    mech.add_force("rub", rub(bc.Slide(10.0, coefficient)), "rough")
    mech.add_force("pull", bc.JointMotor(force), "rough")
    return mech


def rotor(name, speed=0.0, inertia=0.02, mass=2.0, gravity=(0.0, 0.0, 0.0), kind=None):
    """A wheel on a pin along z."""
    mech = bc.Mechanism(name, gravity=gravity)
    wheel = mech.add_body("wheel", mass, (0.1, 0.1, inertia))
    mech.add_joint("pin", kind or bc.Revolute(), mech.ground.marker(), wheel.marker(), velocity=speed)
    return mech


def pushed_drawer(offset, length=0.4, coefficient=0.3):
    """A drawer of 5 kg, pushed by 10 N beside its middle."""
    mech = bc.Mechanism("drawer", gravity=(0.0, 0.0, 0.0))
    drawer = mech.add_body("drawer", 5.0, (0.1, 0.1, 0.1))
    mech.add_joint("guide", bc.PrismaticX(), mech.ground.marker(), drawer.marker())
    mech.add_force("rub", rub(bc.Slide(length, coefficient)), "guide")
    mech.add_force("push", bc.Wrench(force=(10.0, 0.0, 0.0)), drawer.marker((0.0, offset, 0.0)))
    return mech


def wedge(angle):
    """A wedge between a fixed face and one that is pressed on it, both rough with phi = 10 degrees."""
    mech = bc.Mechanism("wedge", gravity=(0.0, 0.0, 0.0))
    half = np.radians(angle) / 2
    body = mech.add_body("wedge", 1.0, (0.1, 0.1, 0.1))
    jaw = mech.add_body("jaw", 1.0, (0.1, 0.1, 0.1))
    fixed = mech.ground.marker(rotation=about(-half))
    mech.add_joint("lower", bc.PrismaticX(), fixed, body.marker(rotation=about(-half)))
    mech.add_joint(
        "upper", bc.PrismaticX(), jaw.marker(rotation=about(half)), body.marker(rotation=about(half))
    )
    mech.add_joint(
        "press",
        bc.PrismaticX(),
        mech.ground.marker(rotation=about(pi / 2)),
        jaw.marker(rotation=about(pi / 2)),
    )
    face = bc.Slide(1e6, tan(np.radians(10.0)))
    mech.add_force("rub lower", rub(face), "lower")
    mech.add_force("rub upper", rub(face), "upper")
    mech.add_force("push", bc.JointMotor(-50.0), "press")
    return mech


def toggle(angle):
    mech = slider_crank(pins=1.0, slide=1e-6, static=1.0, angle=angle, speed=0.0)
    for name in ("rub A", "rub B", "rub C"):
        mech.replace(mech.forces[name], kind=rub(bc.Journal(0.01 * 2**0.5, 1.0)))
    mech.remove(mech.forces["rub guide"])
    mech.gravity = (0.0, 0.0, 0.0)
    mech.add_force("push", bc.JointMotor(-100.0), "guide")
    return mech


def jack(pitch, speed=0.0, radius=0.012, coefficient=0.15, flank=0.0, static=None):
    """A screw of 3 kg that turns in a fixed nut, along and about the vertical."""
    mech = rotor("jack", speed, 0.004, 3.0, (0.0, 0.0, -G), bc.Screw(pitch))
    thread = bc.Thread(radius, coefficient, static, flank_angle=flank)
    mech.add_force("rub", rub(thread), "pin")
    return mech


def two_shafts(kind, first, second, inertias=(1.0, 1.5), speeds=(0.0, 0.0)):
    """Two wheels on pins of their own, in a transmission, with moments on both."""
    mech = bc.Mechanism("shafts", gravity=(0.0, 0.0, 0.0))
    for k, (name, moment) in enumerate((("in", first), ("out", second))):
        wheel = mech.add_body(name, 1.0, (2.0, 2.0, inertias[k]), position=(float(k), 0.0, 0.0))
        mech.add_joint(
            name, bc.Revolute(), mech.ground.marker((float(k), 0.0, 0.0)), wheel.marker(), velocity=speeds[k]
        )
        mech.add_force(f"{name} moment", bc.JointMotor(moment), name)
    mech.add_constraint("gear", kind, mech.joints["in"], mech.joints["out"])
    return mech
