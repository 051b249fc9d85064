"""What constraints leave of the linearized equations: against closed forms and against runs."""

import numpy as np
import pytest

import bellcrank as bc
import bellcrank.expression as ex

P = bc.EndPose("p")


def linearized(mech, **options):
    system = bc.prepare(mech, "symbolic", **options)
    return system.linearize(system.project())


def four_bar(cut=None):
    """A parallelogram of equal bars that hangs down: a pendulum with closing rows."""
    mech = bc.Mechanism("swing", gravity=(0, 0, -9.81))
    left = mech.add_body("left", mass=0.7, inertia=(0.02, 0.02, 0.001), position=(0, 0, -0.5))
    right = mech.add_body("right", mass=0.7, inertia=(0.02, 0.02, 0.001), position=(0.8, 0, -0.5))
    seat = mech.add_body("seat", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0.4, 0, -1.0))
    y = {"axis": (0, 1, 0)}
    mech.add_joint("a", bc.Revolute(), mech.ground.marker(**y), left.marker((0, 0, 0.5), **y))
    mech.add_joint("b", bc.Revolute(), left.marker((0, 0, -0.5), **y), seat.marker((-0.4, 0, 0), **y))
    mech.add_joint("c", bc.Revolute(), right.marker((0, 0, -0.5), **y), seat.marker((0.4, 0, 0), **y))
    mech.add_joint("d", bc.Revolute(), mech.ground.marker((0.8, 0, 0), **y), right.marker((0, 0, 0.5), **y))
    return mech


@pytest.mark.parametrize("cut", [(), ("a",), ("c",)])
def test_a_loop_swings_as_its_pendulum_does(cut):
    found = linearized(four_bar(), **({"cut": cut} if cut else {}))
    matrix = found.state_matrix()
    assert (len(matrix.displacements), len(matrix.speeds)) == (1, 1)
    inertia = 2 * (0.02 + 0.7 * 0.25) + 2.0
    stiffness = 9.81 * (2 * 0.7 * 0.5 + 2.0)
    np.testing.assert_allclose(
        sorted(matrix.eigenvalues().imag), np.sqrt(stiffness / inertia) * np.array([-1.0, 1.0]), rtol=1e-12
    )
    effort = matrix.effort[1]
    assert effort[[s.name for s in found.speeds].index(matrix.speeds[0])] != 0.0


@pytest.mark.parametrize("spin", [5.0, 30.0])
def test_a_sleeping_top(spin):
    """With axial symmetry A λ² - i C Ω λ - m g l = 0 in axes at rest; those of the ball turn with the top."""
    mech = bc.Mechanism("top", gravity=(0, 0, -9.81))
    top = mech.add_body(
        "top", mass=1.0, inertia=(0.01, 0.01, 0.015), position=(0, 0, 0.2), angular_velocity=(0, 0, spin)
    )
    mech.add_joint("tip", bc.Spherical(), mech.ground, top.marker((0, 0, -0.2)))
    about, weight = 0.01 + 0.04, 9.81 * 0.2
    roots = np.roots([about, -1j * 0.015 * spin, -weight]) - 1j * spin
    expected = np.array([*roots, *roots.conj()])
    found = linearized(mech).state_matrix().eigenvalues()
    found = found[np.abs(found) > 1e-9]
    for value in expected:
        assert np.min(np.abs(found - value)) < 1e-9 * abs(value)
    assert len(found) == 4


def test_conditions_of_velocities_leave_displacements():
    """The turning of a sleigh that runs on dies out at the rate m a v/(I + m a²)."""
    mech = bc.Mechanism("sleigh", gravity=(0, 0, 0))
    body = mech.add_body("sleigh", mass=2.0, inertia=(1, 1, 0.5), velocity=(3.0, 0, 0))
    mech.add_joint("ice", bc.Planar(), mech.ground, body)
    blade = ex.dot(P.velocity, P.y_axis)
    mech.add_constraint("blade", bc.VelocityConstraint(P, blade), body.marker((-0.3, 0, 0)))
    matrix = linearized(mech).state_matrix()
    assert (len(matrix.displacements), len(matrix.speeds)) == (3, 2)
    values = matrix.eigenvalues()
    np.testing.assert_allclose(values, [0, 0, 0, 0, -2.0 * 0.3 * 3.0 / (0.5 + 2.0 * 0.09)], atol=1e-12)


def test_names():
    found = linearized(four_bar())
    assert found.state_matrix(["a.theta_z"]).displacements == ("a.theta_z",)
    with pytest.raises(bc.MechanismError, match="speed 'hinge': is none of these"):
        found.state_matrix(["hinge"])
    names = [s.name for s in found.speeds]
    with pytest.raises(bc.MechanismError, match="cannot lead displacements beside"):
        found.state_matrix(names[:2])
    matrix = found.state_matrix()
    with pytest.raises(bc.MechanismError, match="is none of these"):
        matrix.part(["x"], [])
    np.testing.assert_allclose(matrix.part(matrix.displacements, matrix.speeds), matrix.matrix)
