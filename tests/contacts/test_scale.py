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


def rigid_places(mech, length, time, formulation):
    """Those of a run by impulses."""
    options = {"method": "moreau", "formulation": formulation, "step": 1e-3 * time}
    return places(mech, length, time, 0.4, **options)


@pytest.mark.parametrize(("formulation", "off"), [("lagrange", 1e-7), ("recursive", 1e-11)])
@pytest.mark.parametrize(("length", "time"), UNITS)
def test_rigid_scenes_move_alike_in_all_units(formulation, off, length, time):
    """Up to residuals, which `recursive` does not have in scenes of one body."""
    for seed in range(24):
        expected = rigid_places(alone(scene(seed)), 1.0, 1.0, formulation)
        found = rigid_places(alone(scene(seed, length, time)), length, time, formulation)
        np.testing.assert_allclose(found, expected, rtol=0, atol=off)


@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
@pytest.mark.parametrize(("length", "time"), UNITS)
def test_rigid_scenes_with_hinges_move_alike_in_all_units(formulation, length, time):
    """Their rows are of speeds and of angular velocities, of which none must decide alone."""
    for seed in (0, 3, 29, 55):
        expected = rigid_places(scene(seed), 1.0, 1.0, formulation)
        found = rigid_places(scene(seed, length, time), length, time, formulation)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
@pytest.mark.parametrize(("length", "time"), [(2.0**-10, 2.0**-5), (2.0**-20, 2.0**-10), (2.0**10, 1.0)])
def test_rigid_bodies_move_the_same_in_powers_of_two(formulation, length, time):
    """Rounding is the same in these units, so any number that is not relative shows."""
    for seed in range(24):
        expected = rigid_places(alone(scene(seed)), 1.0, 1.0, formulation)
        found = rigid_places(alone(scene(seed, length, time)), length, time, formulation)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("length", "time"), UNITS)
def test_compliant_forces_are_alike_in_all_units(length, time):
    """In fixed steps, whose length no tolerance decides."""
    for seed in (1, 4):
        options = {"method": "rk4", "step": 1e-4}
        expected = places(alone(scene(seed)), 1.0, 1.0, 0.4, **options)
        options["step"] *= time
        found = places(alone(scene(seed, length, time)), length, time, 0.4, **options)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize(("length", "time"), UNITS)
def test_compliant_scenes_move_alike_in_all_units(length, time):
    """Tolerances of steps are absolute, so they scale with the units.

    Steps are short for friction that turns, whose error no estimate shows: by the tolerance alone, 1e-9,
    runs of the first scene are off by 1e-4 in any unit.
    """

    def options(length, time):
        return {"rtol": 1e-9, "atol": 1e-9 * min(1.0, length / time, 1.0 / time), "max_step": 1e-4 * time}

    for seed in (1, 4):
        expected = places(alone(scene(seed)), 1.0, 1.0, 0.4, **options(1.0, 1.0))
        found = places(alone(scene(seed, length, time)), length, time, 0.4, **options(length, time))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


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
