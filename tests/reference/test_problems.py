"""The reference problems: pendulums, tops, slider-cranks, four-bars, Andrews', Bricard's, the governor."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.expression import cos, sin, translation
from bellcrank.gallery import (
    AndrewsData,
    Link,
    andrews_squeezer,
    bricard_linkage,
    flyball_governor,
    free_body,
    heavy_top,
    link_chain,
    n_four_bar,
    polyline,
    simple_pendulum,
    slider_crank,
    spring_slider_crank,
)


def test_simple_pendulum(load, follow, check, column, formulation):
    """To 100 s; later the rounding errors of a run in doubles add up to more than the tolerance.

    By one formulation, as a million steps take long; by the others to 10 s.

    dopri5 loses energy at a constant rate, so that its phase drifts with t^2; the classical method at 0.1 ms
    has an error below that of rounding.
    """
    problem = load("A01_simple_pendulum")
    end = 100.0 if formulation == "recursive" else 10.0
    rows = [row for row in problem["rows"] if row["t"] <= end and row["t"] != 9.99]
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


def rotations(body, frames):
    return Rotation.from_quat(body.rotation[frames], scalar_first=True)


def test_heavy_top(load, follow, check, column):
    """The top turns 48 times in 2 s."""
    problem = load("R06_heavy_top")["literature_heavy_top"]
    rows, p = problem["rows"], problem["params"]
    mechanism = heavy_top(
        mass=p["m"], inertia=p["J_com"], com=p["X"], angular_velocity=p["Omega0"], gravity=p["g"]
    )
    run, frames = follow(mechanism, column(rows, "t"), 0.05, method="dopri5", tolerance=1e-13)
    top = run.body("top")
    check("com", top.com_position[frames], column(rows, "com"), 1e-9)
    expected = Rotation.from_quat(column(rows, "quat"), scalar_first=True)
    turned = rotations(top, frames)
    check("rotation", turned.as_matrix(), expected.as_matrix(), 1e-9)
    body_rates = turned.inv().apply(top.angular_velocity[frames])
    check("angular velocity", body_rates, column(rows, "omega_body"), 1e-9)


def test_free_asymmetric_body(load, follow, check, column):
    """1e-9 up to 10 s, 1e-7 up to 50 s: it spins near its unstable axis."""
    problem = load("R07_free_asymmetric_body")
    rows, p = problem["rows"], problem["params"]
    times = column(rows, "t")
    mechanism = free_body(p["J"], p["w0_body"])
    run, frames = follow(mechanism, times, 0.5, method="dopri5", tolerance=1e-13)
    body = run.body("body")
    turned = rotations(body, frames)
    body_rates = turned.inv().apply(body.angular_velocity[frames])
    for part, tolerance in ((times <= 10.0, 1e-9), (times > 10.0, 1e-7)):
        check("rotation", turned.as_matrix()[part], column(rows, "R")[part], tolerance)
        check("angular velocity", body_rates[part], column(rows, "omega_body")[part], tolerance)
    assert np.all(body.position == 0.0)


def test_slider_crank_through_singular_poses(
    load, follow, check, column, formulation, through_singular_poses
):
    """Crank and rod are equal: twice a turn the slider passes the crank's pivot, where two branches meet."""
    problem = load("A00_slider_crank_singular")
    rows, p = problem["rows"], problem["params"]
    mechanism = slider_crank(
        p["crank"]["L"],
        p["rod"]["L"],
        crank_mass=p["crank"]["m"],
        rod_mass=p["rod"]["m"],
        slider_mass=p["slider"]["m"],
        angle=rows[0]["theta"],
        rate=rows[0]["omega"],
    )
    run, frames = follow(mechanism, column(rows, "t"), 0.25, **through_singular_poses)
    crank, slider = run.joint("pivot"), run.joint("slide")
    # `dca` judges no row, so rounding is large in a step that ends close to such a pose, and a multistep
    # method carries it on: 2e-9, 2e-8 and 7e-8 with three builds of the core.
    by_chance = (formulation, through_singular_poses["method"]) == ("dca", "adams")
    limit = 2e-7 if by_chance else 1e-8
    check("angle", crank.position[frames, 0] + rows[0]["theta"], column(rows, "theta"), limit)
    check("rate", crank.velocity[frames, 0], column(rows, "omega"), limit)
    check("slider x", slider.position[frames, 0], column(rows, "slider_x"), limit)
    check("slider v", slider.velocity[frames, 0], column(rows, "slider_v"), limit)


def test_sundials_slider_crank(load, follow, check, column):
    problem = load("sundials_slider_crank")
    rows, p = problem["rows"], problem["params"]
    mechanism = spring_slider_crank(
        p["a"],
        crank_inertia=p["J1"],
        rod_inertia=p["J2"],
        rod_mass=p["m2"],
        stiffness=p["k"],
        damping=p["c"],
        rest_length=p["l0"],
        force=p["F"],
    )
    run, frames = follow(mechanism, column(rows, "t"), 0.25, method="dopri5", tolerance=1e-12)
    crank, slide = run.joint("pivot"), run.joint("slide")
    check("q", crank.position[frames, 0], column(rows, "q"), 1e-9)
    check("qd", crank.velocity[frames, 0], column(rows, "qd"), 1e-9)
    check("x", slide.position[frames, 0], column(rows, "x"), 1e-9)
    check("p", slide.position[frames, 1], column(rows, "p"), 1e-9)


