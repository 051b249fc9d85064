"""Stops in fixed steps, hops, rest on stops, and rows that are judged at every step."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bellcrank as bc
from bellcrank.formulations.preparing import MOVING

INERTIA = (0.02,) * 3


def two_weights(heavy=2.0, light=1.0):
    """Weights over an eyelet; the heavy one falls 0.3 m onto a stop and throws the light one up."""
    mech = bc.Mechanism("two weights")
    a = mech.add_body("heavy", mass=heavy, inertia=INERTIA)
    b = mech.add_body("light", mass=light, inertia=INERTIA, position=(1.0, 0.0, 0.0))
    mech.add_joint("slide", bc.Prismatic(), mech.ground, a, limits=bc.Limit(lower=-0.3))
    mech.add_joint("other", bc.Prismatic(), mech.ground.marker((1.0, 0.0, 0.0)), b)
    eyelets = (mech.ground.marker((x, 0.0, 1.0)) for x in (0.0, 1.0))
    mech.add_constraint("rope", bc.Cable(slack=True), a, *eyelets, b)
    return mech


def arm_and_weight(restitution=0.6):
    """An arm that a weight draws over two eyelets against its stop, hard enough for the rope to go slack."""
    mech = bc.Mechanism("arm and weight")
    arm = mech.add_body("arm", mass=1.7, inertia=(0.03, 0.05, 0.03), com=(0.34, 0.0, 0.0))
    weight = mech.add_body("weight", mass=2.6, inertia=INERTIA, position=(2.0, 0.0, 0.0))
    limits = bc.Limit(lower=-0.5, upper=0.8, restitution=restitution)
    mech.add_joint("hinge", bc.Revolute(), mech.ground.marker(axis="y"), arm.marker(axis="y"), limits=limits)
    mech.add_joint("slide", bc.Prismatic(), mech.ground.marker((2.0, 0.0, 0.0)), weight)
    eyelets = (mech.ground.marker((x, 0.0, 1.2)) for x in (0.1, 2.0))
    mech.add_constraint("rope", bc.Cable(slack=True), arm.marker((0.3, 0.0, 0.0)), *eyelets, weight)
    return mech


@pytest.mark.parametrize(
    ("method", "step"), [("rk4", 5e-3), ("rk4", 1e-3), ("rk4", 1e-4), ("semi_implicit_euler", 1e-3)]
)
@pytest.mark.parametrize("formulation", MOVING)
def test_weights_come_to_rest(formulation, method, step):
    """At rest the rope carries the light one, and the stop what is left of the heavy one."""
    run = bc.simulate(two_weights(), 1.6, formulation=formulation, method=method, step=step)
    rest = run.time > 1.5
    np.testing.assert_allclose(run.limit("slide").effort[rest], 9.81, rtol=0, atol=1e-6)
    np.testing.assert_allclose(run.constraint("rope").effort[rest], 9.81, rtol=0, atol=1e-6)
    np.testing.assert_allclose(run.joint("other").velocity[rest], 0.0, rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.joint("other").position[rest], 0.3, rtol=0, atol=1e-8)


@pytest.mark.parametrize("formulation", MOVING)
def test_impacts_keep_the_order_of_the_method(formulation):
    """Ten impacts and openings of a rope on the way; the steps do not end at any of them."""
    mech = arm_and_weight()
    exact = bc.simulate(mech, 2.0, method="dopri5", tolerance=1e-12, output_step=0.1)
    assert len(exact.events) >= 5
    errors = []
    for step in (4e-3, 2e-3):
        run = bc.simulate(mech, 2.0, formulation=formulation, method="rk4", step=step, output_step=0.1)
        errors.append(np.abs(run.joint("hinge").position - exact.joint("hinge").position).max())
    assert errors[0] < 1e-6
    assert errors[1] < errors[0] / 8.0 + 1e-9


@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
def test_a_ball_that_bounces_ever_less(formulation):
    """Of infinitely many bounces in the last step the first are met; the rest is taken whole, and it lies."""
    mech = bc.Mechanism("ball")
    ball = mech.add_body("ball", mass=1.0, inertia=INERTIA, position=(0.0, 0.0, 0.1))
    mech.add_joint("slide", bc.Prismatic(), mech.ground, ball, limits=bc.Limit(lower=0.0, restitution=0.9))
    drop = np.sqrt(2.0 * 0.1 / 9.81)
    ends = drop * (1.0 + 2.0 * 0.9 / 0.1)  # of a geometric series
    run = bc.simulate(mech, ends + 0.1, formulation=formulation, method="rk4", step=1e-3)
    height = run.joint("slide").position[:, 0]
    bounced = drop * (1.0 + 2.0 * 0.9 * (1.0 - 0.9**6) / 0.1)
    since = bounced + drop * 0.9**7
    top = 0.1 * 0.9**14
    at = np.argmin(np.abs(run.time - since))
    expected = top - 0.5 * 9.81 * (run.time[at] - since) ** 2
    assert abs(height[at] - expected) < 1e-9
    lies = run.time > ends + 0.01
    assert np.abs(height[lies]).max() < 1e-8
    np.testing.assert_allclose(run.limit("slide").effort[lies], 9.81, rtol=0, atol=1e-6)


G = 9.81
METHODS = ("adams", "dopri5", "bdf")


def block(height=0.0, speed=0.0, pull=None):
    """A block on a vertical guide with a stop at 0."""
    mech = bc.Mechanism("block over a stop")
    body = mech.add_body(
        "block", mass=1.0, inertia=(1e-3,) * 3, position=(0, 0, height), velocity=(0, 0, speed)
    )
    mech.add_joint(
        "guide", bc.Prismatic(), mech.ground, body, limits={"z": bc.Limit(lower=0.0, restitution=0.5)}
    )
    if pull is not None:
        mech.add_force("pull", pull, "guide")
    return mech


def beam(distance, tilt, restitution):
    """A beam that falls onto two stops. Near its middle, each throws the beam off the other one."""
    mech = bc.Mechanism("beam over two stops")
    turn = (math.cos(tilt / 2), 0.0, math.sin(tilt / 2), 0.0)
    body = mech.add_body("beam", mass=1.0, inertia=(0.2,) * 3, position=(0, 0, 0.05), rotation=turn)
    axis = (0.0, 1.0, 0.0)
    mech.add_joint("plane", bc.Planar(), mech.ground.marker(axis=axis), body.marker(axis=axis))
    for name, x in (("left", -distance), ("right", 1.1 * distance)):
        limits = {"z": bc.Limit(lower=0.0, restitution=restitution)}
        mech.add_joint(name, bc.Free(), mech.ground.marker((x, 0, 0)), body.marker((x, 0, 0)), limits=limits)
    return mech


def rod(angle, wall):
    """A rod of 1 m on a hinge, let go at an angle, whose tip falls onto a wall."""
    mech = bc.Mechanism("rod beside a wall")
    middle, axis = (0.5 * math.sin(angle), 0.0, -0.5 * math.cos(angle)), (0.0, 1.0, 0.0)
    turn = (math.cos(angle / 2), 0.0, -math.sin(angle / 2), 0.0)
    body = mech.add_body("rod", mass=1.0, inertia=(1 / 12, 1 / 12, 1e-3), position=middle, rotation=turn)
    mech.add_joint("hinge", bc.Revolute(), mech.ground.marker(axis=axis), body.marker((0, 0, 0.5), axis=axis))
    limits = {"x": bc.Limit(lower=wall, restitution=0.3)}
    mech.add_joint("wall", bc.Free(), mech.ground.marker(), body.marker((0, 0, -0.5)), limits=limits)
    return mech


def height(run, name="block"):
    return run.body(name).position[:, 2]


@pytest.mark.parametrize("speed", [1e-4, 3e-4, 9e-4])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("formulation", MOVING)
def test_a_hop_ends_by_one_event(formulation, method, speed):
    """Below the speed that bounces, however far the gap counts as closed."""
    flight = 2.0 * speed / G
    how = {"formulation": formulation, "method": method, "tolerance": 1e-12}
    run = bc.simulate(block(speed=speed), 3.0 * flight, output_step=flight / 10.0, **how)
    assert len(run.events) == 1
    assert abs(run.events[0].time - flight) * speed < 1e-11
    path = np.where(run.time < flight, run.time * (speed - 0.5 * G * run.time), 0.0)
    np.testing.assert_allclose(height(run), path, rtol=0, atol=1e-11)
    effort = np.squeeze(run.limit("guide").effort)
    np.testing.assert_allclose(effort[run.time < 0.9 * flight], 0.0, rtol=0, atol=1e-9)
    np.testing.assert_allclose(effort[run.time > 1.1 * flight], G, rtol=1e-9, atol=0)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-8, 1e-10, 1e-12])
@pytest.mark.parametrize(
    ("gap", "speed"), [(0.0, 1e-8), (0.0, 1e-5), (0.0, 1.1e-3), (5e-9, -2e-3), (5e-8, -5e-4)]
)
@pytest.mark.parametrize("method", METHODS)
def test_a_block_comes_to_rest(method, gap, speed, tolerance):
    run = bc.simulate(block(gap, speed), 3e-3, method=method, tolerance=tolerance, output_step=1e-4)
    assert len(run.events) <= 4
    assert abs(height(run)[-1]) < 1e-12
    assert np.squeeze(run.limit("guide").effort)[-1] == pytest.approx(G)


@pytest.mark.parametrize("tolerance", [1e-8, 1e-10, 1e-12])
@pytest.mark.parametrize("method", METHODS)
def test_a_load_that_passes_zero(method, tolerance):
    """The force that is left, 2 mN sin(ωt) - 1 mN, throws the block up by 63 nm in each period."""
    omega, force = 200.0, 2e-3
    pull = bc.JointMotor(f"9.81 - {0.5 * force} + {force}*sin({omega}*t)")
    run = bc.simulate(block(pull=pull), 0.1, method=method, tolerance=tolerance, max_step=2e-3)
    angle = (omega * run.time - math.pi / 6) % (2.0 * math.pi)  # since the force was zero, and rising
    path = math.cos(math.pi / 6) * angle - 0.25 * angle**2 + 0.5 - np.sin(angle + math.pi / 6)
    path = np.where(omega * run.time < math.pi / 6, 0.0, np.maximum(path, 0.0)) * force / omega**2
    np.testing.assert_allclose(height(run), path, rtol=0, atol=0.2 * tolerance + 2e-10)


@pytest.mark.parametrize("tolerance", [1e-8, 1e-10, 1e-12])
def test_a_load_that_passes_zero_by_little(tolerance):
    """The block leaves the stop more slowly than gaps can show, and is loaded again with that speed."""
    pull = bc.JointMotor("9.81 + 1e-6*sin(200*t)")
    run = bc.simulate(block(pull=pull), 0.1, method="bdf", tolerance=tolerance)
    assert run.statistics["steps"] < 1000
    assert np.abs(height(run)).max() < 1e-9


@pytest.mark.parametrize("tolerance", [1e-6, 1e-10, 1e-12])
@pytest.mark.parametrize("method", METHODS)
def test_what_settles_on_a_stop(method, tolerance):
    """A spring that is damped critically brings the block there, slower and slower."""
    mech = block(height=0.1, pull=bc.TorsionSpring(stiffness=100.0, damping=20.0))
    mech.gravity = (0.0, 0.0, 0.0)
    run = bc.simulate(mech, 3.0, method=method, tolerance=tolerance)
    exact = 0.1 * (1.0 + 10.0 * run.time) * np.exp(-10.0 * run.time)
    np.testing.assert_allclose(height(run), exact, rtol=0, atol=1e3 * tolerance + 1e-8)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-8, 1e-12])
@pytest.mark.parametrize(
    ("distance", "tilt", "restitution"), [(0.2, 0.1, 0.4), (0.3, 0.02, 0.0), (0.3, -0.02, 0.4)]
)
@pytest.mark.parametrize(("formulation", "method"), [(f, "bdf") for f in MOVING] + [("lagrange", "adams")])
def test_a_beam_comes_to_rest_on_two_stops(formulation, method, distance, tilt, restitution, tolerance):
    mech = beam(distance, tilt, restitution)
    run = bc.simulate(mech, 0.8, formulation=formulation, method=method, tolerance=tolerance)
    assert len(run.events) < 150
    assert abs(height(run, "beam")[-1]) < 1e-12
    loads = [np.squeeze(run.limit(name).effort)[-1] for name in ("left", "right")]
    assert min(loads) > 0.0
    assert sum(loads) == pytest.approx(G)


@pytest.mark.parametrize(
    ("formulation", "angle", "wall", "tolerance"),
    [("lagrange", 1.52, 0.2, 1e-3), ("recursive", 1.39, 0.1, 1e-6)],
)
def test_no_meeting_by_the_errors_of_a_curve(formulation, angle, wall, tolerance):
    """The curve of `bdf` begins where its step does: elsewhere it would meet what has just been left."""
    how = {"formulation": formulation, "tolerance": tolerance}
    run = bc.simulate(rod(angle, wall), 2.0, method="bdf", **how)
    assert len(run.events) < 100
    assert run.body("rod").position[-1][0] == pytest.approx(0.5 * wall, abs=1e-9)


def weight(slack, velocity=(0.0, 0.0, 0.0), position=(-0.6, 0.0, -0.8)):
    """A weight on a cable of 1 m, taut at the start."""
    mech = bc.Mechanism("weight on a cable")
    body = mech.add_body("weight", mass=1.0, inertia=(1e-3,) * 3, position=position, velocity=velocity)
    mech.add_constraint("cable", bc.Cable(length=1.0, slack=slack), mech.ground.marker(), body.marker())
    return mech


def path(run):
    return run.body("weight").position


@pytest.mark.parametrize("tolerance", [1e-5, 1e-7])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("formulation", MOVING)
def test_a_taut_cable_is_a_rod(formulation, method, tolerance):
    how = {"formulation": formulation, "method": method, "tolerance": tolerance}
    taut, rod = (bc.simulate(weight(slack), 3.0, **how) for slack in (True, False))
    exact = bc.simulate(weight(False), 3.0, method="dopri5", tolerance=1e-12)
    assert taut.statistics["steps"] <= 1.2 * rod.statistics["steps"] + 5
    error, usual = (np.abs(path(run) - path(exact)).max() for run in (taut, rod))
    assert error <= 5.0 * usual + 1e-9
    np.testing.assert_allclose(np.linalg.norm(path(taut), axis=1), 1.0, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("formulation", MOVING)
def test_a_cable_that_goes_slack(formulation, method):
    """From the bottom with v² = 3.5 g l the weight leaves the circle at the height (v²/(g l) - 2) l/3."""
    g, v = 9.81, np.sqrt(3.5 * 9.81)
    how = {"formulation": formulation, "method": method, "tolerance": 1e-8}
    run = bc.simulate(weight(True, (v, 0.0, 0.0), (0.0, 0.0, -1.0)), 1.0, output_step=1e-3, **how)
    height = (v**2 / g - 2.0) / 3.0
    across = np.sqrt(1.0 - height**2)
    left_at, speed = np.array([across, 0.0, height]), np.sqrt(g * height) * np.array([-height, 0.0, across])
    since = (
        speed[2] - run.body("weight").velocity[:, 2]
    ) / g  # the time in flight, from the vertical velocity
    flight = left_at + since[:, None] * speed + 0.5 * since[:, None] ** 2 * np.array([0.0, 0.0, -g])
    begun = int(np.argmin(np.linalg.norm(path(run) - left_at, axis=1)))
    np.testing.assert_allclose(np.linalg.norm(path(run)[: begun - 2], axis=1), 1.0, rtol=0, atol=1e-7)
    inside = np.append(np.linalg.norm(flight[begun + 50 :], axis=1) < 1.0, False)
    flying = slice(begun + 50, begun + 50 + int(np.argmin(inside)))
    assert flying.stop - flying.start > 300
    np.testing.assert_allclose(path(run)[flying], flight[flying], rtol=0, atol=1e-5)


JUDGED_METHODS = ("rk4", "semi_implicit_euler", "dopri5", "adams", "bdf")
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
@pytest.mark.parametrize("method", JUDGED_METHODS)
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


@pytest.mark.parametrize("method", JUDGED_METHODS)
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
