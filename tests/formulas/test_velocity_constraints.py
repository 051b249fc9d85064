"""Constraints linear in velocities: closed forms, formulations, and positions held beside them."""

import numpy as np
import pytest
from rigs.agreement import agreed

import bellcrank as bc
import bellcrank.expression as ex

P, Q = bc.EndPose("p"), bc.EndPose("q")
J = bc.EndCoordinate("j")
EACH = pytest.mark.parametrize("formulation", ["lagrange", "recursive", "symbolic"])
EXACT = {"method": "dopri5", "tolerance": 1e-12}


def blade(pose):
    """Nothing slips across the x axis of a pose."""
    return ex.dot(pose.velocity, pose.y_axis)


def on_ice(gravity=(0.0, 0.0, 0.0), offset=0.0, mass=2.0, moment=0.5, **motion):
    """A body on a plane with a blade along its x axis, `offset` behind its centre of mass."""
    mech = bc.Mechanism("sleigh", gravity=gravity)
    body = mech.add_body("sleigh", mass=mass, inertia=(1.0, 1.0, moment), **motion)
    mech.add_joint("ice", bc.Planar(), mech.ground, body)
    mech.add_constraint("blade", bc.VelocityConstraint(P, blade(P)), body.marker((-offset, 0, 0)))
    return mech


def heading(body):
    return 2.0 * np.unwrap(np.arctan2(body.rotation[:, 3], body.rotation[:, 0]))


@EACH
def test_chaplygin_sleigh(formulation):
    """v' = a w², (I/m + a²) w' = -a v w (S. A. Chaplygin): v = A tanh(a A (t - t0)/(I/m + a²))."""
    a, mass, moment = 0.3, 2.0, 0.5
    mech = on_ice(
        offset=a, mass=mass, moment=moment, velocity=(-0.5, 2.0 * a, 0.0), angular_velocity=(0, 0, 2.0)
    )
    run = bc.simulate(mech, duration=8.0, formulation=formulation, **EXACT)
    body, k = run.body("sleigh"), a * a + moment / mass
    along = np.sum(
        body.velocity[:, :2] * np.stack([np.cos(heading(body)), np.sin(heading(body))], axis=1), axis=1
    )
    size = np.sqrt(along[0] ** 2 + k * 4.0)
    phase = a * size / k * run.time + np.arctanh(along[0] / size)
    np.testing.assert_allclose(along, size * np.tanh(phase), atol=1e-9)
    np.testing.assert_allclose(np.sqrt(k) * body.angular_velocity[:, 2], size / np.cosh(phase), atol=1e-9)
    assert along[0] < 0.0 < along[-1]
    assert run.violation.velocity.max() < 1e-13
    assert np.ptp(run.energy.kinetic) < 1e-9


@EACH
def test_skate_on_an_incline_goes_along_a_cycloid(formulation):
    """Ju. Neimark, N. Fufaev, Dynamics of Nonholonomic Systems, 1972, chapter 1."""
    g, turning = 3.0, 1.7
    mech = on_ice(gravity=(g, 0.0, 0.0), angular_velocity=(0, 0, turning))
    run = bc.simulate(mech, duration=6.0, formulation=formulation, **EXACT)
    angle, size = turning * run.time, g / (2.0 * turning**2)
    cycloid = np.stack([size * np.sin(angle) ** 2, size * (angle - 0.5 * np.sin(2.0 * angle))], axis=1)
    np.testing.assert_allclose(run.body("sleigh").position[:, :2], cycloid, atol=1e-10)


@EACH
def test_a_direction_that_turns_with_time(formulation):
    """A puck that may move only along a direction turning at 3 rad/s goes round a circle."""
    mech = bc.Mechanism("puck", gravity=(0, 0, 0))
    puck = mech.add_body(
        "puck", mass=1.5, inertia=(1, 1, 1), velocity=(0.6, 0, 0), angular_velocity=(0, 0, 1)
    )
    mech.add_joint("table", bc.Planar(), mech.ground, puck)
    across = P.velocity.y * ex.cos(3 * bc.t) - P.velocity.x * ex.sin(3 * bc.t)
    mech.add_constraint("slot", bc.VelocityConstraint(P, across), puck)
    run = bc.simulate(mech, duration=4.0, formulation=formulation, **EXACT)
    circle = 0.2 * np.stack([np.sin(3 * run.time), 1.0 - np.cos(3 * run.time)], axis=1)
    np.testing.assert_allclose(run.body("puck").position[:, :2], circle, atol=1e-10)


