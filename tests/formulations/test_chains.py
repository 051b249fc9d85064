"""Joints by formulas that are turns and slides, one after the other: `recursive` takes them apart."""

import numpy as np
import pytest
from rigs.differential import disagreements, runs_apart, systems
from rigs.machine import random_quaternion

import bellcrank as bc
from bellcrank.expression import Transform, rotation_x, rotation_y, rotation_z, symbol, translation
from bellcrank.mechanism.chains import chain_of
from bellcrank.mechanism.rotation import matrix


def exponential(line, amount):
    """The displacement exp(ξ q), rotation and position, by Rodrigues' formula."""
    a, p = line.axis, line.point
    if not line.turns:
        return np.eye(3), amount * a
    K = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    R = np.eye(3) + np.sin(amount) * K + (1 - np.cos(amount)) * K @ K
    return R, p - R @ p


def random_chain(rng, name, count):
    """Motions about and along lines that lie anyhow, forwards and backwards, with constants between."""
    coordinates = [symbol(f"{name}{k}") for k in range(count)]
    pose = Transform(matrix(random_quaternion(rng)).tolist(), rng.normal(size=3))
    for q in rng.permutation(np.array(coordinates, dtype=object)):
        turn = Transform(matrix(random_quaternion(rng)).tolist(), rng.normal(size=3))
        amount = rng.choice([-1.0, 1.0]) * q + rng.normal()
        about = (rotation_x, rotation_y, rotation_z)[rng.integers(3)]
        moved = about(amount) if rng.random() < 0.7 else turn @ translation(*_along(rng, q))
        pose = pose @ turn @ moved
    return bc.CustomJoint(coordinates, pose)


def _along(rng, q):
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    return [component * q + rng.normal() for component in axis]


@pytest.mark.parametrize("seed", range(20))
def test_a_chain_is_the_product_of_its_exponentials(seed):
    rng = np.random.default_rng(seed)
    kind = random_chain(rng, "q", rng.integers(1, 5))
    chain, values = chain_of(kind), rng.uniform(-2.0, 2.0, len(kind.coordinates))
    R, p = np.eye(3), np.zeros(3)
    for line in chain.lines:
        turn, shift = exponential(line, values[line.coordinate])
        R, p = R @ turn, R @ shift + p
    R, p = R @ chain.rotation, R @ chain.position + p
    numbers = dict(zip(kind.coordinates, values, strict=True))
    given = np.array([float(bc.expression.substitute(f, numbers)) for f in kind.formulas_of_pose])
    assert np.allclose(given, np.concatenate([R.ravel(), p]), atol=1e-12)


def test_other_formulas_are_no_chain():
    q, s, arm = symbol("q"), symbol("s"), symbol("arm")
    for pose in (
        rotation_z(2.0 * q) @ translation(s, 0, 0),  # a gear
        rotation_z(q) @ translation(q, s, 0),  # one coordinate in two places
        rotation_z(q + s) @ rotation_x(s),
        translation(q, q**2, 0) @ rotation_z(s),
        rotation_z(q) @ translation(s, s, 0),  # metres that are none
    ):
        assert chain_of(bc.CustomJoint([q, s], pose)) is None
    adjustable = bc.CustomJoint([q], translation(arm, 0, 0) @ rotation_z(q), values=((arm, 0.5),))
    assert chain_of(adjustable) is None
    assert chain_of(adjustable, adjustable.known) is not None
    steered = bc.CustomJoint([q], translation(bc.Input("arm", 0.3, "m") * 1.0, 0, 0) @ rotation_z(q))
    assert chain_of(steered) is None


def hanging(seed, backwards):
    """Two bodies on chains, either way round; a spring, a motor, and a driven coordinate."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism(f"chains {seed}", gravity=(0.3, -0.4, -9.8))
    bodies = [
        mech.add_body(
            name, mass=rng.uniform(0.5, 2.0), inertia=(0.02, 0.03, 0.04), com=rng.uniform(-0.1, 0.1, 3)
        )
        for name in ("one", "two")
    ]
    ends = [mech.ground, bodies[0], bodies[1]]
    for k in range(2):
        kind = random_chain(rng, "ab"[k], rng.integers(2, 4))
        one, two = (
            end.marker(rng.uniform(-0.2, 0.2, 3), rotation=random_quaternion(rng))
            for end in (ends[k], ends[k + 1])
        )
        if backwards[k]:
            one, two = two, one
        start = {name: rng.uniform(-0.5, 0.5) for name in kind.free}
        speed = {name: rng.uniform(-1.0, 1.0) for name in kind.free if name != "b1"}
        mech.add_joint(f"joint {k}", kind, one, two, position=start, velocity=speed)
    mech.add_force(
        "spring", bc.TorsionSpring(stiffness=3.0, damping=0.2), mech.joints["joint 0"].coordinate("a0")
    )
    motor = bc.GearedMotor(ratio=5.0, rotor_inertia=1e-3, torque=0.1)
    mech.add_force("motor", motor, mech.joints["joint 1"].coordinate("b0"))
    drive = bc.Harmonic(amplitude=0.3, omega=2.0)
    mech.add_drive("drive", mech.joints["joint 1"].coordinate("b1"), position=drive, relative=True)
    return mech


@pytest.mark.parametrize("backwards", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("seed", range(3))
def test_recursive_takes_chains_apart(seed, backwards):
    mechanism = hanging(seed, backwards)
    prepared = systems(mechanism)
    assert set(prepared) >= {"lagrange", "recursive", "symbolic", "dca"}
    assert not disagreements(prepared)
    findings, errors = runs_apart(prepared, mechanism, duration=0.5)
    assert not findings, list(map(str, findings))
    assert not errors


def test_a_chain_keeps_its_limits_and_coordinates():
    """A turn and a slide, the slide against a stop that bounces; recorded alike."""
    q, s = symbol("q"), symbol("s")
    mech = bc.Mechanism("stop", gravity=(0.0, 0.0, -9.81))
    body = mech.add_body("body", mass=1.0, inertia=(0.1, 0.2, 0.3))
    kind = bc.CustomJoint([q, s], rotation_y(q) @ translation(s, 0, 0), units=["rad", "m"])
    stop = {"s": bc.Limit(0.2, 0.6, restitution=0.5)}
    start, speed = {"q": 0.3, "s": 0.4}, {"q": 1.0, "s": 0.5}
    mech.add_joint(
        "arm", kind, mech.ground.marker(), body.marker(), limits=stop, position=start, velocity=speed
    )
    runs = [
        bc.simulate(mech, 2.0, formulation=f, method="dopri5", tolerance=1e-11)
        for f in ("lagrange", "recursive")
    ]
    one, two = (run.joint("arm").position for run in runs)
    assert runs[0].statistics["impacts"] == runs[1].statistics["impacts"] > 1
    assert np.abs(one - two).max() < 1e-7
