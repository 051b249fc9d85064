"""Scenes in millimetres, metres and micrometres move alike, and a small body that floats touches nothing."""

import numpy as np
import pytest
from rigs.touching_scenes import alone, scene

import bellcrank as bc

UNITS = [
    (1e-3, 1.0),
    (1e-3, 1e-3**0.5),
    (1e-6, 1e-3),
    (1e3, 1.0),
]  # m, s: with and without the gravity of metres


def places(mech, length, time, duration, **options):
    """Positions in units of length, at equal times in units of time."""
    run = bc.simulate(mech, duration * time, output_step=0.01 * time, **options)
    return np.stack([run.body(name).position for name in mech.bodies]) / length


@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
@pytest.mark.parametrize(("length", "time"), UNITS)
def test_rigid_scenes_move_alike_in_all_units(formulation, length, time):
    options = {"method": "moreau", "formulation": formulation}
    for seed in (0, 3):
        expected = places(scene(seed), 1.0, 1.0, 0.4, step=1e-3, **options)
        found = places(scene(seed, length, time), length, time, 0.4, step=1e-3 * time, **options)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("length", "time"), UNITS[:3])
def test_compliant_scenes_move_alike_in_all_units(length, time):
    for seed in (1, 4):
        expected = places(alone(scene(seed)), 1.0, 1.0, 0.4, tolerance=1e-9)
        found = places(alone(scene(seed, length, time)), length, time, 0.4, tolerance=1e-9)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


SHAPES = [
    bc.Box((0.2, 0.15, 0.1)),
    bc.Capsule(0.04, 0.12),
    bc.Cylinder(0.05, 0.16),
    bc.Ellipsoid((0.1, 0.07, 0.05)),
    bc.Sphere(0.06),
]


@pytest.mark.parametrize("size", [1.0, 1e-3, 3e-4, 1e-6])
@pytest.mark.parametrize("number", range(len(SHAPES)))
def test_what_floats_over_terrain_touches_nothing(number, size):
    for trial in range(3):
        rng = np.random.default_rng(trial)
        turn = rng.normal(size=4)
        mech = bc.Mechanism("floating", gravity=(0, 0, 0))
        heights = 0.02 * rng.normal(size=(21, 21))
        terrain = bc.Terrain(heights=heights * size, spacing=0.2 * size, origin=(-2 * size, -2 * size))
        mech.replace(mech.ground, shapes=[terrain])
        made = {field: np.multiply(value, size) for field, value in lengths(SHAPES[number]).items()}
        body = mech.add_body(
            "body",
            mass=1.0,
            inertia=(0.004 * size**2,) * 3,
            position=(0.03 * size, 0.05 * size, 0.25 * size),
            rotation=turn / np.linalg.norm(turn),
            shapes=[type(SHAPES[number])(**{k: tuple(v) if v.ndim else float(v) for k, v in made.items()})],
        )
        mech.add_force("touch", bc.Contact(stiffness=1e4), body.name, "ground")
        run = bc.simulate(mech, 0.01, output_step=0.005)
        assert run.contact("touch").count.max() == 0
        assert np.abs(run.body("body").position - body.position).max() <= 1e-12 * size


def lengths(shape):
    """The fields of a shape that are lengths."""
    return {
        name: getattr(shape, name) for name in ("size", "radius", "length", "radii") if hasattr(shape, name)
    }
