"""Every generated mechanism is valid, closed and moves along its constraints, whatever its parameters."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.bench import generators as make

MOTION = [
    (0.3, 0.5, -0.2),
    (0.7, -0.4, 0.1),
    (-1.2, 0.8, 0.3),
    (0.2, 0.1, 0.4),
    (0.9, -0.6, 0.2),
    (0.4, 0.3, 0.1),
]
MECHANISMS = {
    "andrews": make.andrews,
    "bricard": make.bricard,
    "bricard 2": lambda: make.bricard(2.0, 3.0, thickness=0.3),
    "chain": lambda: make.chain(7, length=0.3, angle=0.4),
    "chain of balls": lambda: make.chain(5, kind="spherical"),
    "flyball": make.flyball,
    "flyball 2": lambda: make.flyball(angle=0.3, speed=3.0, rest_length=0.6),
    "four-bar": lambda: make.n_four_bar(3, length=0.5, angle=1.1, tip_speed=2.0),
    "free body": lambda: make.free_body(velocity=(1.0, 2.0, 3.0)),
    "free ring": lambda: make.free_ring(5, spin=(0.1, 0.2, 0.3)),
    "heavy top": make.heavy_top,
    "ladder": lambda: make.ladder(3, length=0.4, angle=0.7),
    "point pendulum": lambda: make.point_pendulum((0.6, 0.0, -0.8), (0.0, 2.0, 0.0)),
    "puma": lambda: make.puma560(MOTION),
    "ring": lambda: make.ring(10, length=0.2),
    "rr arm": lambda: make.rr_arm(MOTION[:2]),
    "slider-crank": lambda: make.slider_crank(0.3, 0.9, angle=2.0, rate=5.0),
    "spring slider-crank": lambda: make.spring_slider_crank(0.4, 1.1, angle=0.8),
    **{f"tree, {name}": lambda name=name: make.random_tree(20, name, seed=4) for name in make.TOPOLOGIES},
    "floating tree": lambda: make.random_tree(10, floating=True, seed=2),
}


@pytest.fixture(params=MECHANISMS)
def mechanism(request):
    return MECHANISMS[request.param]()


def test_valid_and_closed(mechanism):
    bc.validate(mechanism)
    rows = bc.prepare(mechanism, "lagrange").rows()
    speeds = [(*body.velocity, *body.angular_velocity) for body in mechanism.bodies.values()]
    drift = np.einsum("rbk,bk->r", rows.jacobian, np.array(speeds)) + rows.drift
    rotors = np.array(["motor" in name or "excess" in name for name in rows.names], dtype=bool)
    assert np.max(np.abs(rows.error[~rotors]), initial=0.0) < 1e-13
    assert np.max(np.abs(drift[~rotors]), initial=0.0) < 1e-12


def test_counts():
    """Bodies and joints by formula; the rows that a plane loop of revolute joints has too many."""
    for n in (1, 4):
        ladder, four_bar = make.ladder(n), make.n_four_bar(n)
        assert (len(ladder.bodies), len(ladder.joints)) == (3 * n, 4 * n)
        assert (len(four_bar.bodies), len(four_bar.joints)) == (2 * n + 1, 3 * n + 1)
        system = bc.prepare(ladder, "lagrange")
        system.accelerate()
        assert len(system.stats.dropped) == 3 * n
    assert (len(make.ring(12).bodies), len(make.ring(12).joints)) == (12, 13)
    assert len(make.free_ring(7).joints) == 7


def test_random_trees_are_what_their_arguments_say():
    assert make.random_tree(9, seed=1) == make.random_tree(9, seed=1)
    assert make.random_tree(9, seed=1) != make.random_tree(9, seed=2)
    only = make.random_tree(9, "chain", ("revolute", "helical"))
    assert {joint.kind.name for joint in only.joints.values()} <= {"Revolute", "Screw"}
    assert all(joint.marker_1.body != "ground" for joint in list(only.joints.values())[1:])
    floating = make.random_tree(9, "bush", floating=True, efforts=False)
    on_ground = [joint.kind.name for joint in floating.joints.values() if joint.marker_1.body == "ground"]
    assert on_ground == ["Free"]
    assert not floating.forces


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make.ring(5), "even and at least 4, got 5"),
        (lambda: make.n_four_bar(0), "at least one window, got n = 0"),
        (lambda: make.slider_crank(1.0, 0.5, angle=1.0), "a rod of 0.5 m does not reach the axis"),
        (lambda: make.random_tree(3, "star"), "no topology 'star'; use one of chain, branch, bush, binary"),
        (lambda: make.random_tree(3, types=("hinge",)), r"no joint types \['hinge'\]; use some of revolute"),
    ],
)
def test_refused_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
