"""What is given by formulas in the symbolic formulation: against lagrange and against closed forms."""

import numpy as np
import pytest

import bellcrank as bc
import bellcrank.expression as ex

U, V, W = bc.symbols("u v w")
A, B, C = bc.symbols("a b c")
P, Q = bc.EndPose("p"), bc.EndPose("q")
J, K = bc.EndCoordinate("j"), bc.EndCoordinate("k")
SPHERE = (0.4 * ex.cos(A) * ex.cos(B), 0.4 * ex.sin(A) * ex.cos(B), 0.4 * ex.sin(B))
DISH = (U, V, 0.1 * (U * U + V * V))
KINDS = {
    "one coordinate": bc.CustomJoint(U, ex.translation(ex.cos(U), 0, 0.2 * U) @ ex.rotation_z(U)),
    "two coordinates": bc.CustomJoint(
        (U, V), ex.rotation_x(U) @ ex.translation(0, V * V, V) @ ex.rotation_y(V)
    ),
    "six coordinates": bc.CustomJoint(
        (U, V, W, A, B, C), ex.translation(U, V, W) @ ex.rotation_x(A) @ ex.rotation_y(B) @ ex.rotation_z(C)
    ),
    "Frenet": bc.PathJoint(U, (ex.cos(U), ex.sin(U), 0.3 * U), unit="rad"),
    "path": bc.PathJoint(U, (U, ex.sin(U), 0.2 * U), up=(0, 0, 1)),
    "surface": bc.SurfaceJoint((A, B), SPHERE),
    "surface with spin": bc.SurfaceJoint((A, B), SPHERE, spin=C),
    "surface on surface": bc.SurfaceOnSurface((U, V), DISH, (A, B), SPHERE, spin=C),
    "rolling": bc.Rolling((U, V), DISH, (A, B), SPHERE, spin=C),
}
START = {"u": 0.7, "v": 0.5, "w": -0.3, "a": 0.4, "b": 0.8, "c": 1.1}


def joined(kind, seed=3, hung=True, swapped=False):
    """Two bodies that move at random, a joint of formulas between them, one of them on a ball joint."""
    mech = bc.Mechanism("joined", gravity=(0.3, -0.5, -9.81))
    rng = np.random.default_rng(seed)
    for name in ("one", "two"):
        mech.add_body(
            name,
            mass=rng.uniform(0.5, 2.0),
            inertia=rng.uniform(0.08, 0.12, 3),
            com=rng.uniform(-0.1, 0.1, 3),
            velocity=rng.uniform(-1.0, 1.0, 3),
            angular_velocity=rng.uniform(-1.0, 1.0, 3),
        )
    one, two = mech.bodies["one"], mech.bodies["two"]
    if hung:
        mech.add_joint("hung", bc.Spherical(), mech.ground, (two if swapped else one).marker((0.2, 0.1, 0.0)))
    start = {name: START[name] for name in kind.free}
    mech.add_joint("joint", kind, one.marker((0.1, 0.2, -0.1)), two.marker((-0.2, 0.1, 0.3)), position=start)
    return mech


def compare(mechanism, tolerance=1e-9):
    """Accelerations, coordinates and energies of the two formulations at one state."""
    first, second = (bc.prepare(mechanism, name) for name in ("lagrange", "symbolic"))
    second.set_state(first.project())
    a, b = first.accelerate(), second.accelerate()
    scale = max(1.0, np.abs(a.linear).max(), np.abs(a.angular).max())
    np.testing.assert_allclose(b.linear, a.linear, atol=tolerance * scale)
    np.testing.assert_allclose(b.angular, a.angular, atol=tolerance * scale)
    np.testing.assert_allclose(
        b.reactions, a.reactions, atol=1e-8 * max(1.0, np.abs(a.reactions).max(initial=0))
    )
    np.testing.assert_allclose(second.core.energy(), first.core.energy(), atol=1e-9)
    np.testing.assert_allclose(second.core.coordinates(), first.core.coordinates(), atol=1e-9)
    return second


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("name", KINDS)
def test_joints(name, swapped):
    system = compare(joined(KINDS[name], swapped=swapped))
    rolling = KINDS[name].rolling
    assert len(system.closing_rows) == len(rolling)
    assert len(system.speeds) == 3 + len(KINDS[name].free)


def test_speeds_have_the_names_of_the_coordinates():
    system = compare(joined(KINDS["two coordinates"]))
    assert [speed.kind for speed in system.speeds if speed.joint == "joint"] == ["u", "v"]
