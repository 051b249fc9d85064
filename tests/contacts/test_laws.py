"""Compliant contact against closed forms: restitution, sliding, sticking, rolling."""

import numpy as np
import pytest
from rigs.contact_scenes import G, ball, block, floor, reference

import bellcrank as bc

FORMULATIONS = ["lagrange", "recursive", "symbolic", "dca"]


@pytest.mark.parametrize("exponent", [1.0, 1.5])
@pytest.mark.parametrize("restitution", [0.05, 0.3, 0.7, 0.95, 1.0])
def test_restitution_holds_exactly_at_the_stated_speed(restitution, exponent):
    mech = ball((0, 0, 0.029), (0, 0, -0.5), gravity=0.0)
    floor(mech, "floor", bc.Contact(1e5, exponent, restitution=restitution, impact_speed=0.5), "ball")
    run = bc.simulate(mech, duration=0.1, output_step=0.05, method="dopri5", tolerance=1e-10)
    assert run.body("ball").velocity[-1, 2] == pytest.approx(0.5 * restitution, abs=3e-6)


@pytest.mark.parametrize("stiffness", [1e5, 1e7])
def test_a_block_slides_down_an_incline(stiffness):
    slope = np.radians(25.0)
    expected = G * (np.sin(slope) - 0.3 * np.cos(slope))
    mech, ends = block(25.0, bc.Contact(stiffness, friction=0.3)), []
    for formulation in FORMULATIONS:
        for method in ("dopri5", "adams", "bdf"):
            run = bc.simulate(mech, duration=1.0, output_step=0.1, formulation=formulation, method=method)
            ends.append(run.body("block").velocity[-1, 0])
    assert np.ptp(ends) < 1e-5
    assert ends[0] == pytest.approx(expected, abs=0.6 / np.sqrt(stiffness))  # friction takes time to rise


def test_friction_of_a_block_at_rest_does_not_creep():
    run = bc.simulate(block(16.5, bc.Contact(1e6, friction=0.3)), duration=20.0, output_step=1.0)
    x = run.body("block").position[:, 0]
    assert abs(x[-1]) < 2e-5  # elastic
    assert abs(x[-1] - x[5]) < 1e-11


@pytest.mark.parametrize("stiffness", [1e5, 1e6, 1e7])
def test_sliding_up_back_and_sticking(stiffness):
    data = reference("C01_contact_friction")
    back = data["incline_slides_back"]
    contact = bc.Contact(stiffness, friction=back["params"]["mu"])
    mech = block(back["params"]["incline_deg"], contact, velocity=-back["params"]["v0_up"])
    run = bc.simulate(mech, duration=back["t_return_to_start"], output_step=0.01, tolerance=1e-9)
    x, v = run.body("block").position[:, 0], run.body("block").velocity[:, 0]
    error = 1.5 / np.sqrt(stiffness)  # friction takes time to rise
    assert x[-1] == pytest.approx(0.0, abs=error)
    assert v[-1] == pytest.approx(back["v_return"], abs=error)
    assert run.at(back["t_turn"]).position[0, 0] == pytest.approx(-back["x_turn"], abs=error)

    held = data["incline_sticks"]
    contact = bc.Contact(stiffness, friction=held["params"]["mu"])
    mech = block(held["params"]["incline_deg"], contact, velocity=-held["params"]["v0_up"])
    run = bc.simulate(mech, duration=2.0, output_step=0.01, tolerance=1e-9)
    assert run.body("block").position[-1, 0] == pytest.approx(-held["x_stop"], abs=error)
    force = run.force("floor")
    friction = force.effort[-1, force.coordinates.index("block.force_x")]
    assert friction == pytest.approx(-held["friction_after_stop_per_mass"], rel=1e-5)


def test_a_mass_on_a_spring_comes_to_rest_by_coulomb_friction():
    data = reference("C01_contact_friction")["coulomb_oscillator"]
    p = data["params"]
    mech = block(0.0, bc.Contact(1e6, friction=p["mu"]))
    mech.replace(mech.bodies["block"], position=(p["x0"], 0.0, mech.bodies["block"].position[2]))
    anchor = mech.ground.marker((0.0, 0.0, mech.bodies["block"].position[2]))
    mech.add_force("spring", bc.Bushing(stiffness=(p["k"], 0.0, 0.0)), anchor, mech.bodies["block"].marker())
    run = bc.simulate(mech, duration=4.5, output_step=data["half_period"] / 4, tolerance=1e-9)
    x = run.body("block").position[:, 0]
    count = len(data["turning_points"])
    assert x[: 4 * count : 4] == pytest.approx(data["turning_points"], abs=2e-5)
    assert x[-1] == pytest.approx(data["x_stop"], abs=2e-5)


