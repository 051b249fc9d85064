"""Initial positions and velocities of joints: exact, guessed, or by formulas; refused where they clash."""

import math

import numpy as np
import pytest

import bellcrank as bc
import bellcrank.expression as ex
from bellcrank.analysis.statics import find_equilibrium
from bellcrank.expression.compiled import evaluate
from bellcrank.io import dumps, schema
from bellcrank.mechanism.rotation import matrix
from bellcrank.run.advance import Outcome
from bellcrank.run.ending import explain
from bellcrank.run.plan import method_options

Y = {"axis": (0, 1, 0)}


INERTIA = (0.01, 0.1, 0.1)


def arm(first=None, second=None, **placed):
    """Two links along x from the origin, hinged about y; each gets the keywords of its joint."""
    mech = bc.Mechanism("arm", gravity=(0, 0, -9.81))
    a = mech.add_body("a", 1.0, INERTIA, com=(0.5, 0, 0))
    b = mech.add_body("b", 2.0, INERTIA, com=(0.5, 0, 0), position=(1, 0, 0), **placed)
    mech.add_joint("h1", bc.Revolute(), mech.ground.marker(**Y), a.marker(**Y), **(first or {}))
    mech.add_joint("h2", bc.Revolute(), a.marker((1, 0, 0), **Y), b.marker(**Y), **(second or {}))
    return mech


def four_bar(crank=None, rocker=None):
    mech = bc.Mechanism("four-bar", gravity=(0, -9.81, 0))

    def bar(name, length, **pose):
        steel = bc.Box(size=(length, 0.02, 0.008), position=(length / 2, 0, 0), density=7850.0)
        return mech.add_body(name, shapes=[steel], **pose)

    one, two = bar("crank", 0.12), bar("coupler", 0.36, position=(0.12, 0, 0))
    three = bar("rocker", 0.28, position=(0.40, 0, 0), rotation=(0.6, 0, 0, 0.8))
    mech.add_joint("pivot 1", bc.Revolute(), mech.ground, one, **(crank or {}))
    mech.add_joint("pin 1", bc.Revolute(), one.marker((0.12, 0, 0)), two)
    mech.add_joint("pin 2", bc.Revolute(), two.marker((0.36, 0, 0)), three.marker((0.28, 0, 0)))
    mech.add_joint("pivot 2", bc.Revolute(), mech.ground.marker((0.40, 0, 0)), three, **(rocker or {}))
    return mech


def starts(mech, *names):
    """Positions and velocities of joints in the first frame."""
    run = bc.simulate(mech, 1e-3)
    return [(run.joint(n).position[0].tolist(), run.joint(n).velocity[0].tolist()) for n in names]


@pytest.mark.parametrize("angle", [0.3, -2.0, math.pi, 4.0, 25.0])
@pytest.mark.parametrize("elbow", [0.0, 1.2])
def test_what_hangs_on_a_joint_moves_along(angle, elbow):
    """Turned about y: the elbow lies at (cos, 0, -sin); the other link keeps its angle against the first."""
    mech = arm({"position": angle, "velocity": 3.0}, {"position": elbow, "velocity": -5.0})
    bc.assemble(mech)
    c, s = math.cos(angle), math.sin(angle)
    b = mech.bodies["b"]
    assert b.position == pytest.approx((c, 0, -s), abs=1e-12)
    assert b.velocity == pytest.approx((-3 * s, 0, -3 * c), abs=1e-12)
    assert b.angular_velocity == pytest.approx((0, -2, 0), abs=1e-12)
    assert mech.bodies["a"].angular_velocity == pytest.approx((0, 3, 0), abs=1e-12)
    (first, second) = starts(mech, "h1", "h2")
    assert np.ravel(first) == pytest.approx([angle, 3.0], abs=1e-12)
    assert np.ravel(second) == pytest.approx([elbow, -5.0], abs=1e-12)


def test_a_joint_that_is_not_given_keeps_its_angle_and_its_rate():
    """The second link is placed at 0.5 rad and 2 rad/s; the first is turned, and both stay."""
    q = (math.cos(0.25), 0, math.sin(0.25), 0)
    mech = arm({"position": 1.0}, None, rotation=q, angular_velocity=(0, 2, 0))
    (first, second) = starts(mech, "h1", "h2")
    assert np.ravel(first) == pytest.approx([1.0, 0.0], abs=1e-12)
    assert np.ravel(second) == pytest.approx([0.5, 2.0], abs=1e-12)


