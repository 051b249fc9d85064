"""Bump stops with curves and losses, and bearings with clearance: closed forms in all formulations."""

from math import pi, sqrt

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import io

FORMULATIONS = ("lagrange", "recursive", "symbolic", "dca")
EXACT = {"method": "dopri5", "rtol": 1e-11, "atol": 1e-13}
CURVE = bc.Table((0.0, 0.01, 0.02, 0.03, 0.04), (0.0, 400.0, 1100.0, 2600.0, 6000.0))
MASS = 3.0


def thrown(stop, speed=1.0, gravity=0.0):
    """A body that slides down onto a stop at 0."""
    mech = bc.Mechanism("thrown", gravity=(0, 0, -gravity))
    body = mech.add_body("body", MASS, (1, 1, 1), position=(0, 0, 0.02), velocity=(0, 0, -speed))
    mech.add_joint("slide", bc.Prismatic(), mech.ground, body)
    mech.add_force("stop", stop, "slide")
    return mech


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_buffer_with_a_curve_gives_back_what_it_took(formulation):
    """It is pressed until the area below its curve is the energy that arrives."""
    mech = thrown(bc.OneSidedSpring(0.0, 0.0, curve=CURVE))
    run = bc.simulate(mech, 0.15, output_step=1e-4, formulation=formulation, ledger=True, **EXACT)
    height, speed = run.joint("slide").position[:, 0], run.joint("slide").velocity[:, 0]
    assert speed[-1] == pytest.approx(1.0, rel=1e-8)
    deepest = -height.min()
    area = CURVE.pieces.antiderivative()
    index = area.locate(np.array([deepest]))
    assert area.evaluate(np.array([deepest]), 0, index)[0] == pytest.approx(0.5 * MASS, rel=1e-4)
    load = run.force("stop").effort
    np.testing.assert_allclose(load, np.where(height < 0.0, CURVE(np.maximum(-height, 0.0)), 0.0), atol=1e-8)
    np.testing.assert_allclose(run.energy.total, 0.5 * MASS, rtol=1e-8)


@pytest.mark.parametrize("loss_factor", [0.05, 0.15, 0.3])
@pytest.mark.parametrize("stop", ["curve", "linear"])
def test_the_loss_factor_is_the_energy_lost_in_a_stroke(stop, loss_factor):
    """Lost: 2 pi loss_factor V of the deepest point; the speeds squared are as 1 - pi loss to 1 + pi loss."""
    given = {"curve": {"stiffness": 0.0, "curve": CURVE}, "linear": {"stiffness": 1e5}}[stop]
    loss = {"loss_factor": loss_factor, "loss_speed": 1e-5}
    run = bc.simulate(thrown(bc.OneSidedSpring(contact=0.0, **given, **loss)), 0.2, output_step=1e-4, **EXACT)
    stored = run.force("stop").energy.max()
    lost = 0.5 * MASS * (1.0 - run.joint("slide").velocity[-1, 0] ** 2)
    assert lost / (2 * pi * stored) == pytest.approx(loss_factor, rel=1e-5)
    part = (1.0 - pi * loss_factor) / (1.0 + pi * loss_factor)
    assert run.joint("slide").velocity[-1, 0] ** 2 == pytest.approx(part, rel=1e-5)


def test_it_rests_where_its_curve_carries_the_weight():
    stop = bc.OneSidedSpring(0.0, 0.0, curve=CURVE, damping=400.0, loss_factor=0.2)
    rest = bc.statics(thrown(stop, speed=0.0, gravity=9.81))
    depth = -rest.state.position[0, 2]
    assert float(CURVE(depth)) == pytest.approx(MASS * 9.81, rel=1e-9)


def ball_travel(run):
    return run.body("ball").position[:, 0].max()


