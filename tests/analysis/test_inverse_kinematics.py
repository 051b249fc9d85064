"""Inverse kinematics against closed forms, whole turns, limits, loops; what is out of reach; bad targets."""

from math import acos, atan2, cos, hypot, pi, sin
from time import perf_counter

import numpy as np
import pytest
from rigs import reachable_targets
from rigs.random_mechanisms import random_mechanism

import bellcrank as bc
from bellcrank.gallery.prosthetic_arm import ArmParameters, Posture, reaching
from bellcrank.gallery.prosthetic_tasks import TAKE_A_BOOK, actuator_angles, start
from bellcrank.mechanism.rotation_arrays import rotate


def two_links(first=0.6, second=0.4, **joint):
    """A planar arm about z; joint angles 0 stretch it along x."""
    mech = bc.Mechanism("two links", gravity=(0.0, 0.0, 0.0))
    a = mech.add_body("upper", 2.0, (0.01, 0.1, 0.1), position=(first / 2, 0.0, 0.0))
    b = mech.add_body("lower", 1.0, (0.01, 0.1, 0.1), position=(first + second / 2, 0.0, 0.0))
    mech.add_joint("shoulder", bc.Revolute(), mech.ground, a.marker((-first / 2, 0.0, 0.0)), **joint)
    elbow = b.marker((-second / 2, 0.0, 0.0))
    mech.add_joint("elbow", bc.Revolute(), a.marker((first / 2, 0.0, 0.0)), elbow, position=0.5)
    mech.add_marker(b.marker((second / 2, 0.0, 0.0), name="tip"))
    return mech


def violation(model, state):
    system = bc.prepare(model, "lagrange")
    system.set_state(state)
    return np.abs(system.rows(state).error).max()


def check_point(found, body, point, target, atol=1e-8):
    number = found.model.body_number(body)
    at = found.state.position[number] + rotate(found.state.rotation[number], np.array(point))
    assert np.allclose(at, target, atol=atol)


class TestClosedForms:
    @pytest.mark.parametrize("target", [(0.7, 0.3, 0.0), (0.1, 0.5, 0.0), (-0.3, 0.6, 0.0), (0.3, -0.4, 0.0)])
    def test_a_planar_arm(self, target):
        found = bc.inverse_kinematics(two_links(), {"lower.tip": target})
        x, y, _ = target
        elbow = acos((x * x + y * y - 0.36 - 0.16) / (2 * 0.6 * 0.4))
        bends = float(found.joint("elbow")[0])
        assert abs(bends) == pytest.approx(elbow, abs=1e-8)
        shoulder = atan2(y, x) - atan2(0.4 * sin(bends), 0.6 + 0.4 * cos(bends))
        turned = float(found.joint("shoulder")[0])
        assert (turned - shoulder + pi) % (2 * pi) - pi == pytest.approx(0.0, abs=1e-8)
        check_point(found, "lower", (0.2, 0.0, 0.0), target)

    def test_the_prosthetic_arm_turns_its_motors_as_often_as_it_must(self):
        parameters = ArmParameters()
        mech = bc.gallery.prosthetic_arm(start(TAKE_A_BOOK))
        ik = bc.InverseKinematics(mech)
        times = np.linspace(TAKE_A_BOOK.hold, TAKE_A_BOOK.hold + TAKE_A_BOOK.duration, 40)
        wanted = actuator_angles(TAKE_A_BOOK, times)
        points = np.column_stack([function(times) for function in TAKE_A_BOOK.path.functions])
        for k, point in enumerate(points):
            found = ik({"hand.wrist": point})
            for name in ("front motor", "rear motor", "elbow"):
                assert found.joint(name)[0] == pytest.approx(wanted[name][k], abs=1e-6)
        assert np.ptp(wanted["front motor"]) > 10 * pi
        straight = bc.inverse_kinematics(mech, {"hand.wrist": points[-1]})  # the whole way at once
        assert straight.joint("front motor")[0] == pytest.approx(wanted["front motor"][-1], abs=1e-6)
        posture = reaching(tuple(points[-1].tolist()), parameters)
        assert straight.joint("cardan")[0] == pytest.approx(posture.flexion, abs=1e-8)

    def test_a_stewart_platform(self):
        mech = bc.gallery.stewart_platform()
        ik = bc.InverseKinematics(mech)
        state = ik.model.initial
        tops = [mech.joints[f"top {k}"] for k in range(1, 7)]
        feet = [np.array(mech.joints[f"base {k}"].marker_1.position) for k in range(1, 7)]
        source = np.random.default_rng(5)
        before = np.array(
            [
                ik.model.coordinate_values(state)[ik.model.joint(f"leg {k}").coordinates[0]]
                for k in range(1, 7)
            ]
        )
        for _ in range(20):
            axis = source.normal(size=3)
            half = 0.15 * axis / np.linalg.norm(axis)
            turn = np.array([np.sqrt(1.0 - half @ half), *half])
            place = np.array((0.0, 0.0, 1.2)) + source.uniform(-0.2, 0.2, 3)
            found = ik({"platform": (place, turn)})
            heads = place + rotate(turn, np.array([joint.marker_2.position for joint in tops]))
            lengths = np.linalg.norm(heads - feet, axis=1)
            legs = np.array([found.joint(f"leg {k}")[0] for k in range(1, 7)])
            assert np.allclose(legs, lengths, atol=1e-8)
            assert violation(ik.model, found.state) < 1e-9
        assert not np.allclose(before, legs)

    def test_rotation_alone(self):
        mech = bc.Mechanism("ball joint")
        body = mech.add_body("body", 1.0, (0.1, 0.2, 0.3), position=(0.0, 0.0, 0.5))
        mech.add_joint("ball", bc.Spherical(), mech.ground, body.marker((0.0, 0.0, -0.5)))
        turn = np.array([cos(0.6), *(sin(0.6) * np.array((0.6, 0.0, 0.8)))])
        found = bc.inverse_kinematics(mech, {"body": (None, turn)})
        assert abs(found.state.rotation[0] @ turn) == pytest.approx(1.0, abs=1e-12)
        check_point(found, "body", (0.0, 0.0, -0.5), (0.0, 0.0, 0.0))