def test_a_joint_given_from_the_moving_body_to_the_ground():
    """The bodies' order turns the sign, not who is carried."""
    mech = bc.Mechanism("reversed")
    a = mech.add_body("a", 1.0, INERTIA, com=(0.5, 0, 0))
    mech.add_joint("h", bc.Revolute(), a.marker(**Y), mech.ground.marker(**Y), position=0.4, velocity=1.5)
    bc.assemble(mech)
    assert mech.bodies["a"].rotation == pytest.approx((math.cos(0.2), 0, -math.sin(0.2), 0), abs=1e-12)
    assert mech.bodies["a"].angular_velocity == pytest.approx((0, -1.5, 0), abs=1e-12)


def test_assembling_twice_changes_nothing():
    mech = arm({"position": 4.0, "velocity": 2.0}, {"position": -0.3})
    assert bc.assemble(mech).changed
    assert not bc.assemble(mech).changed


@pytest.mark.parametrize("angle", [0.6, 1.9, -2.5, 7.0])
def test_a_loop_is_led_there(angle):
    """Crank and rocker as in a kinematic run that turns the crank from where it was placed."""
    mech = four_bar({"position": angle, "velocity": 3.0})
    crank, rocker = starts(mech, "pivot 1", "pivot 2")
    assert np.ravel(crank) == pytest.approx([angle, 3.0], abs=1e-11)
    led = four_bar()
    led.add_drive("turn", "pivot 1", position=bc.Polynomial((0.0, math.copysign(3.0, angle))))
    told = bc.kinematics(led, abs(angle) / 3.0)
    sign = math.copysign(1.0, angle)
    expected = [told.joint("pivot 2").position[-1, 0], sign * told.joint("pivot 2").velocity[-1, 0]]
    assert np.ravel(rocker) == pytest.approx(expected, abs=1e-9)


def test_a_loop_that_hangs_on_a_posed_joint_is_carried_as_it_is():
    """A four-bar on a turntable: turned as a whole, without any correction."""
    mech = bc.Mechanism("turntable", gravity=(0, 0, 0))
    table = mech.add_body("table", 1.0, (0.1, 0.1, 0.1))
    mech.add_joint("table", bc.Revolute(), mech.ground, table, position=2.0, velocity=1.0)
    inner = four_bar()
    bc.assemble(inner)
    mech.place(inner, "bars", attach_to=table)
    bc.assemble(mech)
    turn = bc.rotation("z", 2.0)
    from bellcrank.mechanism.rotation import rotate

    for name, body in inner.bodies.items():
        placed = mech.bodies[f"bars/{name}"]
        where = np.array(rotate(turn, body.position))
        assert placed.position == pytest.approx(where, abs=1e-11)
        assert placed.velocity == pytest.approx(np.cross((0, 0, 1.0), where), abs=1e-11)


@pytest.mark.parametrize(
    ("kind", "given", "position", "velocity"),
    [
        (bc.Cylindrical(), {"position": {"z": 0.2}, "velocity": {"theta_z": 3.0}}, [0.2, 0], [0, 3.0]),
        (bc.Cylindrical(), {"position": (0.1, 9.0), "velocity": (1.0, 2.0)}, [0.1, 9.0], [1.0, 2.0]),
        (bc.Spherical(), {"position": (0.1, -0.2, 0.3)}, [0.1, -0.2, 0.3], [0, 0, 0]),
        (bc.Universal(), {"position": (0.4, 0.2), "velocity": np.array([1.0, -1.0])}, [0.4, 0.2], [1, -1]),
        (bc.Screw(pitch=0.01), {"position": 20.0, "velocity": 5.0}, [20.0], [5.0]),
        (bc.Free(), {"position": {"x": 1.0}, "velocity": {"z": 2.0}}, [1, 0, 0, 0, 0, 0], [0, 0, 2, 0, 0, 0]),
        (bc.Prismatic(), {"position": 0.3, "velocity": -2.0}, [0.3], [-2.0]),
    ],
)
def test_kinds_with_several_coordinates(kind, given, position, velocity):
    mech = bc.Mechanism("one", gravity=(0, 0, 0))
    body = mech.add_body("body", 1.0, (0.1, 0.2, 0.3))
    mech.add_joint("joint", kind, mech.ground, body, **given)
    ((p, v),) = starts(mech, "joint")
    assert p == pytest.approx(position, abs=1e-12)
    assert v == pytest.approx(velocity, abs=1e-12)


