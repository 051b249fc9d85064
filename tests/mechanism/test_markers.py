"""Markers, and rotations as the user gives them: axis and angle, roll-pitch-yaw, vectors, matrices."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.rotation import between, from_matrix, from_rotation_vector, matrix, multiply

RANDOM = np.random.default_rng(3)


def quaternions(count):
    q = RANDOM.normal(size=(count, 4))
    return [tuple(row) for row in (q / np.linalg.norm(q, axis=1, keepdims=True)).tolist()]


def as_scipy(q):
    return Rotation.from_quat(np.roll(q, -1))


@pytest.fixture
def body():
    q = (0.5, 0.1, -0.7, 0.5)
    return bc.Body("b", 1.0, (1, 1, 1), position=(1, 2, 3), rotation=tuple(np.array(q)))


class TestRotation:
    def test_matrix_and_product(self):
        for p, q in zip(quaternions(20), quaternions(20), strict=True):
            np.testing.assert_allclose(matrix(p), as_scipy(p).as_matrix(), atol=1e-15)
            np.testing.assert_allclose(matrix(multiply(p, q)), matrix(p) @ matrix(q), atol=1e-14)

    def test_from_matrix_in_all_branches(self):
        special = [(0.01, 1, 0, 0), (0.01, 0, 1, 0), (0.01, 0, 0, 1), (0, 0.6, 0.8, 0), (0, 0, 0.6, -0.8)]
        for q in [*quaternions(50), *special]:
            q = np.array(q) / np.linalg.norm(q)
            got = from_matrix(matrix(tuple(q)))
            assert got[0] >= 0
            np.testing.assert_allclose(matrix(got), matrix(tuple(q)), atol=1e-14)

    def test_rotation_vector(self):
        for v in [(0, 0, 0), (1e-9, 0, 0), (0.3, -1.2, 2.0)]:
            np.testing.assert_allclose(
                matrix(from_rotation_vector(v)), Rotation.from_rotvec(v).as_matrix(), atol=1e-15
            )

    def test_between_is_the_shortest(self):
        for _ in range(20):
            a, b = RANDOM.normal(size=(2, 3))
            a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
            q = between(tuple(a), tuple(b))
            np.testing.assert_allclose(matrix(q) @ a, b, atol=1e-14)
            assert 2 * np.arccos(q[0]) == pytest.approx(np.arccos(a @ b), abs=1e-7)

    @pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0, -0.8)])
    def test_between_opposite(self, axis):
        q = between(axis, tuple(-np.array(axis)))
        np.testing.assert_allclose(matrix(q) @ axis, -np.array(axis), atol=1e-15)


class TestMarker:
    def test_axis_is_z(self, body):
        marker = body.marker((1, 2, 3), axis=(0, 0.6, 0.8))
        assert marker.z_axis == pytest.approx((0, 0.6, 0.8))
        assert (marker.body, marker.position) == ("b", (1.0, 2.0, 3.0))
        assert body.marker(z_axis=(0, 0.6, 0.8)) == body.marker(axis=(0, 0.6, 0.8))

    def test_same_axis_same_frame(self, body):
        """Revolute joints made with axis= alone have angle zero where the bodies' frames are parallel."""
        other = bc.Mechanism().ground
        assert body.marker(axis=(0, 1, 0)).rotation == other.marker(axis=(0, 1, 0)).rotation

    @pytest.mark.parametrize("first", "xyz")
    @pytest.mark.parametrize("second", "xyz")
    def test_two_axes(self, body, first, second):
        frame = Rotation.from_rotvec((0.3, -1.0, 2.0)).as_matrix()
        given = {f"{k}_axis": frame[:, "xyz".index(k)] for k in {first, second}}
        marker = body.marker(**given)
        for name, vector in given.items():
            assert getattr(marker, name) == pytest.approx(tuple(vector))
        if first != second:
            np.testing.assert_allclose(matrix(marker.rotation), frame, atol=1e-14)

    def test_rotation(self, body):
        assert body.marker(rotation=(0.6, 0, 0.8, 0)).rotation == (0.6, 0.0, 0.8, 0.0)

    def test_nearly_unit_values_are_made_exact(self, body):
        marker = body.marker(axis=(0, 0.6, 0.8000003))
        assert np.linalg.norm(marker.z_axis) == pytest.approx(1.0, abs=1e-15)
        assert bc.Marker("b", rotation=marker.rotation) == bc.Marker("b", rotation=marker.rotation)

    def test_a_stored_quaternion_is_kept_to_the_bit(self):
        for q in quaternions(200):
            once = bc.Marker("b", rotation=q).rotation
            assert bc.Marker("b", rotation=once).rotation == once

    def test_world_marker(self, body):
        marker = body.world_marker((2, 2, 4), axis=(0, 0, 1), name="top")
        turn = matrix(body.rotation)
        np.testing.assert_allclose(turn @ marker.position + body.position, (2, 2, 4), atol=1e-14)
        np.testing.assert_allclose(turn @ marker.z_axis, (0, 0, 1), atol=1e-14)
        assert marker.key == "b.top"

    def test_turned(self, body):
        marker = body.marker((1, 0, 0), axis=(0, 1, 0)).turned((0.5**0.5, 0, 0, 0.5**0.5))
        plain = body.marker((1, 0, 0), axis=(0, 1, 0))
        assert marker.x_axis == pytest.approx(plain.y_axis)
        assert marker.z_axis == pytest.approx(plain.z_axis)