class TestTurns:
    @pytest.mark.parametrize("turns", [0.3, 7.25, -41.5])
    def test_a_screw_turns_many_times_for_a_way(self, turns):
        mech = bc.Mechanism("spindle")
        shaft = mech.add_body("shaft", 1.0, (1e-3, 1e-3, 1e-5))
        nut = mech.add_body("nut", 0.5, (1e-3, 1e-3, 1e-3))
        mech.add_joint("bearing", bc.Revolute(), mech.ground, shaft)
        mech.add_joint("thread", bc.Screw(pitch=0.004), shaft, nut)
        mech.add_joint("guide", bc.Prismatic(), mech.ground, nut)
        found = bc.inverse_kinematics(
            mech, {"nut": (0.0, 0.0, 0.004 * turns)}
        )  # to 1e-9 m, which is 2e-6 rad
        assert found.joint("bearing")[0] == pytest.approx(-2 * pi * turns, abs=1e-5)
        assert found.joint("thread")[0] == pytest.approx(2 * pi * turns, abs=1e-5)

    def test_a_gear_train_on_an_arm_that_turns(self):
        mech = bc.Mechanism("train")
        arm = mech.add_body("arm", 1.0, (0.1, 0.1, 0.1))
        mech.add_joint("arm", bc.RevoluteX(), mech.ground, arm)
        motor = mech.add_body("motor", 0.1, (1e-6, 1e-6, 1e-6), position=(0.0, 0.3, 0.0))
        mech.add_joint("motor", bc.Revolute(), arm.marker((0.0, 0.3, 0.0)), motor)
        mech.add_constraint("gear", bc.Gear(ratio=120.0), mech.joints["motor"], mech.joints["arm"])
        found = bc.inverse_kinematics(mech, {("arm", (0.0, 0.0, 1.0)): (0.0, -sin(1.0), cos(1.0))})
        assert found.joint("arm")[0] == pytest.approx(1.0, abs=1e-8)
        assert found.joint("motor")[0] == pytest.approx(-120.0, rel=1e-7)

    def test_a_closed_way_ends_on_the_turns_on_which_it_began(self):
        ik = bc.InverseKinematics(bc.gallery.prosthetic_arm(Posture(flexion=0.4, abduction=0.2, elbow=0.9)))
        number = ik.model.body_number("hand")
        begin = ik.model.initial.position[number]
        ring = np.linspace(0.0, 2 * pi, 25)
        motor = []
        for angle in ring:
            aim = begin + 0.06 * np.array((cos(angle) - 1.0, 0.0, sin(angle)))
            motor.append(ik({"hand": aim}).joint("front motor")[0])
        assert np.ptp(motor) > 4 * pi
        assert motor[-1] == pytest.approx(motor[0], abs=1e-5)


