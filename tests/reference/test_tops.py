"""R06 heavy top, R07 free asymmetric body."""

import numpy as np
from scipy.spatial.transform import Rotation

from bellcrank.gallery import free_body, heavy_top


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
