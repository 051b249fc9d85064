"""A03: Andrews' squeezing mechanism."""

import numpy as np

from bellcrank.gallery import AndrewsData, andrews_squeezer

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