def test_between_two_points_and_above():
    mech = bc.Mechanism("line", gravity=(0, 0, 0))
    ball = mech.add_body("ball", MASS, (1, 1, 1), position=(0.3, 0, 0), velocity=(1.0, 0, 0))
    stop = bc.OneSidedSpring(0.0, 0.35, "above", curve=CURVE)
    mech.add_force("stop", stop, mech.ground, ball)
    run = bc.simulate(mech, 0.15, step=1e-4, **EXACT)
    assert run.body("ball").velocity[-1, 0] == pytest.approx(-1.0, rel=1e-8)
    assert run.force("stop").effort.min() == pytest.approx(-float(CURVE(ball_travel(run) - 0.35)), rel=1e-8)


def journal(kind, position, velocity=(0, 0, 0), gravity=0.0):
    mech = bc.Mechanism("journal", gravity=(0, -gravity, 0))
    shaft = mech.add_body("shaft", MASS, (1e-2,) * 3, position=position, velocity=velocity)
    mech.add_force("bearing", kind, mech.ground, shaft)
    return mech


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("exponent", [1.0, 1.5])
def test_a_journal_circles_in_its_clearance(exponent, formulation):
    """Steady orbit: m e w² = K (e - c)^n."""
    stiffness = 1e6 if exponent == 1.0 else 1e9
    clearance, away = 1e-3, 1.2e-3
    load = stiffness * (away - clearance) ** exponent
    speed = sqrt(load / (MASS * away)) * away
    kind = bc.BearingClearance(clearance, stiffness, exponent)
    mech = journal(kind, (away, 0, 0), (0, speed, 0))
    run = bc.simulate(mech, 2.0 * pi * away / speed, step=1e-5, formulation=formulation, **EXACT)
    np.testing.assert_allclose(np.hypot(*run.body("shaft").position[:, :2].T), away, rtol=1e-8)
    np.testing.assert_allclose(run.body("shaft").position[-1, :2], (away, 0.0), atol=1e-9)
    bearing = run.force("bearing")
    np.testing.assert_allclose(bearing.quantity("load"), load, rtol=1e-6)
    np.testing.assert_allclose(bearing.quantity("gap"), clearance - away, rtol=1e-6)
    assert dict(bearing.quantities) == {"eccentricity": "m", "gap": "m", "load": "N"}


@pytest.mark.parametrize("shape", ["journal", "ball", "thrust"])
@pytest.mark.parametrize("exponent", [1.0, 1.5])
def test_it_bounces_to_and_fro_in_its_clearance(shape, exponent):
    """Through the middle and back: free flight between two strokes of equal length, without loss."""
    along = {"journal": (0.6, 0.8, 0), "ball": (0.48, 0.6, 0.64), "thrust": (0, 0, 1.0)}[shape]
    away = np.array(along)
    kind = bc.BearingClearance(1e-3, 1e8, exponent, shape)
    mech = journal(kind, tuple(1e-7 * away), tuple(0.5 * away))
    run = bc.simulate(mech, 0.03, step=1e-5, **EXACT)
    travel = run.body("shaft").position @ away
    assert travel.max() == pytest.approx(-travel.min(), rel=1e-3)
    energy = 0.5 * MASS * 0.25
    deepest = (energy * (exponent + 1.0) / 1e8) ** (1.0 / (exponent + 1.0))
    assert run.force("bearing").quantity("gap").min() == pytest.approx(-deepest, rel=1e-3)
    np.testing.assert_allclose(run.energy.total, energy, rtol=2e-6)
    assert np.abs(run.body("shaft").position - np.outer(travel, away)).max() < 1e-9


def test_a_ball_in_its_socket_by_hertz():
    """Hanging in the clearance it sinks by (F/K)^(2/3)."""
    found = bc.hertz(MASS * 9.81, 0.02, -0.0201, modulus=2.06e11)
    kind = bc.BearingClearance(1e-4, found.stiffness, 1.5, "ball", damping=5e4)
    run = bc.simulate(journal(kind, (0, -1e-4, 0), gravity=9.81), 0.5, method="bdf", rtol=1e-9, atol=1e-13)
    sunk = -run.body("shaft").position[-1, 1] - 1e-4
    assert sunk == pytest.approx(found.approach, rel=1e-6)


