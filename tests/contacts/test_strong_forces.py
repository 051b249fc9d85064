"""Runs by impulses under weak and strong forces: what rests stays, and no energy is reported that is none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bellcrank as bc

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
