"""Bodies that are fast, large or small: none gets through another one, and all move alike."""

from dataclasses import replace

import numpy as np
import pytest
from rigs.touching_scenes import alone, orientation, scene, shape

import bellcrank as bc


def crossing(seed):
    """A mechanism without weight: bodies "a" and "b" are nearest to each other between 0.2 and 0.8 s."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism(f"crossing {seed}", gravity=(0.0, 0.0, 0.0))
    speed, meet = 10.0 ** rng.uniform(0.0, 2.0), rng.uniform(0.2, 0.8)
    for name in ("a", "b"):
        size = rng.uniform(0.02, 0.3)
        way = rng.normal(size=3)
        way *= speed / np.linalg.norm(way)
        miss = rng.normal(scale=0.3 * size, size=3)
        mech.add_body(
            name,
            mass=10.0 ** rng.uniform(-2.0, 1.0),
            shapes=[replace(shape(rng, size), density=1000.0)],
            position=tuple((miss - way * meet).tolist()),
            velocity=tuple(way.tolist()),
            rotation=orientation(rng),
            angular_velocity=tuple(rng.normal(scale=20.0, size=3).tolist()),
        )
    energy = min(mech.bodies[name].mass for name in ("a", "b")) * speed**2
    mech.add_force("touch", bc.Contact(stiffness=energy / 1e-6, restitution=0.5), "a", "b")
    return mech


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


RADIUS, MASS = 0.01, 0.01


def shot(speed, thickness, depth, *, shape=None, angle=0.0):
    """A ball that hits a wall, which it would dent by a depth."""
    mech = bc.Mechanism("shot", gravity=(0.0, 0.0, 0.0))
    mech.replace(mech.ground, shapes=[bc.Box(size=(1.0, 1.0, thickness))])
    mech.add_body(
        "ball",
        mass=MASS,
        shapes=[shape or bc.Sphere(radius=RADIUS, density=1.0)],
        position=(0.1, 0.2, 0.5),
        velocity=(0.0, 0.0, -speed),
    )
    stiffness = MASS * speed**2 / depth**2
    contact = bc.Contact(stiffness, restitution=0.5, impact_speed=speed)
    mech.add_force("touch", contact, "ball", "ground")
    return mech


@pytest.mark.parametrize("speed", [1.0, 30.0, 900.0])
@pytest.mark.parametrize("method", ["auto", "dopri5", "bdf"])
def test_a_ball_does_not_pass_a_thin_wall(speed, method):
    mech = shot(speed, 1e-3, 1e-4)
    run = bc.simulate(mech, duration=1.0 / speed, output_step=0.1 / speed, method=method)
    names = [event.name for event in run.events]
    assert names == ["touch touches", "touch lifts off"]
    assert run.events[0].time == pytest.approx((0.5 - RADIUS - 5e-4) / speed, rel=1e-9)
    assert run.body("ball").velocity[-1] == pytest.approx([0.0, 0.0, 0.5 * speed], rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("method", ["semi_implicit_euler", "rk4"])
def test_a_fixed_step_longer_than_the_wall_is_thick_is_divided(method):
    """Steps go on by five times the wall's thickness."""
    mech = shot(100.0, 0.02, 5e-3)
    run = bc.simulate(mech, duration=0.012, output_step=0.001, method=method, step=1e-3)
    assert run.body("ball").velocity[-1][2] == pytest.approx(50.0, rel=0.1)
    assert 20 < run.statistics["steps"] < 200


def test_a_fixed_step_that_a_thin_wall_is_too_stiff_for_is_reported():
    mech = shot(100.0, 1e-3, 1e-5)
    with pytest.raises(bc.SimulationError, match="energy rises without a source"):
        bc.simulate(mech, duration=0.01, output_step=0.001, method="semi_implicit_euler", step=1e-3)


def beginnings(run):
    return [event.time for event in run.events if event.name == "touch touches"]


@pytest.mark.parametrize("seed", [100, 106, 194, 499, 752, 838, 1067, *range(3000, 3012)])
def test_long_steps_find_the_same_contacts_as_short_ones(seed):
    mech = crossing(seed)
    run = bc.simulate(mech, duration=1.0, output_step=0.5)
    fine = bc.simulate(mech, duration=1.0, output_step=0.5, max_step=2e-5)
    assert len(beginnings(run)) > 0 or len(beginnings(fine)) == 0
    assert beginnings(run)[:1] == pytest.approx(beginnings(fine)[:1], abs=2e-8)


def test_a_corner_that_another_body_grazes_counts():
    """Bodies 4 and 5 overlap between two frames only, from 82 to 95 ms."""
    run = bc.simulate(scene(20336), duration=0.15, output_step=0.01)
    assert 0.082 < beginnings(run)[0] < 0.083
    assert bc.verify(run).passed


@pytest.mark.parametrize("seed", [249, 296, 613, 837])
def test_a_rim_that_hits_an_edge_bounces(seed):
    """A cylinder's flat end hits the edge of a box; every run ended there with steps that were too small."""
    mech = crossing(seed)
    run = bc.simulate(mech, duration=1.0, output_step=0.5, tolerance=1e-8)
    same = bc.simulate(mech, duration=1.0, output_step=0.5, tolerance=1e-8, method="dopri5")
    assert beginnings(run)[0] == pytest.approx(beginnings(same)[0], abs=1e-7)
    before, after = run.energy.kinetic[0], run.energy.kinetic[-1]
    assert after < before
    assert after == pytest.approx(same.energy.kinetic[-1], rel=0.1)


def test_contacts_that_begin_are_events_even_in_crawling_steps():
    run = bc.simulate(crossing(752), duration=0.62, output_step=0.5, max_step=1e-5)
    assert [event.name for event in run.events] == ["touch touches", "touch lifts off"]


def test_what_turns_is_seen_by_its_tip():
    """A blade turns by 5 rad between two frames; its centre stays where it is."""
    mech = bc.Mechanism("blade", gravity=(0.0, 0.0, 0.0))
    mech.add_body("blade", mass=1.0, shapes=[bc.Box(size=(0.6, 0.02, 0.02), density=1.0)])
    mech.add_body("post", mass=1.0, shapes=[bc.Sphere(radius=0.01, density=1.0)], position=(0.0, 0.29, 0.0))
    mech.add_joint("hinge", bc.Revolute(), "ground", "blade", velocity=50.0)
    mech.add_force("touch", bc.Contact(1e7), "blade", "post")
    run = bc.simulate(mech, duration=0.1, output_step=0.1)
    angle = 0.5 * np.pi - np.arcsin(0.02 / 0.29)
    assert beginnings(run)[0] == pytest.approx(angle / 50.0, rel=1e-6)