def test_a_gear_train_runs_as_one_of_its_wheels_is_told():
    mech = bc.Mechanism("gears", gravity=(0, 0, 0))
    one = mech.add_body("one", 1.0, (0.01, 0.01, 0.02))
    two = mech.add_body("two", 1.0, (0.01, 0.01, 0.02), position=(0.3, 0, 0))
    mech.add_joint("j1", bc.Revolute(), mech.ground, one, velocity=20.0, position=0.7)
    mech.add_joint("j2", bc.Revolute(), mech.ground.marker((0.3, 0, 0)), two)
    mech.add_constraint("mesh", bc.Gear(radii=(0.1, 0.2)), one, two)
    first, second = starts(mech, "j1", "j2")
    assert np.ravel(first) == pytest.approx([0.7, 20.0], abs=1e-12)
    assert np.ravel(second) == pytest.approx([0.0, -10.0], abs=1e-12)


@pytest.mark.parametrize(
    ("mech", "says"),
    [
        (lambda: four_bar({"position": 1.0}, {"position": -1.0}), "position of joint 'pivot 1'"),
        (lambda: four_bar({"velocity": 1.0}, {"velocity": -8.0}), "velocity of joint 'pivot 1'"),
    ],
)
def test_contradictions_are_named(mech, says):
    with pytest.raises(bc.AssemblyError, match=r"contradict|different motions") as caught:
        bc.assemble(mech())
    assert says in str(caught.value)
    assert "pivot 2" in str(caught.value)


def test_a_drive_that_starts_elsewhere_contradicts():
    mech = arm({"position": 1.0})
    mech.add_drive("motor", "h1", position=0.5)
    with pytest.raises(bc.AssemblyError, match="position of joint 'h1'"):
        bc.assemble(mech)


def test_a_velocity_drive_goes_on_from_the_given_position():
    mech = arm({"position": 4.0})
    mech.add_drive("motor", "h1", velocity=2.0)
    run = bc.simulate(mech, 0.5)
    assert run.joint("h1").position[[0, -1], 0] == pytest.approx([4.0, 5.0], abs=1e-10)


def test_a_limit_beyond_half_a_turn_counts_from_the_given_position():
    """At 6 rad, with a stop at 6.1: the arm comes to rest there, not a turn later."""
    mech = arm({"position": 6.0, "velocity": 1.0, "limits": bc.Limit(upper=6.1)}, {})
    mech.gravity = (0, 0, 0)
    run = bc.simulate(mech, 0.5)
    assert run.joint("h1").position.max() == pytest.approx(6.1, abs=1e-9)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"position": (1.0, 2.0)}, "a number for each free coordinate"),
        ({"position": np.array("x")}, "must be a number"),
        ({"position": {"theta_x": 1.0}}, "does not let this coordinate move"),
        ({"position": math.nan}, "must be finite"),
        ({"velocity": "fast"}, "must be a number"),
        ({"velocity": {"theta": 1.0}}, "this is not a coordinate"),
    ],
)
def test_faults(given, says):
    with pytest.raises(bc.MechanismError, match=says) as caught:
        arm(given)
    assert "joint 'h1'" in str(caught.value)


X, AXIS_Y, Z = bc.symbol("x"), bc.symbol("y"), bc.symbol("z")


def angle(mech, name):
    return starts(mech, name)[0][0][0]


@pytest.mark.parametrize("guess", [0.3, -2.0, 4.0, 25.0])
def test_outside_loops_a_joint_starts_at_its_guess(guess):
    mech = arm({"guess": guess}, {"guess": 0.4, "velocity": 2.0})
    assert bc.assemble(mech).method == "joint positions"
    (first, second) = starts(mech, "h1", "h2")
    assert np.ravel(first) == pytest.approx([guess, 0.0], abs=1e-12)
    assert np.ravel(second) == pytest.approx([0.4, 2.0], abs=1e-12)


