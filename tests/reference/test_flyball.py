"""A05: flyball governor with stiff couplers."""

import pytest

from bellcrank.gallery import flyball_governor

SETTINGS = {"dopri5": {"tolerance": 1e-10}, "bdf": {"tolerance": 2e-13}}


@pytest.mark.parametrize("method", SETTINGS)
def test_flyball(load, follow, check, column, method):
    """The couplers' time constant is 1e-4 s and the run lasts 10 s.

    Stability alone asks for steps of about 0.2 ms of an explicit method; the tolerance keeps the fast motion
    quiet, which shows in the speeds. An implicit method takes steps of the slow motion.
    """
    problem = load("A05_flyball")
    rows, p = problem["compliant"], problem["params"]
    mechanism = flyball_governor(
        density=p["density"],
        ball_mass=p["point_mass"],
        stiffness=p["k"],
        damping=p["c"],
        rest_length=p["l0"],
    )
    run, frames = follow(
        mechanism, column(rows, "t"), 0.05, method=method, reactions=False, **SETTINGS[method]
    )
    bearing, slide = run.joint("bearing"), run.joint("slide")
    check("s", slide.position[frames, 0], column(rows, "s"), 1e-8)
    check("s_dot", slide.velocity[frames, 0], column(rows, "s_dot"), 1e-8)
    check("phi", bearing.position[frames, 0], column(rows, "phi"), 1e-8)
    check("shaft speed", bearing.velocity[frames, 0], column(rows, "shaft_speed"), 1e-8)
    for hinge in (run.joint("hinge 1"), run.joint("hinge 2")):
        check("alpha", hinge.position[frames, 0], column(rows, "alpha"), 1e-8)
        check("alpha_dot", hinge.velocity[frames, 0], column(rows, "alpha_dot"), 1e-8)
