"""Ropes that rub on bollards and drums, band brakes, and belts that slip, by Euler and Eytelwein."""

from math import asin, exp, hypot, pi, sqrt, tanh

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import bellcrank as bc

FORMULATIONS = pytest.mark.parametrize("formulation", ["lagrange", "recursive", "dca"])
G = 9.81
TIGHT = {"method": "adams", "tolerance": 1e-12}
MU = 0.2


def hung(first, second, turns=0, speed=0.0, **more):
    """Two weights on vertical rails, on a rope over a bollard of 0.1 m: half a turn and whole ones."""
    mech = bc.Mechanism("bollard", gravity=(0.0, -G, 0.0))
    up = {"x_axis": (0.0, 1.0, 0.0), "z_axis": (0.0, 0.0, 1.0)}
    ends = []
    for name, mass, x, v in (("one", first, -0.1, speed), ("two", second, 0.1, -speed)):
        body = mech.add_body(name, mass, (0.01, 0.01, 0.01), position=(x, -1.0, 0.0))
        rail = mech.ground.marker((x, -1.0, 0.0), **up)
        mech.add_joint(f"rail {name}", bc.PrismaticX(), rail, body.marker(**up), velocity=v)
        ends.append(body.marker())
    rope = bc.Rope((0.0, -0.1, 0.0), rough=2, coefficient=MU, turns=turns, **more)
    mech.add_constraint("rope", rope, ends[0], mech.ground.marker(), ends[1])
    return mech


@FORMULATIONS
@pytest.mark.parametrize("turns", [0, 1])
@pytest.mark.parametrize("lighter", [0, 1])
def test_a_bollard_holds_up_to_the_ratio_of_euler(turns, lighter, formulation):
    """To the last digits: 1e-9 less than exp(mu wrap) holds without creep, 1e-9 more runs away."""
    ratio = exp(MU * (pi + 2.0 * pi * turns))
    for heavier, holds in ((ratio * (1.0 - 1e-9), True), (ratio * (1.0 + 1e-9), False)):
        masses = (1.0, heavier) if lighter == 0 else (heavier, 1.0)
        run = bc.simulate(hung(*masses, turns), 100.0 if holds else 1.0, formulation=formulation, **TIGHT)
        moved = np.ptp(run.joint("rail two").position)
        assert (moved < 1e-12) == holds
        if holds:
            effort = run.constraint("rope").effort + np.outer(run.friction("rope").effort, [-0.5, 0.5]).T
            expected = np.outer(masses, np.full(len(run.time), G))
            np.testing.assert_allclose(effort, expected, rtol=1e-9)
            assert abs(run.friction("rope").utilisation[-1] - 1.0) < 1e-8


@FORMULATIONS
@pytest.mark.parametrize("turns", [0, 1])
def test_a_rope_slips_over_a_bollard(turns, formulation):
    """T2 = e T1 with e = exp(mu wrap): the weights accelerate by (m2 - m1 e)/(m2 + m1 e) g."""
    e = exp(MU * (pi + 2.0 * pi * turns))
    second = 3.0 * e
    run = bc.simulate(hung(2.0, second, turns), 0.3, formulation=formulation, ledger=True, **TIGHT)
    a = (second - 2.0 * e) / (second + 2.0 * e) * G
    np.testing.assert_allclose(run.joint("rail one").velocity[:, 0], a * run.time, atol=1e-10)
    tensions = np.array([2.0 * (G + a), second * (G - a)])
    np.testing.assert_allclose(run.constraint("rope").effort, tensions.mean(), rtol=1e-10)
    np.testing.assert_allclose(run.friction("rope").effort, tensions[1] - tensions[0], rtol=1e-10)
    certificate = bc.verify(run)
    assert certificate.passed, str(certificate)


@FORMULATIONS
def test_a_rope_comes_to_rest_on_a_bollard_and_holds(formulation):
    """Set in motion with equal weights: slowed down by (e - 1)/(e + 1) g, then held by more than it needs."""
    run = bc.simulate(
        hung(2.0, 2.0, speed=0.5, static_coefficient=0.3), 1.0, formulation=formulation, **TIGHT
    )
    e = exp(MU * pi)
    stops = 0.5 / ((e - 1.0) / (e + 1.0) * G)
    assert abs(run.events[-1].time - stops) < 1e-9
    assert np.ptp(run.joint("rail one").position[run.time > stops + 1e-9]) < 1e-14
    assert bc.verify(run).passed


