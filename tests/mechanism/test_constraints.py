"""Gears, belts, racks, couplings, cables: their rows stay constant in motions worked out by hand."""

from math import cos, pi, sin

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.mechanism import CONSTRAINT_KINDS, GROUND, Coordinate
from bellcrank.mechanism.rotation import multiply

GROUND_MARKER = bc.Marker(GROUND)
A, B = bc.Marker("a"), bc.Marker("b")


def about_z(angle):
    return (cos(angle / 2), 0.0, 0.0, sin(angle / 2))


@pytest.fixture
def changes(configuration):
    """Differences of a row's value from that at the first of some poses, without jumps of whole turns."""

    def differences(kind, ends, poses):
        (row,) = kind.rows(ends)
        coordinates = [term.coordinate for term in row.terms]
        values = np.array([[configuration(p).coordinate(c) for c in coordinates] for p in poses])
        values = np.unwrap(values, axis=0) if coordinates[0].kind.startswith("azimuth") else values
        return (values - values[0]) @ [term.coefficient for term in row.terms]

    return differences


def wheels(ratio, carrier_ratio=0.0):
    """Two wheels 0.5 apart: wheel a turns, b by ratio times that against the carrier, which turns too."""
    poses = []
    for angle in np.linspace(0.0, 2.5, 40):
        carried = carrier_ratio * angle
        centre = (0.5 * cos(carried), 0.5 * sin(carried), 0.0)
        poses.append(
            {"a": ((0, 0, 0), about_z(angle + carried)), "b": (centre, about_z(ratio * angle + carried))}
        )
    return poses


PAIRS = [
    (bc.Gear(radii=(0.2, 0.3)), -2 / 3),
    (bc.Gear(teeth=(20, 30)), -2 / 3),
    (bc.Gear(ratio=1.5), -2 / 3),
    (bc.InternalGear(radii=(0.2, 0.7)), 2 / 7),
    (bc.Belt(radii=(0.2, 0.1)), 2.0),
    (bc.Belt(radii=(0.2, 0.1), crossed=True), -2.0),
]


@pytest.mark.parametrize(("kind", "ratio"), PAIRS, ids=lambda p: getattr(p, "name", None))
@pytest.mark.parametrize("carrier", [0.0, -0.8])
def test_wheels_with_or_without_a_moving_carrier(kind, ratio, carrier, changes):
    np.testing.assert_allclose(changes(kind, (A, B), wheels(ratio, carrier)), 0.0, atol=1e-13)
    wrong = changes(kind, (A, B), wheels(-ratio, carrier))
    assert np.abs(wrong).max() > 0.1


@pytest.mark.parametrize(("kind", "ratio"), PAIRS, ids=lambda p: getattr(p, "name", None))
def test_wheels_between_joint_coordinates(kind, ratio, changes):
    ends = tuple(Coordinate("theta_z", GROUND_MARKER, marker) for marker in (A, B))
    np.testing.assert_allclose(changes(kind, ends, wheels(ratio)), 0.0, atol=1e-13)


def test_a_tooth_force_acts_at_the_pitch_point(configuration):
    """The row's gradient is that of a tangential force of one newton where the pitch circles touch."""
    (row,) = bc.Gear(radii=(0.2, 0.3)).rows((A, B))
    apart = configuration({"a": ((0, 0, 0), about_z(0.0)), "b": ((0.5, 0, 0), about_z(0.4))})
    on_a, on_b = apart.gradient(row, "a"), apart.gradient(row, "b")
    force = on_b[1]
    assert abs(force) == pytest.approx(1.0)
    np.testing.assert_allclose(on_b, [0, force, 0, 0, 0, -0.3 * force], atol=1e-8)
    np.testing.assert_allclose(on_a, [0, -force, 0, 0, 0, -0.2 * force], atol=1e-8)


def test_bevel_gears_roll_on_each_other(changes):
    """Axes at 70 degrees, away from the apex: the relative angular velocity lies along the common line."""
    lean = np.radians(70.0)
    tilt = (cos(lean / 2), 0.0, sin(lean / 2), 0.0)
    first, second = 20, 35

    def poses(ratio):
        angles = np.linspace(0.0, 2.0, 20)
        return [
            {"a": ((0, 0, 0), about_z(t)), "b": ((0, 0, 0), multiply(tilt, about_z(ratio * t)))}
            for t in angles
        ]

    # The pitch cones touch along a line between the axes, to which omega_1 z_1 - omega_2 z_2 is parallel when
    # its distances from the axes are as r1 : r2 = n1 : n2: omega_1 n1 = -omega_2 n2.
    z1, z2 = np.array([0, 0, 1.0]), np.array([sin(lean), 0, cos(lean)])
    rolling = z1 + (first / second) * z2
    share = np.linalg.norm(np.cross(rolling, z1)) / np.linalg.norm(np.cross(rolling, z2))
    assert share == pytest.approx(first / second)
    assert np.abs(changes(bc.BevelGear(teeth=(first, second)), (A, B), poses(-first / second))).max() < 1e-13
    assert np.abs(changes(bc.BevelGear(teeth=(first, second)), (A, B), poses(first / second))).max() > 0.1


