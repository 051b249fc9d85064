"""The method "auto": adams until the motion is stiff, then bdf; rk4 where a step is given."""

import numpy as np
import pytest
from rigs.chains import spinning_chain
from rigs.singular_linkages import singular_linkage

import bellcrank as bc
from bellcrank import gallery
from bellcrank.integrate.methods import method_options


def whip(stiffness, damping):
    """A chain whose joints, the first one apart, are damped torsion springs."""
    mech = gallery.chain(5, length=0.2, angle=0.3)
    for name in list(mech.joints)[1:]:
        mech.add_force(f"spring of {name}", bc.TorsionSpring(stiffness, damping), joint=name)
    return mech


def mount():
    """A block on a stiff bushing, which carries a pendulum."""
    mech = bc.Mechanism("mount")
    block = mech.add_body("block", shapes=[bc.Box(size=(0.4, 0.3, 0.2), density=2000.0)])
    bushing = bc.Bushing((1e7,) * 3, (1e7,) * 3, (1e5,) * 3, (1e5,) * 3)
    mech.add_force("mount", bushing, mech.ground.marker(), block.marker())
    arm = mech.add_body("arm", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0.5, 0.0, 0.0))
    y_axis = (0.0, 1.0, 0.0)
    mech.add_joint("hinge", bc.Revolute(), block.marker(axis=y_axis), arm.marker((-0.5, 0, 0), axis=y_axis))
    return mech


STIFF = {
    "whip": lambda: whip(1e4, 100.0),
    "mount": mount,
    "governor": gallery.flyball_governor,
    "rotors": lambda: gallery.puma560(led=False),
}
SMOOTH = {
    "double pendulum": (gallery.double_pendulum, 5.0),
    "squeezer": (gallery.andrews_squeezer, 0.05),
    "platform": (gallery.stewart_platform, 1.0),
    "chain": (lambda: gallery.chain(10, angle=0.3), 5.0),
    "springs": (lambda: whip(1e3, 0.0), 1.0),
}


@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
@pytest.mark.parametrize("name", STIFF)
def test_stiff_motions_go_on_by_bdf(name, formulation):
    run = bc.simulate(STIFF[name](), 1.0, method="auto", formulation=formulation)
    told = run.statistics
    assert told["method"] == "bdf"
    assert 0.0 < told["stiff_since"] < 0.5
    assert told["linearizations" if formulation == "lagrange" else "difference_evaluations"] > 0
    exact = bc.simulate(STIFF[name](), 1.0, method="bdf", tolerance=1e-11, formulation=formulation)
    for body in run.bodies:
        np.testing.assert_allclose(run.body(body).position, exact.body(body).position, atol=2e-6)


@pytest.mark.parametrize("tolerance", [1e-5, 1e-8, 1e-11])
@pytest.mark.parametrize("name", SMOOTH)
def test_motions_that_are_not_stiff_stay_with_adams(name, tolerance):
    make, duration = SMOOTH[name]
    run, other = (
        bc.simulate(make(), duration, method=method, tolerance=tolerance) for method in ("auto", "adams")
    )
    assert run.statistics["method"] == "adams"
    assert "stiff_since" not in run.statistics
    assert "stiff_since" not in other.statistics
    for body in run.bodies:
        np.testing.assert_array_equal(run.body(body).position, other.body(body).position)


def test_adams_says_since_when_a_motion_is_stiff():
    run = bc.simulate(whip(1e4, 100.0), 0.1, method="adams")
    assert run.statistics["method"] == "adams"
    assert 0.0 < run.statistics["stiff_since"] < 0.05


def test_a_stiff_run_in_parts_is_the_run_in_one():
    times = np.linspace(0.0, 0.5, 51)
    whole = bc.simulate(whip(1e4, 100.0), times=times, method="auto")
    live = bc.start(whip(1e4, 100.0), method="auto")
    for _ in times[1:]:
        live.advance(0.01)
    parts = live.stop()
    assert parts.statistics["method"] == "bdf"
    for body in whole.bodies:
        np.testing.assert_allclose(parts.body(body).position, whole.body(body).position, atol=2e-6)


def test_a_step_without_a_tolerance_means_rk4():
    mech = spinning_chain()
    run = bc.simulate(mech, 0.2, method="auto", step=1e-3)
    assert run.statistics["method"] == "rk4"
    assert run.statistics["steps"] == 200
    run = bc.simulate(mech, 0.2, method="auto", step=1e-4, tolerance=1e-8)
    assert run.statistics["method"] == "adams"
    assert method_options("auto", 1.0, 1e-3, max_step=0.1).method.name == "auto"


def test_the_highest_order_holds_for_both():
    run = bc.simulate(gallery.double_pendulum(), 1.0, method="auto", max_order=4)
    assert run.statistics["highest_order"] == 4
    run = bc.simulate(whip(1e4, 100.0), 0.2, method="auto", max_order=3)
    assert run.statistics["method"] == "bdf"
    assert run.statistics["highest_order"] <= 3


@pytest.mark.parametrize("seed", [4, 11, 24, 31])
def test_what_only_looked_stiff_goes_on_by_adams(seed):
    """At a singular pose accelerations follow rounding: steps of bdf would vanish in microseconds."""
    run = bc.simulate(singular_linkage(seed).mechanism, 0.1, formulation="dca", output_step=0.05)
    assert run.status == "finished"
    assert run.statistics["method"] == "adams"
    assert "bdf" not in run.statistics["choice"]
