"""Statics as one result: closed forms, and the balance of what is reported."""

import json
from math import cos, sin

import numpy as np
import pytest
from rigs.swinging import G, Y, parallelogram

import bellcrank as bc


def crane(angle=0.2, speed=0.0):
    """Two beams on hinges; the first is hoisted, a spring stays the second."""
    mech = bc.Mechanism("crane")
    boom = mech.add_body("boom", mass=50.0, inertia=(1, 20, 20), position=(1.0, 0, 0))
    mech.add_joint("foot", bc.Revolute(), mech.ground.marker(axis=Y), boom.marker((-1, 0, 0), axis=Y))
    mech.add_drive("hoist", "foot", position=f"{-angle} + {speed}*t")
    return mech, boom


def test_the_effort_that_a_drive_must_hold():
    mech, _ = crane(angle=0.2, speed=3.0)
    found = bc.statics(mech)
    # About +y a positive turn lowers the boom: the drive holds against its weight, downhill is positive.
    assert found.drives["hoist"].effort == pytest.approx(-50.0 * G * cos(0.2), rel=1e-12)
    assert found.drives["hoist"].units == ("N m",)
    np.testing.assert_allclose(found.joints["foot"].force, [0, 0, 50.0 * G], atol=1e-9)
    assert found.equilibrium.stability == "fixed"
    later = bc.statics(mech, 0.1)
    assert later.drives["hoist"].effort == pytest.approx(-50.0 * G * cos(0.1), rel=1e-12)
    assert later.position["foot"][0] == pytest.approx(0.1)


def test_the_mechanism_is_left_as_it_is():
    mech = parallelogram()[0]
    mech.add_force("push", bc.Wrench(force=(20.0, 0, 0)), "coupler")
    before = [body.position for body in mech.bodies.values()]
    found = bc.statics(mech)
    assert [body.position for body in mech.bodies.values()] == before
    angle = found.position["left pivot"][0]
    # Virtual work of the push, the coupler's weight and the cranks' halves, over the arm.
    assert 20.0 * cos(angle) == pytest.approx(abs((3.0 + 1.0) * G * sin(angle)), rel=1e-9)
    assert found.at.bodies["coupler"].position != before[0]
    assert found.equilibrium.stability == "stable"
    assert not found.joints["left pivot"].reaction_unique  # three rows too many


def test_reactions_balance_weight():
    mech = parallelogram()[0]
    found = bc.statics(mech)
    up = sum(found.joints[f"{side} pivot"].force for side in ("left", "right"))
    np.testing.assert_allclose(up, [0, 0, 5.0 * G], atol=1e-9)


def test_springs_limits_and_couplings_are_listed():
    mech, boom = crane()
    jib = mech.add_body("jib", mass=20.0, inertia=(1, 5, 5), position=(2.5, 0, 0))
    knee = {"limits": bc.Limit(-0.5, 0.3)}
    mech.add_joint(
        "knee", bc.Revolute(), boom.marker((1, 0, 0), axis=Y), jib.marker((-0.5, 0, 0), axis=Y), **knee
    )
    found = bc.statics(mech)
    # The jib falls onto its stop, which bears its weight about the knee.
    assert found.position["knee"][0] == pytest.approx(0.3, abs=1e-9)
    assert found.limits["knee"].efforts.sum() == pytest.approx(-20.0 * G * 0.5 * cos(0.1), rel=1e-9)
    text = str(found)
    assert "drive hoist" in text
    assert "limit knee" in text
    mech.add_force("stay", bc.TorsionSpring(stiffness=5e3), joint="knee")
    found = bc.statics(mech)
    (effort,) = found.forces["stay"].values()
    assert effort == pytest.approx(-5e3 * found.position["knee"][0])
    assert effort == pytest.approx(-20.0 * G * 0.5 * cos(-0.2 + found.position["knee"][0]), rel=1e-8)
    content = json.loads(json.dumps(found.to_dict()))
    assert content["drives"]["hoist"]["effort"] == found.drives["hoist"].effort
    assert content["stability"] == "stable"


def test_it_is_drawn_with_arrows(tmp_path):
    pytest.importorskip("matplotlib")
    found = bc.statics(crane()[0])
    found.draw(tmp_path / "crane.png", dpi=60)
    assert (tmp_path / "crane.png").stat().st_size > 1000
    with pytest.raises(bc.MechanismError, match="kind of picture"):
        found.draw(tmp_path / "crane.txt")


def test_what_has_no_rest_is_refused():
    mech = bc.Mechanism("stone")
    mech.add_body("stone", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(bc.AssemblyError, match="comes to no rest"):
        bc.statics(mech, iterations=20)
    with pytest.raises(bc.MechanismError):
        bc.statics(mech, iterations=0)
    with pytest.raises(bc.MechanismError):
        bc.statics("crane")
