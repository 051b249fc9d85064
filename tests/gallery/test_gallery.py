"""Every generated mechanism is valid, closed and moves along its constraints, and counts as it says."""

import inspect
import re
import typing
from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import gallery as make
from bellcrank.compile.compile import compile_mechanism
from bellcrank.gallery import chain, free_ring, ladder, n_four_bar, prosthetic_arm, prosthetic_shoulder, ring

MOTION = [
    (0.3, 0.5, -0.2),
    (0.7, -0.4, 0.1),
    (-1.2, 0.8, 0.3),
    (0.2, 0.1, 0.4),
    (0.9, -0.6, 0.2),
    (0.4, 0.3, 0.1),
]
MECHANISMS = {
    **make.catalogue(),
    "arch 2": lambda: make.arch(7, 0.3, radius=2.0, width=0.5),
    "cam_and_follower 2": lambda: make.cam_and_follower(0.03, 0.01, 0.02, speed=3.0),
    "chain_mail 2": lambda: make.chain_mail(2, 4, radius=0.02, angle=0.3),
    "crowd 2": lambda: make.crowd(3, full=True, push=0.0),
    "geneva_drive 2": lambda: make.geneva_drive(6, 0.2, speed=-3.0, load=0.1),
    "spur_gears 2": lambda: make.spur_gears((19, 60), 0.002, facets=4, speed=-3.0),
    "ratchet_winch 2": lambda: make.ratchet_winch(24, 0.1, 0.006, load=3.0),
    "rimless_wheel 2": lambda: make.rimless_wheel(5, 0.5, slope=0.0, speed=2.0),
    "compass_walker 2": lambda: make.compass_walker(0.5, slope=0.004, angle=0.15, foot_mass=0.1),
    "bricard_linkage 2": lambda: make.bricard_linkage(2.0, 3.0, thickness=0.3),
    "chain 2": lambda: make.chain(7, length=0.3, angle=0.4),
    "chain of balls": lambda: make.chain(5, kind="spherical"),
    "flyball_governor 2": lambda: make.flyball_governor(angle=0.3, speed=3.0, rest_length=0.6),
    "four_bar 2": lambda: make.four_bar(0.2, 0.5, 0.4, 0.3, angle=2.0, rate=-3.0),
    "n_four_bar 2": lambda: make.n_four_bar(3, length=0.5, angle=1.1, tip_speed=2.0),
    "free_body 2": lambda: make.free_body(velocity=(1.0, 2.0, 3.0)),
    "free_ring 2": lambda: make.free_ring(5, spin=(0.1, 0.2, 0.3)),
    "cross_spring_pivot 2": lambda: make.cross_spring_pivot(0.1, angle=1.0, crossing=0.2, apart=0.0),
    "flexure_four_bar 2": lambda: make.flexure_four_bar(0.02, 0.2, segments=4),
    "bistable_snap 2": lambda: make.bistable_snap(0.2, 0.01, 0.002, segments=8),
    "gripper 2": lambda: make.gripper(0.02, 0.1, opening=0.03, segments=4),
    "ladder 2": lambda: make.ladder(3, length=0.4, angle=0.7),
    "simple_pendulum 2": lambda: make.simple_pendulum((0.6, 0.0, -0.8), (0.0, 2.0, 0.0)),
    "puma560 2": lambda: make.puma560(MOTION),
    "ring 2": lambda: make.ring(10, length=0.2),
    "rr_arm 2": lambda: make.rr_arm(MOTION[:2]),
    "slider_crank 2": lambda: make.slider_crank(0.3, 0.9, angle=2.0, rate=5.0),
    "spring_slider_crank 2": lambda: make.spring_slider_crank(0.4, 1.1, angle=0.8),
    "stewart_platform 2": lambda: make.stewart_platform(height=0.5, base_spacing=1.5, leg_mass=2.0),
    **{f"tree, {name}": lambda name=name: make.random_tree(20, name, seed=4) for name in make.TOPOLOGIES},
    "floating tree": lambda: make.random_tree(10, floating=True, seed=2),
}
# By hand: 6 a body less what independent joints and drives take.
FREEDOMS = {
    "andrews_squeezer": 1, "arch": 16 * 6, "cam_and_follower": 1, "geneva_drive": 1,
    "cross_spring_pivot": 6 + 2 * (9 * 6 - 12), "flexure_four_bar": 2 * 6 + 9 * 6 - 3 * 5 - 6,
    "bistable_snap": 6 + 2 * (17 * 6 - 3 * 6) - 1, "gripper": 3 * 6 + 6 * (9 * 6 - 12),
    "chain_mail": 9 * 3 - 3 * 2, "crowd": 2 * (17 + 2 + 6),
    "compass_walker": 4, "ratchet_winch": 2, "rimless_wheel": 3, "spur_gears": 1,
    "benchmark_bicycle": 4 * 6 - 3 * 5 - 2 * 3,
    "bricard_linkage": 1, "chain": 5, "double_pendulum": 2, "flyball_governor": 4,
    "four_bar": 1, "free_body": 6, "free_ring": 6 * 6 - 3 * 6, "heavy_top": 3, "ladder": 3,
    "man_on_bicycle": 17 * 6 - 92 + 7, "n_four_bar": 1,
    "peptide": 6 + 2 * 11 - 1, "prosthetic_arm": 4, "prosthetic_shoulder": 2, "puma560": 0,
    "random_tree": 18, "ring": 8 - 2, "rr_arm": 0, "simple_pendulum": 5, "slider_crank": 1,
    "spring_slider_crank": 1, "stewart_platform": 6,
}  # fmt: skip


