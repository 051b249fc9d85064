"""Runs along directions and backwards: beside differences of whole runs, closed forms, and their errors."""

import numpy as np
import pytest
from rigs import floating, linkages, parametric, stops
from rigs.differentiated import struck_mechanism, wrong_run
from rigs.directions import EASY, GEOMETRY
from rigs.examples import joint
from rigs.followed import FollowedCase
from rigs.seeds import over

import bellcrank as bc
from bellcrank import expression as ex
from bellcrank import gallery

FORMULATIONS = ("lagrange", "recursive")
STRUCK_AT_RANDOM = (0, 1, 2, 3, 5, 6, 9, 12, 16, 24, 29, 52)
RANDOM = (1, 2, 4, 6, 10, 12, 16, 21, 29, 34, 40, 47, 50, 53, 55, 57, 59)
SMOOTH = {
    "simple pendulum": (gallery.simple_pendulum, 1.0),
    "double pendulum": (gallery.double_pendulum, 1.0),
    "four-bar": (gallery.four_bar, 0.6),
    "slider-crank": (gallery.slider_crank, 0.5),
    "heavy top": (gallery.heavy_top, 0.2),
    "ring": (gallery.ring, 0.4),
    "Bricard": (gallery.bricard_linkage, 0.5),
    "Stewart platform": (gallery.stewart_platform, 0.3),
}


JOINTS = (
    "Revolute",
    "Prismatic",
    "Cylindrical",
    "Planar",
    "Screw",
    "Universal",
    "Spherical",
    "Free",
    "NoTwist",
    "NoTwistX",
    "ConstantVelocity",
    "PlungingConstantVelocityX",
)


def bent():
    mech = bc.Mechanism("bending")
    bar = mech.add_body("bar", 1.0, (0.1, 0.1, 0.02), com=(0.0, 0.0, -0.5), angular_velocity=(1.0, 0.4, 2.0))
    mech.add_joint("pivot", bc.Spherical(), mech.ground.marker(), bar.marker())
    limit = {"theta_x": bc.Limit(-0.2, 0.2, 0.5)}
    mech.add_joint("stop", bc.Free(), mech.ground.marker(), bar.marker(), limits=limit)
    return mech


STRUCK = {
    "ball": (lambda: stops.ball(0.6), 1),
    "pendulum": (lambda: stops.pendulum(0.7), 1),
    "pendulum that comes to rest": (lambda: stops.pendulum(0.0, stop=0.2), 1),
    "train": (lambda: stops.train((1.0, 2.0, 1.5), 0.8, gap=0.05), 2),
    "bent ball joint": (bent, 2),
    "four-bar": (
        lambda: stops.limited(linkages.four_bar(), ["pin1"], "theta_z", bc.Limit(-0.6, 0.9, 0.5)),
        2,
    ),
}


def two_links(add):
    """An arm and a bar that runs against stops of their hinge, and what is added to them."""
    mech, axis = bc.Mechanism("two links"), (0.0, 1.0, 0.0)
    arm = mech.add_body("arm", 1.0, (0.1, 0.1, 0.1), com=(0.2, 0.0, 0.0))
    bar = mech.add_body("bar", 0.7, (0.1, 0.12, 0.03), com=(0.1, 0.1, 0.0), position=(0.4, 0.0, 0.0))
    mech.add_joint("shaft", bc.Revolute(), mech.ground.marker(axis=axis), arm.marker(axis=axis))
    ends = arm.marker((0.4, 0.0, 0.0), axis=axis), bar.marker(axis=axis)
    mech.add_joint("hinge", bc.Revolute(), *ends, limits=bc.Limit(-0.2, 0.3, 0.6))
    add(mech)
    return mech


def rotors(mech):
    """One that a joint of the tree turns, and one that turns as the bar goes aside."""
    bar = mech.bodies["bar"]
    mech.add_joint(
        "seen", bc.Free(), mech.ground.marker(axis=(0.0, 1.0, 0.0)), bar.marker(axis=(0.0, 1.0, 0.0))
    )
    mech.add_force("on the shaft", bc.GearedMotor(3.0, 0.02, 0.3), "shaft")
    mech.add_force("beside", bc.GearedMotor(2.0, 0.03, 0.1), "seen.x")