# Static friction lets go all at once, later by the compliance of the contact: errors fall with the stiffness.
@pytest.mark.parametrize(
    ("name", "at_end", "on_the_way"),
    [("K02_shaken_incline", 1e-5, 5e-5), ("K02_shaken_incline_static", 1.5e-4, 3e-4)],
)
def test_stick_and_slip_on_a_shaken_incline(name, at_end, on_the_way):
    data = reference(name)
    p = data["params"]
    contact = bc.Contact(1e7, friction=p["friction_kinetic"], static_friction=p["friction_static"])
    mech = block(p["incline_deg"], contact, height=1e-4)  # so that its corners bear the same load
    shaken = bc.Harmonic(amplitude=-p["amplitude"], omega=p["omega"])  # the block in the incline's frame
    mech.add_force("shaking", bc.Wrench(force=(shaken, 0.0, 0.0)), mech.bodies["block"].marker())
    run = bc.simulate(mech, duration=p["t_end"], output_step=0.01, tolerance=1e-8)
    x = run.body("block").position[:, 0]
    assert x[-1] == pytest.approx(data["x_end"], abs=at_end)
    for begin, end, before, after, _ in data["rows"]:
        assert np.interp(begin, run.time, x) == pytest.approx(before, abs=on_the_way)
        assert np.interp(end, run.time, x) == pytest.approx(after, abs=on_the_way)
    if p["friction_static"] > p["friction_kinetic"]:
        slips = sorted({round(event.time, 3) for event in run.events if event.name == "floor slips"})
        assert slips == pytest.approx([row[0] for row in data["rows"]], abs=1e-3)


@pytest.mark.parametrize("stiffness", [1e5, 1e6])
def test_a_billiard_ball_slides_and_rolls(stiffness):
    data = reference("K05_billiard")
    p = data["params"]
    height = p["radius"] - p["mass"] * p["g"] / stiffness
    mech = ball((*p["position0"], height), (*p["velocity0"], 0.0), p["spin0"])
    floor(mech, "table", bc.Contact(stiffness, friction=p["friction"]), "ball")
    run = bc.simulate(mech, duration=2.0, output_step=0.1, tolerance=1e-9)
    motion = run.body("ball")
    for row in data["rows"]:
        frame = round(row[0] / 0.1)
        found = [*motion.position[frame, :2], *motion.velocity[frame, :2], *motion.angular_velocity[frame]]
        assert found == pytest.approx(row[1:], abs=1e3 / stiffness)


def test_a_ball_on_a_turntable():
    data = reference("K05_turntable")
    p, stiffness = data["params"], 1e6
    height = p["radius"] - p["mass"] * p["g"] / stiffness
    mech = ball((*p["position0"], height), mass=p["mass"], radius=p["radius"])
    mech.add_body("table", mass=1.0, inertia=[1.0, 1.0, 1.0], shapes=[bc.Plane()])
    mech.add_joint("pivot", bc.Revolute(), "ground", "table")
    mech.add_drive("spin", "pivot", velocity=p["table_rate"])
    mech.add_force("felt", bc.Contact(stiffness, friction=p["friction"]), "ball", "table")
    run = bc.simulate(mech, duration=2.0, output_step=0.1, tolerance=1e-9)
    motion = run.body("ball")
    for time, *row in data["rows"]:
        frame = round(time / 0.1)
        found = [*motion.position[frame, :2], *motion.velocity[frame, :2]]
        assert found == pytest.approx(row, abs=5e-5)


def test_rolling_does_not_slip_however_long_the_steps():
    stiffness, radius, mass = 1e6, 0.028575, 0.17
    depth = mass * G / stiffness
    mech = ball((0, 0, radius - depth), (1, 0, 0), (0, 1 / (radius - 0.5 * depth), 0))
    floor(mech, "floor", bc.Contact(stiffness, friction=0.3), "ball")
    run = bc.simulate(mech, duration=5.0, output_step=5.0, method="dopri5", tolerance=1e-9)
    assert run.body("ball").velocity[-1, :2] == pytest.approx([1.0, 0.0], abs=1e-8)
    assert run.body("ball").position[-1, :2] == pytest.approx([5.0, 0.0], abs=1e-8)


@pytest.mark.parametrize("depth", [0.001, 0.01, 0.03])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_friction_acts_in_the_middle_of_the_overlap(formulation, depth):
    radius, inertia = 0.1, 0.004
    mech = bc.Mechanism("ball")
    shape, moments = [bc.Sphere(radius)], (inertia, inertia, inertia)
    at = (0.0, 0.0, radius - depth)
    mech.add_body("ball", mass=1.0, inertia=moments, shapes=shape, position=at, velocity=(1.0, 0.0, 0.0))
    floor(mech, "floor", bc.Contact(1e3, friction=0.3), "ball")
    system = bc.prepare(mech, formulation)
    system.set_state(system.model.initial)
    found = system.accelerate()
    arm = -inertia * found.angular[0, 1] / found.linear[0, 0]
    assert arm == pytest.approx(radius - 0.5 * depth, rel=1e-10)


@pytest.mark.parametrize("method", ["adams", "dopri5", "bdf"])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_ball_that_passes_from_a_face_to_its_edge_touches_nothing_anew(formulation, method):
    """Its feature changes within a step, in which it moves farther than what counts as the same place."""
    stiffness, radius, mass = 1e6, 0.05, 1.0
    place = (0.15, 0.0, radius - mass * G / stiffness)
    mech = ball(place, (0.5, 0.0, 0.0), mass=mass, radius=radius)
    mech.replace(mech.ground, shapes=[bc.Box(size=(0.4, 0.4, 0.1), position=(0.0, 0.0, -0.05))])
    mech.add_force("table", bc.Contact(stiffness, restitution=1.0), "ground", "ball")
    options = {"formulation": formulation, "method": method, "output_step": 0.01}
    for tolerance in (1e-5, 1e-6, 1e-7):
        run = bc.simulate(mech, 0.102, tolerance=tolerance, **options)
        assert run.body("ball").position[-1, 0] > 0.2
        assert run.contact("table").count[-1] == 1
        assert not run.events