@pytest.mark.parametrize("name", make.catalogue())
def test_every_mechanism_says_what_it_is(name):
    function = make.catalogue()[name]
    text = inspect.getdoc(function)
    assert re.search(r"\bdegrees? of freedom\b", text, re.I), f"{name}: its degrees of freedom are missing"
    for parameter in inspect.signature(function).parameters:
        assert re.search(rf"\b{parameter}\b", text), f"{name}: nothing is said of {parameter}"
    assert bc.info(function()).freedom == FREEDOMS[name]


def test_the_catalogue_has_every_mechanism():
    """Those that are not in it need data: links, points, a tree."""
    built = {
        name for name in dir(make)
        if inspect.isfunction(value := getattr(make, name))
        and typing.get_type_hints(value).get("return") is bc.Mechanism
    }  # fmt: skip
    assert built - set(make.catalogue()) == {"dh_arm", "add_drives", "link_chain", "polyline", "tree"}
    assert set(make.catalogue()) <= built


def test_a_crank_turns_round_by_grashof():
    """The default four-bar closes at every crank angle; one whose crank is the longest bar does not."""
    for angle in np.linspace(0.0, 2.0 * np.pi, 24):
        make.four_bar(angle=float(angle))
    with pytest.raises(ValueError, match=r"do not close a gap of 0[.]72 m at this angle"):
        make.four_bar(0.32, 0.36, 0.28, 0.40, angle=np.pi)


def test_legs_of_a_stewart_platform_move_it():
    """Legs that lengthen as for a platform that only rises lift it straight; closed form of their lengths."""
    radii = {"base_radius": 1.0, "platform_radius": 0.6, "base_spacing": 0.4, "platform_spacing": 0.5}
    mech = make.stewart_platform(height=1.2, **radii)
    square = 1.0 + 0.36 - 1.2 * np.cos(np.pi / 3 - 0.2 - 0.25)
    for leg in range(1, 7):
        mech.add_drive(f"drive {leg}", joint=f"leg {leg}", position=f"sqrt({square} + (1.2 + 0.1*t)^2)")
    motion = bc.kinematics(mech, 1.0)
    np.testing.assert_allclose(motion.body("platform").position[-1], (0.0, 0.0, 1.3), atol=1e-10)
    np.testing.assert_allclose(motion.body("platform").velocity[-1], (0.0, 0.0, 0.1), atol=1e-10)


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


def test_a_full_crowd_is_as_large_as_that_of_2005():
    """Of 200 characters, 17,800 bodies with 19,000 degrees of freedom; one of them is enough to count."""
    one = make.crowd(1, full=True)
    assert 200 * len(one.bodies) == 17_800
    assert 200 * bc.info(one).freedom == 19_000
    assert 60.0 < sum(body.mass for body in one.bodies.values()) < 80.0
    assert not [name for name in one.forces if "push" in name]  # it stands on the axis