@pytest.mark.parametrize("crank", [0.6, 1.9, -2.5])
def test_a_loop_starts_at_a_guess_that_it_can_reach(crank):
    """As where the crank is stated exactly, but for the branch, which follows from the guess."""
    assert angle(four_bar({"guess": crank}), "pivot 1") == pytest.approx(crank, abs=1e-9)


def test_guesses_select_the_branch_of_a_loop():
    """The rocker of one crank angle on either side of the line to the crank's pin."""
    angles = [angle(four_bar({"position": 0.9}, {"guess": rocker}), "pivot 2") for rocker in (1.9, -2.4)]
    c, s = 0.12 * math.cos(0.9) - 0.40, 0.12 * math.sin(0.9)
    reach, turn = math.hypot(c, s), math.atan2(s, c)
    half = math.acos((reach**2 + 0.28**2 - 0.36**2) / (2 * reach * 0.28))
    assert angles[0] == pytest.approx(turn - half, abs=1e-9)
    assert math.remainder(angles[1] - turn - half, 2 * math.pi) == pytest.approx(0.0, abs=1e-9)


def test_guesses_that_contradict_each_other_are_left_as_little_as_possible():
    """Two cranks of a parallelogram, which turn alike: they meet between the two guesses."""
    mech = bc.Mechanism("parallelogram", gravity=(0, 0, 0))
    for k, guess in enumerate((0.5, 0.6)):
        crank = mech.add_body(f"crank {k}", 1.0, (0.01, 0.01, 0.01), position=(float(k), 0, 0))
        mech.add_joint(f"pivot {k}", bc.Revolute(), mech.ground.marker((float(k), 0, 0)), crank, guess=guess)
    rod = mech.add_body("rod", 1.0, (0.01, 0.01, 0.01), position=(0.3, 0, 0))
    mech.add_joint("pin 0", bc.Revolute(), mech.bodies["crank 0"].marker((0.3, 0, 0)), rod)
    mech.add_joint("pin 1", bc.Revolute(), mech.bodies["crank 1"].marker((0.3, 0, 0)), rod.marker((1, 0, 0)))
    exact = mech.copy()
    for k, stated in enumerate((0.5, 0.6)):
        exact.replace(exact.joints[f"pivot {k}"], guess=(), position=stated)
    with pytest.raises(bc.AssemblyError):
        bc.assemble(exact)
    bc.assemble(mech)
    turned = [dict(mech.joints[f"pivot {k}"].guess)["theta_z"] for k in (0, 1)]
    assert turned[0] == pytest.approx(turned[1], abs=1e-9)
    assert 0.5 <= turned[0] <= 0.6


def test_a_guess_gives_way_to_a_limit_and_to_a_position():
    mech = arm({"guess": 0.2, "limits": bc.Limit(0.3, 1.0)}, {"position": 0.7})
    assert np.ravel([angle(mech, "h1"), angle(mech, "h2")]) == pytest.approx([0.3, 0.7], abs=1e-9)


def test_whole_turns_of_a_guess_give_way_to_a_gear():
    """Its phase is stated: the second wheel is twenty turns back, whatever is guessed of it."""
    mech = bc.Mechanism("gears", gravity=(0, 0, 0))
    for k, start in enumerate(({"position": 40 * math.pi}, {"guess": 0.0})):
        wheel = mech.add_body(f"w{k}", 1.0, (0.01, 0.01, 0.02), position=(float(k), 0, 0))
        mech.add_joint(f"j{k}", bc.Revolute(), mech.ground.marker((float(k), 0, 0)), wheel, **start)
    mech.add_constraint("mesh", bc.Coupling((1.0, 1.0), 0.0), "j0", "j1")
    assert angle(mech, "j1") == pytest.approx(-40 * math.pi, abs=1e-9)


