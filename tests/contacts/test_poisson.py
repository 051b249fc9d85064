"""Poisson's restitution: of impulses, in steps and in strikes; the cones of its second phase."""

import numpy as np
import pytest
from rigs.contact_scenes import G, ball, floor

import bellcrank as bc

FORMULATIONS = ("lagrange", "recursive")


def rod(tilt, speed, spin=0.0):
    """A free rod of 1 kg and 1 m over the floor, its lower end there, in the plane x z."""
    mech = bc.Mechanism("rod", gravity=(0.0, 0.0, 0.0))
    mech.add_body(
        "rod",
        1.0,
        (1 / 12, 1 / 12, 1e-3),
        position=(0.0, 0.0, 0.5),
        rotation=(np.cos(tilt / 2), 0.0, np.sin(tilt / 2), 0.0),
        velocity=speed,
        angular_velocity=(0.0, spin, 0.0),
    )
    return mech


def of_rod(tilt, speed, friction, restitution):
    """Impulse (x, z) at the lower end by the two phases in plane, each by cases of stick and slip."""
    arm = 0.5 * np.array([-np.sin(tilt), -np.cos(tilt)])  # x, z from the com to the end
    turn = np.array([arm[1], -arm[0]])  # of (x, z) by a rotation about y
    G2 = np.eye(2) + 12.0 * np.outer(turn, turn)
    v = np.array(speed)[[0, 2]]

    def phase(v, least):
        def free(P):
            return v + G2 @ P

        def with_normal(P_n):
            stick = -(v[0] + G2[0, 1] * P_n) / G2[0, 0]
            return np.array([np.clip(stick, -friction * P_n, friction * P_n), P_n])

        low, high = least, least + 10.0
        if free(with_normal(low))[1] >= 0.0:
            return with_normal(low)
        for _ in range(200):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if free(with_normal(middle))[1] < 0.0 else (low, middle)
        return with_normal(high)

    first = phase(v, 0.0)
    second = phase(v + G2 @ first, restitution * first[1])
    return first + second


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize(("tilt", "friction"), [(0.3, 0.0), (0.3, 0.2), (0.7, 0.4), (0.7, 1.0), (-0.5, 0.3)])
def test_a_rod_strikes_the_floor(formulation, tilt, friction):
    speed = (0.4, 0.0, -1.0)
    system = bc.prepare(rod(tilt, speed), formulation)
    end = np.array([0.0, 0.0, 0.5]) - 0.5 * np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    point = bc.StruckPoint("rod", end, (0, 0, 1), restitution=0.6, friction=friction, impact_law="poisson")
    found = system.strike([point]).impulse[0]
    assert found[[0, 2]] == pytest.approx(of_rod(tilt, speed, friction, 0.6), abs=1e-9)
    assert found[1] == pytest.approx(0.0, abs=1e-12)


def test_laws_differ_where_points_rub():
    """With friction that changes between the phases, speeds and impulses have different ratios."""
    system, impulses = bc.prepare(rod(0.7, (0.4, 0.0, -1.0)), "lagrange"), {}
    state = system.state()
    end = np.array([0.0, 0.0, 0.5]) - 0.5 * np.array([np.sin(0.7), 0.0, np.cos(0.7)])
    for law in ("newton", "poisson"):
        system.set_state(state)
        point = bc.StruckPoint("rod", end, (0, 0, 1), restitution=0.6, friction=0.4, impact_law=law)
        impulses[law] = system.strike([point]).impulse[0]
    assert np.abs(impulses["newton"] - impulses["poisson"]).max() > 1e-3


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_ball_bounces_as_by_newtons_law(formulation):
    """One body without friction: both laws are the same, but for gravity within the step."""
    heights = {}
    for law in ("newton", "poisson"):
        mech = ball((0.0, 0.0, 0.5), mass=1.0, radius=0.05)
        floor(mech, "floor", bc.Contact(1e6, restitution=0.7, impact_law=law), "ball")
        run = bc.simulate(mech, 1.2, method="moreau", step=1e-4, output_step=1e-3, formulation=formulation)
        z, late = run.body("ball").position[:, 2], run.time > np.sqrt(2 * 0.45 / G) + 0.05
        heights[law] = z[late].max() - 0.05
        assert run.statistics["lost_to_impacts"] > 0.0
    assert heights["newton"] == pytest.approx(0.45 * 0.49, abs=1e-3)
    assert heights["poisson"] == pytest.approx(heights["newton"], abs=1e-3)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_row_of_balls(formulation):
    """Three equal balls, the first of which strikes with 1 m/s: thirds, then as much again."""
    mech = bc.Mechanism("row", gravity=(0.0, 0.0, 0.0))
    names = ("first", "second", "third")
    for k, name in enumerate(names):
        mech.add_body(
            name,
            1.0,
            (0.01,) * 3,
            position=(0.2 * k - (0.01 if k == 0 else 0.0), 0.0, 0.0),
            shapes=[bc.Sphere(radius=0.1)],
            velocity=(1.0 if k == 0 else 0.0, 0.0, 0.0),
        )
    mech.add_force("touch", bc.Contact(1e6, restitution=1.0, impact_law="poisson"), *names)
    run = bc.simulate(mech, 0.1, method="moreau", step=1e-3, output_step=1e-2, formulation=formulation)
    speeds = [run.body(name).velocity[-1, 0] for name in names]
    assert speeds == pytest.approx([-1 / 3, 2 / 3, 2 / 3], abs=1e-6)


def test_a_law_that_is_none_is_refused():
    with pytest.raises(bc.MechanismError, match="impact_law"):
        bc.Contact(1e6, impact_law="hooke")
    system = bc.prepare(rod(0.3, (0.0, 0.0, -1.0)), "lagrange")
    with pytest.raises(bc.MechanismError, match="impact_law"):
        system.strike([bc.StruckPoint("rod", (0, 0, 0), (0, 0, 1), impact_law="hooke")])
