"""Steps by impulses against C01: bounces, sliding up and back, sticking, a mass that comes to rest."""

from itertools import pairwise

import numpy as np
import pytest
from rigs.contact_scenes import ball, block, floor, reference

import bellcrank as bc

DATA = reference("C01_contact_friction")


@pytest.fixture(params=["lagrange", "recursive"])
def stepped(request):
    """Runs by impulses in both formulations that take them."""

    def run(mech, duration, step, output_step):
        options = {"formulation": request.param, "method": "moreau", "step": step}
        return bc.simulate(mech, duration=duration, output_step=output_step, **options)

    return run


def test_a_ball_bounces(stepped):
    """Each impact is late by up to a step."""
    data, radius, step = DATA["bouncing_ball"], 0.01, 1e-4
    p = data["params"]
    mech = ball((0.0, 0.0, p["h0"] + radius), radius=radius, gravity=p["g"])
    floor(mech, "floor", bc.Contact(1e6, restitution=p["e"]), "ball")
    run = stepped(mech, 3.0, step, step)
    speed = run.body("ball").velocity[:, 2]
    hits = run.time[1:][np.diff(speed) > 0.1]
    assert hits == pytest.approx(data["impact_times"][: len(hits)], abs=6e-3)
    assert len(hits) == 6
    height = run.body("ball").position[:, 2] - radius
    apexes = [height[(run.time > a) & (run.time < b)].max() for a, b in pairwise(hits)]
    assert apexes == pytest.approx(data["apex_heights"][: len(apexes)], rel=4e-3)


def test_a_block_slides_up_and_back_or_sticks(stepped):
    back = DATA["incline_slides_back"]
    contact = bc.Contact(1e6, friction=back["params"]["mu"])
    mech = block(back["params"]["incline_deg"], contact, velocity=-back["params"]["v0_up"])
    run = stepped(mech, back["t_return_to_start"], 2.5e-4, 0.01)
    assert run.body("block").position[-1, 0] == pytest.approx(0.0, abs=2e-3)
    assert run.body("block").velocity[-1, 0] == pytest.approx(back["v_return"], abs=2e-3)

    held = DATA["incline_sticks"]
    contact = bc.Contact(1e6, friction=held["params"]["mu"])
    mech = block(held["params"]["incline_deg"], contact, velocity=-held["params"]["v0_up"])
    run = stepped(mech, 1.0, 2.5e-4, 0.01)
    assert run.body("block").position[-1, 0] == pytest.approx(-held["x_stop"], abs=2e-3)
    force = run.force("floor")
    friction = force.effort[-1, force.coordinates.index("block.force_x")]
    assert friction == pytest.approx(-held["friction_after_stop_per_mass"], rel=1e-6)
    assert bc.verify(run)


def test_a_mass_on_a_spring_comes_to_rest(stepped):
    data = DATA["coulomb_oscillator"]
    p = data["params"]
    mech = block(0.0, bc.Contact(1e6, friction=p["mu"]))
    mech.replace(mech.bodies["block"], position=(p["x0"], 0.0, mech.bodies["block"].position[2]))
    anchor = mech.ground.marker((0.0, 0.0, mech.bodies["block"].position[2]))
    mech.add_force("spring", bc.Bushing(stiffness=(p["k"], 0.0, 0.0)), anchor, mech.bodies["block"].marker())
    count = len(data["turning_points"])
    run = stepped(mech, count * data["half_period"], data["half_period"] / 400, data["half_period"])
    x = run.body("block").position[:, 0]
    assert x[:count] == pytest.approx(data["turning_points"], abs=1e-3)
    assert x[-1] == pytest.approx(data["x_stop"], abs=1e-3)


def test_energy_that_contacts_take_is_booked(stepped):
    """Impacts and friction, to what the steps themselves are wrong by; what rests loses nothing."""
    mech = ball((0.0, 0.0, 1.0), spin=(0.0, 40.0, 0.0))
    floor(mech, "floor", bc.Contact(1e6, restitution=0.7, friction=0.3), "ball")
    run = stepped(mech, 2.0, 1e-3, 0.5)
    lost = run.statistics["lost_to_impacts"] + run.statistics["lost_to_friction"]
    assert run.energy.total[0] - run.energy.total[-1] == pytest.approx(lost, rel=1e-9)
    assert run.statistics["lost_to_impacts"] > 1.5
    assert run.statistics["lost_to_friction"] > 0.02

    mech = block(15.0, bc.Contact(1e6, friction=0.3), velocity=-3.0)
    run = stepped(mech, 1.0, 1e-3, 0.5)
    gone = run.energy.total[0] - run.energy.total[-1]
    assert run.statistics["lost_to_friction"] == pytest.approx(gone, rel=1e-4)
    assert abs(run.statistics["lost_to_impacts"]) < 1e-8


def test_a_surface_that_accelerates_is_no_impact(stepped):
    """A block on a lift that accelerates at 5 g does not bounce, and its force is the one that lifts it."""
    mech = bc.Mechanism("lift")
    lift = mech.add_body("lift", shapes=[bc.Box(size=(1, 1, 0.1), density=1000.0)], position=(0, 0, -0.05))
    mech.add_body("block", shapes=[bc.Box(size=(0.2, 0.2, 0.2), density=500.0)], position=(0, 0, 0.1))
    up = {"axis": (0.0, 0.0, 1.0)}
    mech.add_joint("guide", bc.Prismatic(), mech.ground.marker((0, 0, -0.05), **up), lift.marker(**up))
    mech.add_drive("motor", "guide", position=bc.Polynomial([0.0, 0.0, 25.0]))
    mech.add_force("touch", bc.Contact(1e7, restitution=0.5, friction=0.3), "lift", "block")
    run = stepped(mech, 0.2, 1e-3, 1e-3)
    height = run.body("block").position[:, 2] - run.body("lift").position[:, 2]
    assert height == pytest.approx(0.15, abs=1e-6)
    force = run.force("touch").wrench("block")[:, 5]
    assert force[5:] == pytest.approx(4.0 * (50.0 + 9.81), rel=1e-3)
    assert bc.verify(run)
