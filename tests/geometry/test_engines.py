"""Distances and depths against coal and MuJoCo, where they are installed."""

import itertools

import numpy as np
import pytest
from rigs.convex_oracles import convex_shapes, least_points, pose, poses, rotations

from bellcrank import _core

pytestmark = pytest.mark.oracle
COUNT = 150
SHAPES = convex_shapes()
PAIRS = list(itertools.combinations_with_replacement(SHAPES, 2))
OF_MUJOCO = {
    "sphere": 'type="sphere" size="0.4"',
    "capsule": 'type="capsule" size="0.2 0.5"',
    "cylinder": 'type="cylinder" size="0.3 0.5"',
    "ellipsoid": 'type="ellipsoid" size="0.5 0.3 0.2"',
    "box": 'type="box" size="0.5 0.3 0.2"',
}


def gaps(pair, at_a, at_b):
    a, b = (SHAPES[name].shape for name in pair)
    return least_points(_core.collide(a, at_a, b, at_b, np.inf), len(at_a))[:, 6]


def coal_shape(coal, kind):
    if kind == "hull":
        points = np.random.default_rng(3).normal(size=(20, 3))
        points *= 0.5 / np.linalg.norm(points, axis=1, keepdims=True)
        vertices = coal.StdVec_Vec3s()
        for p in points:
            vertices.append(p)
        return coal.Convex.convexHull(vertices, False, "")
    return {
        "sphere": lambda: coal.Sphere(0.4),
        "capsule": lambda: coal.Capsule(0.2, 1.0),
        "cylinder": lambda: coal.Cylinder(0.3, 1.0),
        "cone": lambda: coal.Cone(0.4, 0.8),
        "ellipsoid": lambda: coal.Ellipsoid(0.5, 0.3, 0.2),
        "box": lambda: coal.Box(1.0, 0.6, 0.4),
    }[kind]()


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_distances_are_those_of_coal(pair):
    coal = pytest.importorskip("coal")
    try:
        a, b = (coal_shape(coal, kind) for kind in pair)
    except (AttributeError, TypeError, RuntimeError) as error:
        pytest.skip(f"this coal has no such shape: {error}")
    at_a, at_b = poses(COUNT, 31, 0.7), poses(COUNT, 32, 0.7)
    found = gaps(pair, at_a, at_b)
    R_a, R_b = rotations(at_a).as_matrix(), rotations(at_b).as_matrix()
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-10
    request.gjk_max_iterations = request.epa_max_iterations = 500
    expected = np.empty(COUNT)
    for i in range(COUNT):
        result = coal.DistanceResult()
        here, there = coal.Transform3s(R_a[i], at_a[i, :3]), coal.Transform3s(R_b[i], at_b[i, :3])
        expected[i] = coal.distance(a, here, b, there, request, result)
    is_open = found > 1e-3
    assert is_open.sum() > 20
    assert np.abs(found - expected)[is_open].max() < 1e-5
    # Where they overlap both search for the least depth; coal gives up at some, or ends at another one.
    deep = ~is_open & (np.abs(expected) < 10.0)
    assert deep.sum() > 0.5 * (~is_open).sum()
    assert np.median(np.abs(found - expected)[deep] / (1e-4 + np.abs(found[deep]))) < 6e-3


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if set(pair) <= set(OF_MUJOCO)], ids="-".join)
def test_distances_are_those_of_mujoco(pair):
    mujoco = pytest.importorskip("mujoco")
    bodies = "".join(f'<body mocap="true"><geom {OF_MUJOCO[kind]}/></body>' for kind in pair)
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    model.opt.ccd_tolerance, model.opt.ccd_iterations = 1e-10, 500
    data = mujoco.MjData(model)
    at_a, at_b = poses(COUNT, 41, 0.7), poses(COUNT, 42, 0.7)
    found = gaps(pair, at_a, at_b)
    line = np.zeros(6)
    expected = np.empty(COUNT)
    for i in range(COUNT):
        data.mocap_pos[:] = at_a[i, :3], at_b[i, :3]
        data.mocap_quat[:] = at_a[i, 3:], at_b[i, 3:]
        mujoco.mj_kinematics(model, data)
        expected[i] = mujoco.mj_geomDistance(model, data, 0, 1, 100.0, line)
    is_open = found > 1e-3
    assert is_open.sum() > 20
    assert np.abs(found - expected)[is_open].max() < 1e-5


def test_a_box_on_the_floor_of_mujoco_has_the_same_points():
    mujoco = pytest.importorskip("mujoco")
    xml = (
        '<mujoco><worldbody><geom type="plane" size="5 5 1"/>'
        '<body pos="0.1 0.2 0.199" euler="0 0 30"><freejoint/><geom type="box" size="0.5 0.3 0.2"/></body>'
        "</worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    at = np.hstack([data.xpos[1], data.xquat[1]])[None]
    points = np.asarray(
        _core.collide(SHAPES["box"].shape, at, _core.CollisionShape.plane(), pose(), 0.0).points
    )
    theirs = np.array([[*c.pos, c.dist] for c in data.contact])
    assert len(points) == len(theirs) == 4
    order, other = np.lexsort(np.round(points[:, :2], 9).T), np.lexsort(np.round(theirs[:, :2], 9).T)
    assert points[order][:, [0, 1, 2, 6]] == pytest.approx(theirs[other], abs=1e-12)
