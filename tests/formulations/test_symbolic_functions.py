"""Functions of time become part of the equations of `symbolic`: the same numbers, and constants that fold."""

import numpy as np
import pytest

import bellcrank as bc
import bellcrank.expression as ex
from bellcrank.expression.evaluation import evaluate

T = ex.t
FUNCTIONS = {
    "polynomial": 1.0 - 2.0 * T + 0.5 * T**3,
    "all of trigonometry": ex.sin(T) + ex.cos(2 * T) * ex.tan(0.3 * T) + ex.asin(0.1 * T) - ex.acos(0.2 * T),
    "others": ex.atan(T) + ex.atan2(T, 1 + T) + ex.sinh(0.1 * T) - ex.cosh(0.2 * T) + ex.tanh(T) + ex.exp(-T),
    "powers": (2 + T) ** 1.3 + ex.log(2 + T) / (1 + T) - ex.sqrt(3 + T) + (1 + T) ** (0.5 + T),
    "switches": abs(T - 2.5) + ex.sign(T) + ex.minimum(T, 0.4) - ex.maximum(T, 2.1) + ex.floor(T + 0.5),
    "pieces": ex.piecewise(T < 0.2, T**2, T <= 0.9, 0.4 * T, -T),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("time", [0.1, 0.35, 1.7])
def test_efforts_and_drives(name, time):
    def build(driven):
        mech = bc.Mechanism(gravity=(0, 0, 0))
        a = mech.add_body("a", mass=1.0, inertia=(0.4, 0.4, 0.5))
        mech.add_joint("j", bc.Revolute(), mech.ground, a)
        mech.add_force("m", bc.JointMotor(FUNCTIONS[name]), "j")
        if driven:
            mech.add_drive("d", "j", velocity=ex.sin(T) * T)
        return mech

    system = bc.prepare(build(False), "symbolic")
    state = system.state()
    system.set_state(type(state)(time, *state.arrays[1:]))
    expected = float(evaluate([FUNCTIONS[name]], {T: time})[0])
    assert system.joint_accelerations()[0] == pytest.approx(2.0 * expected, rel=1e-13)


def test_a_constant_effort_leaves_no_call():
    mech = bc.Mechanism(gravity=(0, 0, 0))
    a = mech.add_body("a", mass=1.0, inertia=(0.4, 0.4, 0.5))
    mech.add_joint("j", bc.Revolute(), mech.ground, a)
    mech.add_force("m", bc.JointMotor(5.0), "j")
    system = bc.prepare(mech, "symbolic")
    np.testing.assert_array_equal(system.joint_accelerations(), [10.0])
    assert sum(system.operations("accelerations").values()) == 0
    assert not system.program("accelerations").program.tables