def same(quaternion, expected):
    assert Rotation.from_quat(np.roll(quaternion, -1)).approx_equal(expected, atol=1e-12)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((("z", 0.5), {}), Rotation.from_rotvec((0, 0, 0.5))),
        (((np.array([0.6, 0, 0.8]), -2.0), {}), Rotation.from_rotvec((-1.2, 0, -1.6))),
        (((), {"rpy": (0.3, -0.4, 2.0)}), Rotation.from_euler("xyz", (0.3, -0.4, 2.0))),
        (((), {"vector": (0.1, 0.2, 3.0)}), Rotation.from_rotvec((0.1, 0.2, 3.0))),
        (((), {"matrix": [[0, -1, 0], [1, 0, 0], [0, 0, 1]]}), Rotation.from_rotvec((0, 0, math.pi / 2))),
    ],
)
def test_ways_to_give_a_rotation(given, expected):
    arguments, named = given
    quaternion = bc.rotation(*arguments, **named)
    same(quaternion, expected)
    assert math.hypot(*quaternion) == pytest.approx(1.0, abs=1e-15)


def test_a_matrix_stands_for_a_quaternion_everywhere():
    turn = Rotation.from_rotvec((0.3, -0.2, 0.9))
    mech = bc.Mechanism("turned")
    body = mech.add_body("body", 1.0, (1, 1, 1), rotation=turn.as_matrix())
    same(body.rotation, turn)
    same(body.marker(rotation=turn.as_matrix().tolist()).rotation, turn)
    same(bc.Box(size=(1, 1, 1), rotation=turn.as_matrix()).rotation, turn)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"axis": (0, 0, 0), "angle": 1.0}, "axis must be a direction.*zero"),
        ({"axis": (0, math.inf, 0), "angle": 1.0}, "axis must be finite"),
        ({"axis": "z"}, "give axis and angle"),
        ({"angle": 1.0}, "give axis and angle"),
        ({"axis": "w", "angle": 1.0}, "axis must be a direction"),
        ({"axis": "z", "angle": math.nan}, "angle must be finite"),
        ({"rpy": (1, 2)}, "rpy must hold 3 numbers"),
        ({"rpy": (1, 2, 3), "vector": (1, 2, 3)}, "give axis and angle"),
        ({"matrix": np.diag([1.0, 1.0, -1.0])}, "it mirrors"),
        ({"matrix": np.diag([1.0, 1.0, 2.0])}, "perpendicular unit vectors, they miss by 3"),
        ({"matrix": np.ones((2, 2))}, "3 x 3 numbers"),
    ],
)
def test_faults(given, says):
    with pytest.raises(bc.MechanismError, match=says):
        bc.rotation(**given)


LENGTHS = (1e-300, 1e-6, 0.1, 7.0, 1e6, 1e300)


@pytest.mark.parametrize("length", LENGTHS)
def test_the_length_of_a_direction_does_not_matter(length):
    axis = np.array([0.48, -0.6, 0.64])
    long = tuple((length * axis).tolist())
    mech = bc.Mechanism("directions")
    body = mech.add_body("b", 1.0, (1, 1, 1), rotation=bc.rotation(axis=long, angle=0.7))
    same(body.rotation, Rotation.from_rotvec(0.7 * axis))
    for name in ("axis", "x_axis", "y_axis", "z_axis"):
        given = body.marker(**{name: long})
        np.testing.assert_allclose(getattr(given, "z_axis" if name == "axis" else name), axis, atol=1e-15)
        assert math.hypot(*given.rotation) == pytest.approx(1.0, abs=1e-15)
    two = body.marker(x_axis=long, y_axis=(0.6 * length, 0.48 * length, 0))
    np.testing.assert_allclose(two.y_axis, np.array([0.6, 0.48, 0]) / math.hypot(0.6, 0.48), atol=1e-15)
    np.testing.assert_allclose(body.world_marker(axis=long).rotation, body.world_marker(axis=axis).rotation)
    assert np.linalg.norm(bc.PathJoint(bc.symbol("u"), (bc.symbol("u"), 0, 0), up=long).up) == pytest.approx(
        1
    )


