"""Exact derivatives where bodies touch: of accelerations, linear equations, implicit steps."""

from math import pi, sqrt

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.linear.sampling import without_stops
from bellcrank.linear.state_chart import StateChart
from bellcrank.linear.touching import place_beside

STIFFNESS = 2e4
PLANE = bc.Plane(size=1)
BALL = bc.Sphere(radius=0.1, density=700)
BLOCK = bc.Box(size=(0.12, 0.08, 0.07), density=700)
ROD = {"radius": 0.05, "length": 0.3, "density": 700}


def turned(axis, angle):
    along = np.array(axis, dtype=float) / np.linalg.norm(axis)
    return (np.cos(angle / 2), *(np.sin(angle / 2) * along))


FLAT, ACROSS = turned((0, 1, 0), pi / 2), turned((1, 0.1, 0), 1.5)


def scene(shape, ground, height, velocity=(0.3, 0.1, 0), spin=(0, 0, 0), rotation=(1, 0, 0, 0), **law):
    mech = bc.Mechanism("scene")
    mech.add_body(
        "a",
        shapes=[shape],
        position=(0.013, 0.02, height),
        velocity=velocity,
        angular_velocity=spin,
        rotation=rotation,
    )
    mech.replace(mech.ground, shapes=[ground])
    given = {"stiffness": STIFFNESS, "restitution": 0.3, "friction": 0.4} | law
    mech.add_force("floor", bc.Contact(**given), "a", "ground")
    return mech


def edges():
    roof = bc.Box(size=(1, 1, 1), position=(0, 0, -0.7), rotation=turned((1, 0, 0), pi / 4))
    return scene(BLOCK, roof, 0.053, rotation=turned((0.1, 1, 0), pi / 4))


def linkage():
    """A crank that pushes a ball along a bench by a rod, with a spring and a block that lies on the rod."""
    mech = bc.Mechanism("linkage")
    crank = mech.add_body("crank", shapes=[bc.Box(size=(0.3, 0.04, 0.04), density=3000)])
    rod = mech.add_body("rod", shapes=[bc.Capsule(0.04, 0.5, density=2000, rotation=FLAT)])
    ball = mech.add_body("ball", shapes=[BALL], position=(0.9, 0.03, 0.1), velocity=(-0.6, 0, 0))
    mech.replace(mech.ground, shapes=[PLANE])
    hinge = mech.add_joint(
        "hinge",
        bc.Revolute(),
        mech.ground.marker((0, 0, 0.3), axis="y"),
        crank.marker((-0.15, 0, 0), axis="y"),
        position=0.5,
    )
    elbow = mech.add_joint(
        "elbow", bc.Revolute(), crank.marker((0.15, 0, 0), axis="y"), rod.marker((-0.25, 0, 0), axis="y"),
        position=-0.4,
    )  # fmt: skip
    mech.add_force("spring", bc.TorsionSpring(stiffness=30.0, damping=0.5), hinge)
    mech.add_force("stay", bc.TorsionSpring(stiffness=5.0, damping=0.2), elbow)
    mech.add_force("touch", bc.Contact(STIFFNESS, restitution=0.2, friction=0.3), rod, ball, "ground")
    return mech


