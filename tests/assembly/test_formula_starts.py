"""Joints given by formulas start where their formulas say, whatever the placement of the bodies."""

import numpy as np
import pytest

import bellcrank as bc
import bellcrank.expression as ex
from bellcrank.expression.evaluation import evaluate
from bellcrank.integrate.advance import Outcome
from bellcrank.integrate.failure import explain
from bellcrank.integrate.methods import method_options
from bellcrank.mechanism.rotation import matrix

U, V, W = bc.symbol("u"), bc.symbol("v"), bc.symbol("w")
KNOT = ((2 + ex.cos(3 * U)) * ex.cos(2 * U), (2 + ex.cos(3 * U)) * ex.sin(2 * U), ex.sin(3 * U))
SPHERE = (ex.cos(U) * ex.cos(V), ex.sin(U) * ex.cos(V), ex.sin(V))
FAR = {"position": (9.0, -7.0, 5.0), "rotation": (0.1, 0.7, -0.5, 0.5)}


def body(mech, name, **placed):
    return mech.add_body(name, mass=1.0, inertia=(0.1, 0.2, 0.15), **placed)


def unit(q):
    return tuple(float(x) for x in np.array(q) / np.linalg.norm(q))


def expected_pose(kind, values):
    """Of marker 2 seen from marker 1, from the kind's own transform."""
    pose = kind.transform
    formulas = [*pose.position, *(e for row in pose.rotation for e in row)]
    found = np.array(evaluate(formulas, dict(zip(kind.own_symbols, values, strict=True))))
    return found[:3], found[3:].reshape(3, 3)


@pytest.mark.parametrize("u", [-4.0, 0.3, 2.9, 11.0])
def test_along_a_knot_that_nearly_meets_itself(u):
    mech = bc.Mechanism(gravity=(0, 0, 0))
    a, b = body(mech, "a", **{**FAR, "rotation": unit(FAR["rotation"])}), body(mech, "b", position=(8, -7, 5))
    kind = bc.PathJoint(U, KNOT)
    mech.add_joint("wire", kind, mech.ground, a, position=u, velocity=1.5)
    mech.add_joint("next", bc.Revolute(), a.marker((0.5, 0, 0)), b, position=0.4)
    report = bc.assemble(mech)
    assert report.steps == 0
    assert report.method == "joint positions"
    at, R = expected_pose(kind, [u])
    np.testing.assert_allclose(mech.bodies["a"].position, at, atol=1e-14)
    np.testing.assert_allclose(matrix(mech.bodies["a"].rotation), R, atol=1e-13)
    slope = [
        (p - m) / 2e-6
        for p, m in zip(expected_pose(kind, [u + 1e-6])[0], expected_pose(kind, [u - 1e-6])[0], strict=True)
    ]
    np.testing.assert_allclose(mech.bodies["a"].velocity, 1.5 * np.array(slope), rtol=1e-7, atol=1e-7)
    for name in ("lagrange", "symbolic"):
        run = bc.simulate(mech, duration=0.01, step=1e-3, formulation=name)
        assert run.joint("wire").position[0, 0] == pytest.approx(u, abs=1e-12)


@pytest.mark.parametrize("swapped", [False, True])
def test_markers_off_the_frames_and_either_order_of_bodies(swapped):
    mech = bc.Mechanism(gravity=(0, 0, 0))
    a, b = body(mech, "a"), body(mech, "b", position=(1, 2, 3))
    tilt = {"rotation": unit((0.9, 0.2, -0.3, 0.1))}
    mech.add_joint("base", bc.Revolute(), mech.ground, a, position=0.7, velocity=0.5)
    ends = [a.marker((0.1, 0.2, 0.3), **tilt), b.marker((0.3, -0.2, 0.1), **tilt)]
    kind = bc.SurfaceJoint((U, V), SPHERE, spin=W)
    start, rates = {"u": 0.4, "v": 0.9, "w": -2.0}, {"u": 0.3, "v": -0.2, "w": 1.0}
    mech.add_joint("ball", kind, *(reversed(ends) if swapped else ends), position=start, velocity=rates)
    report = bc.assemble(mech)
    assert report.steps == 0
    assert report.error < 1e-13
    system = bc.prepare(mech, "lagrange")
    record = system.model.joint("ball")
    values, speeds = system.core.coordinates()
    np.testing.assert_allclose(values[list(record.coordinates)], list(start.values()), atol=1e-12)
    np.testing.assert_allclose(speeds[list(record.coordinates)], list(rates.values()), atol=1e-12)


