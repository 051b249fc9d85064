"""Measures: reductions by their definitions, and the names of quantities."""

import numpy as np
import pytest
from rigs.studied import four_bar, oscillator

import bellcrank as bc
from bellcrank.studies.measures import REDUCTIONS, measures_of
from bellcrank.trajectory.columns import quantity

TIMES = [0.05, 0.1, 0.3, 0.7, 1.0]


@pytest.fixture(scope="module")
def run():
    return bc.simulate(oscillator(), times=TIMES)


def value(text, run):
    return measures_of(text)[0].of(run)


def test_reductions(run):
    x = run.joint("track").position[:, 0]
    assert value("max joint.track.x", run) == x.max()
    assert value("min joint.track.x", run) == x.min()
    assert value("peak joint.track.x", run) == abs(x).max()
    assert value("range joint.track.x", run) == x.max() - x.min()
    assert value("initial joint.track.x", run) == x[0]
    assert value("final joint.track.x", run) == x[-1]
    width = np.diff(run.time)
    mean = (width * (x[1:] + x[:-1]) / 2).sum() / width.sum()
    assert value("mean joint.track.x", run) == pytest.approx(mean, rel=1e-14)
    square = (width * (x[1:] ** 2 + x[:-1] ** 2) / 2).sum() / width.sum()
    assert value("rms joint.track.x", run) == pytest.approx(np.sqrt(square), rel=1e-14)
    assert len(REDUCTIONS) == 8


def test_every_column_is_a_quantity(run):
    driven = bc.inverse_dynamics(four_bar(), 0.1, 0.05)
    for one in (run, driven):
        for name, values in one.to_dict().items():
            if name.endswith(" unique"):
                continue
            plain, _, unit = name.partition(" [")
            for asked in (name, plain):
                found = quantity(one, asked)
                assert (found.name, found.unit) == (plain, unit.rstrip("]"))
                assert np.array_equal(found.values, values)


def test_magnitudes_and_short_names():
    run = bc.inverse_dynamics(four_bar(), 0.1, 0.05)
    force = np.linalg.norm(run.joint("crank pin").force, axis=1)
    assert np.allclose(quantity(run, "joint.crank pin.force").values, force)
    assert quantity(run, "joint.crank pin.force").unit == "N"
    assert quantity(run, "joint.crank pin.moment").unit == "N m"
    speed = np.linalg.norm(run.body("coupler").velocity, axis=1)
    assert np.allclose(quantity(run, "body.coupler.speed").values, speed)
    assert np.array_equal(quantity(run, "energy.total").values, run.energy.total)
    assert np.array_equal(quantity(run, "drive.motor").values, np.ravel(run.drive("motor").effort))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("joint.track", "this may be several quantities; name one of joint.track.x"),
        ("joint.track.y", "the run records no quantity of this name"),
        ("joint.trak.x", "did you mean 'joint.track.x"),
        ("joint.track.x [mm]", "no quantity of this name"),
        ("body.cart.force", "no quantity of this name"),
    ],
)
def test_unknown_quantities(run, name, said):
    with pytest.raises(bc.MechanismError) as caught:
        quantity(run, name)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("joint.track.x", "a text is a reduction"),
        ("maximum joint.track.x", "did you mean 'max'"),
        ("", "a text is a reduction"),
        (3, "it must be a text, or a function"),
        ([], "at least one is needed"),
        (["max energy.total", 3], "it must be a text, or a function"),
        ([len, len], "two have the same name"),
    ],
)
def test_no_measures(measure, said):
    with pytest.raises(bc.MechanismError) as caught:
        measures_of(measure)
    assert said in str(caught.value)
