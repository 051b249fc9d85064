"""Rows of directions where these are not defined: wheels whose centres come onto each other's axes."""

import numpy as np
import pytest
from rigs.geared_linkages import geared_linkage, pole_distances, what_is_wrong
from scipy.integrate import solve_ivp

import bellcrank as bc

FORMULATIONS = ("lagrange", "recursive", "dca")
RATIO, SHAFT, WHEEL = 2.0, 0.1, 0.02  # and inertias, kg m²
ACROSS = [4, 5, 16, 35, 45, 47, 57]  # seeds of linkages that come over poles


def passing(offset, velocity=(2.0, 0.0, 0.0), weight=(0.0, 0.0, 0.0)):
    """A wheel in a plane that comes past the shaft that it is geared to."""
    mech = bc.Mechanism("gear past the axis", gravity=weight)
    shaft = mech.add_body("shaft", mass=1, inertia=(SHAFT,) * 3)
    wheel = mech.add_body("wheel", mass=1, inertia=(WHEEL,) * 3, position=(-1, offset, 0), velocity=velocity)
    mech.add_joint("bearing", bc.Revolute(), mech.ground, shaft)
    mech.add_joint("plane", bc.Planar(), mech.ground.marker((0, offset, 0)), wheel)
    mech.add_constraint("gear", bc.Gear(ratio=RATIO), shaft, wheel)
    return mech


def on_screw_surface(run, duration):
    """Where the wheel is in the end, by two numbers: how far along the line of centres, and its direction.

    (1 + r) direction = shaft + r wheel, and shaft and wheel share what this takes by their inertias. All the
    way through the centre this is smooth: the line goes on turning, and how far changes its sign.
    """
    (x, y, _), (vx, vy, _) = run.body("wheel").position[0], run.body("wheel").velocity[0]
    distance = np.hypot(x, y)
    inertia = (1.0 + RATIO) ** 2 / (1.0 / SHAFT + RATIO**2 / WHEEL)
    rate = (x * vy - y * vx) / distance**2
    momentum = (distance**2 + inertia) * rate

    def motion(_, state):
        along, speed, _ = state
        turning = momentum / (along**2 + inertia)
        return [speed, along * turning**2, turning]

    start = [distance, (x * vx + y * vy) / distance, np.arctan2(y, x)]
    found = solve_ivp(motion, (0.0, duration), start, rtol=1e-12, atol=1e-13, method="DOP853").y[:, -1]
    return found[0] * np.array([np.cos(found[2]), np.sin(found[2])])


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("offset", [0.3, 0.21, 0.1, 0.01, 1e-3, 1e-5, 0.0, -0.05])
def test_a_wheel_passes_the_axis_that_it_is_geared_to(offset, formulation):
    run = bc.simulate(passing(offset), 1.0, output_step=0.01, formulation=formulation)
    energy = run.energy.total
    assert np.abs(energy - energy[0]).max() < 1e-7 * energy[0]
    np.testing.assert_allclose(run.body("wheel").position[-1, :2], on_screw_surface(run, 1.0), atol=1e-6)
    assert run.statistics["steps"] < 200
    assert bc.verify(run).passed


@pytest.mark.parametrize("method", ["dopri5", "bdf", "rk4", "semi_implicit_euler", "moreau"])
@pytest.mark.parametrize("offset", [0.1, 0.0])
def test_by_every_method(offset, method):
    fixed = method in ("rk4", "semi_implicit_euler", "moreau")
    run = bc.simulate(
        passing(offset), 1.0, output_step=0.01, method=method, **({"step": 1e-3} if fixed else {})
    )
    error = {"semi_implicit_euler": 0.02, "moreau": 0.02, "bdf": 1e-5}.get(method, 1e-6)
    np.testing.assert_allclose(run.body("wheel").position[-1, :2], on_screw_surface(run, 1.0), atol=error)


def test_a_run_goes_on_beyond_the_axis():
    """From a state on the other side, in another formulation: directions count on there as well."""
    whole = bc.simulate(passing(0.1), 1.0, output_step=0.05)
    for time in (0.4, 0.6, 0.8):
        rest = bc.simulate(
            passing(0.1), 1.0 - time, output_step=0.05, state=whole.at(time), formulation="recursive"
        )
        np.testing.assert_allclose(
            rest.body("wheel").position[-1], whole.body("wheel").position[-1], atol=1e-7
        )


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_free_linkages_keep_their_energy(formulation):
    crossed = 0
    for seed in (*range(5), *ACROSS):
        mech = geared_linkage(seed)
        assert what_is_wrong(mech, formulation=formulation) == "", seed
        distances = pole_distances(mech, bc.simulate(mech, 1.0, output_step=1e-3, formulation=formulation))
        crossed += bool(np.min(distances / np.max(distances, axis=0)) < 0.02)
    assert crossed >= len(ACROSS)