# Mechanism, and how long it has moved.
SCENES = {
    "a ball that rolls": (scene(BALL, PLANE, 0.1), 0.3),
    "a ball that slips": (scene(BALL, PLANE, 0.1, velocity=(2, 0.5, 0), friction=0.1), 0.3),
    "a ball that spins": (scene(BALL, PLANE, 0.1, spin=(1, 2, 30), friction=0.1), 0.3),
    "a ball by Hertz": (scene(BALL, PLANE, 0.1, exponent=1.5, stiffness=5e5), 0.3),
    "a ball without friction": (scene(BALL, PLANE, 0.1, friction=0.0), 0.3),
    "a ball on a box": (scene(BALL, bc.Box(size=(2, 2, 0.2), position=(0, 0, -0.1)), 0.1), 0.3),
    "a ball on a ball": (scene(BALL, bc.Sphere(0.5, position=(0, 0, -0.5)), 0.1), 0.2),
    "a ball on cells": (scene(BALL, bc.Terrain.bumps(0.02, 0.5, (2, 2), 0.1), 0.12), 0.15),
    "a block that sticks": (scene(BLOCK, PLANE, 0.035), 0.6),
    "a block that slips": (
        scene(BLOCK, PLANE, 0.035, velocity=(2, 1, 0), spin=(0, 0, 3), friction=0.1),
        0.1,
    ),
    "a block on a block": (scene(BLOCK, bc.Box(size=(1, 1, 0.1), position=(0, 0, -0.05)), 0.035), 0.1),
    "edges": (edges(), 0.03),
    "a capsule on a ball": (
        scene(bc.Capsule(**ROD), bc.Sphere(0.5, position=(0, 0, -0.5)), 0.05, rotation=FLAT),
        0.05,
    ),
    "a cylinder on a plane": (scene(bc.Cylinder(**ROD), PLANE, 0.05, rotation=FLAT), 0.15),
    "capsules": (
        scene(
            bc.Capsule(**ROD),
            bc.Capsule(0.05, 0.5, position=(0, 0, -0.05), rotation=ACROSS),
            0.05,
            rotation=FLAT,
        ),
        0.05,
    ),
    "an ellipsoid": (
        scene(bc.Ellipsoid((0.1, 0.2, 0.15), density=700), PLANE, 0.15, rotation=turned((1, 0.2, 0), 0.2)),
        0.1,
    ),
    "a linkage": (linkage(), 0.03),
}


PARTS = ("ax", "ay", "az", "alphax", "alphay", "alphaz")


def outputs(model):
    return [f"body.{name}.{part}" for name in model.bodies for part in PARTS]


def extrapolated(f, steps=(1e-5, 1e-6, 1e-7, 1e-8, 1e-9)):
    """df/dh of order four, at each place from the steps of which two agree best."""
    found = [(8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h) for h in steps]
    off = np.abs(np.diff(found, axis=0))
    return np.take_along_axis(np.array(found[1:]), np.argmin(off, axis=0)[None], axis=0)[0]


def differenced(system, base):
    """Accelerations (quantities, states) by differences, with what touches at the base held as it is."""
    chart = StateChart(without_stops(system.model), base)
    count = len(chart.position)

    def at(point):
        state = chart.at(point[:count], point[count:])
        place_beside(system, base, state)
        linear, angular, _ = system.core.accelerate()
        return np.hstack([linear, angular]).ravel()

    here = np.concatenate([chart.position, chart.speed])
    return np.stack([extrapolated(lambda h, e=e: at(here + h * e)) for e in np.eye(len(here))], axis=1)


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
def test_accelerations_follow_states(name, formulation):
    mech, duration = SCENES[name]
    run = bc.simulate(mech, duration=duration, formulation=formulation)
    system = bc.prepare(mech, formulation)
    base = run.at(run.time[-1])
    assert len(base.contacts) > 0
    of = outputs(system.model)
    found = system.derivatives(base, of=of, by="states", mode="forward")
    size = np.abs(found.array).max()
    np.testing.assert_allclose(found.array, differenced(system, base), rtol=0, atol=3e-8 * size)
    back = system.derivatives(base, of=of, by="states", mode="backward")
    np.testing.assert_allclose(back.array, found.array, rtol=0, atol=1e-12 * size)
    for other in {"lagrange", "recursive", "dca"} - {formulation}:
        again = bc.prepare(mech, other).derivatives(base, of=of, by=found.inputs)
        np.testing.assert_allclose(again.array, found.array, rtol=0, atol=1e-9 * size)


def test_a_ball_on_its_springs():
    """Up and down on k; along on the spring of friction, which acts in the middle of the overlap."""
    mech = scene(BALL, PLANE, 0.1, velocity=(0, 0, 0))
    body = mech.bodies["a"]
    depth = body.mass * 9.81 / STIFFNESS
    mech.replace(body, position=(0.0, 0.0, 0.1 - depth))
    made = bc.linearize(mech, states=["a.x", "a.y", "a.z"])
    assert made.notes == ()
    by_x, by_z = (made.A[made.states.index(f"{name}.rate")] for name in ("a.x", "a.z"))
    assert by_z[made.states.index("a.z")] == pytest.approx(-STIFFNESS / body.mass, rel=1e-9)
    spring, arm = bc.Contact(STIFFNESS).shear_ratio * STIFFNESS, 0.1 - depth / 2
    assert by_x[made.states.index("a.x")] == pytest.approx(-spring / body.mass, rel=1e-6)
    turn = next(k for k, name in enumerate(made.states) if "rot" in name and abs(by_x[k]) > 1.0)
    assert abs(by_x[turn]) == pytest.approx(spring * arm / body.mass, rel=1e-6)


