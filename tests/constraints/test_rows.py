"""Rows of every kind against differences of themselves: Jacobian, time derivative, and what velocity adds.

Differences are Richardson-extrapolated from steps h to 8h. Rounding leaves about 1e-16/h in first and
4e-16/h² in second derivatives, truncation h⁸ times a ninth or tenth derivative, which the singular places of
angles and distances (0.2 m away or more) make as large as 1e10. The tolerances are some ten times the
larger of both.
"""

import numpy as np
import pytest
from rigs import examples, floating
from rigs.differences import derivatives

FIRST_STEP, FIRST_TOLERANCE = 2e-3, 5e-12
SECOND_STEP, SECOND_TOLERANCE = 3e-3, 3e-9
TIME = 0.3  # clear of the breaks of the functions in `examples`

LED = {
    **{f"drive-angle-{name}": ("led", function) for name, function in examples.FUNCTIONS_OF_TIME.items()},
    "drive-travel": ("led", examples.FUNCTIONS_OF_TIME["Harmonic"], type(examples.joint("Prismatic")), "z"),
    **{f"path-{name}": ("along", *path) for name, path in examples.PATHS.items()},
}
CASES = {
    **LED,
    **{f"joint-{name}": ("pair", examples.joint(name)) for name in examples.JOINT_KINDS if name != "Free"},
    **{
        f"constraint-{name}": ("constrained", kind, letters) for name, kind, letters in examples.constraints()
    },
}
# How far both bodies are moved from where the rows are satisfied; only a little where there is a curve, for
# its closest point is unique only near it, and where there is a helix, whose axis may be near.
DISTANCES = (0.0, 0.3)
NEAR = (0.0, 0.03)


def build(case, seed):
    name, *arguments = CASES[case]
    return getattr(floating, name)(*arguments, seed=seed)


def posed(case, seed, distance):
    """The case's rig at TIME, near its rows by `distance`, moving at random."""
    machine = build(case, seed)
    rng = np.random.default_rng([seed, 7])
    assert machine.system.project()
    machine.at(TIME)
    assert machine.system.project()
    machine.system.displace(distance * rng.uniform(-1.0, 1.0, (machine.count, 6)))
    machine.set_twists(rng.uniform(-1.0, 1.0, (machine.count, 6)))
    return machine


def poses(cases):
    return [
        (case, seed, distance)
        for case in cases
        for seed, distance in enumerate(NEAR if "Curve" in case or "Helix" in case else DISTANCES)
    ]


@pytest.fixture(params=poses(CASES), ids=lambda p: f"{p[0]}-{p[2]}", scope="module")
def machine(request):
    return posed(*request.param)


def along(machine, first, second=None, drift=0.0):
    """C as a function of s, the bodies moved by s first + s²/2 second and the time by s drift, from here."""
    start = machine.system.state()

    def rows(s):
        machine.set((start[0] + s * drift, *start[1:]), continued=True)
        machine.system.displace(s * first + (0.0 if second is None else 0.5 * s * s * second))
        return machine.system.rows()[0]

    def restored():
        machine.set(start, continued=True)

    return rows, restored


def test_jacobian_is_the_derivative_of_the_rows(machine):
    J = machine.system.rows()[3]
    assert J.size
    for column in range(J.shape[1]):
        direction = np.zeros(J.shape[1])
        direction[column] = 1.0
        rows, restored = along(machine, direction.reshape(-1, 6))
        difference, _ = derivatives(rows, FIRST_STEP)
        restored()
        np.testing.assert_allclose(J[:, column], difference, rtol=0.0, atol=FIRST_TOLERANCE)


@pytest.mark.parametrize(
    "machine",
    poses(case for case in LED if "Constant" not in case),
    ids=lambda p: f"{p[0]}-{p[2]}",
    indirect=True,
)
def test_time_derivative_of_the_rows(machine):
    Ct = machine.system.rows()[1]
    assert Ct.any()
    rows, restored = along(machine, np.zeros((machine.count, 6)), drift=1.0)
    difference, _ = derivatives(rows, FIRST_STEP)
    restored()
    np.testing.assert_allclose(Ct, difference, rtol=0.0, atol=FIRST_TOLERANCE)


def test_rates_and_accelerations_along_a_motion(machine):
    """Along x ⊕ (s u + s²/2 a), whose chart is flat at s = 0: Ċ = J u + Ct and C̈ = J a − Qc."""
    _, Ct, Qc, J = machine.system.rows()
    u = machine.twists()
    a = np.random.default_rng(3).uniform(-1.0, 1.0, u.shape)
    rows, restored = along(machine, u, a, drift=1.0)
    rate, _ = derivatives(rows, FIRST_STEP)
    _, acceleration = derivatives(rows, SECOND_STEP)
    restored()
    np.testing.assert_allclose(J @ u.ravel() + Ct, rate, rtol=0.0, atol=5 * FIRST_TOLERANCE)
    np.testing.assert_allclose(J @ a.ravel() - Qc, acceleration, rtol=0.0, atol=SECOND_TOLERANCE)


def test_rows_do_not_see_a_motion_of_the_whole(machine):
    """Moving everything as one rigid body changes no row: rows exert no force and no moment on the whole."""
    J = machine.system.rows()[3]
    _, position, rotation, _, _ = machine.system.state()
    omega, v = np.array([0.7, -0.4, 1.1]), np.array([0.3, 0.8, -0.5])
    machine.set((machine.system.state()[0], position, rotation, v + np.cross(omega, position),
                 np.tile(omega, (machine.count, 1))), continued=True)  # fmt: skip
    rigid = machine.twists().ravel()
    scale = np.abs(J) @ np.abs(rigid) + 1.0
    assert np.max(np.abs(J @ rigid) / scale, initial=0.0) < 1e-14
