"""Efforts of couplings are positive where they drive the first end up, between bodies as between joints."""

import numpy as np
import pytest

import bellcrank as bc

FORMULATIONS = ("lagrange", "recursive", "dca", "symbolic")
TORQUE, INERTIA, SHIFT = 0.6, 1.0, 0.3
WHEELS = [
    (bc.Gear(radii=(0.1, 0.2)), 0.1, 0.2),
    (bc.Gear(ratio=2.0), 1.0, 2.0),
    (bc.InternalGear(radii=(0.1, 0.4)), 0.1, -0.4),
    (bc.Belt(radii=(0.1, 0.2)), 0.1, -0.2),
    (bc.Belt(teeth=(10, 30), crossed=True), 1.0, 3.0),
]


def wheels(kind, ends):
    mech = bc.Mechanism("wheels", gravity=(0, 0, 0))
    for name, x in (("a", 0.0), ("b", SHIFT)):
        body = mech.add_body(name, mass=1, inertia=(INERTIA,) * 3, position=(x, 0, 0))
        mech.add_joint("j" + name, bc.Revolute(), mech.ground.marker((x, 0, 0)), body)
    mech.add_constraint("mesh", kind, *ends)
    return mech


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize(("kind", "one", "two"), WHEELS)
@pytest.mark.parametrize("ends", [("a", "b"), ("b", "a"), ("ja", "jb"), ("jb", "ja")])
def test_wheels(kind, one, two, ends, formulation):
    """The row one a + two b: λ = −one T/(one² + two²) where T turns wheel a, first end or second."""
    mech = wheels(kind, ends)
    mech.add_force("motor", bc.JointMotor(TORQUE), joint="ja")
    first = one if ends[0].endswith("a") else two
    expected = -first * TORQUE / (one**2 + two**2)
    effort = bc.prepare(mech, formulation).accelerate().constraint("mesh").effort
    assert effort == pytest.approx(expected, rel=1e-9)
    assert bc.simulate(mech, 0.1, formulation=formulation).constraint("mesh").effort == pytest.approx(
        expected, rel=1e-6
    )


@pytest.mark.parametrize("ends", [("a", "b"), ("ja", "jb")])
@pytest.mark.parametrize(("kind", "one", "two"), WHEELS)
def test_wheels_in_inverse_dynamics_and_statics(kind, one, two, ends):
    """What a wheel takes to speed up the other, or to hold it: its effort is against that of the motor."""
    mech = wheels(kind, ends)
    mech.add_drive("motor", "ja", position=bc.Polynomial((0.0, 0.0, 0.5)))
    mesh = bc.inverse_dynamics(mech, 0.5, 0.1).constraint("mesh")
    # Of wheel b: two λ = I b'', b'' = −one/two.
    assert mesh.effort == pytest.approx(-INERTIA * one / two**2, rel=1e-9)
    held = wheels(kind, ends)
    held.add_drive("brake", "ja", position=bc.Constant(0.0))
    held.add_force("load", bc.JointMotor(TORQUE), joint="jb")
    assert bc.statics(held).constraints["mesh"].effort == pytest.approx(-TORQUE / two, rel=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("ends", [("a", "b"), ("ja", "jb")])
def test_a_rack(ends, formulation):
    """A pinion that rolls along a rack that stands: the effort pushes the pinion along x."""
    radius, mass = 0.1, 2.0
    mech = bc.Mechanism("rack", gravity=(0, 0, 0))
    carriage = mech.add_body("carriage", mass=mass, inertia=(1, 1, 1))
    pinion = mech.add_body("pinion", mass=mass, inertia=(INERTIA,) * 3)
    mech.add_joint("ja", bc.PrismaticX(), mech.ground, carriage)
    mech.add_joint("jb", bc.Revolute(), carriage, pinion)
    given = {"a": mech.ground, "b": pinion}
    mech.add_constraint("teeth", bc.RackPinion(radius), *(given.get(end, end) for end in ends))
    mech.add_force("push", bc.JointMotor(TORQUE), joint="ja")
    acceleration = TORQUE / (2 * mass + INERTIA / radius**2)
    effort = bc.prepare(mech, formulation).accelerate().constraint("teeth").effort
    assert effort == pytest.approx(2 * mass * acceleration - TORQUE, rel=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("driven", [0, 1, 2])
def test_a_differential(driven, formulation):
    """The torque on side a: λ = −w T/6 for weights 1, 1, −2."""
    mech = bc.Mechanism("differential", gravity=(0, 0, 0))
    for k in range(3):
        body = mech.add_body(f"w{k}", mass=1, inertia=(INERTIA,) * 3)
        mech.add_joint(f"j{k}", bc.Revolute(), mech.ground, body)
    mech.add_constraint("row", bc.Differential(), "j0", "j1", "j2")
    mech.add_force("motor", bc.JointMotor(TORQUE), f"j{driven}")
    effort = bc.prepare(mech, formulation).accelerate().constraint("row").effort
    assert effort == pytest.approx(-(1.0, 1.0, -2.0)[driven] * TORQUE / 6.0, rel=1e-9)


def test_what_pushes_back_has_the_other_sign():
    """The motor's torque less what speeds wheel a up is left, and the effort times its radius is that."""
    mech = wheels(bc.Gear(radii=(0.1, 0.2)), ("a", "b"))
    mech.add_force("motor", bc.JointMotor(TORQUE), joint="ja")
    run = bc.simulate(mech, 0.1, accelerations=True)
    left = INERTIA * run.joint("ja").acceleration[:, 0] - TORQUE
    np.testing.assert_allclose(0.1 * run.constraint("mesh").effort, left, rtol=1e-8)
