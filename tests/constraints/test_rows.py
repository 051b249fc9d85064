"""Rows of every kind against differences of themselves; joint kinds as charts of the relative pose.

Differences are Richardson-extrapolated from steps h to 8h. Rounding leaves about 1e-16/h in first and
4e-16/h² in second derivatives, truncation h⁸ times a ninth or tenth derivative, which the singular places of
angles and distances (0.2 m away or more) make as large as 1e10. The tolerances are some ten times the
larger of both.

The pose that belongs to values of the free coordinates is found by leading them there; nothing is known of
the kinds here. Motion axes are derivatives of that pose.
"""

from itertools import pairwise

import numpy as np
import pytest
from rigs import examples, floating
from rigs.machine import Machine, matrix
from scipy.spatial.transform import Rotation

LEVELS = 4  # steps h, 2h, 4h, 8h; errors of order h⁸


def _extrapolated(estimates):
    """Estimates at steps h, 2h, 4h, ... with errors in even powers of the step, extrapolated to step zero."""
    table = list(estimates)
    factor = 4.0
    while len(table) > 1:
        table = [(factor * fine - coarse) / (factor - 1.0) for fine, coarse in pairwise(table)]
        factor *= 4.0
    return table[0]


def derivatives(f, step):
    """f', f'' at 0 of a function of one variable with array values."""
    middle = np.asarray(f(0.0), dtype=float)
    first, second = [], []
    for level in range(LEVELS):
        h = step * 2**level
        plus, minus = np.asarray(f(h), dtype=float), np.asarray(f(-h), dtype=float)
        first.append((plus - minus) / (2.0 * h))
        second.append(((plus - middle) + (minus - middle)) / h**2)
    return _extrapolated(first), _extrapolated(second)


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
        f"constraint-{name}": ("constrained", kind, letters)
        for name, kind, letters in examples.constraints(together=True)
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


KINDS = [name for name, kind in examples.JOINT_KINDS.items() if not kind.shorthand]
STEP = 5e-3
# Poses are found to about 1e-14, so that rounding leaves 1e-11 in their derivatives; truncation leaves less
# where the singular places of coordinates are 0.3 m away.
TOLERANCE = 1e-9


class Chart:
    """A joint between two bodies, its free coordinates led to given values."""

    def __init__(self, name, seed=0):
        self.kind = examples.joint(name)
        self.free = floating.pair(self.kind, seed)
        assert self.free.system.project()
        self.base = np.array([self.free.coordinate("joint", k)[0] for k in range(len(self.kind.free))])
        mechanism = self.free.mechanism
        for coordinate in self.kind.free:
            mechanism.add_drive(f"lead {coordinate}", "joint", coordinate, position=0.0)
        self.led = Machine(mechanism, position_tolerance=1e-14)
        self.drives = [self.led.multiplier_rows(f"lead {coordinate}")[0] for coordinate in self.kind.free]
        self.model = self.led.model

    def at(self, values):
        """Bodies, starting from the same place, with the free coordinates at `values`."""
        constants = self.model.arrays["row_constant"].copy()
        constants[self.drives] = values
        self.led.system = self.led.core.Lagrange(
            self.model.with_arrays(row_constant=constants).core,
            self.led.core.RefinedClosingOptions(position_tolerance=1e-14),
        )
        self.led.set(self.free.system.state())
        assert self.led.system.project()
        return self.led

    def pose(self, values):
        """Position and rotation of marker 2 seen from marker 1 there."""
        _, position, rotation, _, _ = self.at(values).system.state()
        pair = self.model.joint("joint").pair
        places = self.model.arrays["pair_positions"][pair]
        axes = [matrix(rotation[b]) @ matrix(self.model.arrays["pair_rotations"][pair][b]) for b in (0, 1)]
        points = [position[b] + matrix(rotation[b]) @ places[b] for b in (0, 1)]
        return axes[0].T @ (points[1] - points[0]), axes[0].T @ axes[1], axes[0], points[1]

    def axes(self, values):
        """Per free coordinate the twist (angular, linear) of marker 2 relative to marker 1, marker-1 axes."""
        _, R, _, _ = self.pose(values)

        def along(k):
            def motion(s):
                r, turned, _, _ = self.pose(values + s * np.eye(len(values))[k])
                return np.concatenate([Rotation.from_matrix(turned @ R.T).as_rotvec(), r])

            return derivatives(motion, STEP)[0]

        return np.array([along(k) for k in range(len(values))]).reshape(-1, 6)