@FORMULATIONS
def test_friction_follows_the_angle_of_wrap(formulation):
    """A weight hauls a sledge towards a bollard: against a program of its own."""
    radius, height = 0.1, 0.6
    mech = bc.Mechanism("hauled", gravity=(0.0, -G, 0.0))
    up = {"x_axis": (0.0, 1.0, 0.0), "z_axis": (0.0, 0.0, 1.0)}
    weight = mech.add_body("weight", 3.0, (0.01, 0.01, 0.01), position=(0.1, -0.5, 0.0))
    mech.add_joint("rail", bc.PrismaticX(), mech.ground.marker((0.1, -0.5, 0.0), **up), weight.marker(**up))
    sledge = mech.add_body("sledge", 1.0, (0.01, 0.01, 0.01), position=(-1.5, -height, 0.0))
    mech.add_joint("track", bc.PrismaticX(), mech.ground.marker((-1.5, -height, 0.0)), sledge.marker())
    rope = bc.Rope((0.0, -radius, 0.0), rough=2, coefficient=0.4)
    mech.add_constraint("rope", rope, sledge.marker(), mech.ground.marker(), weight.marker())

    def wrap(x):
        return pi / 2.0 + np.arctan2(height, -x) + asin(radius / hypot(x, height))

    def slope(x):
        """Of the way from the sledge to the top of the weight's side."""
        square = x * x + height**2
        straight = sqrt(square - radius**2)
        return x / straight + radius * (height / square - radius * x / (square * straight))

    def motion(_, state):
        x, v = state
        bend = (slope(x + 1e-5) - slope(x - 1e-5)) / 2e-5
        grows = exp(0.4 * wrap(x))

        # The weight falls by -dL: T2 = m2 (g - its acceleration down), T1 = T2/grows pulls the sledge.
        def left(a):
            down = -(slope(x) * a + bend * v * v)
            return 1.0 * a + 3.0 * (G - down) / grows * slope(x)

        return [v, brentq(left, -50.0, 50.0, xtol=1e-14)]

    run = bc.simulate(mech, 0.5, formulation=formulation, output_step=0.1, **TIGHT)
    known = solve_ivp(motion, (0.0, 0.5), [-1.5, 0.0], rtol=1e-12, atol=1e-13, t_eval=run.time)
    np.testing.assert_allclose(run.joint("track").position[:, 0] - 1.5, known.y[0], atol=1e-9)
    assert bc.verify(run).passed


@FORMULATIONS
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_band_brake_helps_itself_one_way(way, formulation):
    """A band of half a turn, fixed at one end and pulled by 40 N at the other."""
    mech = bc.Mechanism("band", gravity=(0.0, 0.0, 0.0))
    drum = mech.add_body("drum", 2.0, (0.1, 0.1, 0.05))
    mech.add_joint("axle", bc.Revolute(), mech.ground.marker(), drum.marker(), velocity=20.0 * way)
    lever = mech.add_body("lever", 1.0, (0.01, 0.01, 0.01), position=(0.1, -0.5, 0.0))
    up = {"x_axis": (0.0, 1.0, 0.0), "z_axis": (0.0, 0.0, 1.0)}
    mech.add_joint("rail", bc.PrismaticX(), mech.ground.marker((0.1, -0.5, 0.0), **up), lever.marker(**up))
    mech.add_force("pull", bc.JointMotor(-40.0), "rail")
    band = bc.Rope((0.0, -0.1, 0.0), rough=2, coefficient=0.3)
    anchor = mech.ground.marker((-0.1, -0.5, 0.0))
    mech.add_constraint("band", band, anchor, drum.marker(), lever.marker())
    run = bc.simulate(mech, 0.05, formulation=formulation, ledger=True, **TIGHT)
    # Over the top from the anchor at -x to the lever at +x: a drum that turns clockwise drags the band away
    # from its anchor, which then pulls more.
    e = exp(0.3 * pi)
    difference = 40.0 * (e - 1.0) if way < 0.0 else 40.0 * (1.0 - 1.0 / e)
    expected = way * (20.0 - difference * 0.1 / 0.05 * run.time)
    np.testing.assert_allclose(run.joint("axle").velocity[:, 0], expected, rtol=1e-10)
    assert bc.verify(run).passed


@FORMULATIONS
def test_a_dead_point_holds_nothing(formulation):
    """A sledge passes where its rope stands across its track: rope and drum rest, and neither may hold it."""
    mech = bc.Mechanism("dead point", gravity=(0.0, -G, 0.0))
    drum = mech.add_body("drum", 1.0, (0.1, 0.1, 0.02))
    mech.add_joint("axle", bc.Revolute(), mech.ground.marker(), drum.marker())
    bearing = bc.JointFriction(coulomb=0.2, regularisation_velocity=None)
    mech.add_force("bearing", bearing, "axle")
    up = {"x_axis": (0.0, 1.0, 0.0), "z_axis": (0.0, 0.0, 1.0)}
    weight = mech.add_body("weight", 1.0, (0.01, 0.01, 0.01), position=(0.1, -4.0, 0.0))
    mech.add_joint("rail", bc.PrismaticX(), mech.ground.marker((0.1, -4.0, 0.0), **up), weight.marker(**up))
    sledge = mech.add_body("sledge", 5.0, (0.01, 0.01, 0.01), position=(-0.1, -0.6, 0.0))
    track = mech.ground.marker((-0.1, -0.6, 0.0))
    mech.add_joint("track", bc.PrismaticX(), track, sledge.marker(), velocity=-0.5)
    rope = bc.Rope((0.0, -0.1, 0.0), rough=2, coefficient=0.8)
    mech.add_constraint("rope", rope, sledge.marker(), drum.marker(), weight.marker())
    run = bc.simulate(mech, 0.5, formulation=formulation, **TIGHT)
    x = run.joint("track").position[:, 0] - 0.1
    across = np.sqrt(x**2 + 0.36 - 0.01)
    way = across + 0.1 * (np.arctan2(0.6, -x) + np.arcsin(0.1 / np.hypot(x, 0.6)))
    np.testing.assert_allclose(run.joint("axle").position[:, 0], (way - way[0]) / 0.1, atol=1e-9)
    assert run.joint("axle").position[-1, 0] > 0.1
    assert bc.verify(run).passed


