"""Linkages of beams in motion: values to which bellcrank and EXUDYN converge; formulations; slow motion."""

import numpy as np
import pytest

import bellcrank as bc
from benchmarks.flexible_linkages import mechanism, places
from benchmarks.peers.beam_linkages import LINKAGES

SLIDER, BUCKLING, FOUR_BAR = (LINKAGES[name] for name in ("slider-crank", "lateral buckling", "four-bar"))


@pytest.mark.parametrize(
    ("name", "refinement", "within"),
    [("slider-crank", 16, 1e-5), ("lateral buckling", 8, 1e-5), ("four-bar", 4, 1e-5)],
)
def test_places_by_both_codes(name, refinement, within):
    """In parts of how far the tracked end moves; what is asked is 1e-4."""
    linkage = LINKAGES[name]
    times = [time for time, _ in linkage.trusted]
    samples = round(linkage.duration / times[0])
    found = places(linkage, refinement, linkage.duration, samples, method="esdirk", tolerance=1e-6)
    moved = np.ptp(found, axis=0).max()
    for time, place in linkage.trusted:
        at = found[round(time / linkage.duration * samples)]
        assert at == pytest.approx(place, abs=within * moved)


@pytest.mark.parametrize(
    ("name", "formulation"), [*((name, "dca") for name in LINKAGES), ("slider-crank", "recursive")]
)
def test_formulations_agree(name, formulation):
    """Accelerations on the way, where bars are bent; `recursive` has too few digits for the other two."""
    linkage = LINKAGES[name]
    mech = mechanism(linkage, 4)
    run = bc.simulate(
        mech, 0.4 * linkage.duration, formulation="lagrange", method="esdirk", tolerance=1e-6, reactions=False
    )
    state = run.at(run.time[-1])
    one, two = (bc.prepare(mech, which).accelerate(state) for which in ("lagrange", formulation))
    assert np.abs(one.linear).max() > 1e-2
    for a, b in ((one.linear, two.linear), (one.angular, two.angular)):
        assert b == pytest.approx(a, abs=1e-7 * np.abs(a).max())


def test_runs_of_recursive_agree():
    short, options = 1.5e-3, {"method": "adams", "tolerance": 1e-8}
    one, two = (
        places(SLIDER, 4, short, 2, formulation=name, **options) for name in ("lagrange", "recursive")
    )
    moved = np.ptp(one, axis=0).max()
    assert moved > 1e-6
    assert two == pytest.approx(one, abs=1e-4 * moved)


def test_a_slow_four_bar_is_in_balance():
    """At 0.6 rad/s it moves through its rests, out of its plane by what its tilted joint asks."""
    mech = mechanism(FOUR_BAR, 4)
    rests = []
    for time in (0.5, 1.0, 1.5, 2.0):
        rest = bc.statics(mech, time, tolerance=1e-10)
        mech = rest.at
        rests.append(mech.bodies[mech.beams["two"].nodes[-1]].position)
    run = places(FOUR_BAR, 4, 2.0, 4, method="esdirk", tolerance=1e-6)
    assert np.abs(np.array(rests)[:, 2]).max() > 3e-3
    assert run[[2, 4]] == pytest.approx(np.array(rests)[[1, 3]], abs=1e-6)