def test_a_block_vibrates_on_its_corners():
    mech = scene(BLOCK, PLANE, 0.035, velocity=(0, 0, 0))
    run = bc.simulate(mech, duration=1.0)
    found = bc.modes(mech, state=run.at(1.0))
    expected = sqrt(4 * STIFFNESS / mech.bodies["a"].mass) / (2 * pi)
    assert min(abs(mode.frequency - expected) for mode in found) < 1e-4


@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
@pytest.mark.parametrize("duration", [0.05, 0.3])  # slips; sticks
def test_parameters_move_masses_and_laws_and_not_shapes(formulation, duration):
    mech = bc.Mechanism("unbalanced")
    values = {"mass": 2.0, "com": 0.01, "rate": STIFFNESS, "power": 1.2, "bounce": 0.3, "rubs": 0.4}
    mass, com, rate, power, bounce, rubs = (mech.add_parameter(*one) for one in values.items())
    mech.add_body(
        "a",
        mass=mass,
        inertia=(0.01, 0.012, 0.013),
        com=(com, 0.005, 0.0),
        shapes=[BLOCK],
        position=(0, 0, 0.035),
        velocity=(0.4, 0.1, 0),
    )
    mech.replace(mech.ground, shapes=[PLANE])
    law = bc.Contact(rate, exponent=power, restitution=bounce, friction=rubs, shear_ratio=0.8)
    mech.add_force("floor", law, "a", "ground")
    base = bc.simulate(mech, duration=duration).at(duration)
    of = [f"body.a.{part}" for part in PARTS]
    found = bc.prepare(mech, formulation).derivatives(base, of=of, by=list(values))
    back = bc.prepare(mech, formulation).derivatives(base, of=of, by=list(values), mode="backward")
    np.testing.assert_allclose(back.array, found.array, rtol=1e-9, atol=1e-12 * np.abs(found.array).max())

    def at(**beside):
        system = bc.prepare(mech.with_parameters(**beside), formulation)
        place_beside(system, base, base)
        linear, angular, _ = system.core.accelerate()
        return np.hstack([linear, angular]).ravel()

    for k, (name, value) in enumerate(values.items()):
        if duration < 0.1 and name in (
            "power",
            "rubs",
        ):  # with which a stretched spring is not that of a slip
            continue
        beside = extrapolated(lambda h, name=name, value=value: at(**{name: value * (1.0 + h)})) / value
        off = np.abs(found.array[:, k] - beside).max()
        assert off <= 1e-7 * np.abs(beside).max(), name


def test_slip_by_the_coefficient_of_friction():
    mech = bc.Mechanism("sledge")
    rubs = mech.add_parameter("rubs", 0.1)
    mech.add_body("a", shapes=[BLOCK], position=(0, 0, 0.0345), velocity=(2, 0, 0))
    mech.replace(mech.ground, shapes=[PLANE])
    mech.add_force("floor", bc.Contact(STIFFNESS, restitution=0.3, friction=rubs), "a", "ground")
    run = bc.simulate(mech, duration=0.2)
    found = bc.prepare(mech, "lagrange").derivatives(run.at(0.2), of="body.a.ax", by="rubs")
    pressed = run.contact("floor").points(-1).normal_force.sum()
    assert found.array[0, 0] == pytest.approx(-pressed / mech.bodies["a"].mass, rel=1e-9)


def test_parameters_of_shapes_that_touch_are_named():
    mech = bc.Mechanism("ball")
    size = mech.add_parameter("size", 0.1, "m")
    mech.add_body("a", shapes=[bc.Sphere(size, density=700)], position=(0, 0, 0.0999))
    mech.replace(mech.ground, shapes=[PLANE])
    mech.add_force("floor", bc.Contact(STIFFNESS), "a", "ground")
    with pytest.raises(bc.Unsupported, match="'size': shapes that touch are made with it"):
        bc.prepare(mech, "lagrange").derivatives(of="body.a.az", by="size")