@pytest.mark.parametrize("method", ["adams", "rk4"])
def test_forces_work_on_the_way_over(method):
    """A spring along the way; an output falls on the axis itself."""
    mech = passing(0.0)
    mech.add_force("spring", bc.SpringDamper(3.0, rest_length=0.2), mech.ground.marker((0, 0, 0.5)), "wheel")
    mech.add_force("damper", bc.BodyDamping(0.1), "wheel")
    step = {"step": 1e-3} if method == "rk4" else {"tolerance": 1e-11}
    run = bc.simulate(mech, 1.0, output_step=0.02, method=method, ledger=True, **step)
    assert run.energy_balance().error < 1e-7
    assert run.body("wheel").position[-1, 0] > 0.5


@pytest.mark.parametrize("terminal", [False, True])
def test_an_event_on_the_way_over(terminal):
    event = bc.Event("past", "plane.x - 0.00002", direction=1, terminal=terminal)
    run = bc.simulate(passing(0.0), 1.0, events=event)
    assert [one.time for one in run.events] == [pytest.approx(0.50001, abs=1e-9)]
    assert run.time[-1] == pytest.approx(0.5 if terminal else 1.0, abs=2e-4)


def test_symbolic_ends_there_by_name():
    with pytest.raises(
        bc.SimulationError, match=r"constraint 'gear' \(azimuth\) says nothing where"
    ) as caught:
        bc.simulate(passing(0.1), 1.0, formulation="symbolic")
    assert caught.value.trajectory.time[-1] == pytest.approx(0.52, abs=0.01)


def free_wheels(place):
    mech = bc.Mechanism("free wheels", gravity=(0, 0, 0))
    for name, position in (("one", (0.3, 0.1, 0)), ("two", place)):
        mech.add_body(name, mass=1, inertia=(0.1, 0.1, 0.1), position=position)
    return mech


@pytest.mark.parametrize("kind", [bc.Gear(ratio=2.0), bc.InternalGear(ratio=2.0), bc.Belt(ratio=2.0)])
@pytest.mark.parametrize("height", [0.0, 0.7])
def test_a_gear_without_a_line_of_centres_is_refused(kind, height):
    mech = free_wheels((0.3, 0.1, height))
    mech.add_constraint("mesh", kind, "one", "two")
    with pytest.raises(
        bc.AssemblyError, match=r"constraint 'mesh' \(azimuth\) says nothing .* couple the angles"
    ):
        bc.simulate(mech, 1.0)


def test_bevel_gears_with_parallel_axes_are_refused():
    mech = free_wheels((0.8, 0.1, 0.0))
    mech.add_constraint("mesh", bc.BevelGear(ratio=2.0), "one", "two")
    with pytest.raises(bc.AssemblyError, match="the z axes of its markers are parallel"):
        bc.assemble(mech)


@pytest.mark.parametrize("formulation", [*FORMULATIONS, "symbolic"])
@pytest.mark.parametrize(
    ("kind", "rate"),
    [(bc.Gear(ratio=2.0), -0.5), (bc.InternalGear(ratio=2.0), 0.5), (bc.Belt(ratio=2.0, crossed=True), -0.5)],
)
@pytest.mark.parametrize("flipped", [False, True])
def test_wheels_on_one_axis_turn_by_the_angles_of_their_joints(kind, rate, flipped, formulation):
    """One of the joints may name its bodies the other way round, or have its axis the other way."""
    mech = free_wheels((0.3, 0.1, 0.2))
    one, two = mech.bodies["one"], mech.bodies["two"]
    frame = mech.add_body("frame", mass=3, inertia=(1, 1, 1), angular_velocity=(0, 0, 0.3))
    mech.add_joint("spindle", bc.Revolute(), mech.ground, frame)
    mech.add_joint("first", bc.Revolute(), frame.marker((0.3, 0.1, 0)), one)
    place = (0.3, 0.1, 0.2)
    if flipped:
        mech.add_joint("second", bc.Revolute(), two.marker(axis="-z"), frame.marker(place, axis="-z"))
    else:
        mech.add_joint("second", bc.Revolute(), frame.marker(place), two)
    mech.add_constraint("mesh", kind, one, two)
    mech.add_force("motor", bc.JointMotor(0.2), "first")
    run = bc.simulate(mech, 1.0, formulation=formulation)
    carrier, *turns = (run.body(name).angular_velocity[:, 2] for name in ("frame", "one", "two"))
    assert np.ptp(turns[0] - carrier) > 0.1
    np.testing.assert_allclose(turns[1] - carrier, rate * (turns[0] - carrier), atol=1e-8)