def test_characters_are_pushed_apart_by_impulses():
    """The momentum of each after the push, by its distance from the axis: 20 N s / r^2, away from it."""
    crowd = make.crowd(4, spacing=2.0, push=20.0)
    run = bc.simulate(crowd, 0.12, formulation="recursive", step=1e-3, method="rk4")
    for number in range(4):
        names = [name for name in crowd.bodies if name.startswith(f"{number} ")]
        momentum = sum(crowd.bodies[name].mass * run.body(name).velocity[-1] for name in names)
        away = np.array(crowd.bodies[f"{number} pelvis"].position[:2])
        away /= np.linalg.norm(away)
        np.testing.assert_allclose(momentum, (*(10.0 * away), 0.0), atol=1e-2)


def test_chain_mail_hangs_below_its_edge_where_it_is_at_rest():
    """Upright, all hooks lie on verticals and nothing moves; each carries the rings below it."""
    mail = make.chain_mail(3, 3, mass=1e-3, angle=0.0)
    run = bc.simulate(mail, 0.05, step=1e-3, method="rk4")
    for name, body in mail.bodies.items():
        np.testing.assert_allclose(run.body(name).position[-1], body.position, atol=1e-9)
    for row in range(3):
        pull = np.linalg.norm(run.joint(f"hook {row} 1").force[-1])
        np.testing.assert_allclose(pull, 9.81e-3 * (3 - row), rtol=1e-9)


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
        (
            lambda: make.benchmark_bicycle(data=replace(make.BENCHMARK_BICYCLE, steer_axis_tilt=1.6)),
            r"less than a right angle \(1.571 rad\), got steer_axis_tilt = 1.6 rad",
        ),
        (
            lambda: make.arch(2, 1.5, friction=-1.0),
            r"voussoirs must .* at least 3, got 2; thickness, .* got 1.5; friction must .*, got -1.0",
        ),
        (lambda: make.geneva_drive(pin_radius=0.02), r"pin_radius leaves no room .* less than 0.0\d* m fits"),
        (lambda: make.geneva_drive(2), "slots must be a whole number of at least 3, got 2"),
        (
            lambda: make.cam_and_follower(nose_radius=0.03),
            "nose_radius must be less than base_radius, got 0.03",
        ),
        (
            lambda: make.cam_and_follower(lift=0.0, width=-1.0),
            "lift must be greater than zero, got 0.0; width",
        ),
        (lambda: make.ring(5), "even and at least 4, got 5"),
        (lambda: make.n_four_bar(0), "at least one window, got n = 0"),
        (lambda: make.stewart_platform(height=0.0), "must lie above the base, got height = 0.0 m"),
        (lambda: make.slider_crank(1.0, 0.5, angle=1.0), "a rod of 0.5 m does not reach the axis"),
        (lambda: make.peptide("AXB"), r"no residues \['B', 'X'\]; use some of A, G, L, P, S, V"),
        (lambda: make.peptide("AA", phi=[0.1]), "phi must have 2 torsions, got 1"),
        (lambda: make.random_tree(3, "star"), "no topology 'star'; use one of chain, branch, bush, binary"),
        (lambda: make.random_tree(3, types=("hinge",)), r"no joint types \['hinge'\]; use some of revolute"),
    ],
)
def test_refused_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("mechanism", "bodies", "rows"),
    [
        (chain(7), 7, 5 * 7),
        (chain(7, kind="spherical"), 7, 3 * 7),
        (ring(20), 20, 5 * 21),
        (ring(40), 40, 5 * 41),
        (free_ring(20), 20, 3 * 20),
        (free_ring(40), 40, 3 * 40),
        (ladder(4), 12, 5 * 16),
        (n_four_bar(1), 3, 5 * 4),
        (n_four_bar(10), 21, 5 * 31),
        (n_four_bar(40), 81, 5 * 121),
        (prosthetic_shoulder(), 7, 40),
        (prosthetic_arm(), 9, 50),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_bodies_and_rows_are_as_many_as_it_says(mechanism, bodies, rows):
    model = compile_mechanism(mechanism)
    assert (model.core.bodies, model.core.rows) == (bodies, rows)