def drive(mech):
    mech.add_drive("swing", "shaft", position=bc.Harmonic(0.5, 3.0))


def free_fall():
    """Two bodies without joints, which a stop at the ground and a spring between them hold."""
    mech = bc.Mechanism("free fall")
    one = mech.add_body(
        "one", 1.0, (0.1, 0.15, 0.2), position=(0.0, 0.0, 0.3), angular_velocity=(1.0, 2.0, 0.5)
    )
    two = mech.add_body(
        "two", 2.0, (0.1, 0.15, 0.2), position=(0.5, 0.0, 0.9), angular_velocity=(0.3, -1.0, 2.0)
    )
    mech.add_joint(
        "floor",
        bc.Free(),
        mech.ground,
        one.marker((0.1, 0.0, 0.0)),
        limits={"z": bc.Limit(lower=0.0, restitution=0.7)},
    )
    mech.add_force(
        "spring", bc.SpringDamper(31.0, 0.3, 0.5), one.marker((0.1, 0.1, 0.0)), two.marker((0.0, 0.0, 0.1))
    )
    return mech


STRUCK |= {
    "rotors": (lambda: two_links(rotors), 2),
    "driven": (lambda: two_links(drive), 2),
    "free fall": (free_fall, 1),
}


def check(case, step=1e-4):
    changes, expected = case.changes(), case.differences(step)
    assert case.left[0] < 1e-9
    np.testing.assert_allclose(changes, expected, rtol=0.0, atol=2e-7 * max(1.0, np.abs(expected).max()))
    assert case.transposed_off(changes) < 1e-12


@pytest.mark.parametrize("formulation", [*FORMULATIONS, "dca"])
@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_runs(name, formulation):
    make, duration = SMOOTH[name]
    check(FollowedCase(make(), duration, formulation=formulation))


def hung(kind, reversed_=False):
    """Two bodies, one after another, on joints of a kind."""
    rng = np.random.default_rng(7)
    mech, before = bc.Mechanism(f"hung on {kind}", gravity=(0.5, -1.0, -2.0)), None
    before = floating.skew_marker(mech.ground, rng)
    for number in range(2):
        body = mech.add_body(f"b{number}", **floating.mass_properties(rng))
        ends = before, floating.skew_marker(body, rng)
        mech.add_joint(f"j{number}", joint(kind), *(reversed(ends) if reversed_ else ends))
        before = floating.skew_marker(body, rng)
    return mech


@pytest.mark.parametrize("reversed_", [False, True])
@pytest.mark.parametrize("kind", JOINTS)
def test_coordinates_of_trees(kind, reversed_):
    """Along changes of markers as well, and by all methods the same; frames of shafts depend on the way."""
    case = FollowedCase(hung(kind, reversed_), 0.6, arrays=(*EASY, *GEOMETRY), formulation="recursive")
    check(case)
    loose = FollowedCase(
        hung(kind, reversed_), 0.6, arrays=(*EASY, *GEOMETRY), formulation="recursive", method="adams"
    )
    check(loose)
    case = FollowedCase(hung(kind, reversed_), 0.6, formulation="recursive", tolerance=1e-6)
    estimated, true = case.error(4, 0)
    assert estimated == pytest.approx(true, rel=0.5, abs=3e-9 * np.abs(case.run.recorded()).max())


@pytest.mark.parametrize("place", ["custom joint", "path"])
def test_joints_given_by_formulas(place):
    value, make = parametric.PLACES[place]
    check(FollowedCase(make(value), 0.4, formulation="recursive"))


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("make", [gallery.double_pendulum, gallery.heavy_top, gallery.stewart_platform])
def test_geometry(make, formulation):
    """Markers too, where no constraint is redundant."""
    case = FollowedCase(make(), 0.3, arrays=GEOMETRY, formulation=formulation)
    assert case.run.system.statistics()["dropped_rows"] == 0
    check(case)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("method", ["dopri5", "adams"])