class TestLimits:
    def test_they_are_kept(self):
        mech = two_links(limits=bc.Limit(-0.2, 0.4))
        ik = bc.InverseKinematics(mech)
        assert ik({"lower.tip": (0.7, 0.4, 0.0)}).joint("shoulder")[0] <= 0.4 + 1e-9
        found = ik.nearest({"lower.tip": (0.0, 0.9, 0.0)})
        assert not found.reached
        assert found.joint("shoulder")[0] == pytest.approx(0.4, abs=1e-9)
        back = ik({"lower.tip": (0.9, 0.25, 0.0)})  # and it comes off them
        assert -0.2 - 1e-9 <= back.joint("shoulder")[0] < 0.39

    def test_the_nearest_on_a_limit_is_the_nearest(self):
        found = bc.InverseKinematics(two_links(limits=bc.Limit(-0.2, 0.4))).nearest(
            {"lower.tip": (0.0, 0.9, 0.0)}
        )
        elbow = np.array((0.6 * cos(0.4), 0.6 * sin(0.4)))
        away = np.array((0.0, 0.9)) - elbow
        assert found.misses[0][0] == pytest.approx(np.linalg.norm(away) - 0.4, abs=1e-6)


# Seeds by family; from where they start alone, none of these targets is reached.
HARD = {
    "planar": (15, 33, 65, 67, 100, 124, 599, 2207, 4412),
    "spatial": (28, 73, 148, 180, 198, 1494, 2897, 4158),
    "loose": (57, 175, 2916),
    "looped": (177, 222, 258, 379),
}


class TestWithinReach:
    @pytest.mark.parametrize("family", HARD)
    def test_what_is_within_reach_and_limits_is_reached(self, family):
        """Restarts go anywhere within the limits, and loops close there."""
        made = reachable_targets.FAMILIES[family]
        faults = {seed: reachable_targets.wrong(made(seed)) for seed in (*HARD[family], *range(7000, 7008))}
        assert {seed: fault for seed, fault in faults.items() if fault} == {}

    def test_equal_arguments_give_equal_answers(self):
        """Whatever was searched before, by this one or by another."""
        task = reachable_targets.planar(599)
        ik = bc.InverseKinematics(task.mechanism)
        begin, (body, point) = ik.model.initial, next(iter(task.targets))
        first = ik.nearest(task.targets, begin)
        for elsewhere in ((9.0, 0.0, 0.0), (0.1, 0.2, 0.0), (-9.0, 1.0, 0.0)):
            ik.nearest({(body, point): elsewhere}, begin)
            ik.nearest({body: elsewhere})
            same = ik.nearest(task.targets, begin)
            assert np.array_equal(same.coordinates, first.coordinates)
            assert same.misses == first.misses

    def test_going_on_is_starting_there(self):
        task = reachable_targets.planar(15)
        ik, other = bc.InverseKinematics(task.mechanism), bc.InverseKinematics(task.mechanism)
        body, point = next(iter(task.targets))
        for _ in range(3):
            ik.nearest({(body, point): (0.3, 0.4, 0.0)})
        on = ik.state
        assert np.array_equal(
            ik.nearest(task.targets).coordinates, other.nearest(task.targets, on).coordinates
        )


class TestOutOfReach:
    def test_the_refusal_says_how_near_it_came(self):
        with pytest.raises(bc.Unreachable, match=r"target 'lower.tip' by 0\.414 m") as refused:
            bc.inverse_kinematics(two_links(), {"lower.tip": (1.0, 1.0, 0.0)})
        nearest = refused.value.nearest
        assert nearest.misses[0][0] == pytest.approx(hypot(1.0, 1.0) - 1.0, abs=1e-8)
        assert violation(nearest.model, nearest.state) < 1e-9
        assert "lower.tip" in str(refused.value)

    def test_two_targets_that_one_body_cannot_meet(self):
        with pytest.raises(bc.Unreachable, match=r"'upper' by .* m, target 'lower.tip' by"):
            bc.inverse_kinematics(two_links(), {"upper": (0.3, 0.0, 0.0), "lower.tip": (0.0, 1.0, 0.0)})

    def test_what_starts_apart_is_refused(self):
        mech = bc.gallery.four_bar()
        ik = bc.InverseKinematics(mech)
        body = ik.model.bodies[1]
        bent = ik.model.initial.position.copy()
        bent[1] = np.nan
        with pytest.raises(bc.AssemblyError, match="constraints cannot be met"):
            ik({body: (0.0, 0.0, 0.0)}, bc.State(0.0, bent, *ik.model.initial.arrays[2:]))


GALLERY = [
    "four_bar",
    "stewart_platform",
    "bricard_linkage",
    "andrews_squeezer",
    "chain",
    "prosthetic_arm",
    "flyball_governor",
]


DURATIONS = {"andrews_squeezer": 0.03, "chain": 2.0}  # s; after that a chain is bent