def test_rack_and_pinion_roll_without_slip(changes):
    """The teeth are on the pinion's +y side: there the pinion's rim must not move against the rack."""
    radius = 0.25
    travel, turn = 1.0, 1.0 / radius
    rim_velocity = np.array([travel, 0, 0]) + np.cross([0, 0, turn], [0, radius, 0])
    np.testing.assert_allclose(rim_velocity, 0.0, atol=1e-15)
    poses = [
        {"a": ((0, 0, 0), about_z(0)), "b": ((t * travel, -radius, 0), about_z(t * turn))}
        for t in (0, 0.3, 0.6)
    ]
    np.testing.assert_allclose(changes(bc.RackPinion(radius), (A, B), poses), 0.0, atol=1e-14)
    ends = (Coordinate("x", A, B), Coordinate("theta_z", A, B))
    np.testing.assert_allclose(changes(bc.RackPinion(radius), ends, poses), 0.0, atol=1e-14)


def turning(angles):
    """Bodies a, b, c turned about the ground's z axis by these rows of angles."""
    return [{name: ((0, 0, 0), about_z(t)) for name, t in zip("abc", row, strict=False)} for row in angles]


JOINTS = tuple(Coordinate("theta_z", GROUND_MARKER, bc.Marker(name)) for name in "abc")


def test_differential_and_planetary_gear(changes):
    np.testing.assert_allclose(
        changes(bc.Differential(), JOINTS, turning([(0, 0, 0), (1, 2, 1.5), (1, -1, 0)])), 0, atol=1e-14
    )
    # Willis: with the carrier held, ring/sun = -n_sun/n_ring; a common turn of all three changes nothing.
    planetary = bc.PlanetaryGear(sun_teeth=24, ring_teeth=72)
    poses = turning([(0, 0, 0), (0.9, -0.3, 0.0), (0.5, 0.5, 0.5), (1.2, 0.0, 0.3)])
    np.testing.assert_allclose(changes(planetary, JOINTS, poses), 0.0, atol=1e-14)


def test_coupling():
    row = bc.Coupling((2.0, -1.0, 0.5), constant=0.25).rows(JOINTS)[0]
    assert [term.coefficient for term in row.terms] == [2.0, -1.0, 0.5]
    assert (row.constant, bc.Coupling((1.0,)).rows(JOINTS[:1])[0].constant) == (0.25, None)


def test_screw_coupling(changes):
    ends = (Coordinate("z", GROUND_MARKER, A), JOINTS[1])
    poses = [
        {"a": ((0, 0, 0.01 * t / (2 * pi)), about_z(0)), "b": ((0, 0, 0), about_z(t))}
        for t in (0.0, 1.0, 3.0)
    ]
    np.testing.assert_allclose(changes(bc.ScrewCoupling(0.01), ends, poses), 0.0, atol=1e-15)


POSES = {
    "a": ((0, 0, 0), about_z(0)),
    "b": ((3.0, 3.0, 0.0), about_z(0)),
    "c": ((3.5, 0.0, 0.0), about_z(0)),
}


class TestCable:
    eyelets = (bc.Marker("b", (0.0, 1.0, 0.0)), bc.Marker("b", (0.5, 1.0, 0.0)))

    def test_the_row_is_the_length_left(self, configuration):
        kind = bc.Cable(length=12.0)
        (row,) = kind.rows((A, *self.eyelets, bc.Marker("c")))
        assert len(row.terms) == 2  # the piece between the eyelets of one body does not change
        assert configuration(POSES).row(row) == pytest.approx(12.0 - (5.0 + 0.5 + 4.0))

    def test_slack(self):
        kind = bc.Cable(length=12.0, slack=True)
        (block,) = kind.lowered((A, bc.Marker("c"))).blocks
        assert block.unilateral
        assert block.role == "constraint"
        assert not bc.Cable().unilateral

    def test_from_start(self):
        (row,) = bc.Cable().rows((A, bc.Marker("c")))
        assert row.constant is None

    def test_a_winch_pays_out_what_its_drum_turns(self, changes):
        ends = (JOINTS[0], bc.Marker("b"), bc.Marker("c"))
        poses = [
            {
                "a": ((0, 0, 0), about_z(t)),
                "b": ((0, 0, 0), about_z(0)),
                "c": ((0, 2.0 + 0.1 * t, 0), about_z(0)),
            }
            for t in (0.0, 0.7, 2.0)
        ]
        np.testing.assert_allclose(changes(bc.Winch(0.1), ends, poses), 0.0, atol=1e-14)


def test_all_start_where_they_are_unless_told():
    for name, kind in CONSTRAINT_KINDS.items():
        parameters = {
            "Coupling": {"coefficients": (1, 1, 1)},
            "PlanetaryGear": {"sun_teeth": 9, "ring_teeth": 27},
        }
        needs = {
            "RackPinion": {"radius": 1},
            "ScrewCoupling": {"pitch": 1},
            "Winch": {"radius": 1},
            "Cable": {},
        }
        given = parameters | needs | {"Differential": {}}
        made = kind(**given.get(name, {"ratio": 2.0}))
        ends = (
            (JOINTS[0], A, B)
            if name == "Winch"
            else JOINTS
            if "JJJ" in made.pattern or name == "Coupling"
            else (A, B)
        )
        ends = JOINTS[:2] if made.pattern == "JJ" else ends
        (row,) = made.rows(ends)
        assert row.constant is None
