"""The symbolic formulation against the lagrange one, closed forms and its own definition, equation 13."""

import numpy as np
import pytest
from rigs import examples, floating, linkages

import bellcrank as bc
from bellcrank.errors import Unsupported
from bellcrank.mechanism import JOINT_KINDS

REFUSED = {"PointOnCurve"}
JOINTS = [name for name in JOINT_KINDS if name not in REFUSED]
LOOPS = {
    "four-bar": linkages.four_bar,
    "parallelogram": linkages.parallelogram,
    "five-bar": linkages.five_bar,
    "slider-crank": linkages.slider_crank,
    "bennett": linkages.bennett,
    "door": linkages.door,
    "carriage": linkages.carriage,
}


def both(mechanism):
    """The two systems at one projected state."""
    first, second = (bc.prepare(mechanism, name) for name in ("lagrange", "symbolic"))
    second.set_state(first.project())
    return first, second


def compare(mechanism, tolerance=1e-9):
    first, second = both(mechanism)
    a, b = first.accelerate(), second.accelerate()
    scale = max(1.0, np.abs(a.linear).max(), np.abs(a.angular).max())
    np.testing.assert_allclose(b.linear, a.linear, atol=tolerance * scale)
    np.testing.assert_allclose(b.angular, a.angular, atol=tolerance * scale)
    np.testing.assert_array_equal(b.unique, a.unique)
    if a.multipliers.size and not first.stats.dropped:
        np.testing.assert_allclose(
            b.multipliers, a.multipliers, atol=1e-8 * max(1.0, np.abs(a.multipliers).max())
        )
    if a.reactions.size:
        np.testing.assert_allclose(b.reactions, a.reactions, atol=1e-8 * max(1.0, np.abs(a.reactions).max()))
    np.testing.assert_allclose(second.core.energy(), first.core.energy(), atol=1e-9)
    np.testing.assert_allclose(second.core.coordinates(), first.core.coordinates(), atol=1e-9)
    return second


@pytest.mark.parametrize("name", JOINTS)
def test_joints(name):
    compare(floating.pair(examples.joint(name), seed=2, hung=True).mechanism)


@pytest.mark.parametrize(
    ("kind", "ends"), [case[1:] for case in examples.forces()], ids=[c[0] for c in examples.forces()]
)
def test_forces(kind, ends):
    compare(floating.forced(kind, ends, seed=2).mechanism)


@pytest.mark.parametrize(
    ("kind", "ends"),
    [case[1:] for case in examples.constraints()],
    ids=[c[0] for c in examples.constraints()],
)
def test_constraints(kind, ends):
    compare(floating.constrained(kind, ends, seed=2).mechanism)


@pytest.mark.parametrize("name", LOOPS)
def test_loops(name):
    system = compare(LOOPS[name]())
    assert system.closing_rows


def test_what_it_cannot_take():
    with pytest.raises(Unsupported, match="no formula for the coordinate curve_normal_1"):
        bc.prepare(floating.pair(examples.joint("PointOnCurve")).mechanism, "symbolic")
    mech = bc.Mechanism("stop")
    body = mech.add_body("bar", mass=1.0, inertia=(1.0, 1.0, 1.0))
    limit = {"theta_z": bc.Limit(lower=-1.0)}
    mech.add_joint("pivot", bc.Revolute(), mech.ground.marker(), body.marker(), limits=limit)
    with pytest.raises(Unsupported, match="no stops"):
        bc.prepare(mech, "symbolic")
