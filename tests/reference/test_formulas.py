"""What is given by formulas: N01 bead on a helix, N03 rolling ball."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.expression import cos, sin, translation

U, V = bc.symbols("u v")
A, B, C = bc.symbols("a b c")
BOTH = pytest.mark.parametrize("formulation", ["lagrange", "recursive", "symbolic"])


@BOTH
def test_bead_on_helix(load, follow, check, column):
    """The bead does not turn; it runs through nine turns."""
    problem = load("N01_bead_on_helix")
    rows, p = problem["helix"]["rows"], problem["helix"]["params"]
    mechanism = bc.Mechanism("bead", gravity=(0.0, 0.0, -p["g"]))
    bead = mechanism.add_body("bead", mass=p["m"], inertia=(1e-4, 1e-4, 1e-4))
    helix = bc.CustomJoint(U, translation(p["R"] * cos(U), p["R"] * sin(U), p["b"] * U), units="rad")
    mechanism.add_joint("wire", helix, mechanism.ground, bead, position=p["tau0"], velocity=p["tau_dot0"])
    run, frames = follow(mechanism, column(rows, "t"), 0.5, method="dopri5", tolerance=1e-13)
    tolerance = problem["tol_suggested"]
    check("tau", run.joint("wire").position[frames, 0], column(rows, "tau"), tolerance)
    check("tau_dot", run.joint("wire").velocity[frames, 0], column(rows, "tau_dot"), tolerance)
    check("position", run.body("bead").position[frames], column(rows, "pos"), tolerance)
    forces = column(rows, "wire_force")
    check("wire force", run.joint("wire").force[frames], forces, tolerance, np.max(np.abs(forces)))


def rolling(mechanism, table, radius, place, speed):
    """A solid ball on the xy plane of a table, away from the poles of its formulas.

    place, speed: of the point of contact on the table.
    """
    mass = 0.7
    ball = mechanism.add_body("ball", mass=mass, inertia=(0.4 * mass * radius**2,) * 3)
    surface = (radius * sin(B), radius * sin(A) * cos(B), -radius * cos(A) * cos(B))
    kind = bc.Rolling((U, V), (U, V, 0), (A, B), surface, spin=C)
    # The axes of the ball start turned by half a turn about z.
    start = {"u": place[0], "v": place[1], "a": 0.0, "b": 0.0, "c": -np.pi / 2}
    rates = {"u": speed[0], "v": speed[1], "a": -speed[1] / radius, "b": -speed[0] / radius, "c": 0.0}
    mechanism.add_joint("rolls", kind, table, ball, position=start, velocity=rates)


@BOTH
def test_ball_on_an_incline(load, check, formulation):
    problem = load("N03_rolling_ball")
    case = problem["incline"]
    g, slope = case["params"]["g"], case["params"]["angle"]
    mechanism = bc.Mechanism("incline", gravity=(g * np.sin(slope), 0.0, -g * np.cos(slope)))
    rolling(mechanism, mechanism.ground, 0.2, (0.3, 0.1), (0.0, 0.0))
    found = bc.prepare(mechanism, formulation).accelerate().body("ball")
    check("acceleration", found.linear, (case["acceleration"], 0, 0), problem["tol_suggested"])
    check("turning", found.angular, (0, case["acceleration"] / 0.2, 0), problem["tol_suggested"], 10.0)


@BOTH
def test_ball_on_a_turntable(load, follow, check, column):
    """The table turns 3.2 times; on a large ball the contact does not run over a pole of its formulas."""
    problem = load("N03_rolling_ball")
    rows, p = problem["turntable"]["rows"], problem["turntable"]["params"]
    (x, y), (vx, vy), turning, radius = p["x0"], p["v0"], p["Omega"], 20.0
    mechanism = bc.Mechanism("turntable", gravity=(0.0, 0.0, -9.81))
    table = mechanism.add_body("table", mass=1.0, inertia=(1.0, 1.0, 1.0), angular_velocity=(0, 0, turning))
    mechanism.add_joint("axis", bc.Revolute(), mechanism.ground, table)
    mechanism.add_drive("motor", joint="axis", position=f"{turning} * t")
    rolling(mechanism, table, radius, (x, y), (vx + turning * y, vy - turning * x))
    run, frames = follow(mechanism, column(rows, "t"), 1.0, method="dopri5", tolerance=1e-13)
    ball = run.body("ball")
    check("position", ball.position[frames, :2], column(rows, "pos"), problem["tol_suggested"])
    check("velocity", ball.velocity[frames, :2], column(rows, "vel"), problem["tol_suggested"])