def test_turns_are_counted(method, formulation):
    """A wheel that winds a spring up by turns, forwards and backwards again and again."""
    mech = bc.Mechanism("wheel")
    wheel = mech.add_body("wheel", 1.0, (0.1, 0.1, 0.1), angular_velocity=(0.0, 0.0, 40.0))
    mech.add_joint("axle", bc.Revolute(), mech.ground.marker(), wheel.marker())
    mech.add_force("spring", bc.TorsionSpring(0.4), joint="axle")
    case = FollowedCase(mech, 0.6, moved=False, method=method, formulation=formulation)
    assert np.ptp(case.run.recorded()[:, 0]) > 4 * np.pi
    check(case)
    check(case)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("method", ["rk4", "adams", "bdf", "auto"])
def test_methods(method, formulation):
    check(FollowedCase(gallery.four_bar(), 0.4, method=method, tolerance=1e-9, formulation=formulation))


@pytest.mark.parametrize("formulation", [*FORMULATIONS, "dca"])
@pytest.mark.parametrize("method", ["dopri5", "adams", "rk4"])
@pytest.mark.parametrize("name", STRUCK)
def test_impacts(name, method, formulation):
    """Impacts happen at other times, and what pushes has other impulses."""
    make, least = STRUCK[name]
    settings = {"method": method, "tolerance": 1e-10, "formulation": formulation}
    case = FollowedCase(make(), 0.9, moved=False, **settings)
    assert method == "rk4" or case.run.impacts >= least
    check(case, step=2e-5)
    struck, before, behind = case.tangent.beside_impacts()
    assert len(struck) >= least
    if method == "dopri5":
        late = case.late_differences(2e-5)
        firm = slice(
            max(least, len(late) * 4 // 5)
        )  # differences lose digits where bounces are near each other
        np.testing.assert_allclose(case.late[firm, 0], late[firm], rtol=1e-6, atol=1e-7 * np.abs(late).max())
    count = len(case.run.what.coordinates)
    assert (np.abs(before - behind)[:, :count] < 1e-9).all()
    assert (np.abs(before - behind)[:least, count : 2 * count].max(axis=1) > 1e-3).all()


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_restitution(formulation):
    """h = e² h0 after a bounce from h0: the height by e, from rest at h0."""
    model_run = FollowedCase(stops.ball(0.6), 0.6, moved=False, arrays=(), formulation=formulation)
    tangent = model_run.tangent
    n = model_run.dx.size
    still = np.zeros((1, n))
    blocks = [k for k, e in enumerate(model_run.model.arrays["block_restitution"]) if e > 0.0]
    places = [("block_restitution", k) for k in blocks]
    found, _, struck = tangent.follow(still, still, places, np.ones((1, len(places))))
    # z = v t' − g t'²/2 after the bounce with v = e √(2 g h0), t' = t − √(2 h0/g).
    fall, after = np.sqrt(2.0 / stops.GRAVITY), np.sqrt(2.0 * stops.GRAVITY)
    late = model_run.times - model_run.times[0] - fall
    height, rate = np.where(late > 0.0, after * late, 0.0), np.where(late > 0.0, after, 0.0)
    np.testing.assert_allclose(found[:, 0, :2], np.column_stack([height, rate]), atol=1e-9)
    seeds = np.ones((len(model_run.times), len(model_run.run.watched)))
    of_numbers = tangent.follow_back(seeds, np.zeros(len(struck)), places, False)[2]
    assert of_numbers.sum() == pytest.approx(found.sum(), rel=1e-12)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("method", ["dopri5", "adams", "rk4"])
@pytest.mark.parametrize("name", ["four-bar", "double pendulum", "ring"])
def test_errors_of_runs(name, method, formulation):
    """What a run lacks, estimated from its steps, beside what it lacks."""
    make, duration = SMOOTH[name]
    case = FollowedCase(make(), duration, method=method, tolerance=1e-6, formulation=formulation)
    size = np.abs(case.run.recorded()).max()
    compared = 0
    for number in range(len(case.run.watched)):
        for frame in (2, 4):
            estimated, true = case.error(frame, number)
            if abs(true) > 1e-10 * size:
                assert estimated == pytest.approx(true, rel=0.5, abs=3e-9 * size)
                compared += abs(true) > 1e-8 * size
    assert method == "rk4" or compared > 2


def remarks(case):
    case.changes()
    return [kind for kind, *_ in case.tangent.remarks()]


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_slow_impacts_are_remarked_on(formulation):
    slow = stops.ball(0.5, height=1e-6)
    assert remarks(FollowedCase(slow, 6e-4, moved=False, arrays=(), formulation=formulation)) == ["grazing"]


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_start_on_a_stop_is_one_sided(formulation):
    leaves = stops.ball(0.5, height=0.0, speed=1.0)
    assert remarks(FollowedCase(leaves, 0.1, moved=False, arrays=(), formulation=formulation)) == ["touching"]


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_stop_that_nothing_pushes_on_is_one_sided(formulation):
    hangs = stops.pendulum(0.0)  # against a stop where it would hang by itself
    assert remarks(FollowedCase(hangs, 0.9, moved=False, arrays=(), formulation=formulation)) == ["idle"]


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_stops_that_are_met_together(formulation):
    both = stops.train((1.0, 1.0), 1.0, gap=0.1)
    for name in ("left", "right"):
        wall = both.add_body(name, 1.0, (0.1, 0.1, 0.1), position=(0.0, 0.0, 2.0))
        limit = bc.Limit(lower=0.0, restitution=0.5)
        both.add_joint(name, bc.Prismatic(), both.ground.marker(), wall.marker(), limits=limit)
    case = FollowedCase(both, 0.7, moved=False, arrays=(), formulation=formulation)
    assert "together" in remarks(case)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@over(RANDOM)
def test_random_mechanisms(seed, formulation):
    assert wrong_run(seed, formulation) == ""


@pytest.mark.parametrize("formulation", FORMULATIONS)
@over(STRUCK_AT_RANDOM)
def test_random_mechanisms_that_meet_a_stop(seed, formulation):
    assert wrong_run(seed, formulation, make=struck_mechanism) == ""


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_looser_steps(formulation):
    """In steps of their own, across those of the run, derivatives are less accurate, and cheaper."""
    case = FollowedCase(gallery.double_pendulum(), 1.0, formulation=formulation)
    loose = case.run.followed(1e-5)
    assert loose.steps < 0.5 * case.tangent.steps
    expected = case.changes()
    case.tangent = loose
    np.testing.assert_allclose(case.changes(), expected, atol=1e-3 * np.abs(expected).max())
    assert case.transposed_off(case.changes()) < 1e-12


def sits(aside, slow):
    """A body that falls onto a cushion, beside its middle; everything so many times slower."""
    mech = bc.Mechanism("sits", gravity=(0.0, 0.0, -9.81 / slow**2))
    body = mech.add_body("body", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(aside, 0.0, 0.005))
    mech.add_force("seat", bc.Seat(1e3 / slow**2, 0.0, 0.5 * slow, 0.05, 0.01 * slow), mech.ground, body)
    return mech


@pytest.mark.parametrize("slow", [1.0, 1000.0])
@pytest.mark.parametrize(("aside", "expected"), [(0.02, ["jump"]), (0.0, [])])
def test_a_force_that_jumps_is_remarked_on_and_a_kink_is_not(aside, expected, slow):
    """The load begins with a force across where the body is beside the middle."""
    case = FollowedCase(sits(aside, slow), 0.06 * slow, moved=False, arrays=())
    assert remarks(case) == expected


def test_a_motion_that_begins_from_rest_is_no_jump():
    mech = bc.Mechanism("starts", gravity=(0.0, 0.0, 0.0))
    wheel = mech.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1))
    mech.add_joint("axle", bc.Revolute(), mech.ground, wheel)
    mech.add_force("motor", bc.JointMotor(ex.sin(3.0 * bc.t)), "axle")
    case = FollowedCase(mech, 1.0, moved=False, arrays=())
    assert remarks(case) == []


def test_a_small_jump_is_remarked_on():
    with pytest.raises(bc.Unsupported, match="remarked on: jump"):
        wrong_run(13)
