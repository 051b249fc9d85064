"""Rows that are dropped, and stops, are judged at every step of every run."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bellcrank as bc

METHODS = ("rk4", "semi_implicit_euler", "dopri5", "adams", "bdf")
X, Y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
LIMIT = bc.Limit(upper=0.1)
PULL = bc.Ramp(0.0, 1.0, start=0.0, duration=1.0)


def slider(mech, name, place=0.0, before=None, limits=()):
    body = mech.add_body(name, mass=1.0, inertia=(1.0,) * 3, position=(place, 0, 0))
    first = mech.ground if before is None else before
    mech.add_joint(
        f"rail of {name}", bc.Prismatic(), first.marker(axis=X), body.marker(axis=X), limits=limits
    )
    return body


def in_the_joint():
    mech = bc.Mechanism("stop in the joint that is led")
    slider(mech, "cart", limits=LIMIT)
    mech.add_drive("pull", "rail of cart", position=PULL)
    return mech


def beside(stop_first):
    mech = bc.Mechanism("stop in another joint")
    cart = slider(mech, "cart", limits=LIMIT if stop_first else ())
    limits = () if stop_first else {"x": LIMIT}
    mech.add_joint("view", bc.Free(), mech.ground.marker(), cart.marker(), limits=limits)
    mech.add_drive(
        "pull", "view" if stop_first else "rail of cart", "x" if stop_first else "z", position=PULL
    )
    return mech


def behind_a_gear():
    mech = bc.Mechanism("stop behind a gear")
    for name, limits in (("one", ()), ("two", LIMIT)):
        slider(mech, name, limits=limits)
    rails = [mech.joints[f"rail of {name}"].coordinate("z") for name in ("one", "two")]
    mech.add_constraint("gear", bc.Coupling((1.0, -1.0)), *rails)
    mech.add_drive("pull", "rail of one", position=PULL)
    return mech


def up_a_chain(count=4):
    """Each slider on the one before, the last one led in space; all end at stops before it is there."""
    mech = bc.Mechanism("chain of sliders")
    body = None
    for number in range(count):
        body = slider(mech, f"s{number}", before=body, limits=LIMIT)
    mech.add_joint("view", bc.Free(), mech.ground.marker(), body.marker())
    mech.add_drive("pull", "view", "x", position=PULL)
    return mech


AGAINST = {
    "in the joint": in_the_joint,
    "stop first": lambda: beside(True),
    "drive first": lambda: beside(False),
    "behind a gear": behind_a_gear,
    "chain": up_a_chain,
}


@pytest.mark.parametrize("formulation", ["lagrange", "recursive", "symbolic"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", AGAINST)
def test_a_drive_against_a_stop_ends_the_run(name, method, formulation):
    mech = AGAINST[name]()
    with pytest.raises(bc.SimulationError) as caught:
        bc.simulate(mech, 1.5, method=method, output_step=0.01, formulation=formulation)
    error = caught.value
    assert "'pull'" in str(error)
    assert error.trajectory.status == "constraints_lost"
    assert 0.2 < error.time < 0.5
    assert np.max(error.trajectory.violation.position) < 1e-9


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_a_stop_elsewhere_excuses_nothing(method):
    """A ball driven past a rotation vector of length π, and a slider with a stop that it never meets."""
    mech = bc.Mechanism("led ball")
    arm = mech.add_body("arm", mass=1.0, inertia=(0.1, 0.2, 0.25), com=(0.1, 0.0, 0.0))
    mech.add_joint("ball", bc.Spherical(), mech.ground.marker(), arm.marker())
    mech.add_drive("lead", "ball", "rot_x", position=bc.Ramp(0.0, 4.5, start=0.0, duration=2.0))
    slider(mech, "cart", limits=LIMIT)
    with pytest.raises(bc.SimulationError, match="'lead'"):
        bc.simulate(mech, 2.0, method=method, output_step=0.02)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("formulation", ["lagrange", "recursive", "symbolic"])
def test_a_light_link_keeps_its_rows(formulation, method):
    """An inner link of 1e-11 kg, as long as its neighbours: the chain stays whole."""
    mech = bc.Mechanism("chain with a light link")
    body = mech.ground
    for number, mass in enumerate((1.0, 1e-11, 1.0)):
        link = mech.add_body(
            f"b{number}", mass=mass, inertia=(0.1 * mass,) * 3, position=(number + 0.5, 0, 0)
        )
        end = (0.5 if number else 0.0, 0, 0)
        mech.add_joint(
            f"j{number}", bc.Revolute(), body.marker(end, axis=Y), link.marker((-0.5, 0, 0), axis=Y)
        )
        body = link
    run = bc.simulate(
        mech, 0.3, formulation=formulation, method=method, output_step=0.01, accelerations=False
    )
    assert run.status == "finished"
    assert run.statistics["redundant_rows"] == ""
    for first, second in (("b0", "b1"), ("b1", "b2")):
        ahead, behind = run.body(first).point((0.5, 0, 0)), run.body(second).point((-0.5, 0, 0))
        assert_allclose(ahead, behind, atol=1e-9)
