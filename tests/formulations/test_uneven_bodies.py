"""Joint coordinates and `dca` where masses differ by twelve decades: lost digits are reported, or refused."""

import numpy as np
import pytest
from rigs.random_mechanisms import random_mechanism

import bellcrank as bc


def heavy_on_light(ratio):
    """A light link between the ground and a heavy one, on ball joints."""
    mech = bc.Mechanism("heavy on light")
    light = mech.add_body("light", mass=1.0, inertia=(0.1, 0.12, 0.08), com=(0.2, 0.0, 0.1))
    heavy = mech.add_body(
        "heavy",
        mass=ratio,
        inertia=(0.1 * ratio, 0.2 * ratio, 0.15 * ratio),
        com=(0.1, 0.1, 0),
        position=(1, 0, 0),
    )
    mech.add_joint("hook", bc.Spherical(), mech.ground, light)
    mech.add_joint("pin", bc.Spherical(), light.marker((1, 0, 0)), heavy)
    return mech


def error(mech, formulation):
    """Of accelerations, relative to the largest, against 32 digits."""
    exact, found = (bc.prepare(mech, name).accelerate() for name in ("lagrange", formulation))
    scale = max(np.abs(exact.linear).max(), np.abs(exact.angular).max())
    return max(np.abs(found.linear - exact.linear).max(), np.abs(found.angular - exact.angular).max()) / scale


def test_the_uncertainty_covers_the_error():
    mech = heavy_on_light(1e9)
    system = bc.prepare(mech, "symbolic")
    system.accelerate()
    assert system.accuracy().accelerations > 1e-9
    assert error(mech, "symbolic") <= system.accuracy().accelerations
    run = bc.simulate(mech, 0.1, formulation="symbolic", method="dopri5", tolerance=1e-6)
    assert "double precision leaves" in run.statistics["accuracy"]


def test_where_solutions_are_refined_only_reactions_are_uncertain():
    mech = heavy_on_light(1e9)
    system = bc.prepare(mech, "recursive")
    system.accelerate()
    assert system.accuracy().accelerations < 1e-12
    assert system.accuracy().efforts > 1e-9
    run = bc.simulate(mech, 0.1, formulation="recursive", method="dopri5", tolerance=1e-6)
    assert "of the largest reaction or effort open" in run.statistics["accuracy"]


@pytest.mark.parametrize("formulation", ["recursive", "symbolic", "dca"])
def test_even_bodies_are_not_compared(formulation):
    system = bc.prepare(heavy_on_light(10.0), formulation)
    system.accelerate()
    assert system.accuracy().accelerations == 0.0


@pytest.mark.parametrize("formulation", ["recursive", "symbolic", "dca"])
def test_a_mechanism_that_rests_is_not_refused_for_its_rounding(formulation):
    mech = bc.Mechanism("held by a spring", gravity=(0, 0, 0))
    for name, mass in (("light", 1e-4), ("heavy", 1e6)):
        mech.add_body(name, mass=mass, inertia=(mass, mass, mass), position=(0.3, 0.4, 0.1))
        mech.add_joint(
            f"{name} hook", bc.Spherical(), mech.ground, mech.bodies[name].marker((-0.3, -0.4, -0.1))
        )
        spring = bc.SpringDamper(1e3, rest_length=0.0)
        mech.add_force(f"{name} spring", spring, mech.ground.marker((0.6, 0.8, 0.2)), mech.bodies[name])
    system = bc.prepare(mech, formulation)
    system.accelerate()
    assert system.accuracy().accelerations < 1e-6  # springs of 1 kN pull a body of 0.1 g both ways


@pytest.mark.parametrize(("formulation", "seed"), [("recursive", 4263), ("dca", 4263), ("dca", 300588)])
def test_answers_of_no_use_are_refused(formulation, seed):
    with pytest.raises(bc.Unsupported, match=r"so uneven .* Use formulation='lagrange'"):
        bc.prepare(random_mechanism(seed), formulation)


