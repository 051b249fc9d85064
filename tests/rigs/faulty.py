"""Faulty descriptions, and the check of what is said of them."""

import math
import re

import pytest

import bellcrank as bc

NAN = math.nan


def mechanism():
    """A body on a hinge and one on a cylindrical joint, both to the ground."""
    mech = bc.Mechanism("test")
    for name, kind in (("arm", bc.Revolute()), ("piston", bc.Cylindrical())):
        mech.add_joint(f"{name} joint", kind, mech.ground, mech.add_body(name, 1.0, (1.0, 1.0, 1.0)))
    return mech


def body(**changes):
    return lambda: bc.Mechanism().add_body("crank", **{"mass": 1.0, "inertia": (1.0, 1.0, 1.0), **changes})


def marker(**values):
    return lambda: bc.Body("crank", 1.0, (1, 1, 1)).marker(**values)


def drive(joint="arm joint", **values):
    return lambda: mechanism().add_drive("motor", joint, **values)


def force(kind, *ends, **values):
    return lambda: mechanism().add_force("pull", kind, *ends, **values)


def joined(kind=None, *ends, **values):
    mech = mechanism()
    given = ends or (mech.ground, mech.bodies["arm"])
    return lambda: mech.add_joint("hinge", kind or bc.Revolute(), *given, **values)


def check_message(action, texts):
    """What is done is refused, and the message holds the texts in this order."""
    with pytest.raises(bc.MechanismError) as caught:
        action()
    message = str(caught.value)
    assert re.search(".*".join(map(re.escape, texts)), message, re.DOTALL), message
    for fault in caught.value.faults:
        assert fault.element
        assert fault.rule
