"""The stress where shapes touch in a run, against that of Hertz by hand."""

from math import inf, pi

import numpy as np
import pytest

import bellcrank as bc

STEEL = 2.06e11
WEIGHT = 2.0 * 9.81


def resting(shape, under, rotation=(1, 0, 0, 0), height=0.1, at=(0.0, 0.0)):
    """A body of 2 kg held upright on something fixed, so long that it rests."""
    mech = bc.Mechanism("resting", gravity=(0, 0, -9.81))
    mech.replace(mech.ground, shapes=[under])
    body = mech.add_body("body", 2.0, (0.01,) * 3, position=(*at, height), rotation=rotation, shapes=[shape])
    mech.add_joint(
        "guide", bc.Prismatic(), mech.ground.marker((*at, height)), body.world_marker((*at, height))
    )
    mech.add_force("touch", bc.Contact(stiffness=1e7, restitution=0.0, joined=True), body, "ground")
    return bc.simulate(mech, 0.2, method="bdf", rtol=1e-9, atol=1e-12)


TILT = (np.cos(pi / 4), np.sin(pi / 4), 0.0, 0.0)  # a cylinder's axis along -y
ACROSS = (np.cos(pi / 4), 0.0, np.sin(pi / 4), 0.0)  # along x
CASES = {
    "ball on a plane": (bc.Sphere(radius=0.1), bc.Plane(), (1, 0, 0, 0), 0.1, (0.1, inf), {}),
    "ball on a box": (
        bc.Sphere(radius=0.1), bc.Box(size=(1, 1, 0.2), position=(0, 0, -0.1)), (1, 0, 0, 0), 0.1, (0.1, inf),
        {},
    ),
    "ball on a ball": (
        bc.Sphere(radius=0.1), bc.Sphere(radius=0.3, position=(0, 0, -0.3)), (1, 0, 0, 0), 0.1, (0.1, 0.3), {}
    ),
    "crossed capsules": (
        bc.Capsule(radius=0.1, length=1.0),
        bc.Capsule(radius=0.2, length=1.0, position=(0, 0, -0.2), rotation=ACROSS), TILT, 0.1,
        ((0.1, inf), (0.2, inf)), {"angle": pi / 2},
    ),
    "ellipsoid on a plane": (
        bc.Ellipsoid(radii=(0.2, 0.3, 0.1)), bc.Plane(), (1, 0, 0, 0), 0.1, ((0.4, 0.9), inf), {}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_stress_is_that_of_hertz(name):
    shape, under, turn, height, radii, options = CASES[name]
    run = resting(shape, under, turn, height)
    points, stress = run.contact("touch").points(), run.contact("touch").stress(STEEL)
    assert len(stress.pressure) == len(points) > 50
    np.testing.assert_allclose(stress.force, points.normal_force)
    assert stress.force[-1] == pytest.approx(WEIGHT, rel=1e-4)
    wanted = bc.hertz(stress.force, *radii, modulus=STEEL, **options)
    np.testing.assert_allclose(stress.pressure, wanted.pressure, rtol=1e-6)
    np.testing.assert_allclose(stress.half_widths.T, wanted.half_widths, rtol=1e-6)
    np.testing.assert_allclose(stress.approach, wanted.approach, rtol=1e-6)


def test_an_ellipsoid_that_leans():
    """Radii of curvature of an ellipse at its foot: b² c² over the cube of the height of the tangent."""
    lean, semi = 0.4, np.array([0.3, 0.1])  # along x and z
    normal = np.array([np.sin(lean), -np.cos(lean)])
    reach = np.sqrt(np.sum((semi * normal) ** 2))
    run = resting(
        bc.Ellipsoid(radii=(0.3, 0.2, 0.1)), bc.Plane(), (np.cos(lean / 2), 0, np.sin(lean / 2), 0), reach
    )
    stress = run.contact("touch").stress(STEEL)
    along = np.prod(semi) ** 2 / reach**3  # in the plane of the lean
    across = 0.2**2 / reach
    wanted = bc.hertz(stress.force, (along, across), modulus=STEEL)
    np.testing.assert_allclose(stress.pressure, wanted.pressure, rtol=1e-6)


@pytest.mark.parametrize(
    ("shape", "turn", "height"),
    [
        (bc.Cylinder(radius=0.1, length=0.4), TILT, 0.1),
        (bc.Cylinder(radius=0.1, length=0.2), (1, 0, 0, 0), 0.1),
        (bc.Box(size=(0.2, 0.2, 0.2)), (1, 0, 0, 0), 0.1),
        (bc.Box(size=(0.2, 0.2, 0.2)), (np.cos(pi / 8), np.sin(pi / 8), 0, 0), 0.1 * np.sqrt(2)),
    ],
)
def test_where_there_is_no_point_there_is_no_number(shape, turn, height):
    run = resting(shape, bc.Plane(), turn, height)
    stress = run.contact("touch").stress((STEEL, 7e10), (0.3, 0.33))
    assert len(stress.force) > 50
    assert np.isnan(stress.pressure).all()


def test_wrong_materials_are_refused():
    run = resting(bc.Sphere(radius=0.1), bc.Plane())
    with pytest.raises(bc.MechanismError, match="modulus must be greater than zero"):
        run.contact("touch").stress(-1.0)
    with pytest.raises(bc.MechanismError, match="poisson must lie between"):
        run.contact("touch").stress(1.0, 0.6)