@pytest.mark.parametrize("name", GALLERY)
def test_places_that_a_run_passes_through_are_reached(name):
    """Whatever the topology: the pose that a body has in a run is one that the mechanism can give it."""
    mech = bc.gallery.chain(12) if name == "chain" else getattr(bc.gallery, name)()
    run = bc.simulate(mech, DURATIONS.get(name, 0.3))
    ik = bc.InverseKinematics(mech)
    body = ik.model.bodies[-1]
    for k in (len(run) // 2, len(run) - 1):
        at = run.body(body)
        found = ik({body: (at.position[k], at.rotation[k])})
        assert violation(ik.model, found.state) < 1e-8
        assert np.allclose(found.state.position[-1], at.position[k], atol=1e-7)


@pytest.mark.parametrize("seed", [4, 28, 37, 41])
def test_rounding_beside_light_bodies_hides_no_way(seed):
    """Masses over twelve decades, gears, loops: poses of a run are met without restarts."""
    mech = random_mechanism(seed)
    run = bc.simulate(mech, 0.3, method="rk4", step=1e-3)
    ik = bc.InverseKinematics(mech, restarts=0)
    for body in ik.model.bodies:
        at, k = run.body(body), len(run) // 5
        for aim in ((at.position[k], at.rotation[k]), at.position[k]):
            assert ik.nearest({body: aim}, ik.model.initial).reached, body


class TestDrives:
    def test_they_are_open_and_what_they_would_lead_to_is_known(self):
        mech = two_links()
        mech.add_drive("motor", "shoulder", position=bc.Harmonic(0.3, 2.0))
        found = bc.inverse_kinematics(mech, {"lower.tip": (0.2, 0.7, 0.0)})
        assert found.drives == {"motor": pytest.approx(float(found.joint("shoulder")[0]))}
        held = bc.InverseKinematics(mech, held="motor")
        near = held.nearest({"lower.tip": (0.2, 0.7, 0.0)})
        assert not near.reached
        assert near.joint("shoulder")[0] == pytest.approx(
            held.model.coordinate_values(held.model.initial)[held.model.joint("shoulder").coordinates[0]]
        )

    def test_inputs_of_drives_that_hold(self):
        mech = two_links()
        mech.add_drive("motor", "shoulder", position=bc.Input("angle", 0.0, "rad") * 1.0)
        ik = bc.InverseKinematics(mech, held=["motor"])
        ik.set_inputs({"angle": 0.7})
        near = ik.nearest({"lower.tip": (0.2, 0.7, 0.0)})
        assert near.joint("shoulder")[0] == pytest.approx(0.7, abs=1e-9)


@pytest.mark.parametrize(
    ("targets", "rule"),
    [
        ({}, "mapping of markers"),
        ([1], "mapping of markers"),
        ({"lower.top": (0, 0, 0)}, "no marker of this name"),
        ({"hand": (0, 0, 0)}, "no body or marker"),
        ({"ground": (0, 0, 0)}, "the ground goes nowhere"),
        ({("lower", (0, 0)): (0, 0, 0)}, "the point"),
        ({"lower": (0, 0)}, "the position|asks for"),
        ({"lower": (None, None)}, "asks for nothing"),
        ({"lower": (0, float("nan"), 0)}, "finite"),
        ({"lower": ((0, 0, 0), (1, 1, 0, 0))}, "unit quaternion"),
        ({7: (0, 0, 0)}, "marker is needed"),
    ],
)
def test_bad_targets_are_refused_by_name(targets, rule):
    with pytest.raises(bc.MechanismError, match=rule):
        bc.InverseKinematics(two_links())(targets)


@pytest.mark.parametrize("options", [{"tolerance": 0.0}, {"steps": 0}, {"restarts": -1}, {"held": ["no"]}])
def test_bad_options_are_refused(options):
    with pytest.raises(bc.MechanismError):
        bc.InverseKinematics(two_links(), **options)


@pytest.mark.parametrize(
    ("mechanism", "target", "size"),
    [("prosthetic_arm", "hand.wrist", 0.03), ("stewart_platform", "platform", 0.1)],
)
@pytest.mark.timed
def test_a_prepared_question_takes_less_than_a_millisecond(mechanism, target, size):
    ik = bc.InverseKinematics(
        getattr(bc.gallery, mechanism)(
            *([Posture(flexion=0.4, abduction=0.2, elbow=0.9)] if mechanism == "prosthetic_arm" else [])
        )
    )
    number = ik.model.body_number(target.split(".")[0])
    begin, source, took = ik.model.initial.position[number], np.random.default_rng(1), []
    for _ in range(60):
        aim = begin + source.uniform(-size, size, 3)
        begun = perf_counter()
        found = ik({target: (aim, (1.0, 0.0, 0.0, 0.0)) if target == "platform" else aim})
        took.append(perf_counter() - begun)
        assert found.reached
    assert np.median(took) < 1e-3
