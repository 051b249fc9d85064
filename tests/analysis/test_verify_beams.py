"""The judge of beams: its own law against differences of its energy; it finds what is left out of the law."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.mechanism.rotation_arrays import exponential, product
from bellcrank.verification import beams

C = np.array([1e-4, 2e-4, 3e-4, 0.5, 0.4, 0.3])


def numbers(length=0.2, coupled=False):
    matrix = np.diag(C)
    if coupled:
        matrix[0, 3] = matrix[3, 0] = 2e-3
        matrix[4, 5] = matrix[5, 4] = 0.1
    return np.array([length, *matrix[np.triu_indices(6)], 1.0, 0.0, 0.0, 0.1, 0.3, -0.2])


@pytest.mark.parametrize("coupled", [False, True])
def test_loads_are_slopes_of_the_energy(coupled):
    """By motions and turns of node 2; of random poses at once."""
    rng = np.random.default_rng(4)
    r = np.array((0.2, 0.0, 0.0)) + 0.01 * rng.normal(size=(5, 3))
    q = exponential(0.2 * rng.normal(size=(5, 3)))
    known = numbers(coupled=coupled)
    force, moment, _, _ = beams.own_loads(r, q, known)
    for axis in np.eye(3):
        step = 1e-5
        ends = [beams.own_loads(r + sign * step * axis, q, known)[2] for sign in (1, -1)]
        assert -(ends[0] - ends[1]) / (2 * step) == pytest.approx(force @ axis, rel=1e-5, abs=1e-4)
        turned = [product(exponential(sign * step * axis)[None], q) for sign in (1, -1)]
        ends = [beams.own_loads(r, turn, known)[2] for turn in turned]
        assert -(ends[0] - ends[1]) / (2 * step) == pytest.approx(moment @ axis, rel=1e-5, abs=1e-5)


def swinging():
    mech = bc.Mechanism("swinging")
    section = bc.Section.general(EA=2e3, GA=1e3, GJ=0.6, EI=(0.5, 1.0), mass_per_length=1.0)
    start = ("ground", bc.Spherical())
    mech.add_beam("beam", section, start=start, end=(0.8, 0.2, 0.1), segments=3, damping=1e-3)
    return mech


def found(report):
    return [check for check in report.checks if check.name == "beams"]


def test_runs_and_formulations_are_judged():
    mech = swinging()
    run = bc.simulate(mech, 0.3, tolerance=1e-8)
    for report, count in ((bc.verify(run), 1), (bc.verify(mech, duration=0.02), 4)):
        assert len(found(report)) >= count
        assert all(check.value < 1e-9 for check in found(report))
        assert report.passed
    assert found(bc.verify(bc.simulate(bc.gallery.four_bar(), 0.05))) == []


def test_a_law_without_the_loads_that_change_along_a_segment_is_found(monkeypatch):
    """The judge with the simple law, h C for f, and the core with the full one differ."""
    run = bc.simulate(swinging(), 0.3, tolerance=1e-8)
    monkeypatch.setattr(beams, "_along", lambda gamma, _: np.zeros((len(gamma), 6, 6)))
    (check,) = found(bc.verify(run))
    assert check.value > 1e-3
    assert not check.passed
    assert check.where.startswith("force 'beam/e")


def test_stiff_leaves_are_right_to_rounding():
    """Segments of 1e8 N/m at forces of a newton: rounding of poses is no fault of forces."""
    mech = bc.gallery.flexure_four_bar(segments=4)
    mech.add_drive("motor", "crank pivot", position="0.5*(1-cos(30*t))")
    assert bc.verify(bc.simulate(mech, 0.05)).passed
