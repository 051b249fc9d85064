"""A force law is one C++ file: its effort is a template, which every formulation takes (tests/rigs/kinds)."""

import numpy as np
import pytest
from rigs.compiled import need_rigs

import bellcrank as bc
from bellcrank import _core, gallery
from bellcrank.formulations.preparing import MOVING
from bellcrank.mechanism.rows import Law, Lowered
from bellcrank.mechanism.springs import pairwise


@pytest.fixture(autouse=True)
def compiled():
    need_rigs()


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
def test_every_formulation_takes_it(lowers_to, make):
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
