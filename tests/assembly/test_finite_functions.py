"""Functions of time without a value are told by the element that they belong to."""

import pytest

import bellcrank as bc
from bellcrank import expression as ex


def hinge():
    mech = bc.Mechanism("m")
    body = mech.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1))
    mech.add_joint("j", bc.Revolute(), mech.ground, body)
    return mech, body


@pytest.mark.parametrize(
    ("text", "said"),
    [("1/t", "no finite value"), ("sqrt(t)", "no finite rate")],
)
def test_a_drive_at_the_start(text, said):
    mech, _ = hinge()
    mech.add_drive("d", "j", position=text)
    with pytest.raises(bc.MechanismError, match=f"drive 'd': its function of time has {said}.* at t = 0 s"):
        bc.assemble(mech)
    assert bc.simulate(mech, duration=0.1, start=1.0).status == "finished"


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("t^2.5", 0.0),
        ("(2*t)^2.5", 0.0),
        ("sqrt(t)^5 + t^2", 2.0),
        ("t*t^1.5", 0.0),
        ("t*t^(4/3)", 0.0),
        ("t^2/sqrt(t)*t", 0.0),
    ],
)
@pytest.mark.parametrize("formulation", ["lagrange", "symbolic"])
def test_fractional_powers_at_zero(text, second, formulation):
    """Their first two derivatives there are limits: 0/0 as they come, but no poles."""
    mech, _ = hinge()
    mech.add_drive("d", "j", position=text)
    run = bc.simulate(mech, duration=1.0, step=1e-2, formulation=formulation, accelerations=True)
    assert run.body("b").angular_acceleration[0, 2] == pytest.approx(second, abs=1e-12)
    assert run.joint("j").position[0, 0] == run.joint("j").velocity[0, 0] == 0.0


def test_an_infinite_second_derivative():
    mech, _ = hinge()
    mech.add_drive("d", "j", position="t^1.5")
    with pytest.raises(bc.MechanismError, match=r"drive 'd': .* no finite second derivative at t = 0 s"):
        bc.assemble(mech)


@pytest.mark.parametrize("text", ["1/(t - 0.02)", "sqrt(0.0195 - t)", "log(-1 - t)"])
@pytest.mark.parametrize("formulation", ["lagrange", "symbolic"])
def test_a_force_during_the_run(text, formulation):
    mech, body = hinge()
    mech.add_force("free", bc.Wrench((0.0, "1 + t", 0.0)), body)
    mech.add_force("bad", bc.JointMotor(text), "j")
    with pytest.raises(
        bc.SimulationError, match="function of time of force 'bad' has no finite value"
    ) as told:
        bc.simulate(mech, duration=0.1, step=1e-3, formulation=formulation, method="rk4")
    assert "step of" not in str(told.value)


@pytest.mark.parametrize(
    ("method", "formula", "time"),
    [
        ("rk4", lambda s: s + ex.log(0.05 - ex.t), 0.05),
        ("adams", lambda s: s + ex.log(0.05 - ex.t), 0.05),
        ("bdf", lambda s: s + ex.log(0.05 - ex.t), 0.05),
        ("dopri5", lambda s: ex.sqrt(0.2 - s), 0.195),
    ],
)
@pytest.mark.parametrize("formulation", ["lagrange", "symbolic"])
def test_a_force_given_by_formulas(method, formula, time, formulation):
    mech = bc.Mechanism("m", gravity=(0, 0, 0))
    body = mech.add_body("b", mass=1.0, inertia=(1, 1, 1))
    mech.add_joint("j", bc.Prismatic(), mech.ground, body, velocity=1.0)
    end = bc.EndCoordinate("s")
    mech.add_force("good", bc.CustomForce(end, efforts=-0.1 * end.rate), "j")
    mech.add_force("odd", bc.CustomForce(end, efforts=formula(end.value)), "j")
    step = 0.01 if method == "rk4" else None
    with pytest.raises(bc.SimulationError, match="formulas of force 'odd' have no finite value") as told:
        bc.simulate(mech, 1.0, step=step, method=method, formulation=formulation)
    assert "step of" not in str(told.value)
    assert "good" not in str(told.value)
    assert float(str(told.value).rsplit("t = ", 1)[1].split()[0]) == pytest.approx(time, abs=0.002)