def test_kinks_are_named():
    grazing = scene(BALL, PLANE, 0.1, velocity=(0, 0, 0))
    system = bc.prepare(grazing, "lagrange")
    with pytest.raises(bc.MechanismError, match="'floor', bodies 'a' and 'ground': they are about to touch"):
        system.derivatives(of="body.a.az")
    slipping = scene(BALL, PLANE, 0.0999, velocity=(2, 0, 0))
    with pytest.raises(bc.MechanismError, match="how far friction is stretched is not known"):
        bc.prepare(slipping, "recursive").derivatives(of="body.a.ax")
    with pytest.raises(bc.MechanismError, match="how far friction is stretched is not known"):
        bc.linearize(slipping, steady=False)
    # A ball that rolls over the edge of a box.
    edge = scene(BALL, bc.Box(size=(0.2, 0.2, 0.2), position=(-0.1, 0, -0.1)), 0.0999, velocity=(0, 0, 0))
    edge.replace(edge.bodies["a"], position=(0.0, 0.0, 0.0999))
    with pytest.raises(bc.MechanismError, match="surfaces end or bend right beside a point"):
        bc.prepare(edge, "lagrange").derivatives(of="body.a.az")


def test_tyres_are_named():
    mech = bc.Mechanism("wheel")
    wheel = mech.add_body("wheel", mass=5.0, inertia=(0.1, 0.1, 0.2), position=(0, 0, 0.3))
    mech.replace(mech.ground, shapes=[PLANE])
    mech.add_force("tyre", bc.Tyre(radius=0.3, width=0.05, pressure=3e5), wheel.marker(axis="y"), "ground")
    with pytest.raises(bc.Unsupported, match="cannot take tyres: force 'tyre'"):
        bc.prepare(mech, "lagrange").derivatives(of="body.wheel.az")


def test_steps_by_bdf_take_them():
    mech = scene(BLOCK, PLANE, 0.035, velocity=(0.5, 0, 0), stiffness=1e6)
    run = bc.simulate(mech, duration=0.3, method="bdf")
    assert run.statistics["linearizations"] > 0
    assert run.statistics.get("difference_evaluations", 0) == 0
    exact = bc.simulate(mech, duration=0.3, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(run.body("a").position[-1], exact.body("a").position[-1], atol=1e-4)


def block_at_rest(**values):
    """On four springs of an exponent that sinks them in by millimetres."""
    given = {"rate": 1e3, "mass": 2.0} | values
    mech = bc.Mechanism("block")
    rate, mass = (mech.add_parameter(name, value) for name, value in given.items())
    depth = (given["mass"] * 9.81 / (4 * given["rate"])) ** (1 / 1.2)
    inertia = (0.01, 0.012, 0.013)
    mech.add_body(
        "a",
        mass=mass,
        inertia=inertia,
        shapes=[bc.Box(size=(0.3, 0.2, 0.1))],
        position=(0, 0, 0.05 - depth),
    )
    mech.replace(mech.ground, shapes=[PLANE])
    law = bc.Contact(rate, exponent=1.2, restitution=0.3, friction=0.4)
    mech.add_force("floor", law, "a", "ground")
    return mech


def test_modes_by_parameters_where_points_stick():
    """Beside modes of the mechanism that has come to rest anew: friction's springs begin where it rests."""
    found = bc.modes(block_at_rest()).sensitivity(by=["rate", "mass"])
    for name, value in (("rate", 1e3), ("mass", 2.0)):
        beside = extrapolated(
            lambda h, name=name, value=value: bc.modes(block_at_rest(**{name: value * (1 + h)})).frequencies,
            (3e-3, 1e-3, 3e-4),
        )
        np.testing.assert_allclose([found[one, name] for one in found.of], beside / value, rtol=1e-6)


def test_linear_equations_by_the_stiffness_of_a_contact():
    mech = block_at_rest()
    made = bc.linearize(mech, inputs=["rate"])
    up = made.states.index("a.z.rate")
    # a = 4 k d^1.2 / m - g is zero at rest: by k it is g / k.
    assert made.B[up, 0] == pytest.approx(9.81 / 1e3, rel=1e-9)
