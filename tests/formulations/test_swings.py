"""Joints that bend but do not turn about one axis, in free motions through bends of half a turn and more."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rigs import floating
from rigs.agreement import agreed
from rigs.examples import joint
from rigs.machine import matrix, quaternion, random_quaternion
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank import _core
from bellcrank.mechanism import JOINT_KINDS

GRAVITY = (0.5, -1.0, -2.0)


def held_axis(kind):
    """The one axis that a joint kind does not turn about, 0 to 2; None if there are none or several."""
    held = [axis for axis, e in enumerate(("e1", "e2", "e3")) if e in getattr(kind, "locked", ())]
    return held[0] if len(held) == 1 else None


KINDS = tuple(
    name for name, kind in JOINT_KINDS.items() if held_axis(kind) is not None and not kind.shorthand
)


def chain(name, *, bodies=1, bend=0.3, speed=9.0, reversed_=False, seed=1, closed=False):
    """Bodies one after another on joints "j0", ... of a kind, from the ground on; energy stays what it is.

    bend: rad, at the start. speed: rad/s, in the sense of the bend for the first body, less for the others.
    reversed_: the body carries marker 1. closed: the last body is tied to the ground by a ball joint "end".
    """
    rng = np.random.default_rng(seed)
    across = np.roll((0.8, 0.6, 0.0), held_axis(JOINT_KINDS[name]) + 1)
    mech = bc.Mechanism(f"bends of {name}", gravity=GRAVITY)
    before = mech.ground.marker((0.1, 0.2, 0.3), rotation=random_quaternion(rng))
    axes, point, spin = Rotation.from_matrix(matrix(before.rotation)), np.array(before.position), np.zeros(3)
    for number in range(bodies):
        behind = axes * Rotation.from_rotvec(bend * across)
        spin = spin + axes.apply((speed if number == 0 else 0.3 * speed) * across)
        turned, local = Rotation.from_quat(rng.normal(size=4)), rng.uniform(-0.2, 0.2, 3)
        rotation = behind * turned.inv()
        origin = point - rotation.apply(local)
        body = mech.add_body(
            f"b{number}",
            **floating.mass_properties(rng),
            position=tuple(origin),
            rotation=quaternion(rotation),
            velocity=tuple(np.cross(spin, origin - point)),
            angular_velocity=tuple(spin),
        )
        here = body.marker(tuple(local), rotation=quaternion(turned))
        ends = (here, before) if reversed_ else (before, here)
        mech.add_joint(f"j{number}", joint(name), *ends)
        local = rng.uniform(-0.3, 0.3, 3)
        before, axes, point = body.marker(tuple(local)), rotation, origin + rotation.apply(local)
    if closed:
        mech.add_joint("end", bc.Spherical(), mech.ground.marker(tuple(point)), before)
    return mech


def half_cosine(mechanism, run, name="j0"):
    """The cosine of half the bend in every frame: it changes its sign where the bend is half a turn."""
    joint = mechanism.joints[name]
    first, second = _axes(run, joint.marker_1), _axes(run, joint.marker_2)
    return np.sum(first * second, axis=-1)


def _axes(run, marker):
    """Quaternions from marker to world axes, continuous in time."""
    local = np.array(marker.rotation)
    if marker.body not in run.bodies:
        return local
    return np.array([_core.quaternion_product(q, local) for q in run.body(marker.body).rotation])


FORMULATIONS = ("recursive", "symbolic")
TIMES = np.linspace(0.0, 1.5, 16)
STARTS = {
    "forth": {"bend": 2.6, "speed": 9.0},
    "back": {"bend": -2.6, "speed": -9.0},
    "from beyond": {"bend": 4.0, "speed": -9.0},
}


def moved(mech, formulation="lagrange", method="dopri5", tolerance=1e-12, **options):
    return bc.simulate(
        mech, times=TIMES, formulation=formulation, method=method, tolerance=tolerance, **options
    )


def same_motion(run, other, tolerance):
    for name in run.bodies:
        one, two = run.body(name), other.body(name)
        assert_allclose(one.position, two.position, atol=tolerance)
        assert_allclose(one.rotation, two.rotation, atol=tolerance)
        assert_allclose(one.velocity, two.velocity, atol=20 * tolerance)
        assert_allclose(one.angular_velocity, two.angular_velocity, atol=20 * tolerance)


def passes_half_a_turn(mech, run):
    cosine = half_cosine(mech, run)
    assert np.min(cosine) < -0.01
    assert np.max(cosine) > 0.01


def keeps_energy(run, part=1e-9):
    assert np.ptp(run.energy.total) < part * np.max(run.energy.kinetic)


@pytest.mark.parametrize("reversed_", [False, True], ids=["carried", "carrying"])
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("name", KINDS)
def test_bends_go_on_through_half_a_turn(name, start, reversed_):
    mech = chain(name, reversed_=reversed_, **STARTS[start])
    expected = moved(mech)
    passes_half_a_turn(mech, expected)
    for formulation in FORMULATIONS:
        run = moved(mech, formulation)
        keeps_energy(run)
        same_motion(run, expected, 1e-9)
        assert_allclose(run.joint("j0").reaction, expected.joint("j0").reaction, atol=1e-7)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("name", ["ConstantVelocity", "PlungingConstantVelocityX", "PlanarSlider"])
def test_states_at_every_bend(name, formulation):
    """Accelerations, reactions, multipliers, values of all coordinates, also beyond half a turn.

    At half a turn itself a rotation vector may be either of two.
    """
    for bend in (0.0, 1.0, np.pi - 1e-6, np.pi + 1e-6, 5.0, 2 * np.pi, 9.0):
        agreed(chain(name, bodies=2, bend=bend), formulation)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_every_method(formulation):
    """Three bodies; the rig bends by more than a turn in the time."""
    mech = chain("PlungingConstantVelocity", bodies=3, speed=12.0)
    expected = moved(mech)
    passes_half_a_turn(mech, expected)
    same_motion(moved(mech, formulation, "adams", 1e-11), expected, 1e-8)
    same_motion(moved(mech, formulation, "bdf", 1e-9), expected, 1e-5)
    errors = []
    for step in (4e-3, 2e-3):
        run = bc.simulate(mech, times=TIMES, formulation=formulation, method="rk4", step=step)
        errors.append(np.abs(run.body("b2").position - expected.body("b2").position).max())
    assert errors[0] < 1e-4
    assert errors[0] / errors[1] == pytest.approx(16.0, rel=0.15)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("cut", [(), ("j1",), ("end",)], ids=str)
def test_in_a_loop(formulation, cut):
    mech = chain("PlungingConstantVelocity", bodies=3, speed=12.0, closed=True)
    expected = moved(mech)
    passes_half_a_turn(mech, expected)
    run = moved(mech, formulation, cut=cut)
    keeps_energy(run)
    same_motion(run, expected, 1e-8)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_run_goes_on_from_a_state_bent_far(formulation):
    mech = chain("ConstantVelocity", bodies=2)
    whole = moved(mech, formulation)
    bent = int(np.argmin(np.abs(half_cosine(mech, whole))[:-3]))
    rest = bc.simulate(
        mech,
        times=TIMES[bent:],
        state=whole.at(TIMES[bent]),
        formulation=formulation,
        method="dopri5",
        tolerance=1e-12,
    )
    assert_allclose(rest.body("b1").position, whole.body("b1").position[bent:], atol=1e-9)


def test_events():
    mech = chain("ConstantVelocity")
    found = {}
    for formulation in ("lagrange", *FORMULATIONS):
        run = moved(mech, formulation, tolerance=1e-11, events=bc.Event("passes", "b0.x - 0.1"))
        found[formulation] = [event.time for event in run.events]
    assert len(found["lagrange"]) > 1
    for formulation in FORMULATIONS:
        assert_allclose(found[formulation], found["lagrange"], atol=1e-8)


def test_many_states_at_once():
    mech = chain("PlungingConstantVelocity", bodies=2, bend=4.0)
    core = bc.prepare(mech, "recursive").core
    q, u = core.configuration(), core.speeds()
    rng = np.random.default_rng(0)
    states = []
    for _ in range(5):
        core.set_configuration(0.0, q, u)
        core.displace_joints(rng.normal(size=u.size))
        states.append((core.configuration(), u + rng.normal(size=u.size)))
    batch = core.joint_accelerations_batch(*(np.array(part) for part in zip(*states, strict=True)))
    for state, found in zip(states, batch, strict=True):
        core.set_configuration(0.0, *state)
        assert_allclose(found, core.joint_accelerations(), rtol=1e-12, atol=1e-12)


def test_derivatives_of_accelerations():
    """Symbolic derivatives against differences along the displacements and speeds of the joints."""
    system = bc.prepare(chain("PlanarSlider", bodies=2, bend=4.0), "symbolic")
    found, core = system.linearize(), system.core
    q, u = core.configuration(), core.speeds()

    def accelerations(displacement, change):
        core.set_configuration(0.0, q, u + change)
        core.displace_joints(displacement)
        return core.joint_accelerations()

    rest, step = np.zeros(u.size), 1e-5
    for j, unit in enumerate(step * np.eye(u.size)):
        for of, ends in ((found.position, (unit, rest)), (found.velocity, (rest, unit))):
            difference = accelerations(*ends) - accelerations(*(-end for end in ends))
            assert_allclose(of[:, j], difference / (2 * step), rtol=1e-7, atol=1e-6)