def test_dca_takes_masses_over_eleven_decades_by_a_larger_penalty():
    system = bc.prepare(random_mechanism(300588), "dca", max_penalty=1e12)
    found, exact = system.accelerate(), bc.prepare(random_mechanism(300588)).accelerate()
    assert system.accuracy().accelerations < 1e-4
    off = np.abs(found.linear - exact.linear).max() / np.abs(exact.linear).max()
    assert off < 10 * system.accuracy().accelerations


@pytest.mark.parametrize("moment", [0.2, 1e-4, 200.0])
def test_wheels_on_their_hubs_are_not_uneven(moment):
    """Forces at its centre do not turn a wheel, so its moment of inertia costs no digits."""
    mech = bc.Mechanism("wheel on a swinging arm", gravity=(0.0, 0.0, -9.81))
    arm = mech.add_body("arm", mass=1.0, inertia=(1e-3, 0.1, 0.1), position=(0.5, 0.0, 0.0))
    wheel = mech.add_body(
        "wheel",
        mass=2.0,
        inertia=(moment, 1.5 * moment, moment),
        position=(1.0, 0.0, 0.0),
        angular_velocity=(0.0, 30.0, 0.0),
    )
    y = (0.0, 1.0, 0.0)
    mech.add_joint("pivot", bc.Revolute(), mech.ground.marker(axis=y), arm.marker((-0.5, 0.0, 0.0), axis=y))
    mech.add_joint("hub", bc.Revolute(), arm.marker((0.5, 0.0, 0.0), axis=y), wheel.marker(axis=y))
    run = bc.simulate(mech, 0.1, formulation="lagrange", method="rk4", step=1e-3)
    assert run.statistics.get("precise", 0) == 0
    found = bc.prepare(mech, "lagrange").accelerate()
    swing = 9.81 * (0.5 + 2.0) / (0.1 + 0.25 + 2.0)
    assert found.angular[0] == pytest.approx([0.0, swing, 0.0], rel=1e-12, abs=1e-12)


def test_a_man_on_a_bicycle_is_not_uneven():
    run = bc.simulate(bc.gallery.man_on_bicycle(), 0.02, formulation="lagrange", method="rk4", step=1e-3)
    assert run.statistics.get("precise", 0) == 0


def test_a_heavy_flywheel_at_its_centre_is_uneven():
    """Its moment of inertia stands beside that of a light arm in the rows that lock them together."""
    mech = bc.Mechanism("flywheel")
    arm = mech.add_body("arm", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), position=(0.5, 0.0, 0.0))
    wheel = mech.add_body("wheel", mass=2.0, inertia=(1e9, 1e9, 1e9), position=(1.0, 0.0, 0.0))
    mech.add_joint("pivot", bc.Revolute(), mech.ground, arm.marker((-0.5, 0.0, 0.0)))
    mech.add_joint("hub", bc.Fixed(), arm.marker((0.5, 0.0, 0.0)), wheel.marker())
    run = bc.simulate(mech, 0.01, formulation="lagrange", method="rk4", step=1e-3)
    assert run.statistics["precise"] > 0


@pytest.mark.parametrize("formulation", ["recursive", "symbolic", "dca"])
def test_statistics_compute_nothing(formulation):
    system = bc.prepare(heavy_on_light(1e9), formulation)
    system.accelerate()
    asked = []

    class Watched:
        def __init__(self, core):
            self._core = core

        def __getattr__(self, name):
            asked.append(name)
            return getattr(self._core, name)

    system.core = Watched(system.core)
    first, second = system.stats, system.stats
    assert first.dropped == second.dropped
    assert not {"accelerate", "set_state", "go_to_doubtful_moment"} & set(asked)
    state = system.state()
    system.accuracy()
    np.testing.assert_array_equal(system.state().position, state.position)
    assert "accelerate" in asked