@pytest.mark.parametrize(
    ("n", "through_singular_poses", "formulation"),
    [
        *(
            (*case, formulation)
            for case in [(1, "rk4"), (2, "rk4"), (2, "dopri5"), (5, "dopri5"), (5, "adams"), (40, "adams")]
            for formulation in ("lagrange", "recursive", "symbolic", "dca")
        ),
        (40, "dopri5", "dca"),
    ],
    indirect=["through_singular_poses", "formulation"],
)
def test_n_four_bar(n, load, follow, check, column, through_singular_poses):
    """Five turns and ten singular poses in 10 s, where the mobility jumps from 1 to n + 1.

    Ten thousand steps and more of forty loops in joint coordinates take minutes.
    """
    settings = dict(through_singular_poses)
    if n == 40:
        settings["tolerance"] = 1e-11  # below it errors are rounding, which singular poses amplify
    problem = load("A02_n_four_bar")
    (case,) = [case for case in problem["cases"] if case["N"] == n]
    rows, p = [row for row in case["rows"] if row["t"] <= 10.0], problem["params"]
    mechanism = n_four_bar(n, length=p["L"], mass=p["m"], tip_speed=p["vB0x"], gravity=p["g"])
    run, frames = follow(mechanism, column(rows, "t"), 1.0, reactions=False, **settings)
    crank, tip = run.body("crank 0"), (p["L"] / 2, 0.0, 0.0)
    check("B0", crank.point(tip)[frames, :2], column(rows, "B0"), 1e-6)
    check("velocity of B0", crank.point_velocity(tip)[frames, :2], column(rows, "vB0"), 1e-6)
    check("rate", -crank.angular_velocity[frames, 2], column(rows, "omega"), 1e-6)
    for k in range(1, n + 1):
        check(f"crank {k} parallel", run.body(f"crank {k}").rotation, crank.rotation, 1e-6)


MASSES = {"c0": "stiffness", "l0": "rest_length", "mom": "torque"}


def data_of(problem):
    p = problem["params"]
    named = {MASSES[key]: float(p[key]) for key in MASSES}
    lengths = {key: float(value) for key, value in p.items() if key not in ("m", "I", *MASSES)}
    return AndrewsData(
        [float(value) for value in p["m"]],
        [float(value) for value in p["I"]],
        lengths,
        angles=[float(value) for value in problem["q0"]],
        **named,
    )


def test_andrews(load, follow, check, column):
    """The crank turns five times in 0.05 s; the multipliers are the forces in E, where the loops close."""
    problem = load("A03_andrews")
    rows, tolerance = problem["rows"], problem["tol_suggested"]
    run, frames = follow(
        andrews_squeezer(data_of(problem)), column(rows, "t"), 0.005, method="dopri5", tolerance=1e-11
    )
    joints = [run.joint(name) for name in problem["q_order"]]
    check("q", np.array([joint.position[frames, 0] for joint in joints]).T, column(rows, "q"), tolerance["q"])
    rates = np.array([joint.velocity[frames, 0] for joint in joints]).T
    forces = np.concatenate([run.joint(name).force[frames, :2] for name in ("E3", "E4", "E6")], axis=1)
    for found, row, force in zip(rates, rows, forces, strict=True):
        check(f"v({row['t']:g} s)", found, row["v"], tolerance["v_rel"], np.max(np.abs(row["v"])))
        check(f"lambda({row['t']:g} s)", force, row["lam"], tolerance["lam_rel"], np.max(np.abs(row["lam"])))
    tip = run.body("K1").point((float(problem["params"]["rr"]), 0.0, 0.0))[frames, :2]
    check("crank tip F", tip, column(rows, "F"), tolerance["q"])


def test_generator_has_the_data_of_the_reference(load):
    assert andrews_squeezer(data_of(load("A03_andrews"))) == andrews_squeezer()


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


SETTINGS = {"dopri5": {"tolerance": 1e-10}, "bdf": {"tolerance": 2e-13}}


@pytest.mark.parametrize(
    ("formulation", "method"),
    [("recursive", "dopri5"), *((f, "bdf") for f in ("lagrange", "recursive", "symbolic", "dca"))],
    indirect=["formulation"],
)
def test_flyball(load, follow, check, column, method):
    """The couplers' time constant is 1e-4 s and the run lasts 10 s.

    Stability alone asks for steps of about 0.2 ms of an explicit method; the tolerance keeps the fast motion
    quiet, which shows in the speeds. An implicit method takes steps of the slow motion.
    """
    problem = load("A05_flyball")
    rows, p = problem["compliant"], problem["params"]
    mechanism = flyball_governor(
        density=p["density"], ball_mass=p["point_mass"], stiffness=p["k"], damping=p["c"], rest_length=p["l0"]
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


U, V = bc.symbols("u v")
A, B, C = bc.symbols("a b c")
BOTH = pytest.mark.parametrize("formulation", ["lagrange", "recursive", "symbolic"])


@BOTH
def test_bead_on_helix_by_formulas(load, follow, check, column):
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
