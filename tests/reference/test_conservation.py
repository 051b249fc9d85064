"""Energy and momentum of free bodies, trees and closed loops, and how fast the error falls with the step."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.gallery import bricard_linkage, chain, free_body, free_ring, ladder, random_tree, ring


def momenta(mechanism, run):
    """Linear and angular momentum about the origin (T, 3) each, from the description and the motion alone."""
    linear, angular = np.zeros((len(run), 3)), np.zeros((len(run), 3))
    for body in mechanism.bodies.values():
        motion = run.body(body.name)
        turned = Rotation.from_quat(motion.rotation, scalar_first=True)
        spin = turned.apply(turned.inv().apply(motion.angular_velocity.copy()) @ np.array(body.inertia))
        momentum = body.mass * motion.com_velocity
        linear += momentum
        angular += spin + np.cross(motion.com_position, momentum)
    return linear, angular


def drift(values):
    return float(np.max(np.abs(values - values[0])))


def floating_tree():
    return random_tree(12, "binary", floating=True, efforts=False, gravity=(0.0, 0.0, 0.0), seed=3)


@pytest.fixture
def run_of(formulation):
    def simulate(mechanism, duration, **settings):
        return bc.simulate(mechanism, duration, formulation=formulation, reactions=False, **settings)

    return simulate


@pytest.mark.parametrize(
    ("make", "duration"),
    [
        (lambda: free_body(velocity=(0.1, 0.2, 0.3)), 50.0),
        (lambda: free_ring(6, spin=(0.3, 0.2, 1.0)), 5.0),
        (floating_tree, 2.0),
    ],
    ids=["body", "ring", "tree"],
)
def test_free_systems_keep_energy_and_momentum(make, duration, run_of, check):
    """Nothing acts from outside; joints and loops only pass momentum on."""
    mechanism = make()
    run = run_of(mechanism, duration, method="dopri5", tolerance=1e-12)
    linear, angular = momenta(mechanism, run)
    check("linear momentum", drift(linear), 0.0, 1e-9, np.max(np.abs(linear)))
    check("angular momentum", drift(angular), 0.0, 1e-9, np.max(np.abs(angular)))
    check("energy", drift(run.energy.total), 0.0, 1e-9, run.energy.total[0])


def test_momentum_follows_gravity(run_of, check):
    """Linear momentum grows by total mass times gravity, angular momentum by the moment of the weight."""
    gravity = np.array((0.3, -0.5, -9.81))
    mechanism = random_tree(8, "branch", floating=True, efforts=True, gravity=gravity.tolist(), seed=5)
    mass = sum(body.mass for body in mechanism.bodies.values())
    run = run_of(mechanism, 1.0, method="dopri5", tolerance=1e-12)
    linear, angular = momenta(mechanism, run)
    expected = linear[0] + mass * np.outer(run.time, gravity)
    check("linear momentum", linear, expected, 1e-9, np.max(np.abs(expected)))
    # The mass centre moves on a parabola; the moment of the weight about the origin, integrated:
    centre = sum(b.mass * run.body(b.name).com_position[0] for b in mechanism.bodies.values()) / mass
    t = run.time[:, None]
    path = centre * t + linear[0] / mass * t**2 / 2 + gravity * t**3 / 6
    expected = angular[0] + np.cross(path, mass * gravity)
    check("angular momentum", angular, expected, 1e-9, np.max(np.abs(expected)))


@pytest.mark.parametrize(
    "make",
    [
        bricard_linkage,
        lambda: chain(6, kind="spherical"),
        lambda: ladder(4),
        lambda: ring(8),
        lambda: random_tree(12, "branch", efforts=False, seed=1),
    ],
    ids=["bricard", "chain", "ladder", "ring", "tree"],
)
def test_energy_under_gravity(make, run_of, check):
    """Joints do no work, redundant ones neither; the constraints hold all the while."""
    run = run_of(make(), 1.0, method="dopri5", tolerance=1e-12)
    moved = np.max(np.abs(run.energy.kinetic - run.energy.kinetic[0]))
    check("energy", drift(run.energy.total), 0.0, 1e-9, moved)
    assert moved > 1.0
    assert np.max(run.violation.position) <= 1e-10
    assert np.max(run.violation.velocity) <= 1e-9


@pytest.mark.parametrize(
    "make", [lambda: ring(6), lambda: ladder(2), bricard_linkage], ids=["ring", "ladder", "bricard"]
)
@pytest.mark.parametrize(("method", "order", "steps"), [("rk4", 4, 40), ("semi_implicit_euler", 1, 400)])
def test_error_falls_with_the_step(make, method, order, steps, run_of):
    """Halving the step divides the error by 2^order, against a run that is far more accurate."""
    ends = []
    for settings in (
        {"method": "dopri5", "tolerance": 1e-12},
        {"method": method, "step": 0.5 / steps},
        {"method": method, "step": 0.25 / steps},
    ):
        run = run_of(make(), 0.5, output_step=0.5, **settings)
        ends.append(np.array([run.body(name).position[-1] for name in run.bodies]))
    coarse, fine = (np.max(np.abs(end - ends[0])) for end in ends[1:])
    assert 0.7 * 2**order <= coarse / fine <= 1.6 * 2**order
