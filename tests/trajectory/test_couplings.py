"""Efforts of constraints and accelerations of joints in results, against closed forms."""

import numpy as np
import pytest

import bellcrank as bc

G = 9.81


def wheels(kind, torque=0.5):
    mech = bc.Mechanism("wheels", gravity=(0, 0, 0))
    one = mech.add_body("one", 1.0, (0.01, 0.01, 0.02))
    two = mech.add_body("two", 1.0, (0.03, 0.03, 0.05), position=(0.3, 0, 0))
    mech.add_joint("j1", bc.Revolute(), mech.ground, one)
    mech.add_joint("j2", bc.Revolute(), mech.ground.marker((0.3, 0, 0)), two)
    mech.add_constraint("mesh", kind, one, two)
    mech.add_force("motor", bc.JointMotor(torque), joint="j1")
    return mech


@pytest.mark.parametrize(
    ("kind", "lever", "unit"),
    [
        (bc.Gear(radii=(0.1, 0.2)), 0.2, "N"),
        (bc.Gear(ratio=2.0), 2.0, "N m"),
        (bc.Gear(teeth=(20, 40)), 2.0, "N m"),
        (bc.Belt(radii=(0.1, 0.2)), 0.2, "N"),
    ],
)
def test_the_force_at_the_teeth(kind, lever, unit, tmp_path):
    """J1 a + J2 a / 4 = T for a ratio of two; what drives wheel 2 is J2 a / 2."""
    run = bc.simulate(wheels(kind), 0.1, path=tmp_path / "run.h5")
    angular = 0.5 / (0.02 + 0.05 / 4)
    mesh = run.constraint("mesh")
    assert run.constraints == ("mesh",)
    assert mesh.unit == unit
    assert np.abs(mesh.effort) == pytest.approx(0.05 * angular / 2 / lever, rel=1e-9)
    assert run.to_dict()[f"constraint.mesh.effort [{unit}]"] == pytest.approx(mesh.effort)


def test_the_tension_of_a_cable_and_of_a_winch():
    """Atwood's machine: 2 m1 m2 g / (m1 + m2); and a weight on a drum: m g J / (J + m r^2)."""
    mech = bc.Mechanism("atwood", gravity=(0, 0, -G))
    for name, mass, x in (("light", 1.0, -0.2), ("heavy", 2.0, 0.2)):
        body = mech.add_body(name, mass, (1, 1, 1), position=(x, 0, -1))
        guide = mech.ground.marker((x, 0, 0))
        mech.add_joint(f"guide {name}", bc.Prismatic(), guide, body)
    tops = [mech.ground.marker((-0.2, 0, 1)), mech.ground.marker((0.2, 0, 1))]
    mech.add_constraint("cable", bc.Cable(), mech.bodies["light"], *tops, mech.bodies["heavy"])
    drum = mech.add_body("drum", 1.0, (0.1, 0.1, 0.1), position=(2, 0, 0))
    load = mech.add_body("load", 4.0, (1, 1, 1), position=(2, 0, -2))
    mech.add_joint(
        "axle", bc.Revolute(), mech.ground.marker((2, 0, 0), axis=(0, 1, 0)), drum.marker(axis=(0, 1, 0))
    )
    mech.add_joint("shaft", bc.Prismatic(), mech.ground.marker((2, 0, 0)), load)
    mech.add_constraint("winch", bc.Winch(radius=0.2), "axle", mech.ground.marker((2, 0, 0)), load)
    run = bc.simulate(mech, 0.2)
    assert run.constraint("cable").effort == pytest.approx(2 * 2 * G / 3, rel=1e-9)
    assert run.constraint("winch").effort == pytest.approx(4 * G * 0.1 / (0.1 + 4 * 0.04), rel=1e-9)
    assert {run.constraint(name).unit for name in run.constraints} == {"N"}


def test_unknown_constraints():
    with pytest.raises(bc.MechanismError, match="no constraint of this name; did you mean 'mesh'"):
        bc.simulate(wheels(bc.Gear(ratio=2.0)), 0.01).constraint("mess")


def test_accelerations_of_joints(tmp_path):
    """A pendulum's: m g d sin / J. A universal and a sliding joint's: against differences of the rates."""
    mech = bc.Mechanism("swing", gravity=(0, 0, -G))
    rod = mech.add_body("rod", 1.0, (0.01, 0.1, 0.1), com=(0.5, 0, 0))
    y = {"axis": (0, 1, 0)}
    mech.add_joint("pivot", bc.Revolute(), mech.ground.marker(**y), rod.marker(**y), velocity=2.0)
    bob = mech.add_body("bob", 0.5, (0.01, 0.02, 0.03), com=(0.1, 0.2, 0))
    joint = mech.add_joint("cross", bc.Universal(), mech.ground, bob, velocity=(3.0, -2.0))
    ring = mech.add_body("ring", 0.2, (0.01, 0.02, 0.03), position=(0, 0, 0.5))
    mech.add_joint("slide", bc.Cylindrical(), bob, ring, velocity={"theta_z": 4.0})
    run = bc.simulate(mech, 1.0, accelerations=True, output_step=1e-3, path=tmp_path / "run.h5")
    angle = run.joint("pivot").position[:, 0]
    expected = 0.5 * G * np.cos(angle) / (0.1 + 0.25)
    assert run.joint("pivot").acceleration[:, 0] == pytest.approx(expected, abs=1e-8)
    for name in (joint.name, "slide"):
        history = run.joint(name)
        slopes = (history.velocity[2:] - history.velocity[:-2]) / 2e-3
        size = np.max(np.abs(history.acceleration))
        assert history.acceleration[1:-1] == pytest.approx(slopes, abs=1e-4 * size)
    assert "joint.pivot.theta_z.acceleration [rad/s^2]" in run.to_dict()
    with pytest.raises(bc.MechanismError, match="simulate with accelerations=True"):
        _ = bc.simulate(mech, 0.01).joint("pivot").acceleration


def test_kinematics_tell_accelerations_of_joints():
    """A crank led by t^2 turns with an acceleration of 2."""
    mech = bc.Mechanism("crank", gravity=(0, 0, 0))
    crank = mech.add_body("crank", 1.0, (1, 1, 1))
    mech.add_joint("pivot", bc.Revolute(), mech.ground, crank)
    mech.add_drive("motor", "pivot", position=bc.Polynomial((0.0, 0.0, 1.0)))
    assert bc.kinematics(mech, 1.0, 0.1).joint("pivot").acceleration == pytest.approx(2.0, abs=1e-10)
