"""The five sticks and fifteen strings of Schröder's thesis, section 7.2, by its script's data."""

import numpy as np

import bellcrank as bc

PLACES = ((6, -15, 10), (0, -12, 10), (-1, -17, 10), (0, -18, 10), (4, -18, 10))
INERTIA = (0.104167, 8.35417, 8.41667)
LOW, HIGH, NEAR, FAR = (-4, -0.5, 0), (4, 0.5, 0), (-4, 0.5, 0), (4, -0.5, 0)


def tensegrity(damping=None):
    """Sticks of 8 m along z, a string from each to the next at either end and one across.

    damping: of the bodies, N s/m and N m s/rad; None for none.
    """
    mech = bc.Mechanism("tensegrity", gravity=(0, 0, 0))
    half = np.sqrt(0.5)
    sticks = [
        mech.add_body(f"stick{i}", 1.0, INERTIA, position=place, rotation=(half, 0, half, 0))
        for i, place in enumerate(PLACES)
    ]
    string = bc.RubberString(stiffness=20.0, rest_length=4.0, restitution=0.1)
    for i in range(5):
        one, two = sticks[i], sticks[(i + 1) % 5]
        mech.add_force(f"stringB{i + 1}", string, one.marker(LOW), two.marker(LOW))
        mech.add_force(f"stringM{(i + 1) % 5 + 1}", string, two.marker(NEAR), one.marker(FAR))
        mech.add_force(f"stringT{(i + 1) % 5 + 1}", string, one.marker(HIGH), two.marker(HIGH))
        if damping is not None:
            mech.add_force(f"damping{i}", bc.BodyDamping(damping, damping), one)
    return mech
