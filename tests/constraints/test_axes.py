"""Joint kinds as charts: locked and free coordinates together tell the relative pose; derivatives fit.

The pose that belongs to values of the free coordinates is found by leading them there; nothing is known of
the kinds here. Motion axes are derivatives of that pose.
"""

import numpy as np
import pytest
from rigs import examples, floating
from rigs.differences import derivatives
from rigs.machine import Machine, matrix
from scipy.spatial.transform import Rotation

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
            self.model.with_arrays(row_constant=constants).core, position_tolerance=1e-14
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