@pytest.mark.parametrize(
    "mech",
    [arm({"guess": 4.0}, {"guess": -0.3}), four_bar({"guess": 0.8}, {"guess": 2.0})],
    ids=["arm", "loop"],
)
def test_assembling_guesses_twice_changes_nothing(mech):
    assert bc.assemble(mech).changed
    held = mech.copy()
    assert not bc.assemble(mech).changed
    assert mech == held
    for joint in mech.joints.values():
        if joint.guess:
            assert angle(mech, joint.name) == pytest.approx(joint.guess[0][1], abs=1e-9)


def test_a_guess_that_is_an_expression_stays_one_unless_it_changes():
    for limit, kept in ((bc.Limit(-1.0, 1.0), True), (bc.Limit(0.5, 1.0), False)):
        mech = arm()
        swing = mech.add_parameter("swing", 0.25)
        mech.replace(mech.joints["h1"], guess=2 * swing - 0.2, limits=limit)
        report = bc.assemble(mech)
        assert isinstance(dict(mech.joints["h1"].guess)["theta_z"], float) is not kept
        assert ("its guess was given by an expression" in " ".join(report.notes)) is not kept


def test_equilibrium_takes_guesses_along():
    mech = arm({"guess": 0.3}, {"guess": 0.2})
    find_equilibrium(mech)
    assert dict(mech.joints["h1"].guess)["theta_z"] == pytest.approx(math.pi / 2, abs=1e-6)
    assert angle(mech, "h1") == pytest.approx(math.pi / 2, abs=1e-6)


def test_a_coordinate_has_a_position_or_a_guess():
    with pytest.raises(bc.MechanismError, match="exactly at its position, or about at its guess, not both"):
        arm({"guess": 0.3, "position": 0.3})
    with pytest.raises(bc.MechanismError, match="the guess must have a number for each free coordinate"):
        arm({"guess": (0.3, 0.4)})


@pytest.mark.parametrize("name", ["yaml", "json"])
def test_files_hold_guesses(name):
    mech = bc.loads(
        """
bellcrank: 1
bodies: {a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 1, inertia: [1, 1, 1]}}
joints:
  hinge: {type: Revolute, first: ground, second: a, guess: 30 deg}
  bolt: {type: Cylindrical, first: ground, second: b, position: {z: 1 mm}, guess: {theta_z: 2}}
""",
        "yaml",
    )
    assert dict(mech.joints["hinge"].guess) == {"theta_z": pytest.approx(math.pi / 6)}
    assert mech.joints["bolt"].guess == (("theta_z", 2.0),)
    assert bc.loads(dumps(mech, name), name) == mech
    assert "guess" in schema()["$defs"]["joint Revolute"]["properties"]


def euler(start=None, rotation=(1, 0, 0, 0), guess=None, limits=()):
    """A body on a joint that turns about z, y and z: at y = 0 the two turns about z are one."""
    mech = bc.Mechanism("euler", gravity=(0, 0, 0))
    body = mech.add_body("body", 1.0, (0.1, 0.2, 0.3), rotation=rotation)
    from bellcrank.expression import rotation_y, rotation_z

    kind = bc.CustomJoint((X, AXIS_Y, Z), rotation_z(X) @ rotation_y(AXIS_Y) @ rotation_z(Z), "rad")
    mech.add_joint("euler", kind, mech.ground, body, limits, start, guess=guess)
    return mech


def coordinates(mech):
    bc.assemble(mech)
    system = bc.prepare(mech)
    values = system.model.coordinate_values(system.state())
    return values[list(system.model.joint("euler").coordinates)]


@pytest.mark.parametrize("which", ["start", "guess"])
@pytest.mark.parametrize("given", [{"y": 0.5}, {"x": 0.5}, {"x": 0.5, "y": 0.1}, {"y": -0.7, "z": 2.5}])
def test_what_is_not_given_of_a_joint_at_a_pole_stays(which, given):
    expected = [given.get(name, 0.0) for name in "xyz"]
    assert coordinates(euler(**{which: given})) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("given", [None, {"y": 0.5}])
