"""A04: Bricard's mechanism, overconstrained in every pose."""

import numpy as np

from bellcrank.gallery import bricard_linkage


def test_bricard(load, follow, check, column):
    problem = load("A04_bricard")
    rows, tolerance = problem["rows"], problem["tol_suggested"]
    times = column(rows, "t")
    run, frames = follow(bricard_linkage(), times, 0.25, method="dopri5", tolerance=1e-12)
    rod, end = run.body("rod 2"), (0.0, 0.0, 0.5)
    early = times <= 2.0
    place, velocity = rod.point(end)[frames], rod.point_velocity(end)[frames]
    check("P3 up to 2 s", place[early], column(rows, "P3")[early], tolerance["P3_upto_2s"])
    check("velocity of P3 up to 2 s", velocity[early], column(rows, "vP3")[early], tolerance["P3_upto_2s"])
    check("P3", place, column(rows, "P3"), tolerance["P3_at_10s"])
    check("velocity of P3", velocity, column(rows, "vP3"), tolerance["P3_at_10s"])
    angles = np.array([run.joint(f"joint {k}").position[frames, 0] for k in range(5)]).T
    check("joint angles", angles, column(rows, "q"), tolerance["P3_at_10s"])
    assert str(run.statistics["redundant_rows"]).count("joint ") == 2  # one row: "joint 'joint 3' (e2)"
