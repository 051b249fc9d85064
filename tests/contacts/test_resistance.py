"""Steps by impulses under strong forces and moments that resist rolling: what rests stays."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rigs.contact_scenes import G, ball, floor, forged

import bellcrank as bc

RADIUS, MASS = 0.1, 2.0
ROLLING, SPINNING = 2e-3, 5e-3  # m


def stepped(mech, duration, formulation, step=1e-3):
    """A run by impulses."""
    options = {"output_step": 0.01, "formulation": formulation}
    return bc.simulate(mech, duration=duration, method="moreau", step=step, **options)


def resting(velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, 0.0), *, friction=0.5, **resistances):
    """A ball that lies on the floor."""
    mech = ball((0.0, 0.0, RADIUS), velocity, spin, mass=MASS, radius=RADIUS)
    floor(mech, "floor", bc.Contact(1e6, friction=friction, **resistances), "ball")
    return mech


@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
@pytest.mark.parametrize("direction", [0.0, 0.7])
def test_a_ball_rolls_to_rest(formulation, direction):
    """M = ρ N slows it by ρ g / (7/5 R); it loses what it had, and stays."""
    speed, slowing = 0.4, ROLLING * G / (1.4 * RADIUS)
    ahead = np.array([np.cos(direction), np.sin(direction), 0.0])
    spin = np.cross([0.0, 0.0, 1.0], ahead) * speed / RADIUS
    run = stepped(resting(speed * ahead, spin, rolling_resistance=ROLLING), 3.5, formulation)
    gone = (run.body("ball").position - [0.0, 0.0, RADIUS]) @ ahead
    rolls = run.time < speed / slowing
    expected = np.where(rolls, speed * run.time - 0.5 * slowing * run.time**2, 0.5 * speed**2 / slowing)
    assert gone == pytest.approx(expected, abs=2e-6)
    assert np.abs(run.body("ball").velocity[-1]).max() < 1e-10
    energy = 0.5 * MASS * speed**2 * 1.4
    assert run.statistics["lost_to_friction"] == pytest.approx(energy, rel=1e-5)
    points = run.contact("floor").points(100)
    assert points.moment[0] == pytest.approx(
        -ROLLING * MASS * G * spin / np.linalg.norm(spin), rel=1e-6, abs=1e-9
    )
    assert bc.verify(run).passed


@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
def test_a_ball_spins_to_rest(formulation):
    """σ N stops 2/5 m R² ω, with friction or without."""
    for friction in (0.0, 0.5):
        spin = 30.0
        mech = resting(spin=(0.0, 0.0, spin), friction=friction, spinning_resistance=SPINNING)
        run = stepped(mech, 0.4, formulation)
        slowing = SPINNING * G / (0.4 * RADIUS**2)
        expected = np.maximum(0.0, spin - slowing * run.time)
        assert run.body("ball").angular_velocity[:, 2] == pytest.approx(expected, abs=1e-5)
        assert bc.verify(run).passed


@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
@pytest.mark.parametrize("part", [0.95, 1.5])
def test_a_cylinder_on_a_slope(formulation, part):
    """It stays up to a slope of ρ / R, and rolls with 2/3 (g sin α − ρ g cos α / R) beyond it."""
    slope = np.arctan(part * ROLLING / RADIUS)
    mech = bc.Mechanism("roller", gravity=(G * np.sin(slope), 0.0, -G * np.cos(slope)))
    lying = bc.rotation(z_axis=(0.0, 1.0, 0.0))
    roller = bc.Cylinder(radius=RADIUS, length=0.3, rotation=lying, density=500.0)
    mech.add_body("roller", shapes=[roller], position=(0.0, 0.0, RADIUS))
    floor(mech, "floor", bc.Contact(1e6, friction=0.5, rolling_resistance=ROLLING), "roller")
    run = stepped(mech, 1.0, formulation)
    pull = max(0.0, np.sin(slope) - ROLLING / RADIUS * np.cos(slope)) * G / 1.5
    assert run.body("roller").position[:, 0] == pytest.approx(0.5 * pull * run.time**2, abs=1e-7)
    assert bc.verify(run).passed


def test_wheels_of_a_trolley_with_joints():
    """Formulations agree where the bodies that roll are joined, and slip and lift are possible."""
    found = {}
    for formulation in ("lagrange", "recursive"):
        mech = bc.Mechanism("trolley", gravity=(0.0, 0.0, -G))
        frame = mech.add_body(
            "frame", 1.0, (0.02, 0.05, 0.05), position=(0.0, 0.0, 0.2), velocity=(1.0, 0.0, 0.0)
        )
        for name, x in (("front", 0.3), ("rear", -0.3)):
            wheel = mech.add_body(
                name,
                0.5,
                (1e-3, 1e-3, 1e-3),
                position=(x, 0.0, RADIUS),
                velocity=(1.0, 0.0, 0.0),
                angular_velocity=(0.0, 1.0 / RADIUS, 0.0),
                shapes=[bc.Sphere(radius=RADIUS)],
            )
            hub = (x, 0.0, RADIUS)
            axis = (0.0, 1.0, 0.0)
            mech.add_joint(
                name, bc.Revolute(), frame.world_marker(hub, axis=axis), wheel.world_marker(hub, axis=axis)
            )
        mech.add_joint(
            "plane",
            bc.Planar(),
            mech.ground.world_marker((0, 0, 0.2), axis=(0, 1, 0)),
            frame.world_marker((0, 0, 0.2), axis=(0, 1, 0)),
        )
        contact = bc.Contact(1e6, friction=0.5, rolling_resistance=ROLLING, spinning_resistance=SPINNING)
        floor(mech, "floor", contact, "front", "rear")
        run = stepped(mech, 1.0, formulation)
        mass, turning = 2.0, 2 * 1e-3 / RADIUS**2
        assert run.body("frame").velocity[-1, 0] == pytest.approx(
            1.0 - ROLLING / RADIUS * mass * G / (mass + turning), abs=1e-6
        )
        found[formulation] = run.body("rear").position[-1]
    assert found["recursive"] == pytest.approx(found["lagrange"], abs=1e-7)


def test_forged_moments_are_noticed():
    run = stepped(resting((0.4, 0.0, 0.0), (0.0, 4.0, 0.0), rolling_resistance=ROLLING), 0.1, "lagrange")
    assert "friction" in forged(run, ("moment", 1), 1.2)
    assert "friction" in forged(run, ("moment", 1), -1.0)


def test_compliant_contacts_are_refused():
    mech = resting(rolling_resistance=ROLLING)
    with pytest.raises(bc.Unsupported, match=r"force 'floor'.*method='moreau'"):
        bc.simulate(mech, duration=0.1)
    with pytest.raises(bc.Unsupported, match="force 'floor'"):
        bc.prepare(mech).accelerate()


FORMULATIONS = ("lagrange", "recursive")
EDGE, DENSITY = 0.2, 1000.0


def boxes(count, gravity, press=0.0):
    """Boxes on each other on a plane, the top one pressed down by a force, N."""
    mech = bc.Mechanism("boxes", gravity=(0, 0, -gravity))
    mech.replace(mech.ground, shapes=[bc.Plane()])
    for k in range(count):
        shape = bc.Box(size=(EDGE,) * 3, density=DENSITY)
        body = mech.add_body(f"box {k}", mass=1.0, shapes=[shape], position=(0, 0, (k + 0.5) * EDGE))
    mech.add_force("touch", bc.Contact(stiffness=1e6, friction=0.3, restitution=0.5), "ground", *mech.bodies)
    if press:
        mech.add_force("press", bc.Wrench(force=(0, 0, -press)), body.marker())
    return mech


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize(
    ("count", "gravity", "press"),
    [(1, 1e-6, 0), (1, 9.81, 0), (1, 1e6, 0), (1, 1e9, 0), (2, 1e6, 0), (1, 0.0, 1e6), (1, 9.81, 1e8)],
)
def test_boxes_stay_where_they_are(formulation, count, gravity, press):
    """Their energy changes by what their positions are put right by, which is much where forces are large.

    They creep sideways, by what residuals leave of the speed that is made in a step: 1e-2 of the tolerance.
    """
    made = (gravity + press) * 1e-3  # m/s
    for tolerance in (1e-6, 1e-8, 1e-10):
        options = {"method": "moreau", "formulation": formulation, "tolerance": tolerance}
        run = bc.simulate(boxes(count, gravity, press), 0.5, step=1e-3, output_step=0.1, **options)
        moved = run.store.read("position")[-1] - run.store.read("position")[0]
        assert run.statistics["residual"] <= 0.01 * tolerance
        assert np.abs(moved).max() < 1e-8 + 1e-3 * tolerance * made * 0.5  # a tenth of what residuals allow


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("gravity", [1.0, 1e3, 1e6, 1e9])
def test_falls_are_alike_in_times_that_fit(formulation, gravity):
    """A ball that is thrown onto a plane, in units of its own time, the root of 1 m/g."""
    unit = np.sqrt(1.0 / gravity)
    mech = bc.Mechanism("ball", gravity=(0, 0, -gravity))
    mech.replace(mech.ground, shapes=[bc.Plane()])
    ball = bc.Sphere(radius=0.1, density=DENSITY)
    mech.add_body("ball", shapes=[ball], position=(0, 0, 0.6), velocity=(0.5 / unit, 0, 0))
    mech.add_force("touch", bc.Contact(stiffness=1e6, friction=0.3, restitution=0.6), "ground", "ball")
    run = bc.simulate(
        mech, 4.0 * unit, step=2e-3 * unit, output_step=0.5 * unit, method="moreau", formulation=formulation
    )
    expected = [0.6, 0.475, 0.1]  # free fall: 0.6 - t²/2, and the first impact at t = 1
    assert_allclose(run.body("ball").position[:3, 2], expected, atol=3e-3)
    assert run.body("ball").position[:, 2].min() > 0.1 - 3e-3
    assert run.energy.total.max() <= run.energy.total[0] * (1.0 + 1e-3)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("gravity", [0.0, 9.81, 1e6])
def test_a_spring_too_stiff_for_the_step_is_still_named(formulation, gravity):
    mech = boxes(1, gravity)
    mech.add_body("weight", mass=1.0, inertia=(0.01,) * 3, position=(1, 0, 1))
    spring = bc.SpringDamper(stiffness=1e8, rest_length=0.99)
    mech.add_force("spring", spring, mech.ground.marker((1, 0, 0)), mech.bodies["weight"].marker())
    with pytest.raises(bc.SimulationError, match=r"energy rises|no longer a number"):
        bc.simulate(mech, 0.5, step=1e-3, method="moreau", formulation=formulation)
