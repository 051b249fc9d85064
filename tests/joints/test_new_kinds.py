"""A coordinate or a force law is one C++ file, which every formulation takes (tests/rigs/kinds)."""

import numpy as np
import pytest
from rigs.compiled import need_rigs

import bellcrank as bc
from bellcrank import _core, gallery
from bellcrank.formulations.preparing import MOVING
from bellcrank.mechanism.coordinate import COORDINATE_KINDS, Coordinate, CoordinateKind
from bellcrank.mechanism.rows import Law, Lowered, lock
from bellcrank.mechanism.springs import pairwise


@pytest.fixture(autouse=True)
def compiled():
    need_rigs()


LENGTH, LINE = 0.5, 0.2


@pytest.fixture
def held_by(monkeypatch):
    """Makes rods hold another coordinate than the distance from an axis."""

    def change(kind, line):
        def rows(_self, marker_1, marker_2):
            held = Coordinate(kind, marker_1, marker_2, (line,))
            across = (LENGTH - line) ** 2
            return (lock(Coordinate("z", marker_1, marker_2)), lock(held, across))

        monkeypatch.setitem(COORDINATE_KINDS, kind, CoordinateKind(kind, "of a test", "m", has_params=True))
        monkeypatch.setattr(bc.RevoluteSpherical, "rows", rows)

    return change


def swinging():
    """A block on a rod that turns about z of the ground, and a second block on a ball joint."""
    mech = bc.Mechanism("block on a rod")
    block = {"mass": 1.0, "com": (0.1, 0.02, 0.0), "inertia": (0.02, 0.03, 0.04)}
    first = mech.add_body("first", position=(LENGTH, 0.0, 0.0), **block)
    second = mech.add_body("second", position=(LENGTH + 0.3, 0.0, 0.0), **block)
    mech.add_joint("rod", bc.RevoluteSpherical(LENGTH), mech.ground.marker(), first)
    mech.add_joint("ball", bc.Spherical(), first.marker((0.3, 0.0, 0.0)), second)
    mech.gravity = (0.0, -9.81, 0.0)
    return mech


def ends(formulation):
    run = bc.simulate(swinging(), 0.8, formulation=formulation, method="dopri5", tolerance=1e-11)
    assert run.status == "finished"
    return np.array([run.body(name).position[-1] for name in ("first", "second")])


def test_value_and_derivatives_are_those_of_the_formula():
    rng = np.random.default_rng(3)
    r, rdot, omega = rng.normal(size=(3, 3))
    q = np.array([1.0, 0.0, 0.0, 0.0])
    value, dr, domega, quadratic = _core.evaluate_coordinate("rig_radius_squared", r, q, rdot, omega, [LINE])
    assert value == pytest.approx((r[0] - LINE) ** 2 + r[1] ** 2, rel=1e-14)
    np.testing.assert_allclose(dr, [2.0 * (r[0] - LINE), 2.0 * r[1], 0.0], rtol=1e-14)
    np.testing.assert_array_equal(domega, 0.0)
    assert quadratic == pytest.approx(2.0 * (rdot[0] ** 2 + rdot[1] ** 2), rel=1e-14)


def test_every_formulation_takes_it(held_by):
    usual = ends("lagrange")
    held_by("rig_radius_squared", 0.0)
    for formulation in MOVING:
        np.testing.assert_allclose(ends(formulation), usual, rtol=0, atol=1e-8)


def test_its_parameters_count(held_by):
    held_by("rig_radius_squared", LINE)
    found = {name: ends(name) for name in MOVING}
    for positions in found.values():
        np.testing.assert_allclose(positions, found["lagrange"], rtol=0, atol=1e-8)
        x, y, _ = positions[0]
        assert np.hypot(x - LINE, y) == pytest.approx(LENGTH - LINE, abs=1e-9)


def test_a_coordinate_without_a_formula_is_refused_by_name(held_by):
    held_by("rig_radius_without_formula", 0.0)
    ends("lagrange"), ends("recursive")
    with pytest.raises(bc.Unsupported, match="no formula for the coordinate rig_radius_without_formula"):
        bc.prepare(swinging(), "symbolic")


COEFFICIENT, SPEED = 0.8, 0.05


@pytest.fixture
def lowers_to(monkeypatch):
    """Makes springs lower to a law of another kind."""

    def change(kind):
        def lowered(_self, ends):
            return Lowered(laws=(Law(kind, pairwise("", ends), (COEFFICIENT, SPEED)),))

        monkeypatch.setattr(bc.TorsionSpring, "lowered", lowered)

    return change


def braked(make=lambda: gallery.chain(2, angle=0.3)):
    mech = make()
    mech.add_force("drag", bc.TorsionSpring(1.0), joint=list(mech.joints)[-1])
    return mech


def test_the_effort_is_that_of_the_file():
    for rate in (-2.0, 0.0, 0.01, 3.0):
        found = _core.law_effort("rig_quadratic_drag", 0.4, rate, 0.0, [COEFFICIENT, SPEED])
        assert found == pytest.approx(-COEFFICIENT * rate * np.hypot(rate, SPEED), rel=1e-15)
    with pytest.raises(ValueError, match="drag must not drive"):
        _core.check_law("rig_quadratic_drag", [-1.0, SPEED])


@pytest.mark.parametrize("make", [lambda: gallery.chain(2, angle=0.3), gallery.four_bar])
def test_every_formulation_takes_the_law(lowers_to, make):
    lowers_to("rig_quadratic_drag")
    free = bc.simulate(make(), 1.0, formulation="lagrange")
    runs = {
        name: bc.simulate(braked(make), 1.0, method="dopri5", tolerance=1e-11, formulation=name)
        for name in MOVING
    }
    last = list(free.joints)[-1]
    for run in runs.values():
        assert run.status == "finished"
        np.testing.assert_allclose(
            run.joint(last).position, runs["lagrange"].joint(last).position, rtol=0, atol=1e-8
        )
        rate = run.joint(last).velocity[:, 0]
        wanted = -COEFFICIENT * rate * np.hypot(rate, SPEED)
        np.testing.assert_allclose(run.force("drag").effort.ravel(), wanted, rtol=1e-9, atol=1e-9)
    braking = runs["lagrange"].energy.drift[-1]
    assert braking < -1e-3 < free.energy.drift[-1]


def test_a_law_without_a_formula_is_refused_by_name(lowers_to):
    lowers_to("rig_drag_without_formula")
    assert bc.simulate(braked(), 0.1, formulation="lagrange").status == "finished"
    assert bc.simulate(braked(), 0.1, formulation="recursive").status == "finished"
    with pytest.raises(bc.Unsupported, match="no formula for the force law rig_drag_without_formula"):
        bc.prepare(braked(), "symbolic")