def test_losses_end_the_rattling():
    kind = bc.BearingClearance(1e-3, 1e7, loss_factor=0.2, loss_speed=1e-3)
    run = bc.simulate(journal(kind, (1e-7, 0, 0), (0.5, 0, 0)), 0.1, output_step=1e-5, ledger=True, **EXACT)
    speed = np.abs(run.body("shaft").velocity[:, 0])
    free = speed[np.abs(run.body("shaft").position[:, 0]) < 5e-4]
    steps = np.unique(free.round(7))[::-1]
    part = sqrt((1.0 - 0.2 * pi) / (1.0 + 0.2 * pi))
    assert steps[1] / steps[0] == pytest.approx(part, rel=1e-4)
    assert bc.verify(run).passed


def test_files_and_verify():
    stop = bc.OneSidedSpring(0.0, 0.0, curve=CURVE, loss_factor=0.1, loss_speed=0.1)
    for mech in (
        thrown(stop),
        journal(bc.BearingClearance(1e-3, 1e8, 1.5, "thrust"), (0, 0, 0), (0, 0, 0.5)),
    ):
        for text in ("yaml", "json"):
            assert io.loads(io.dumps(mech, text), text) == mech
        assert bc.verify(mech, duration=0.05).passed


REFUSED = {
    "curve must begin with 0 at a depth of 0": {"curve": bc.Table((0.0, 1.0), (1.0, 2.0))},
    "curve must not be negative: it would pull": {"curve": bc.Table((0.0, 1.0, 2.0), (0.0, -1.0, 2.0))},
    "curve must be a function of the depth with an antiderivative": {"curve": "2*t"},
    "loss_factor must not be more than 1/pi": {"loss_factor": 0.4},
    "loss_speed must be greater than zero": {"loss_speed": 0.0},
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_no_buffer_is_is_refused(message):
    with pytest.raises(bc.MechanismError, match=message):
        bc.OneSidedSpring(1.0, 0.0, **REFUSED[message])


def test_wrong_bearings_are_refused():
    for given, message in (
        ({"exponent": 0.5}, "exponent must not be less than 1"),
        ({"shape": "roller"}, "shape must be one of 'journal', 'ball', 'thrust'"),
        ({"loss_factor": 0.5}, "loss_factor must not be more than 1/pi"),
    ):
        with pytest.raises(bc.MechanismError, match=message):
            bc.BearingClearance(1e-3, 1e6, **given)


def test_parameters_stand_in_all_of_it():
    """Runs with parameters are those with their numbers; energies follow them exactly."""
    mech = thrown(bc.OneSidedSpring(0.0, 0.0))
    factor, load = mech.add_parameter("factor", 0.1), mech.add_parameter("load", 500.0, "N")
    curve = bc.Table((0.0, 0.01, 0.03), (0.0, load, 4.0 * load))
    stop = bc.OneSidedSpring(1e4, 0.0, curve=curve, loss_factor=factor)
    mech.replace(mech.forces["stop"], kind=stop)
    for eta, size in ((0.1, 500.0), (0.2, 900.0)):
        given = bc.Table((0.0, 0.01, 0.03), (0.0, size, 4.0 * size))
        plain = thrown(bc.OneSidedSpring(1e4, 0.0, curve=given, loss_factor=eta))
        speeds = [
            bc.simulate(one, 0.2, **EXACT).joint("slide").velocity[-1, 0]
            for one in (mech.with_parameters(factor=eta, load=size), plain)
        ]
        assert speeds[0] == pytest.approx(speeds[1], rel=1e-9)
    options = {"duration": 0.05, **EXACT}
    found = bc.sensitivity(mech, of="joint.slide.z", by=["factor", "load"], **options)
    for name, step in (("factor", 1e-4), ("load", 0.5)):
        value = mech.parameters[name].value
        high, low = (
            bc.simulate(mech.with_parameters(**{name: value + side * step}), **options) for side in (1, -1)
        )
        slope = (high.joint("slide").position[-1, 0] - low.joint("slide").position[-1, 0]) / (2 * step)
        assert found["joint.slide.z", name][-1] == pytest.approx(slope, rel=1e-4)
