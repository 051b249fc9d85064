"""What was built is changed by commands of a page: values, names, sizes, copies; each is one step."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rigs.live import COUPLER, CRANK, four_bar, mechanism, place, until

import bellcrank as bc
from bellcrank.io.encode import encoded
from bellcrank.mechanism.copying import array_bodies, copy_bodies, mirror_bodies
from bellcrank.mechanism.reshaping import move_point, set_length
from bellcrank.shell.interpreter import Shell
from bellcrank.viewer.session import live


@pytest.fixture
def session(tmp_path):
    with live(bc.Mechanism("bench", gravity=(0.0, 0.0, -9.81)), folder=tmp_path) as opened:
        four_bar(opened)
        yield opened


def played(session, time=0.3):
    session.do("play")
    until(session, lambda now: now.time > time)
    session.do("pause")
    return session.snapshot


def far(session, one, two):
    return float(np.linalg.norm(place(session, one) - place(session, two)))


def closed(session):
    """How far ends of joints are from each other, m."""
    pairs = [("crank.end", "coupler.start"), ("coupler.end", "rocker.start")]
    return max(far(session, *pair) for pair in pairs)


@pytest.mark.parametrize(
    ("path", "value", "found"),
    [
        (["bodies", "coupler", "mass"], 2.5, lambda m: m.bodies["coupler"].mass == 2.5),
        (["bodies", "coupler", "mass"], "500 g", lambda m: m.bodies["coupler"].mass == 0.5),
        (["bodies", "coupler", "shapes", 0, "radius"], "30 mm",
         lambda m: m.bodies["coupler"].shapes[0].radius == 0.03),
        (["bodies", "coupler", "color"], [1.0, 0.5, 0.0],
         lambda m: m.bodies["coupler"].shapes[0].color == (1.0, 0.5, 0.0)),
        (["drives", "motor of O", "velocity"], -3.0, lambda m: m.drives["motor of O"].velocity.value == -3.0),
        (["gravity"], [0.0, 0.0, -1.62], lambda m: m.gravity == (0.0, 0.0, -1.62)),
        (["gravity", 2], -3.7, lambda m: m.gravity == (0.0, 0.0, -3.7)),
        (["name"], "linkage", lambda m: m.name == "linkage"),
        (["joints", "B", "limits"], {"lower": -3.0, "upper": 3.0}, lambda m: m.joints["B"].limits),
        (["bodies", "coupler", "name"], "bar", lambda m: m.joints["B"].marker_1.body == "bar"),
        (["joints", "B", "name"], "knee", lambda m: "knee" in m.joints and "B" not in m.joints),
    ],
    ids=lambda part: "-".join(map(str, part)) if isinstance(part, list) else None,
)  # fmt: skip
def test_values_are_edited_in_one_step_while_time_and_record_stay(session, path, value, found):
    stood, before = played(session), mechanism(session)
    assert not found(before)
    session.do("edit", path=path, value=value, by="page")
    now = session.snapshot
    assert found(mechanism(session))
    assert now.time == stood.time
    assert now.past[1] == stood.past[1]
    assert now.past == stood.past or path[-1] == "name"  # of bodies by other names nothing is recorded
    assert_allclose(now.position, stood.position, atol=1e-9)
    line = now.log[-1]
    assert (line.by, line.ok) == ("page", True)
    assert line.line.split()[0] in ("edit", "rename")
    session.do("undo")
    assert mechanism(session) == before
    session.do("redo")
    assert found(mechanism(session))
    session.do("play")
    until(session, lambda now: now.time > stood.time + 0.1)


def test_the_log_of_edits_builds_the_same_again(session):
    """Each line could have been typed: a shell that is given all of them has the same mechanism."""
    session.do("edit", path=["bodies", "coupler", "mass"], value="500 g")
    session.do("length", body="crank", first=[-0.5 * CRANK, 0, 0], second=[0.5 * CRANK, 0, 0], value=0.25)
    session.do("rename", table="bodies", name="rocker", to="my lever")
    session.do("add", noun="parameter", name="k", fields={"value": 100.0, "unit": "N/m"})
    spring = session.do("add", noun="force", kind="SpringDamper", ends=["crank.end", {"body": "ground",
    "point": [0, 0, 1]}],
                        fields={"stiffness": "k", "rest_length": 0.5})  # fmt: skip
    session.do("edit", path=["forces", spring, "damping"], value=3.0)
    session.do("copy", names=["crank"], offset=[0.0, 1.0, 0.0])
    shell = Shell()
    for entry in session.snapshot.log:
        assert shell.execute(entry.line).ok, entry
    again, built = shell.session.mechanism, mechanism(session)
    built.name = again.name
    built.gravity = again.gravity
    assert list(again.bodies) == list(built.bodies)
    assert {n: b.mass for n, b in again.bodies.items()} == {n: b.mass for n, b in built.bodies.items()}
    assert encoded(again)["forces"] == encoded(built)["forces"]
    assert {n: m.position for n, m in again.markers.items()} == {
        n: m.position for n, m in built.markers.items()
    }


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["bodies", "nobody", "mass"], 1.0), (["bodies", "crank", "mass"], -1.0), (["bodies", "crank",
        "weight"], 1.0), (["bodies", "crank", "mass"], "2 m"), (["bodies", "crank", "shapes", 7, "radius"],
        1.0), ([], 1.0), (["bodies", "crank", "mass", "more"], 1.0), (["nothing"], 1.0), ("mass", 1.0),
        (["bodies", None], 1.0), (["joints", "A", "type"], "Wheel"), (["bellcrank"], 2), (["joints", "A",
        "first"], "nobody"), (["joints", "A", "axis"], [0.0, 0.0, 0.0]), (["bodies", "crank", "name"],
        "rocker"), (["bodies"], None), (["bodies", "crank"], None), (["bodies", "crank", "mass"],
        float("nan")), (["bodies", "crank", "mass"], {1: object}),
    ],
    ids=lambda part: str(part)[:40],
)  # fmt: skip
def test_what_cannot_be_is_refused_and_changes_nothing(session, path, value):
    played(session, 0.1)
    before, stood = mechanism(session), session.snapshot
    with pytest.raises(bc.MechanismError):
        session.do("edit", path=path, value=value)
    assert mechanism(session) == before
    assert session.snapshot.time == stood.time
    assert_allclose(session.snapshot.position, stood.position, atol=1e-12)


def test_an_axis_and_a_place_are_of_both_ends(session):
    session.do("edit", path=["joints", "C", "at"], value=[1.2, 0.0, 0.0])
    until(session, lambda now: now.status == "paused" and not now.moving)
    assert_allclose(place(session, "rocker.end"), [1.1, 0.0, 0.0], atol=0.2)
    made = mechanism(session)
    report = bc.info(made)
    assert report.freedom == 0  # the motor drives it
    session.do("edit", path=["joints", "B", "axis"], value=[0.0, 1.0, 0.0])
    assert session.snapshot.status == "paused"
    joint = mechanism(session).joints["B"]
    for marker in (joint.marker_1, joint.marker_2):
        assert abs(marker.z_axis[1]) == pytest.approx(1.0)


@pytest.mark.parametrize("runs", [False, True])
def test_a_length_is_set_and_the_mechanism_follows(session, runs):
    if runs:
        played(session)
    stood = session.snapshot
    ends = [list(mechanism(session).markers[f"coupler.{end}"].position) for end in ("start", "end")]
    session.do("length", body="coupler", first=ends[0], second=ends[1], value=1.1)
    assert far(session, "coupler.start", "coupler.end") == pytest.approx(1.1)
    assert closed(session) < 1e-6
    now = session.snapshot
    assert (now.status, now.time) == ("paused", stood.time)
    assert now.past == stood.past
    made = mechanism(session).bodies["coupler"]
    assert made.mass == COUPLER
    assert made.shapes[0].length == pytest.approx(1.1)
    session.do("undo")
    assert far(session, "coupler.start", "coupler.end") == pytest.approx(COUPLER)


def test_a_point_is_dragged_in_parts_and_one_step_takes_it_back(session):
    before = mechanism(session)
    point = list(before.markers["coupler.end"].position)
    entries = len(session.snapshot.log)
    for k in range(1, 6):
        to = [point[0] + 0.02 * k, 0.0, 0.01 * k]
        session.do("reshape", body="coupler", point=point, to=to, part=k < 5)
        assert closed(session) < 1e-6
        assert session.snapshot.status == "paused"
    length = np.hypot(COUPLER + 0.1, 0.05)
    assert far(session, "coupler.start", "coupler.end") == pytest.approx(length)
    new = session.snapshot.log[entries:]
    assert [one.line.split()[0] for one in new if one.line.startswith("reshape")] == ["reshape"]
    session.do("undo")
    assert far(session, "coupler.start", "coupler.end") == pytest.approx(COUPLER)
    assert mechanism(session).bodies["coupler"] == before.bodies["coupler"]


def test_elements_of_any_kind_are_added(session):
    fields = {"stiffness": 1e5}
    made = session.do("add", noun="force", kind="Contact", ends=["crank", "rocker"], fields=fields)
    assert made == "contact1"
    assert session.do("add", noun="sensor", kind="IMU", ends=["coupler"]) == "iMU1"
    ends = ["crank.middle", "coupler.middle"]
    assert session.do("add", noun="joint", kind="Spherical", ends=ends, name="ball") == "ball"
    session.do("undo")
    session.do("remove", name="motor of O")
    wheel = session.do("add_body", kind="wheel", position=[0.0, 0.3, 0.0])
    ground = {"body": "ground", "point": [0, 0.3, 0]}
    hub = session.do("join", kind="Revolute", first=ground, second={"marker": f"{wheel}.hub"})
    gear = session.do("add", noun="constraint", kind="Gear", ends=["O", hub], fields={"ratio": 2.0})
    assert mechanism(session).constraints[gear].kind.ratio == 2.0
    with pytest.raises(bc.MechanismError):
        session.do("add", noun="constraint", kind="Gear", ends=["O"], fields={})
    with pytest.raises(bc.MechanismError):
        session.do("add", noun="house", kind="Gear")


def test_a_rod_goes_from_point_to_point(session):
    name = session.do("rod", start=[1.0, 0.0, 2.0], end=[2.0, 1.0, 3.0])
    assert_allclose(place(session, f"{name}.start"), [1.0, 0.0, 2.0], atol=1e-9)
    assert_allclose(place(session, f"{name}.end"), [2.0, 1.0, 3.0], atol=1e-9)
    tip = place(session, "crank.end")
    hinges = [[0, {"marker": "crank.end"}, [0, 1, 0]]]
    joints = len(mechanism(session).joints)
    other = session.do("rod", start=tip.tolist(), end=[3.0, 0.0, 0.0], hinges=hinges)
    assert session.snapshot.status == "paused"  # it fits
    assert len(mechanism(session).joints) == joints + 1
    session.do("undo")
    assert other not in mechanism(session).bodies
    assert len(mechanism(session).joints) == joints
    for wrong in ([[2, {"marker": "crank.end"}, [0, 1, 0]]], 7, [[0, {"marker": "no"}, [0, 1, 0]]], [[0]]):
        with pytest.raises(bc.MechanismError):
            session.do("rod", start=[0, 0, 0], end=[1, 0, 0], hinges=wrong)
    with pytest.raises(bc.MechanismError, match="one point"):
        session.do("rod", start=[1.0, 0.0, 2.0], end=[1.0, 0.0, 2.0])


def test_a_linkage_is_copied_mirrored_and_arranged(session):
    whole = ["crank", "coupler", "rocker"]
    made = session.do("copy", names=whole, offset=[0.0, 1.0, 0.0])["names"]
    assert len(made) == 3
    now = mechanism(session)
    assert len(now.joints) == 8
    assert len(now.drives) == 2
    mirrored = session.do("mirror", names=whole, normal=[1.0, 0.0, 0.0], point=[-0.5, 0.0, 0.0])["names"]
    assert session.snapshot.status == "paused"  # it fits
    session.do("play")
    until(session, lambda now: now.time > 0.3)
    session.do("pause")
    now = session.snapshot
    for name, other in zip(whole, mirrored, strict=True):
        one, two = (now.position[now.bodies.index(n)] for n in (name, other))
        assert_allclose(two, [-1.0 - one[0], one[1], one[2]], atol=1e-6)
    for name, other in zip(whole, made, strict=True):
        one, two = (now.position[now.bodies.index(n)] for n in (name, other))
        assert_allclose(two, np.add(one, (0.0, 1.0, 0.0)), atol=1e-6)
    assert len(session.do("array", names=["crank"], count=4, angle="90 deg", axis=[0, 0, 1])["names"]) == 3
    session.do("undo")
    assert len(session.snapshot.bodies) == 9


def test_adding_a_motor_keeps_the_record(session):
    session.do("remove", name="motor of O")
    stood = played(session)
    session.do("motor", joint="O", velocity=1.0)
    now = session.snapshot
    assert now.past == stood.past
    assert now.time == stood.time
    assert len(session.trajectory) > 5
    for command in ("undo", "redo"):
        session.do(command)
        assert session.snapshot.past == stood.past


# ---- what these commands stand on


def pendulum():
    mech = bc.Mechanism("pendulum")
    bar = bc.Capsule(0.02, 1.0, density=1000.0, rotation=(0.5, 0.5, 0.5, 0.5))
    rod = mech.add_body("rod", 2.0, shapes=[bar])
    mech.add_marker(rod.marker((0.5, 0, 0), name="tip"))
    pivot = mech.ground.marker((-0.5, 0, 0), "y")
    mech.add_joint("pivot", bc.Revolute(), pivot, rod.marker((-0.5, 0, 0), "y"))
    return mech


def test_a_body_without_shapes_has_the_inertia_of_its_stretched_mass():
    """A rod of points: second moments go as the square of its length, and its centre with it."""
    mech = bc.Mechanism("points")
    body = mech.add_body("rod", 2.0, (1e-6, 2.0, 2.0), com=(0.1, 0.0, 0.0))
    mech.add_marker(body.marker((-1.0, 0, 0), name="start"))
    mech.add_marker(body.marker((1.0, 0, 0), name="end"))
    set_length(mech, "rod", (-1.0, 0, 0), (1.0, 0, 0), 3.0)
    rod = mech.bodies["rod"]
    assert rod.mass == 2.0
    assert rod.com[0] == pytest.approx(-1.0 + 1.1 * 1.5)
    assert np.diag(rod.inertia)[1:] == pytest.approx([2.0 * 1.5**2] * 2, rel=1e-5)
    assert mech.markers["rod.end"].position == pytest.approx((2.0, 0.0, 0.0))


def test_mass_and_inertia_follow_shapes_as_they_did():
    """A body weighed by its shapes stays so; one that was given a mass keeps it, and its inertia scales."""
    shell = Shell()
    for line in (
        "body own shapes=[{type: Box, size: [1, 1, 1], density: 100}]",
        "body scaled mass=3 shapes=[{type: Box, size: [1, 1, 1], density: 100}]",
        "body given mass=3 inertia=[1, 1, 1] shapes=[{type: Box, size: [1, 1, 1], density: 100}]",
    ):
        assert shell.execute(line).ok
    for name in ("own", "scaled", "given"):
        assert shell.execute(f"edit [bodies, {name}, shapes, 0, size] [2, 1, 1]").ok
    bodies = shell.session.mechanism.bodies
    assert bodies["own"].mass == pytest.approx(200.0)
    assert bodies["scaled"].mass == 3.0
    assert bodies["scaled"].inertia[1][1] == pytest.approx(3.0 * 5.0 / 12.0)
    assert bodies["given"].inertia[1][1] == 1.0
    for name in ("scaled", "given"):
        assert shell.execute(f"edit [bodies, {name}, mass] 6").ok
    bodies = shell.session.mechanism.bodies
    assert bodies["scaled"].inertia[1][1] == pytest.approx(6.0 * 5.0 / 12.0)
    assert bodies["given"].inertia[1][1] == 1.0


def test_a_point_of_a_triangle_moves_alone():
    mech = bc.Mechanism("triangle")
    body = mech.add_body("plate", 1.0, (0.1, 0.1, 0.2))
    for name, at in (("a", (0, 0, 0)), ("b", (1, 0, 0)), ("c", (0, 1, 0))):
        mech.add_marker(body.marker(at, name=name))
    mech.add_joint("pin", bc.Revolute(), mech.ground.marker((1, 0, 0)), body.marker((1, 0, 0)))
    move_point(mech, "plate", (1, 0, 0), (1.5, 0.2, 0))
    assert mech.markers["plate.b"].position == (1.5, 0.2, 0)
    assert mech.joints["pin"].marker_2.position == (1.5, 0.2, 0)
    assert mech.joints["pin"].marker_1.position == (1, 0, 0)
    assert mech.markers["plate.c"].position == (0, 1, 0)
    with pytest.raises(bc.MechanismError, match="no marker and no joint there"):
        move_point(mech, "plate", (1, 0, 0), (2, 0, 0))


def test_a_rod_turns_and_stretches_with_its_end():
    mech = pendulum()
    move_point(mech, "rod", (0.5, 0, 0), (-0.5, 0, 2.0))
    rod = mech.bodies["rod"]
    assert mech.joints["pivot"].marker_2.position == pytest.approx((-0.5, 0.0, 0.0))
    assert rod.shapes[0].length == pytest.approx(2.0)
    assert rod.shapes[0].position == pytest.approx((-0.5, 0.0, 1.0))
    assert rod.com == pytest.approx((-0.5, 0.0, 1.0))
    along = bc.Mechanism("other").add_body(
        "rod", 2.0, shapes=[bc.Capsule(0.02, 2.0, density=1000.0)]
    )  # along z
    assert_allclose(rod.inertia, along.inertia, rtol=1e-9, atol=1e-12)


def test_sizes_that_parameters_say_are_left_to_them():
    mech = bc.Mechanism("parametric")
    length = mech.add_parameter("length", 1.0, unit="m")
    body = mech.add_body("rod", 1.0, (0.1, 0.1, 0.1))
    mech.add_marker(body.marker((length, 0, 0), name="tip"))
    for change in (
        lambda: set_length(mech, "rod", (0, 0, 0), (1, 0, 0), 2.0),
        lambda: move_point(mech, "rod", (1, 0, 0), (2, 0, 0)),
    ):
        with pytest.raises(bc.MechanismError, match="change the parameters"):
            change()


def test_a_mirror_image_moves_as_the_original_is_seen_in_the_mirror():
    """An asymmetric spatial pendulum: positions mirrored, angular velocities mirrored and reversed."""
    mech = bc.Mechanism("asymmetric")
    body = mech.add_body(
        "one", 2.0, ((0.2, 0.03, 0.01), (0.03, 0.3, 0.02), (0.01, 0.02, 0.25)), com=(0.1, 0.05, -0.2),
        position=(0.3, 0.2, 0.1), rotation=bc.Mechanism("m").add_body("b", 1, (1, 1, 1)).rotation,
        angular_velocity=(0.4, -0.3, 1.0),
    )  # fmt: skip
    mech.add_joint("ball", bc.Spherical(), mech.ground.marker((0.3, 0.2, 0.4)), body.marker((0, 0, 0.3)))
    mech.add_force("spring", bc.SpringDamper(stiffness=80.0, rest_length=0.1), mech.ground.marker((1, 0, 0)),
                   body.marker((0.1, 0.2, 0.0)))  # fmt: skip
    (other,) = mirror_bodies(mech, ["one"], (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0))
    assert len(mech.joints) == len(mech.forces) == 2
    run = bc.simulate(mech, 1.0)
    one, two = run.body("one"), run.body(other)
    mirrored = np.column_stack([-2.0 - one.position[:, 0], one.position[:, 1:]])
    assert_allclose(two.position, mirrored, atol=1e-5)
    flipped = one.angular_velocity * [1.0, -1.0, -1.0]
    assert_allclose(two.angular_velocity, flipped, atol=1e-4)


def test_a_mirror_image_of_shapes_has_their_mass():
    mech = bc.Mechanism("shapes")
    turn = (0.5, 0.5, 0.5, 0.5)
    mech.add_body("one", shapes=[
        bc.Cone(0.1, 0.4, density=900.0, position=(0.1, 0.2, 0.3), rotation=turn),
        bc.Box((0.1, 0.2, 0.3), density=700.0, position=(-0.3, 0.0, 0.1)),
        bc.Prism(outline=((0, 0), (0.4, 0), (0.1, 0.3)), length=0.05, density=1000.0, position=(0, 0, -0.2),
        rotation=turn),
    ])  # fmt: skip
    (other,) = mirror_bodies(mech, ["one"], (0.0, 1.0, 0.0))
    copy = mech.bodies[other]
    again = bc.Mechanism("again").add_body("same", shapes=list(copy.shapes))
    assert_allclose(copy.com, again.com, atol=1e-12)
    assert_allclose(copy.inertia, again.inertia, atol=1e-12)


def test_copies_take_along_what_is_between_them_alone():
    mech = bc.gallery.four_bar()
    names = copy_bodies(mech, ["crank", "coupler"], (0.0, 0.0, 1.0))
    assert len(names) == 2
    assert len(mech.joints) == 4 + 2  # the pivot on the ground and the pin between them
    row = array_bodies(mech, ["crank"], 3, (0.0, 0.0, 0.5))
    assert len(row) == 2
    heights = [mech.bodies[name].position[2] for name in ("crank", *row)]
    assert_allclose(np.diff(heights), 0.5)
    for wrong in ([], ["nobody"]):
        with pytest.raises(bc.MechanismError):
            copy_bodies(mech, wrong)
    for count in (1, 1.5, True, 10**6):
        with pytest.raises(bc.MechanismError):
            array_bodies(mech, ["crank"], count)


def test_an_edit_leaves_everything_else_as_it_was():
    """The mechanisms of the gallery come back from an edit that changes nothing."""
    from bellcrank.shell.changing import edited

    for name in ("four_bar", "double_pendulum", "slider_crank", "differential", "prosthetic_arm", "chain"):
        if (make := getattr(bc.gallery, name, None)) is not None:
            made = make(3) if name == "chain" else make()
            assert edited(made, ["name"], made.name) == made


def test_files_of_others_are_not_read_by_an_edit(session, tmp_path):
    trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")
    trimesh.creation.box((0.1, 0.2, 0.3)).export(tmp_path / "part.stl")
    name = session.do("add_body", kind="mesh", file="part.stl")
    session.do("edit", path=["bodies", name, "shapes", 0, "scale"], value=2.0)
    with pytest.raises(bc.MechanismError, match="outside the folder"):
        session.do("edit", path=["bodies", name, "shapes", 0, "file"], value="/etc/passwd")