@pytest.mark.parametrize(("axis", "turn"), [("x", 0.3), ("y", -0.4), ("z", 0.6), ("x", 2.9)])
def test_poses_beside_a_pole_are_found_without_running_away(given, axis, turn):
    """The pose follows from the coordinates that were found, none of which turns more than half round."""
    found = coordinates(euler(given, bc.rotation(axis, turn)))
    assert np.max(np.abs(found)) <= math.pi + 1e-9
    mech = euler(
        dict(zip("xyz", found, strict=True)) if abs(found[1]) > 1e-3 else None, bc.rotation(axis, turn)
    )
    assert coordinates(mech) == pytest.approx(found, abs=1e-8)
    if given:
        assert found[1] == pytest.approx(0.5, abs=1e-9)
    else:
        assert abs(np.dot(mech.bodies["body"].rotation, bc.rotation(axis, turn))) == pytest.approx(
            1, abs=1e-12
        )


def test_a_joint_at_a_pole_starts_at_its_limit():
    found = coordinates(euler(limits={"y": bc.Limit(0.5, 1.0)}, guess={"y": 0.5}))
    assert found == pytest.approx([0.0, 0.5, 0.0], abs=1e-12)


U, V, W = bc.symbol("u"), bc.symbol("v"), bc.symbol("w")
KNOT = ((2 + ex.cos(3 * U)) * ex.cos(2 * U), (2 + ex.cos(3 * U)) * ex.sin(2 * U), ex.sin(3 * U))
SPHERE = (ex.cos(U) * ex.cos(V), ex.sin(U) * ex.cos(V), ex.sin(V))
FAR = {"position": (9.0, -7.0, 5.0), "rotation": (0.1, 0.7, -0.5, 0.5)}


def body(mech, name, **placed):
    return mech.add_body(name, mass=1.0, inertia=(0.1, 0.2, 0.15), **placed)


def unit(q):
    return tuple(float(x) for x in np.array(q) / np.linalg.norm(q))


def expected_pose(kind, values):
    """Of marker 2 seen from marker 1, from the kind's own transform."""
    pose = kind.transform
    formulas = [*pose.position, *(e for row in pose.rotation for e in row)]
    found = np.array(evaluate(formulas, dict(zip(kind.own_symbols, values, strict=True))))
    return found[:3], found[3:].reshape(3, 3)


@pytest.mark.parametrize("u", [-4.0, 0.3, 2.9, 11.0])
def test_along_a_knot_that_nearly_meets_itself(u):
    mech = bc.Mechanism(gravity=(0, 0, 0))
    a, b = body(mech, "a", **{**FAR, "rotation": unit(FAR["rotation"])}), body(mech, "b", position=(8, -7, 5))
    kind = bc.PathJoint(U, KNOT)
    mech.add_joint("wire", kind, mech.ground, a, position=u, velocity=1.5)
    mech.add_joint("next", bc.Revolute(), a.marker((0.5, 0, 0)), b, position=0.4)
    report = bc.assemble(mech)
    assert report.steps == 0
    assert report.method == "joint positions"
    at, R = expected_pose(kind, [u])
    np.testing.assert_allclose(mech.bodies["a"].position, at, atol=1e-14)
    np.testing.assert_allclose(matrix(mech.bodies["a"].rotation), R, atol=1e-13)
    slope = [
        (p - m) / 2e-6
        for p, m in zip(expected_pose(kind, [u + 1e-6])[0], expected_pose(kind, [u - 1e-6])[0], strict=True)
    ]
    np.testing.assert_allclose(mech.bodies["a"].velocity, 1.5 * np.array(slope), rtol=1e-7, atol=1e-7)
    for name in ("lagrange", "symbolic"):
        run = bc.simulate(mech, duration=0.01, step=1e-3, formulation=name)
        assert run.joint("wire").position[0, 0] == pytest.approx(u, abs=1e-12)


