"""Planar mechanisms without the rows that hold them in their plane: the same motion, or a refusal."""

import numpy as np
import pytest
from rigs import linkages

import bellcrank as bc
from bellcrank import gallery
from bellcrank.mechanism.rotation_arrays import rotate

# name: mechanism, its rows, those that act in the plane
PLANAR = {
    "windows": (lambda: gallery.n_four_bar(3), 50, 20),
    "squeezer": (gallery.andrews_squeezer, 50, 20),
    "slider-crank": (linkages.slider_crank, 20, 8),
    "spring slider-crank": (gallery.spring_slider_crank, 14, 5),
    "five-bar": (linkages.five_bar, 25, 10),
    "ring": (lambda: gallery.ring(20), 105, 42),
    "ladder": (lambda: gallery.ladder(3), 60, 24),
}
TILT = bc.rotation((2 / 3, 1 / 3, 2 / 3), 1.1)


def tilted(mechanism):
    """The same in another plane."""
    gravity = rotate(np.array([TILT]), np.array([mechanism.gravity]))[0]
    out = bc.Mechanism("tilted", gravity=tuple(gravity))
    out.place(mechanism, "it", rotation=TILT)
    return out


@pytest.mark.parametrize("name", PLANAR)
@pytest.mark.parametrize("turn", [lambda m: m, tilted], ids=["as built", "tilted"])
def test_accelerations_and_reactions_are_those_of_all_rows(name, turn):
    build, rows, kept = PLANAR[name]
    mechanism = turn(build())
    for force in ("it/push", "it/pull"):  # along world axes, which do not tilt
        if force in mechanism.forces:
            mechanism.remove(mechanism.forces[force])
    whole, flat = bc.prepare(mechanism, "lagrange"), bc.prepare(mechanism, "lagrange", planar=True)
    assert (whole.model.row_count, flat.model.row_count) == (rows, kept)
    compare(whole, flat)


def compare(whole, flat):
    state = whole.project()
    want, got = whole.accelerate(state), flat.accelerate(state)
    scale = 1.0 + np.abs(want.angular).max() + np.abs(want.linear).max()
    assert np.abs(got.linear - want.linear).max() < 1e-10 * scale
    assert np.abs(got.angular - want.angular).max() < 1e-10 * scale
    for joint in whole.model.joints:
        force = np.asarray(want.joint(joint.name).reaction)
        assert np.abs(np.asarray(got.joint(joint.name).reaction) - force).max() < 1e-9 * (
            1.0 + np.abs(force).max()
        )


@pytest.mark.parametrize("method", ["rk4", "adams"])
def test_runs_are_those_of_all_rows(method):
    how = {"step": 2e-3} if method == "rk4" else {"tolerance": 1e-11}
    runs = [
        bc.simulate(tilted(linkages.slider_crank()), 1.0, method=method, planar=planar, **how)
        for planar in (False, True)
    ]
    for body in runs[0].bodies:
        assert np.abs(runs[1].body(body).position - runs[0].body(body).position).max() < 1e-8
    assert runs[1].violation.position.max() < 1e-9


def test_implicit_steps_stay_in_the_plane():
    """What Newton's method leaves of a step must not lead out of a plane that no row holds."""
    runs = [
        bc.simulate(tilted(gallery.andrews_squeezer()), 0.03, method="bdf", tolerance=1e-8, planar=planar)
        for planar in (False, True)
    ]
    for body in runs[0].bodies:
        assert np.abs(runs[1].body(body).position - runs[0].body(body).position).max() < 1e-7
        assert np.abs(runs[1].body(body).velocity - runs[0].body(body).velocity).max() < 1e-4


@pytest.mark.parametrize("turn", [lambda m: m, tilted], ids=["as built", "tilted"])
def test_histories_of_three_numbers_a_body_lose_nothing(turn):
    """Frames between steps included; errors are measured alike, so steps are nearly the same."""
    runs = [
        bc.simulate(turn(gallery.n_four_bar(2)), 2.0, method="adams", tolerance=1e-9, planar=planar)
        for planar in (False, True)
    ]
    whole, flat = (run.statistics["steps"] for run in runs)
    assert flat == pytest.approx(whole, rel=0.05)
    for body in runs[0].bodies:
        assert np.abs(runs[1].body(body).position - runs[0].body(body).position).max() < 2e-7
        assert np.abs(runs[1].body(body).velocity - runs[0].body(body).velocity).max() < 2e-6


def test_what_stands_upright_does_not_tip_out_of_its_plane():
    mechanism = bc.Mechanism("upright", gravity=(0.0, 0.0, -9.81))
    normal = np.array([0.6, 0.8, 0.0])
    rod = mechanism.add_body(
        "rod", mass=1.0, inertia=(0.02, 0.02, 0.001), rotation=bc.rotation((0, 0, 1), np.arctan2(0.8, 0.6)),
        position=(0.0, 0.0, 0.5), angular_velocity=tuple(1e-6 * normal),
    )  # fmt: skip
    pin = mechanism.ground.marker((0, 0, 0), axis=tuple(normal))
    mechanism.add_joint("pin", bc.Revolute(), pin, rod.marker((0, 0, -0.5), axis=(1, 0, 0)))
    run = bc.simulate(mechanism, 20.0, method="rk4", step=2e-3, planar=True)
    assert np.abs(run.body("rod").position @ normal).max() < 1e-12
    assert np.abs(run.body("rod").position[:, 2]).max() > 0.49
    assert run.body("rod").position[:, 2].min() < -0.4


