"""A01 simple pendulum, R02 spherical pendulum, R03 double pendulum."""

import numpy as np

from bellcrank.gallery import Link, link_chain, simple_pendulum


def test_simple_pendulum(load, follow, check, column):
    """To 100 s; later the rounding errors of a run in doubles add up to more than the tolerance.

    dopri5 loses energy at a constant rate, so that its phase drifts with t^2; the classical method at 0.1 ms
    has an error below that of rounding.
    """
    problem = load("A01_simple_pendulum")
    rows = [row for row in problem["rows"] if row["t"] <= 100.0 and row["t"] != 9.99]
    mechanism = simple_pendulum((1.0, 0.0, 0.0), (0.0, 0.0, 0.0), gravity=(0.0, -problem["params"]["g"], 0.0))
    run, frames = follow(mechanism, column(rows, "t"), 0.5, method="rk4", step=1e-4)
    bob = run.body("bob")
    check("x", bob.position[frames, 0], column(rows, "x"), 1e-10)
    check("y", bob.position[frames, 1], column(rows, "y"), 1e-10)
    check("vx", bob.velocity[frames, 0], column(rows, "vx"), 1e-10)
    check("vy", bob.velocity[frames, 1], column(rows, "vy"), 1e-10)
    check("tension", np.linalg.norm(run.joint("rod").force[frames], axis=1), column(rows, "tension"), 1e-10)


def test_spherical_pendulum(load, follow, check, column):
    problem = load("R02_spherical_pendulum")
    rows, p = problem["rows"], problem["params"]
    place = (p["L"] * np.sin(p["theta0"]), 0.0, -p["L"] * np.cos(p["theta0"]))
    velocity = (0.0, place[0] * p["phi_dot0"], 0.0)
    mechanism = simple_pendulum(place, velocity, mass=p["m"], gravity=(0.0, 0.0, -p["g"]))
    run, frames = follow(mechanism, column(rows, "t"), 0.5, method="dopri5", tolerance=1e-14)
    check("position", run.body("bob").position[frames], column(rows, "pos"), 1e-10)
    tension = np.linalg.norm(run.joint("rod").force[frames], axis=1)
    check("tension", tension, column(rows, "rod_tension"), 1e-10)


def test_double_pendulum(load, follow, check, column):
    """1e-9 up to 2 s, then 1e-7: the motion is chaotic."""
    problem = load("R03_double_pendulum")
    p = problem["params"]
    links = [Link(*numbers) for numbers in zip(p["m"], p["l"], p["lc"], p["J"], strict=True)]
    mechanism = link_chain(links, np.array(p["q0"]) - np.pi / 2, p["w0"])
    times = column(problem["rows"], "t")
    run, frames = follow(mechanism, times, 0.5, method="dopri5", tolerance=1e-13)
    joints = [run.joint("joint 1"), run.joint("joint 2")]
    angles = np.cumsum([joint.position[frames, 0] for joint in joints], axis=0).T + np.pi / 2
    rates = np.cumsum([joint.velocity[frames, 0] for joint in joints], axis=0).T
    com = np.stack([run.body(f"link {k}").com_position[frames, :2] for k in (1, 2)], axis=1)
    for part, tolerance in ((times <= 2.0, 1e-9), (times > 2.0, 1e-7)):
        expected = [row for row, wanted in zip(problem["rows"], part, strict=True) if wanted]
        check("angles", angles[part], column(expected, "q"), tolerance)
        check("rates", rates[part], column(expected, "w"), tolerance)
        check("centres of mass", com[part], column(expected, "com"), tolerance)
