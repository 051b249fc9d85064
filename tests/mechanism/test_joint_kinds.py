"""Every joint kind: its rows and free coordinates together tell the whole relative pose."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import _core as core
from bellcrank.mechanism import COORDINATE_KINDS, GROUND, JOINT_KINDS, JointKind, MotorKind
from bellcrank.mechanism.coordinate import stands_still
from bellcrank.mechanism.rotation import conjugate, matrix, multiply, unit
from bellcrank.mechanism.rows import Row, Term

PARAMETERS = {
    "Screw": {"pitch": 0.3},
    "Distance": {"length": 0.8},
    "RevoluteSpherical": {"length": 0.8},
    "ParallelLink": {"length": 0.8},
    "PlungingParallelLink": {"length": 0.8},
    "PointOnCylinder": {"radius": 0.8},
    "PointOnCone": {"half_angle": 0.5},
    "PointOnHelix": {"radius": 0.8, "pitch": 0.3},
    "SphereOnPlane": {"radius": 0.3},
    "CylinderOnPlane": {"radius": 0.3},
    "AxisAngle": {"angle": 0.7},
    "PointOnCurve": {"points": [(0, 0, 0), (1, 0.5, 0), (2, 0, 0.5), (3, 1, 1)]},
    "ScrewMotor": {"pitch": 0.3},
}
PLAIN = [name for name, kind in JOINT_KINDS.items() if not issubclass(kind, MotorKind)]
LOCKS = [  # those that do no more than lock components of the pose
    JOINT_KINDS[name]
    for name in PLAIN
    if JOINT_KINDS[name].rows is JointKind.rows and {*JOINT_KINDS[name].locked} <= {*"xyz", "e1", "e2", "e3"}
]
MOTORS = [name for name in JOINT_KINDS if name not in PLAIN]

ONE, TWO = (
    bc.Marker(GROUND, (0.1, -0.2, 0.3), (0.5, 0.5, -0.5, 0.5)),
    bc.Marker("b", (0.2, 0.1, 0.0), (0.6, 0.0, 0.8, 0.0)),
)


# Entries of the rotation matrix that stay where the rotation's axis stays: not looked into, they do no harm.
HELD_OTHERWISE = {f"dot_{i}{j}" for i in "xyz" for j in "xyz"}
HELD_OTHERWISE |= {"universal_1", "universal_2", "azimuth_axis", "azimuth", "log_x", "log_y", "log_z"}
HELD_OTHERWISE |= {f"beam_{k}" for k in range(1, 7)}


def made(name):
    return JOINT_KINDS[name](**PARAMETERS.get(name, {}))


def solved(rows, configuration):
    """The configuration that satisfies six rows, by Newton, with their values and derivatives there."""
    for _ in range(60):
        values = np.array([configuration.row(row) for row in rows])
        matrix = np.array([configuration.gradient(row, "b") for row in rows])
        if np.abs(values).max() < 1e-13:
            break
        step = np.linalg.solve(matrix, -values)
        configuration = configuration.moved("b", step * min(1.0, 0.3 / np.linalg.norm(step)))
    return configuration, values, matrix


def generic_targets(kind, coordinates):
    """Moderate values of the free coordinates, all different."""
    numbers = iter(np.random.default_rng(len(coordinates)).uniform(0.25, 0.6, size=6))
    return [next(numbers) for _ in coordinates]


@pytest.mark.parametrize("name", PLAIN)
def test_rows_and_free_coordinates_tell_the_pose(name, configuration):
    kind = made(name)
    rows = list(kind.rows(ONE, TWO))
    free = [kind.coordinate(coordinate, ONE, TWO) for coordinate in kind.free]
    assert len(rows) + len(free) == 6
    targets = generic_targets(kind, free)
    leading = [Row((Term(1.0, c),), target) for c, target in zip(free, targets, strict=True)]
    # A start near the solution: marker 2 turned against marker 1 and off its axes; kinds about crossed
    # axes start with the z axes crossed.
    turn = (0.5**0.5, -(0.5**0.5), 0.0, 0.0) if "azimuth_axis" in kind.free else (0.93, 0.2, 0.2, 0.2)
    q = multiply(multiply(ONE.rotation, unit(turn)), conjugate(TWO.rotation))
    p = np.array(ONE.position) + matrix(ONE.rotation) @ [0.5, 0.4, 0.45] - matrix(q) @ TWO.position
    final, values, jac = solved(rows + leading, configuration({"b": (p, q)}))
    assert np.abs(values).max() < 1e-11
    assert np.linalg.cond(jac) < 1e4
    for coordinate, target in zip(free, targets, strict=True):
        assert final.coordinate(coordinate) == pytest.approx(target, abs=1e-11)


@pytest.mark.parametrize("name", PLAIN)
def test_lowered_joint(name):
    mech = bc.Mechanism()
    body = mech.add_body("b", 1.0, (1, 1, 1))
    kind = made(name)
    lowered = mech.add_joint("j", kind, mech.ground, body).lowered()
    assert [c.kind for c in lowered.coordinates] == [n.removeprefix("mirrored_") for n in kind.free]
    if name == "Free":
        assert lowered.blocks == ()
    else:
        (block,) = lowered.blocks
        assert (block.role, block.unilateral, block.compliance) == ("joint", False, 0.0)
        assert 1 <= len(block.rows) <= 6
        for row in block.rows:
            for term in row.terms:
                assert COORDINATE_KINDS[term.coordinate.kind].has_params == bool(term.coordinate.params)


def test_the_promised_kinds_are_there():
    translations, rotations = (
        ("", "x", "z", "x y", "y z", "x y z"),
        ("", "e3", "e1", "e1 e2", "e2 e3", "e1 e2 e3"),
    )
    wanted = {tuple(f"{t} {r}".split()) for t in translations for r in rotations}
    assert wanted <= {kind.locked for kind in LOCKS}
    assert len(JOINT_KINDS) >= 50


def test_no_two_lock_kinds_hold_the_same():
    assert len({kind.locked for kind in LOCKS}) == len(LOCKS)


def test_coordinates_are_those_of_the_core():
    found = {
        name: angular for name, angular in core.coordinate_kinds().items() if not name.startswith("rig_")
    }
    assert found == {name: kind.angular for name, kind in COORDINATE_KINDS.items()}
    curve = bc.Curve([(0, 0, 0), (1, 0, 0), (1, 1, 0)]).coordinate_params()
    law = bc.CamMotion((0, 2, 2 * np.pi), (0, 1, 0)).flat().params
    cams = {"cam_lift": law, "cam_slide": (0.1, *law), "cam_swing": (2.0, 1.0, *law), "tangent_span": [0.1]}
    cams["tangent_slant"] = [0.1]
    beam = [0.7, *(np.eye(6) + 0.1)[np.triu_indices(6)], *[0.1] * 6]
    cams |= {f"beam_{k}": beam for k in range(1, 7)}
    for name, kind in COORDINATE_KINDS.items():
        own = cams.get(name, curve)
        core.check_coordinate(name, own if kind.has_params else [])


class TestMotorKinds:
    @staticmethod
    def mechanism(name, **motion):
        mech = bc.Mechanism()
        body = mech.add_body("b", 1.0, (1, 1, 1))
        mech.add_joint("j", JOINT_KINDS[name](**PARAMETERS.get(name, {}), **motion), mech.ground, body)
        return mech

    @pytest.mark.parametrize("name", MOTORS)
    def test_they_stand_for_a_joint_and_drives(self, name):
        kind = JOINT_KINDS[name]
        functions = [bc.Harmonic(0.1 * (k + 1), 1.0) for k in range(len(kind.driven))]
        mech = self.mechanism(name, position=functions[0] if len(functions) == 1 else functions)
        assert type(mech.joints["j"].kind) is kind.plain
        assert [drive.position for drive in mech.drives.values()] == functions
        assert [drive.coordinate.coordinate for drive in mech.drives.values()] == list(kind.driven)
        names = ["j"] if len(functions) == 1 else [f"j.{coordinate}" for coordinate in kind.driven]
        assert list(mech.drives) == names
        assert set(kind.driven) | set(kind.free) >= set(kind.plain.free) or kind.driven == ("distance",)

    def test_velocity(self):
        mech = self.mechanism("RevoluteMotor", velocity=3.0)
        assert mech.drives["j"].velocity == bc.Constant(3.0)
        assert mech.drives["j"].position is None

    def test_screw_keeps_its_pitch(self):
        assert self.mechanism("ScrewMotor", position=0.1).joints["j"].kind == bc.Screw(0.3)


def test_a_joint_kind_of_ones_own():
    kind = bc.joint_kind("TestOnlyAxisInPlane", "z dot_zx", "x y universal_1 universal_2", "For this test.")
    try:
        assert kind().rows(ONE, TWO)[1].terms[0].coordinate == bc.Coordinate("dot_zx", ONE, TWO)
        with pytest.raises(ValueError, match="exists already"):
            bc.joint_kind("TestOnlyAxisInPlane", "z", "x", "Again.")
        with pytest.raises(ValueError, match="'w' is not a coordinate"):
            bc.joint_kind("TestOnlyOther", "w", "x", "Nonsense.")
    finally:
        del JOINT_KINDS["TestOnlyAxisInPlane"]


def test_closed_curves_count_rounds():
    points = [(np.cos(a), np.sin(a), 0) for a in np.linspace(0, 2 * np.pi, 8, endpoint=False)]
    kind = bc.PointOnCurve(points, closed=True)
    assert kind.free[0] == "curve_angle"
    assert kind == bc.PointOnCurve(points, closed=True)
    assert bc.PointOnCurve(points).free[0] == "curve_parameter"


def test_limits_become_unilateral_rows(configuration):
    mech = bc.Mechanism()
    body = mech.add_body("b", 1.0, (1, 1, 1))
    limit = bc.Limit(lower=-0.5, upper=2.0, restitution=0.3)
    joint = mech.add_joint(
        "j", bc.Cylindrical(), mech.ground, body, limits={"theta_z": limit, "z": bc.Limit(upper=1)}
    )
    blocks = joint.lowered().blocks[1:]
    assert [block.role for block in blocks] == ["limit_lower", "limit_upper", "limit_upper"]
    assert all(block.unilateral for block in blocks)
    assert [block.restitution for block in blocks] == [0.3, 0.3, 0.0]
    for angle, travel in ((0.4, 0.2), (-0.6, 1.2), (2.1, 0.0)):
        pose = ((0.0, 0.0, travel), (np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)))
        values = [configuration({"b": pose}).row(block.rows[0]) for block in blocks]
        np.testing.assert_allclose(values, [angle + 0.5, 2.0 - angle, 1.0 - travel], atol=1e-14)


def test_a_single_limit_and_one_on_a_coordinate_of_the_pair():
    mech = bc.Mechanism()
    body = mech.add_body("b", 1.0, (1, 1, 1))
    assert mech.add_joint("a", bc.Prismatic(), mech.ground, body, bc.Limit(lower=0)).limits[0][0] == "z"
    rope = mech.add_joint("b", bc.Free(), mech.ground, body, {"distance": bc.Limit(upper=2.0)})
    (block,) = rope.lowered().blocks
    assert block.rows[0].terms[0].coordinate.kind == "distance"


@pytest.mark.parametrize("kind", LOCKS, ids=lambda kind: kind.__name__)
def test_coordinates_that_are_said_to_stand_still_do(kind, configuration):
    """Along random motions that the locks allow, from poses that satisfy them."""
    rng = np.random.default_rng(5)
    here = bc.Marker(GROUND), bc.Marker("b")
    poses = []
    for _ in range(6):
        r = np.where([axis in kind.locked for axis in "xyz"], 0.0, rng.uniform(0.3, 0.9, size=3))
        e = np.where([f"e{i}" in kind.locked for i in (1, 2, 3)], 0.0, rng.uniform(0.1, 0.4, size=3))
        poses.append(configuration({"b": (r, (np.sqrt(1 - e @ e), *e.tolist()))}))
    for name, coordinate in COORDINATE_KINDS.items():
        if coordinate.has_params:
            continue
        for full in (name, f"mirrored_{name}"):
            values = [pose.coordinate(kind().coordinate(full, *here)) for pose in poses]
            if full in kind.locked or name == "e0":
                continue
            moves = np.ptp(values) > 1e-6
            if full.startswith("mirrored_") and moves:
                assert not stands_still(full, kind.locked)
            elif not full.startswith("mirrored_"):
                assert moves != stands_still(full, kind.locked) or full in HELD_OTHERWISE