def test_efforts_of_drives_are_the_same():
    mechanism = linkages.four_bar()
    mechanism.add_drive("motor", joint=next(iter(mechanism.joints)), velocity=2.0)
    whole, flat = (bc.simulate(mechanism, 0.2, method="rk4", step=1e-3, planar=p) for p in (False, True))
    assert np.abs(flat.drive("motor").effort - whole.drive("motor").effort).max() < 1e-7


def pendulum(**changes):
    given = {"gravity": (0.0, -9.81, 0.0), "inertia": (0.01, 0.02, 0.03), "height": 0.0, "spin": (0, 0, 1.0)}
    given.update(changes)
    mechanism = bc.Mechanism("pendulum", gravity=given["gravity"])
    rod = mechanism.add_body(
        "rod", mass=1.0, inertia=given["inertia"], position=(0.5, 0, 0), angular_velocity=given["spin"],
        velocity=tuple(np.cross(given["spin"], (0.5, 0, 0))),
    )  # fmt: skip
    height = given["height"]
    mechanism.add_joint(
        "pivot", bc.Revolute(), mechanism.ground.marker((0, 0, height)), rod.marker((-0.5, 0, height))
    )
    return mechanism, rod


def refusal(mechanism):
    with pytest.raises(bc.Unsupported) as caught:
        bc.prepare(mechanism, "lagrange", planar=True)
    return str(caught.value)


SKEW = ((0.01, 0.0, 0.004), (0.0, 0.02, 0.0), (0.004, 0.0, 0.025))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"gravity": (0.0, -9.0, 1.0)}, "gravity leaves the plane"),
        ({"inertia": SKEW}, "no principal axis of body 'rod'"),
        ({"height": 0.1}, "joint 'pivot' (x) acts beside the plane"),
        ({"spin": (0.1, 0.0, 1.0)}, "body 'rod' starts with a velocity out of the plane"),
    ],
)
def test_refusals_name_what_leaves_the_plane(changes, says):
    assert says in refusal(pendulum(**changes)[0])


def test_forces_out_of_the_plane_are_refused():
    mechanism, rod = pendulum()
    mechanism.add_force("push", bc.Wrench(force=(1.0, 0.0, 0.5)), rod.marker((0, 0, 0)))
    assert "force 'push' has a force out of the plane" in refusal(mechanism)
    mechanism, rod = pendulum()
    mechanism.add_force(
        "spring", bc.SpringDamper(stiffness=10.0), mechanism.ground.marker((1, 0, 1)), rod.marker((0, 0, 0))
    )
    assert "force 'spring' acts beside the plane" in refusal(mechanism)


def test_a_hinge_across_the_plane_stays_straight():
    mechanism, rod = pendulum()
    other = mechanism.add_body("other", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1.5, 0, 0),
                               velocity=(0, 1.5, 0), angular_velocity=(0, 0, 1.0))  # fmt: skip
    hinge = rod.marker((0.5, 0, 0), axis=(0, 1, 0)), other.marker((-0.5, 0, 0), axis=(0, 1, 0))
    mechanism.add_joint("hinge", bc.Revolute(), *hinge)
    compare(bc.prepare(mechanism, "lagrange"), bc.prepare(mechanism, "lagrange", planar=True))


def test_joints_askew_are_refused():
    mechanism, rod = pendulum()
    other = mechanism.add_body("other", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1.5, 0, 0))
    axis = (0.6, 0.0, 0.8)
    hinge = rod.marker((0.5, 0, 0), axis=axis), other.marker((-0.5, 0, 0), axis=axis)
    mechanism.add_joint("hinge", bc.Revolute(), *hinge)
    assert "joint 'hinge'" in refusal(mechanism)


def test_a_body_without_joints_is_refused():
    free = bc.Mechanism("free")
    free.add_body("ball", mass=1.0, inertia=(1.0, 1.0, 1.0))
    assert "it has no joints" in refusal(free)


def test_formulas_are_refused():
    mechanism, _ = pendulum()
    s = bc.symbol("s")
    curve = bc.PathJoint(s, (s, 0.1 * s**2, 0.0))
    bead = mechanism.add_body("bead", mass=1.0, inertia=(1e-3, 1e-3, 1e-3))
    mechanism.add_joint("wire", curve, mechanism.ground.marker((0, 0, 0)), bead.marker((0, 0, 0)))
    assert "joint 'wire' (PathJoint)" in refusal(mechanism)


def test_planar_is_a_flag():
    with pytest.raises(bc.MechanismError, match="planar must be True or False, got 1"):
        bc.prepare(pendulum()[0], "lagrange", planar=1)