def test_what_is_not_given_stays_near():
    mech = bc.Mechanism(gravity=(0, 0, 0))
    a = body(mech, "a", position=(0.0, 1.05, 0.1), rotation=unit((1.0, -1.0, 0.0, 0.0)))
    mech.add_joint("ball", bc.SurfaceJoint((U, V), SPHERE, spin=W), mech.ground, a, position={"u": 1.4})
    bc.assemble(mech)
    assert np.linalg.norm(np.array(mech.bodies["a"].position) - (0.0, 1.05, 0.1)) < 0.3
    assert np.arctan2(mech.bodies["a"].position[1], mech.bodies["a"].position[0]) == pytest.approx(
        1.4, abs=1e-9
    )


@pytest.mark.parametrize(
    ("kind", "start", "said"),
    [
        (bc.SurfaceJoint((U, V), SPHERE, spin=W), (0.3, np.pi / 2, 0.1),
         "at u = 0.3, v = 1.5708, w = 0.1 it hardly moves with u and w"),
        (bc.PathJoint(U, (U**2, U**3, 0)), 0.0, "joint 'j': it cannot start here: its formulas have"),
        (bc.PathJoint(U, (U, U**3, 0)), 0.0, "have no finite value or derivative at u = 0"),
        (bc.CustomJoint(U, ex.translation(ex.sqrt(U), 0, 0)), -1.0, "no finite value or derivative at"),
        (bc.CustomJoint(U, ex.translation(U**2, 0, 0)), 0.0, "no finite value|hardly moves with u|pole"),
    ],
)  # fmt: skip
def test_starts_that_cannot_be(kind, start, said):
    mech = bc.Mechanism()
    mech.add_joint("j", kind, mech.ground, body(mech, "a"), position=start)
    with pytest.raises(bc.MechanismError, match=said):
        bc.assemble(mech)


def test_a_run_into_a_pole_says_so():
    mech = bc.Mechanism(gravity=(0.1, 0, -9.81))
    start, rates = {"u": 0.3, "v": 0.5, "w": 0.0}, {"u": 0.0, "v": 1.0, "w": 0.0}
    kind = bc.SurfaceJoint((U, V), SPHERE, spin=W)
    mech.add_joint("ball", kind, mech.ground, body(mech, "a"), position=start, velocity=rates)
    with pytest.raises(bc.SimulationError, match=r"joint 'ball' \(SurfaceJoint\) ran into a pole"):
        bc.simulate(mech, duration=3.0, formulation="symbolic", method="rk4", step=1e-2)


def test_a_pole_at_hand_is_named():
    mech = bc.Mechanism()
    kind = bc.SurfaceJoint((U, V), SPHERE, spin=W)
    mech.add_joint("ball", kind, mech.ground, body(mech, "a"), position=(0.3, 1.55, 0.0))
    bc.assemble(mech)
    system = bc.prepare(mech, "symbolic")
    outcome = Outcome("step_vanished", 0.5, 10, 0, 0, 1e-3, 0.0, 1, 1, 0, 0, 0, 0, -1)
    told = explain(system.model, system.core, method_options("dopri5", 1.0), outcome).message
    assert "joint 'ball': at u = 0.3, v = 1.55, w = " in told
    assert "it hardly moves with u and w (a pole or a cusp)" in told
    assert "jumps" not in told
