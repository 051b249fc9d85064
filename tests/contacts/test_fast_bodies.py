"""Bodies that are fast for their size: none gets through another one, however long the steps are."""

import numpy as np
import pytest
from rigs.crossing import crossing
from rigs.touching_scenes import scene

import bellcrank as bc

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
