"""Contacts in the symbolic formulation: what they exert is an input of the generated programs."""

import numpy as np
import pytest

import bellcrank as bc

CONTACT = bc.Contact(stiffness=3e4, restitution=0.4, friction=0.35, joined=True)


def linkage(loop):
    """Two links, or a four-bar linkage, whose coupler carries a ball that presses on a plate."""
    mech = bc.Mechanism("linkage")
    y = (0.0, 1.0, 0.0)
    mech.replace(mech.ground, shapes=[bc.Plane(position=(0.0, 0.0, -0.12))])
    tip = bc.Sphere(radius=0.03, position=(0.1, 0.02, -0.1), density=500.0)
    crank = mech.add_body("crank", mass=0.4, inertia=(1e-4, 1e-3, 1e-3), position=(0.1, 0.0, 0.0))
    coupler = mech.add_body(
        "coupler", mass=0.5, inertia=(2e-3, 3e-3, 2e-3), shapes=[tip], position=(0.3, 0.0, 0.0)
    )
    mech.add_joint("a", bc.Revolute(), mech.ground.marker(axis=y), crank.marker((-0.1, 0.0, 0.0), axis=y))
    mech.add_joint(
        "b", bc.Revolute(), crank.marker((0.1, 0.0, 0.0), axis=y), coupler.marker((-0.1, 0, 0), axis=y)
    )
    if loop:
        rocker = mech.add_body("rocker", mass=0.3, inertia=[1e-3] * 3, position=(0.4, 0.0, 0.1))
        mech.add_joint(
            "c", bc.Revolute(), coupler.marker((0.1, 0, 0), axis=y), rocker.marker((0, 0, -0.1), axis=y)
        )
        support = mech.ground.marker((0.4, 0.0, 0.2), axis=y)
        mech.add_joint("d", bc.Revolute(), support, rocker.marker((0, 0, 0.1), axis=y))
    mech.add_force("floor", CONTACT, "coupler", "ground")
    return mech


@pytest.mark.parametrize("loop", [False, True])
def test_accelerations_reactions_and_efforts_are_those_of_others(loop):
    mech = linkage(loop)
    run = bc.simulate(mech, 0.4, formulation="lagrange", tolerance=1e-9, output_step=0.01)
    pressed = [k for k in range(len(run.time)) if len(run.contact("floor").points(k).gap)]
    assert len(pressed) > 3
    symbolic = bc.prepare(mech, "symbolic")
    for k in pressed[:: max(1, len(pressed) // 5)]:
        state = run.at(run.time[k])
        expected, found = bc.prepare(mech, "lagrange").accelerate(state), symbolic.accelerate(state)
        scale = max(1.0, np.abs(expected.linear).max())
        assert found.linear == pytest.approx(expected.linear, abs=1e-9 * scale)
        assert found.angular == pytest.approx(expected.angular, abs=1e-8 * scale)
        if not loop:
            a = symbolic.joint_accelerations(state)
            assert symbolic.mass_matrix() @ a == pytest.approx(symbolic.bias(), abs=1e-9 * scale)
            assert symbolic.inverse_dynamics(a) == pytest.approx(np.zeros(len(a)), abs=1e-9 * scale)


@pytest.mark.parametrize("method", ["dopri5", "bdf"])
def test_runs_agree_and_pass_the_judge(method):
    mech = linkage(loop=True)
    runs = [
        bc.simulate(
            mech, 0.3, formulation=name, method=method, tolerance=1e-9, output_step=0.01, reactions=True
        )
        for name in ("lagrange", "symbolic")
    ]
    one, two = (run.body("coupler").position for run in runs)
    assert two == pytest.approx(one, abs=1e-6)
    assert runs[1].joint("a").force == pytest.approx(runs[0].joint("a").force, abs=0.05)
    assert bc.verify(runs[1]).passed


def test_native_code_gives_the_same_numbers():
    pytest.importorskip("llvmlite")
    mech = linkage(loop=False)
    state = bc.simulate(mech, 0.2, formulation="lagrange", tolerance=1e-9).at(0.2)
    plain, native = bc.prepare(mech, "symbolic"), bc.prepare(mech, "symbolic")
    native.compile()
    assert native.accelerate(state).linear == pytest.approx(plain.accelerate(state).linear, rel=1e-12)


def test_forms_that_would_leave_contacts_out_are_refused(tmp_path):
    system = bc.prepare(linkage(loop=False), "symbolic")
    for call in (system.linearize, system.equations, lambda: system.export_c(tmp_path / "linkage.c")):
        with pytest.raises(bc.Unsupported, match="cannot take contacts: force 'floor'"):
            call()
    assert not list(tmp_path.iterdir())
