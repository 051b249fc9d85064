"""N01 bead on a helix; S01 the static shape of a hanging chain."""

import numpy as np

import bellcrank as bc
from bellcrank.gallery import polyline


def test_bead_on_helix(load, follow, check, column):
    """A body that slides on a helical wire, held at its centre of mass; it runs through nine turns."""
    problem = load("N01_bead_on_helix")
    rows, p = problem["helix"]["rows"], problem["helix"]["params"]
    start, speed = p["tau0"], p["tau_dot0"]
    mechanism = bc.Mechanism("bead", gravity=(0.0, 0.0, -p["g"]))
    bead = mechanism.add_body(
        "bead",
        mass=p["m"],
        inertia=(1e-4, 1e-4, 1e-4),
        position=(p["R"] * np.cos(start), p["R"] * np.sin(start), p["b"] * start),
        velocity=(-p["R"] * speed * np.sin(start), p["R"] * speed * np.cos(start), p["b"] * speed),
    )
    wire = bc.PointOnHelix(radius=p["R"], pitch=2 * np.pi * p["b"])
    mechanism.add_joint("wire", wire, mechanism.ground.marker(), bead.marker())
    run, frames = follow(mechanism, column(rows, "t"), 0.5, method="dopri5", tolerance=1e-13)
    tolerance = problem["tol_suggested"]
    check("tau", run.joint("wire").position[frames, 0], column(rows, "tau"), tolerance)
    check("tau_dot", run.joint("wire").velocity[frames, 0], column(rows, "tau_dot"), tolerance)
    check("position", run.body("bead").position[frames], column(rows, "pos"), tolerance)
    forces = column(rows, "wire_force")
    check("wire force", run.joint("wire").force[frames], forces, tolerance, np.max(np.abs(forces)))


def test_hanging_chain_is_in_equilibrium(load, check, formulation):
    """At rest in the reference shape no rod accelerates, and the supports carry the chain."""
    problem = load("S01_catenary_links")
    (case,) = problem["cases"]
    n, tolerance = case["n"], problem["tol_suggested"]
    points = np.column_stack((case["joints_x"], case["joints_y"], np.zeros(n + 1)))
    mechanism = polyline(points, mass=case["total_mass"] / n, pinned_end=True)
    found = bc.prepare(mechanism, formulation).accelerate()
    for k in range(n):
        body = found.body(f"rod {k}")
        check(f"acceleration of rod {k}", body.linear, 0.0, tolerance, case["g"])
        check(f"angular acceleration of rod {k}", body.angular, 0.0, tolerance, case["g"])
    left, right = found.joint("joint 0"), found.joint(f"joint {n}")
    horizontal, vertical = case["H"], case["V_left"]
    check("force at the left end", left.force[:2], [-horizontal, -vertical], tolerance, -vertical)
    # The second body of the last joint is the ground, so this is what the chain does to its support.
    check("force on the right support", right.force[:2], [-horizontal, vertical], tolerance, -vertical)


def test_chain_away_from_its_shape_accelerates(load, formulation):
    """The check of the equilibrium above can fail."""
    (case,) = load("S01_catenary_links")["cases"]
    y = np.array(case["joints_y"])
    y[5] += 1e-3
    points = np.column_stack((case["joints_x"], y, np.zeros(len(y))))
    found = bc.prepare(polyline(points, mass=0.3, pinned_end=True), formulation).accelerate()
    assert np.max(np.abs(found.angular)) > 1e-2