def belted(crossed, first, distance=0.5, radii=(0.05, 0.15), **more):
    mech = bc.Mechanism("belt", gravity=(0.0, 0.0, 0.0))
    for k, moment in enumerate((first, 0.0)):
        wheel = mech.add_body(f"w{k}", 1.0, (0.1, 0.1, 0.02 + 0.1 * k), position=(distance * k, 0.0, 0.0))
        mech.add_joint(
            f"axle{k}", bc.Revolute(), mech.ground.marker((distance * k, 0.0, 0.0)), wheel.marker()
        )
        mech.add_force(f"moment{k}", bc.JointMotor(moment), f"axle{k}")
    kind = bc.Belt(radii=radii, crossed=crossed, coefficient=0.3, pretension=100.0, **more)
    mech.add_constraint("belt", kind, mech.bodies["w0"].marker(), mech.bodies["w1"].marker())
    return mech


@FORMULATIONS
@pytest.mark.parametrize("crossed", [False, True])
def test_a_belt_transmits_up_to_its_limit(crossed, formulation):
    """2 T0 tanh(mu/2 wrap), with the wrap of the smaller pulley; what is more turns the first alone."""
    beside = asin((0.2 if crossed else 0.1) / 0.5)
    wrap = pi + 2.0 * beside if crossed else pi - 2.0 * beside
    most = 200.0 * tanh(0.15 * wrap)
    sign = -1.0 if crossed else 1.0
    for part, holds in ((0.999999, True), (1.000001, False), (2.0, False)):
        # Held together the belt carries what turns the second wheel: M r1 I2/(r2^2 ...) by both inertias.
        whole = 0.02 / 0.05**2 + 0.12 / 0.15**2
        moment = part * most * 0.05 * whole / (0.12 / 0.15**2)
        run = bc.simulate(belted(crossed, moment), 0.2, formulation=formulation, **TIGHT)
        speeds = [run.joint(f"axle{k}").velocity[:, 0] for k in (0, 1)]
        force = part * most if holds else most
        np.testing.assert_allclose(speeds[1], sign * force * 0.15 / 0.12 * run.time, atol=1e-9)
        np.testing.assert_allclose(speeds[0], (moment - force * 0.05) / 0.02 * run.time, atol=1e-8)
        assert run.friction("belt").holds.all() == holds
        np.testing.assert_allclose(np.abs(run.friction("belt").effort), force, rtol=1e-10)
        np.testing.assert_allclose(run.friction("belt").limit, most, rtol=1e-10)
        certificate = bc.verify(run)
        assert certificate.passed, str(certificate)


FAULTS = {
    "no wheel": (lambda: bc.Rope((0.0, 0.1, 0.0), rough=1, coefficient=0.1), "no wheel between the ends"),
    "gripped": (lambda: bc.Rope((0.0, 0.1, 0.0), (2,), rough=2, coefficient=0.1), "rough and gripped"),
    "smooth": (lambda: bc.Rope((0.0, 0.1, 0.0), coefficient=0.1), "for a rope with a rough end"),
    "none": (lambda: bc.Rope((0.0, 0.1, 0.0), rough=2), "needs a coefficient"),
    "static": (
        lambda: bc.Rope((0.0, 0.1, 0.0), rough=2, coefficient=0.2, static_coefficient=0.1),
        "static_coefficient must not be less",
    ),
    "layers": (lambda: bc.Rope((0.2, 0.1, 0.0), rough=2, coefficient=0.2, thickness=0.01), "cannot rub"),
    "half": (lambda: bc.Belt(radii=(0.1, 0.2), coefficient=0.2), "both coefficient and pretension"),
    "radii": (lambda: bc.Belt(ratio=2.0, coefficient=0.2, pretension=9.0), "needs radii"),
    "losses": (
        lambda: bc.Belt(radii=(0.1, 0.2), coefficient=0.2, pretension=9.0, efficiency=0.9),
        "neither efficiency nor backlash",
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_wrong_numbers_are_named(case):
    make, text = FAULTS[case]
    with pytest.raises(bc.MechanismError, match=text):
        make()


def test_a_belt_that_slips_is_between_markers():
    mech = belted(False, 1.0)
    with pytest.raises(bc.MechanismError, match="a belt that slips is between markers"):
        mech.add_constraint(
            "other", bc.Belt(radii=(0.1, 0.2), coefficient=0.2, pretension=9.0), "axle0", "axle1"
        )


def test_other_formulations_refuse_it_by_name():
    for mech in (hung(1.0, 1.1), belted(False, 1.0)):
        with pytest.raises(bc.Unsupported, match="friction"):
            bc.simulate(mech, 0.1, formulation="symbolic")