@pytest.mark.parametrize("length", LENGTHS)
def test_the_length_of_a_direction_in_a_file_does_not_matter(length):
    axis = [length, 0.0, -length]
    text = f"""
bellcrank: 1
bodies:
  a: {{mass: 1, inertia: [1, 1, 1], rotation: {{axis: {axis}, angle: 0.5}}}}
markers:
  p: {{body: a, axis: {axis}}}
"""
    mech = bc.loads(text, "yaml")
    same(mech.bodies["a"].rotation, Rotation.from_rotvec(0.5 * np.sqrt(0.5) * np.array([1, 0, -1])))
    np.testing.assert_allclose(mech.markers["a.p"].z_axis, np.sqrt(0.5) * np.array([1, 0, -1]), atol=1e-15)


def test_a_direction_of_parameters_keeps_its_meaning_whatever_its_length():
    mech = bc.Mechanism("parametric")
    x, z = mech.add_parameter("x", 3.0), mech.add_parameter("z", 4.0)
    body = mech.add_body("b", 1.0, (1, 1, 1))
    mech.add_marker(body.marker(axis=(x, 0, z), name="m"))
    for one, other in ((3.0, 4.0), (1e-3, 0.0), (-20.0, 1.0)):
        found = with_numbers(mech.with_parameters(x=one, z=other)).markers["b.m"].z_axis
        np.testing.assert_allclose(found, np.array([one, 0, other]) / math.hypot(one, other), atol=1e-14)


def test_rotations_in_files():
    text = """
bellcrank: 1
bodies:
  a: {mass: 1, inertia: [1, 1, 1], rotation: {rpy: [10 deg, 0, 90 deg]}}
"""
    body = bc.loads(text, "yaml").bodies["a"]
    same(body.rotation, Rotation.from_euler("xyz", (10, 0, 90), degrees=True))
    with pytest.raises(bc.MechanismError, match="rpy stands alone"):
        bc.loads(text.replace("rpy:", "angle: 1, rpy:"), "yaml")


def test_published_moments_that_no_body_has():
    moments = (0.066, 0.086, 0.0125)
    mech = bc.Mechanism("arm")
    with pytest.raises(bc.MechanismError, match="check_inertia=False"):
        mech.add_body("link 3", 4.8, moments)
    body = mech.add_body("link 3", 4.8, moments, check_inertia=False)
    assert np.diag(body.inertia).tolist() == list(moments)
    with pytest.raises(bc.MechanismError, match="positive definite"):
        mech.add_body("hollow", 1.0, (1, 1, -1), check_inertia=False)
    mech.add_joint("pivot", bc.Revolute(), mech.ground, body, velocity=1.0)
    assert bc.simulate(mech, 0.1).violation.position.max() < 1e-12


def test_misspelt_names_of_the_package():
    with pytest.raises(AttributeError, match="did you mean Revolute"):
        _ = bc.Revolut
    with pytest.raises(AttributeError, match="did you mean Prismatic"):
        _ = bc.prismatic
    assert not hasattr(bc, "__wrapped__")


def test_the_ground_by_its_class():
    mech = bc.Mechanism("g")
    body = mech.add_body("a", 1.0, (1, 1, 1))
    assert mech.add_joint("j", bc.Revolute(), bc.Ground(), body).marker_1 == mech.ground.marker()


@pytest.mark.parametrize("tilt", [0.0, 1e-16, 1e-12, 3.59e-9, 1e-8, 1e-7, 1e-6, 1e-4, 1e-2, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(4))
def test_vectors_are_carried_onto_nearly_opposite_ones(tilt, seed):
    """Two angles of 1.570796325 in a file make 3.14159265, which is 3.59e-9 short of a half turn."""
    rng = np.random.default_rng(seed)
    a, side = np.linalg.qr(rng.normal(size=(3, 2)))[0].T
    a, side = (np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])) if seed == 0 else (a, side)
    b = -math.cos(tilt) * a + math.sin(tilt) * side
    turn = between(tuple(a), tuple(b))
    assert math.hypot(*turn) == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_allclose(matrix(turn) @ a, b, rtol=0.0, atol=2e-15)
    if tilt > 1e-6:  # the shortest rotation leaves the normal of their plane alone
        np.testing.assert_allclose(matrix(turn) @ np.cross(a, b), np.cross(a, b), rtol=0.0, atol=2e-15)