@pytest.mark.parametrize("swapped", [False, True])
def test_markers_off_the_frames_and_either_order_of_bodies(swapped):
    mech = bc.Mechanism(gravity=(0, 0, 0))
    a, b = body(mech, "a"), body(mech, "b", position=(1, 2, 3))
    tilt = {"rotation": unit((0.9, 0.2, -0.3, 0.1))}
    mech.add_joint("base", bc.Revolute(), mech.ground, a, position=0.7, velocity=0.5)
    ends = [a.marker((0.1, 0.2, 0.3), **tilt), b.marker((0.3, -0.2, 0.1), **tilt)]
    kind = bc.SurfaceJoint((U, V), SPHERE, spin=W)
    start, rates = {"u": 0.4, "v": 0.9, "w": -2.0}, {"u": 0.3, "v": -0.2, "w": 1.0}
    mech.add_joint("ball", kind, *(reversed(ends) if swapped else ends), position=start, velocity=rates)
    report = bc.assemble(mech)
    assert report.steps == 0
    assert report.error < 1e-13
    system = bc.prepare(mech, "lagrange")
    record = system.model.joint("ball")
    values, speeds = system.core.coordinates()
    np.testing.assert_allclose(values[list(record.coordinates)], list(start.values()), atol=1e-12)
    np.testing.assert_allclose(speeds[list(record.coordinates)], list(rates.values()), atol=1e-12)


def test_what_is_not_given_stays_near():
    mech = bc.Mechanism(gravity=(0, 0, 0))
    a = body(mech, "a", position=(0.0, 1.05, 0.1), rotation=unit((1.0, -1.0, 0.0, 0.0)))
    mech.add_joint("ball", bc.SurfaceJoint((U, V), SPHERE, spin=W), mech.ground, a, position={"u": 1.4})
    bc.assemble(mech)
    assert np.linalg.norm(np.array(mech.bodies["a"].position) - (0.0, 1.05, 0.1)) < 0.3
    assert np.arctan2(mech.bodies["a"].position[1], mech.bodies["a"].position[0]) == pytest.approx(
        1.4, abs=1e-9
    )


@pytest.mark.parametrize(
    ("kind", "start", "said"),
    [
        (bc.SurfaceJoint((U, V), SPHERE, spin=W), (0.3, np.pi / 2, 0.1),
         "at u = 0.3, v = 1.5708, w = 0.1 it hardly moves with u and w"),
        (bc.PathJoint(U, (U**2, U**3, 0)), 0.0, "joint 'j': it cannot start here: its formulas have"),
        (bc.PathJoint(U, (U, U**3, 0)), 0.0, "have no finite value or derivative at u = 0"),
        (bc.CustomJoint(U, ex.translation(ex.sqrt(U), 0, 0)), -1.0, "no finite value or derivative at"),
        (bc.CustomJoint(U, ex.translation(U**2, 0, 0)), 0.0, "no finite value|hardly moves with u|pole"),
    ],
)  # fmt: skip
def test_starts_that_cannot_be(kind, start, said):
    mech = bc.Mechanism()
    mech.add_joint("j", kind, mech.ground, body(mech, "a"), position=start)
    with pytest.raises(bc.MechanismError, match=said):
        bc.assemble(mech)


def test_a_run_into_a_pole_says_so():
    mech = bc.Mechanism(gravity=(0.1, 0, -9.81))
    start, rates = {"u": 0.3, "v": 0.5, "w": 0.0}, {"u": 0.0, "v": 1.0, "w": 0.0}
    kind = bc.SurfaceJoint((U, V), SPHERE, spin=W)
    mech.add_joint("ball", kind, mech.ground, body(mech, "a"), position=start, velocity=rates)
    with pytest.raises(bc.SimulationError, match=r"joint 'ball' \(SurfaceJoint\) ran into a pole"):
        bc.simulate(mech, duration=3.0, formulation="symbolic", method="rk4", step=1e-2)


def test_a_pole_at_hand_is_named():
    mech = bc.Mechanism()
    kind = bc.SurfaceJoint((U, V), SPHERE, spin=W)
    mech.add_joint("ball", kind, mech.ground, body(mech, "a"), position=(0.3, 1.55, 0.0))
    bc.assemble(mech)
    system = bc.prepare(mech, "symbolic")
    outcome = Outcome("step_vanished", 0.5, 10, 0, 0, 1e-3, 0.0, 1, 1, 0, 0, 0, 0, -1)
    told = explain(system.model, system.core, method_options("dopri5", 1.0), outcome).message
    assert "joint 'ball': at u = 0.3, v = 1.55, w = " in told
    assert "it hardly moves with u and w (a pole or a cusp)" in told
    assert "jumps" not in told