@EACH
def test_a_velocity_that_is_given(formulation):
    """A conveyor that takes a parcel along: the equation has a part without any velocity of the mechanism."""
    mech = bc.Mechanism("conveyor")
    parcel = mech.add_body("parcel", mass=1.5, inertia=(1, 1, 1), velocity=(0.4, 0, 0))
    mech.add_joint("belt", bc.Planar(), mech.ground, parcel)
    speed = mech.add_parameter("speed", 2.0)
    driven = (P.velocity.y - speed * ex.sin(bc.t), P.velocity.x + 0.5 * P.angular_velocity.z - 0.4)
    mech.add_constraint("friction", bc.VelocityConstraint(P, driven), parcel)
    run = bc.simulate(mech, duration=3.0, formulation=formulation, **EXACT)
    np.testing.assert_allclose(run.body("parcel").position[:, 1], 2.0 * (1.0 - np.cos(run.time)), atol=1e-10)
    np.testing.assert_allclose(run.body("parcel").position[:, 0], 0.4 * run.time, atol=1e-10)


def chain(seed=5):
    """Two bodies that move at random, on a ball and a hinge, and a third that nothing holds."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism("chain", gravity=(0.3, -0.5, -9.81))
    for name in ("one", "two", "free"):
        mech.add_body(
            name,
            mass=rng.uniform(0.5, 2.0),
            inertia=rng.uniform(0.08, 0.12, 3),
            com=rng.uniform(-0.1, 0.1, 3),
            velocity=rng.uniform(-1.0, 1.0, 3),
            angular_velocity=rng.uniform(-1.0, 1.0, 3),
        )
    one, two = mech.bodies["one"], mech.bodies["two"]
    mech.add_joint("ball", bc.Spherical(), mech.ground, one.marker((0.2, 0.1, 0.0)))
    mech.add_joint(
        "hinge", bc.Revolute(), one.marker((-0.1, 0.3, 0.2)), two.marker((0.1, 0.0, 0.2), axis=(0, 1, 0))
    )
    return mech


SLIP = ex.Vector(P.velocity) - Q.velocity
KINDS = {
    "two markers": (bc.VelocityConstraint((P, Q), ex.dot(SLIP, Q.y_axis)), "mm"),
    "all three": (bc.VelocityConstraint((P, Q), tuple(SLIP)), "mm"),
    "turning": (
        bc.VelocityConstraint((P, Q), ex.dot(P.angular_velocity, Q.x_axis) - 0.2 * Q.velocity.z),
        "mm",
    ),
    "a rate": (bc.VelocityConstraint((J, P), J.rate * (1 + J.value**2) - ex.dot(P.velocity, P.z_axis)), "jm"),
    "with time": (
        bc.VelocityConstraint(P, ex.dot(P.velocity, P.x_axis) * ex.exp(-bc.t) - ex.sin(P.position.z)),
        "m",
    ),
}


@pytest.mark.parametrize("formulation", ["recursive", "symbolic"])
@pytest.mark.parametrize("name", KINDS)
def test_formulations_agree(name, formulation):
    kind, ends = KINDS[name]
    mech = chain()
    markers = [mech.bodies["two"].marker((0.2, -0.1, 0.3)), mech.bodies["free"].marker((0.1, 0.4, 0.0))]
    given = [markers.pop(0) if end == "m" else mech.joints["hinge"].coordinate() for end in ends]
    mech.add_constraint("velocities", kind, *given)
    agreed(mech, formulation)


@EACH
@pytest.mark.parametrize("first", ["positions", "velocities"])
@pytest.mark.parametrize("factor", [1.0, 7.0])
def test_positions_are_held_beside_their_own_rate(formulation, first, factor):
    """One of two rows is redundant; whichever it is, positions must not drift."""
    mech = bc.Mechanism("pendulum", gravity=(0, 3, -9.81))
    bob = mech.add_body("bob", mass=2, inertia=(1, 1.2, 0.5), position=(1, 0, 0), velocity=(0, 0.3, 0))
    rows = {
        "positions": bc.CustomConstraint(P, ex.dot(P.position, P.position) - 1),
        "velocities": bc.VelocityConstraint(P, factor * ex.dot(P.position, P.velocity)),
    }
    for name in sorted(rows, reverse=first == "velocities"):
        mech.add_constraint(name, rows[name], bob)
    for settings in ({"method": "rk4", "step": 1e-2}, {"method": "adams", "tolerance": 1e-6}):
        run = bc.simulate(mech, duration=4.0, formulation=formulation, **settings)
        length = np.linalg.norm(run.body("bob").position, axis=1)
        np.testing.assert_allclose(length, 1.0, atol=1e-10)
        assert run.violation.position.max() < 1e-9


def test_velocities_do_not_hinder_assembly():
    """Two blades let a body go along its axis alone; it still moves sideways to where it belongs."""
    mech = on_ice(position=(0.1, 0.5, 0.02), velocity=(1.0, 0.0, 0.0))
    body = mech.bodies["sleigh"]
    mech.add_constraint("second", bc.VelocityConstraint(P, blade(P)), body.marker((0.7, 0, 0)))
    mech.add_constraint("line", bc.CustomConstraint(P, P.position.y), body.marker((0.3, 0, 0)))
    report = bc.assemble(mech)
    assert report.error < 1e-10
    assert mech.bodies["sleigh"].position[1] == pytest.approx(0.0, abs=0.3)
    run = bc.simulate(mech, duration=1.0, **EXACT)
    assert run.violation.position.max() < 1e-9


def test_freedoms_of_velocities_and_of_positions():
    found = bc.info(on_ice(velocity=(1.0, 0.0, 0.0)))
    assert (found.freedom, found.position_freedom) == (2, 3)
    assert "mobility     2 of velocities, 3 of positions" in str(found)
    assert "of positions" not in str(bc.info(chain()))
    assert bc.info(chain()).position_freedom == bc.info(chain()).freedom == 10


FILE = """\
bellcrank: 1
parameters: {c: 0.2}
bodies:
  sleigh: {mass: 2, inertia: [1, 1, 0.5], velocity: [1, 0, 0], angular_velocity: [0, 0, 1]}