@pytest.fixture(params=KINDS, scope="module")
def chart(request):
    return Chart(request.param)


@pytest.fixture(scope="module")
def values(chart):
    """Where the tests look: some way from the start."""
    return chart.base + 0.15 * np.random.default_rng(5).uniform(-1.0, 1.0, len(chart.base))


@pytest.fixture(scope="module")
def twists(chart, values):
    return chart.axes(values)


def set_relative_twist(chart, twist):
    """Body 1 at rest, marker 2 moving with the twist (angular, linear; marker-1 axes)."""
    machine = chart.led
    time, position, rotation, _, _ = machine.system.state()
    pair = chart.model.joint("joint").pair
    axes = matrix(rotation[0]) @ matrix(chart.model.arrays["pair_rotations"][pair][0])
    omega, v = axes @ twist[:3], axes @ twist[3:]
    arm = matrix(rotation[1]) @ chart.model.arrays["pair_positions"][pair][1]
    zero = np.zeros(3)
    machine.set(
        (time, position, rotation, np.array([zero, v - np.cross(omega, arm)]), np.array([zero, omega])), True
    )
    return np.concatenate([omega, v])


def test_locked_and_free_count_six(chart):
    assert len(chart.model.arrays["row_constant"]) == 6
    singular = np.linalg.svd(chart.led.system.rows()[3], compute_uv=False)
    assert singular[-1] > 1e-2 * singular[0]


def test_round_trip_of_coordinates(chart, values):
    machine = chart.at(values)
    found = [machine.coordinate("joint", k)[0] for k in range(len(values))]
    np.testing.assert_allclose(found, values, atol=1e-12)
    assert machine.system.violation()[0] < 1e-12


def test_rows_are_perpendicular_to_the_motion_axes(chart, values, twists):
    machine = chart.at(values)
    own = [r for r in range(6) if r not in chart.drives]
    for k, twist in enumerate(twists):
        set_relative_twist(chart, twist)
        rates = machine.system.rows()[3] @ machine.twists().ravel()
        np.testing.assert_allclose(rates[own], 0.0, atol=TOLERANCE)
        np.testing.assert_allclose(rates[chart.drives], np.eye(len(twists))[k], atol=TOLERANCE)
        reported = [machine.coordinate("joint", j)[1] for j in range(len(twists))]
        np.testing.assert_allclose(reported, np.eye(len(twists))[k], atol=TOLERANCE)


def test_a_joint_does_no_work_along_its_motion_axes(chart, values, twists):
    """The wrench that is reported, times each axis; that of the drives gives their efforts."""
    machine = chart.at(values)
    rng = np.random.default_rng(2)
    machine.set_twists(rng.uniform(-1.0, 1.0, (2, 6)))
    machine.system.project()
    multipliers = machine.system.accelerate()[2]
    joint = chart.model.joint("joint")
    lead = [b for drive in chart.model.drives for b in drive.blocks]
    wrenches, _ = machine.system.reactions([(list(joint.blocks), joint.pair), (lead, joint.pair)])
    for k, twist in enumerate(twists):
        motion = set_relative_twist(chart, twist)
        size = np.abs(wrenches) @ np.abs(motion) + 1.0
        assert abs(wrenches[0] @ motion) / size[0] < TOLERANCE
        assert abs(wrenches[1] @ motion - multipliers[chart.drives[k]]) / size[1] < TOLERANCE
