"""Where frames are recorded does not change how ropes go slack and are drawn taut."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.formulations.preparing import MOVING

INERTIA = (0.01,) * 3
END = 0.43  # s: the weight a has bounced, and its rope is slack
RUNS = [(f, m) for f in MOVING for m in ("adams", "dopri5", "bdf", "rk4", "semi_implicit_euler")]


def compound_pulley():
    """A pulley that hangs on a rope, and over it a rope between two weights, one of which bounces."""
    mech = bc.Mechanism("compound pulley")
    pulley = mech.add_body("pulley", 0.5, INERTIA)
    a = mech.add_body("a", 1.3, INERTIA, position=(-0.1, 0, -0.7))
    b = mech.add_body("b", 0.6, INERTIA, position=(0.1, 0, -0.5))
    counter = mech.add_body("counterweight", 3.1, INERTIA, position=(1, 0, -0.6))
    for body in (pulley, a, b, counter):
        stop = {"limits": bc.Limit(lower=-0.2, restitution=0.3)} if body is a else {}
        rail = mech.ground.marker(body.position)
        mech.add_joint(f"slide of {body.name}", bc.Prismatic(), rail, body, **stop)
    left, right = pulley.marker((-0.1, 0, 0)), pulley.marker((0.1, 0, 0))
    mech.add_constraint("lower rope", bc.Cable(slack=True), a, left, right, b)
    over = mech.ground.marker((0, 0, 1)), mech.ground.marker((1, 0, 1))
    mech.add_constraint("upper rope", bc.Cable(slack=True), pulley, *over, counter)
    return mech


@pytest.mark.parametrize(("formulation", "method"), [*RUNS, ("lagrange", "moreau"), ("recursive", "moreau")])
def test_frames_do_not_change_the_motion(formulation, method):
    step = {} if method in ("adams", "dopri5", "bdf") else {"step": 1e-4}
    ends = [
        bc.simulate(
            compound_pulley(), END, output_step=every, formulation=formulation, method=method, **step
        ).at(END)
        for every in (END, END / 43)
    ]
    np.testing.assert_allclose(ends[1].position, ends[0].position, atol=1e-12)
    np.testing.assert_allclose(ends[1].velocity, ends[0].velocity, atol=1e-11)