joints:
  ice: {type: Planar, first: ground, second: sleigh}
constraints:
  blade:
    type: VelocityConstraint
    ends: {body: sleigh, position: [-0.3, 0, 0]}
    names: p
    equations: p.vx*p.y_axis.x + p.vy*p.y_axis.y - c*sin(t)*p.wz
"""


def test_in_files():
    mech = bc.loads(FILE)
    assert mech.constraints["blade"].kind.of_velocity
    run = bc.simulate(mech, duration=1.0)
    assert run.violation.velocity.max() < 1e-12
    with pytest.raises(bc.MechanismError, match="must be linear in velocities"):
        bc.loads(FILE.replace("sin(t)*p.wz", "p.wz^2"))


@EACH
@pytest.mark.parametrize("method", ["rk4", "dopri5", "adams"])
def test_a_condition_that_a_drive_contradicts_ends_the_run_by_name(formulation, method):
    mech = on_ice()
    mech.add_drive("pull", "ice", "y", position=bc.Polynomial((0.0, 0.0, 0.5)))
    with pytest.raises(bc.SimulationError, match=r"'(blade|pull)'") as caught:
        bc.simulate(mech, 1.0, formulation=formulation, method=method, step=1e-3)
    assert caught.value.trajectory.time[-1] < 0.01


@pytest.mark.parametrize("formulation", ["lagrange", "recursive", "symbolic", "dca"])
@pytest.mark.parametrize("limits", [None, bc.Limit(-100.0)])
def test_velocities_that_contradict_each_other_are_noticed_beside_a_stop(formulation, limits):
    mech = bc.Mechanism("slide")
    body = mech.add_body("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    mech.add_joint("p", bc.Prismatic(), mech.ground, body, limits={} if limits is None else limits)
    for name, speed in (("slow", 1.0), ("fast", 2.0)):
        mech.add_constraint(name, bc.VelocityConstraint(P, P.velocity.z - speed), body)
    system = bc.prepare(mech, formulation)
    assert not system.core.project()
    assert system.core.violation()[1] > 0.1
