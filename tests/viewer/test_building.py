"""Building in a live session by the commands of a page: a four-bar, undone, kept and reloaded."""

import random
import time

import numpy as np
import pytest
from rigs.live import COUPLER, CRANK, GROUND, ROCKER, four_bar, mechanism, place, poses, rested, until

import bellcrank as bc
from bellcrank.errors import BellcrankError
from bellcrank.io import dumps
from bellcrank.viewer.session import live


@pytest.fixture
def session(tmp_path):
    empty = bc.Mechanism("bench", gravity=(0.0, 0.0, 0.0))
    with live(empty, folder=tmp_path) as opened:
        yield opened


def test_an_empty_bench_stands_and_says_so(session):
    now = session.snapshot
    assert (now.status, now.bodies) == ("open", ())
    assert "add a body" in now.message
    for command in ("play", "step", "reset", "assemble"):
        with pytest.raises(bc.MechanismError):
            session.do(command)


def test_a_four_bar_from_nothing_runs_as_geometry_says(session):
    four_bar(session)
    assert bc.info(mechanism(session)).freedom == 0  # the motor takes the one that there is
    angles = []
    for _ in range(8):
        session.do("step", count=400)
        crank = place(session, "crank.end")
        knee, end = place(session, "coupler.end"), place(session, "rocker.end")
        assert np.linalg.norm(crank) == pytest.approx(CRANK, abs=1e-9)
        assert np.linalg.norm(knee - crank) == pytest.approx(COUPLER, abs=1e-9)
        assert np.linalg.norm(knee - (GROUND, 0.0, 0.0)) == pytest.approx(ROCKER, abs=1e-9)
        assert np.allclose(end, (GROUND, 0.0, 0.0), atol=1e-9)
        assert np.abs(poses(session)[:, 1]).max() < 1e-9
        angles.append(np.arctan2(crank[0], crank[2]))  # about y
    turned = np.diff(np.unwrap(angles))
    assert np.allclose(turned, 2.0 * 0.4, atol=1e-9)


def test_a_joint_of_a_loose_body_leaves_the_other_where_it_is(session):
    session.do("add_body", kind="rod", name="a")
    session.do("add_body", kind="rod", name="b")
    before = poses(session)
    session.do("join", kind="Spherical", first={"marker": "a.end"}, second={"marker": "b.start"})
    after = poses(session)
    assert np.abs(after[0] - before[0]).max() < 1e-12
    assert np.allclose(place(session, "a.end"), place(session, "b.start"), atol=1e-9)


def test_bodies_are_shown_on_their_way_together(session):
    session.do("add_body", kind="rod", name="a")
    session.do("add_body", kind="box", name="b")
    begun = poses(session)
    session.do("join", kind="Revolute", first={"marker": "a.end"}, second={"marker": "b.left"})
    shown, number = [], 0
    while not shown or session.snapshot.moving:
        now = session.newer(number, 1.0)
        number = now.number
        shown.append(now.position[1])
    way = np.linalg.norm(shown[-1] - begun[1, :3])
    gone = np.array([np.linalg.norm(p - begun[1, :3]) for p in shown]) / way
    assert np.count_nonzero((gone > 0.05) & (gone < 0.95)) > 5
    assert np.all(np.diff(gone) > -1e-9)


def test_what_does_not_fit_stands_open_until_it_is_assembled(session):
    session.do("add_body", kind="rod", name="a")
    session.do("add_body", kind="rod", name="b")
    before = poses(session)
    session.do("join", kind="Revolute", first={"marker": "a.end"}, second={"marker": "b.start"}, snap=False)
    now = session.snapshot
    assert now.status == "open"
    assert np.array_equal(poses(session), before)
    with pytest.raises(bc.MechanismError, match="assemble"):
        session.do("step")
    session.do("assemble")
    assert session.snapshot.status == "paused"
    session.do("step", count=10)
    assert np.allclose(place(session, "a.end"), place(session, "b.start"), atol=1e-9)
    session.do("undo")
    assert session.snapshot.status == "open"
    assert np.array_equal(poses(session), before)
    session.do("play")  # closes it first
    until(session, lambda shown: shown.status == "playing" and shown.time > 0.05)


def test_undo_and_redo_are_exact(session):
    states = [(mechanism(session), poses(session))]
    four_bar_steps = session.editor.session.steps_back
    four_bar(session)
    steps = session.editor.session.steps_back - four_bar_steps
    assert steps == 8  # three bodies, four joints, a motor: each one step
    seen = []
    for _ in range(steps):
        seen.append((mechanism(session), poses(session)))
        session.do("undo")
    assert mechanism(session) == states[0][0]
    assert session.snapshot.bodies == ()
    for described, where in reversed(seen):
        session.do("redo")
        assert mechanism(session) == described
        assert np.array_equal(poses(session), where)
    with pytest.raises(bc.MechanismError, match="nothing was taken back"):
        session.do("redo")


def test_a_drag_without_time_is_undone(session):
    session.do("add_body", kind="rod", name="a")
    before = poses(session)
    session.do("grab", body="a", point=(0.5, 0.0, 0.0), target=(0.7, 0.0, 0.3))
    session.do("move", body="a", target=(0.8, 0.0, 0.4))
    session.do("release", body="a")
    moved = poses(session)
    assert np.abs(moved - before).max() > 0.1
    session.do("undo")
    assert np.abs(poses(session) - before).max() < 1e-12
    session.do("redo")
    assert np.abs(poses(session) - moved).max() < 1e-12


def test_a_line_during_a_drag_is_a_step_after_it(session):
    session.do("add_body", kind="rod", name="a", position=[0.0, 0.0, 0.0])
    begin = poses(session)
    session.do("grab", body="a", point=[0.0, 0.0, 0.0], target=[0.1, 0.0, 0.0])
    dragged = poses(session)
    session.do("gravity", value=True)
    session.do("release")
    session.do("undo")
    assert not any(session.snapshot.mechanism.gravity)
    assert np.allclose(poses(session), dragged)
    session.do("undo")
    assert np.allclose(poses(session), begin)


def test_a_drag_that_play_ends_is_a_step_of_its_own(session):
    session.do("add_body", kind="rod", name="a", position=[0.0, 0.0, 0.0])
    begin = poses(session)
    session.do("grab", body="a", point=[0.0, 0.0, 0.0], target=[0.1, 0.0, 0.0])
    session.do("play")
    session.do("pause")
    session.do("release")
    session.do("undo")
    assert np.allclose(poses(session), begin)
    session.do("undo")
    assert session.snapshot.bodies == ()


def test_what_is_kept_and_opened_again_is_equal(session, tmp_path):
    four_bar(session)
    built = mechanism(session)
    assert session.do("keep", file="four_bar") == "written: four_bar.yaml"
    assert bc.load(tmp_path / "four_bar.yaml") == built
    session.do("remove", name="coupler")
    assert mechanism(session) != built
    session.do("open_file", file="four_bar.yaml")
    assert mechanism(session) == built
    session.do("step", count=10)
    session.do("undo")
    session.do("undo")
    assert mechanism(session) == built


def test_what_was_run_is_gone_on_with_after_an_edit(session):
    four_bar(session)
    session.do("step", count=300)
    before = poses(session)
    session.do("add_body", kind="wheel", name="flywheel", position=(0.0, 0.5, 0.0))
    assert np.allclose(poses(session)[:3], before, atol=1e-12)
    assert session.snapshot.time == pytest.approx(0.3)
    session.do("execute", line="force air BodyDamping crank damping=1")
    session.do("step", count=100)
    assert session.snapshot.time == pytest.approx(0.4)


def test_every_kind_of_the_palette_and_of_joining(session, tmp_path):
    from bellcrank.viewer.pieces import FORCES, JOINTS, PALETTE

    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((0.2, 0.1, 0.1)).export(tmp_path / "part.stl")
    for kind in PALETTE:
        name = session.do("add_body", kind=kind, mass=2.0, file="part.stl" if kind == "mesh" else "")
        assert name == f"{kind}1"
        assert mechanism(session).bodies[name].mass == pytest.approx(2.0)
    number = 1
    for kind in (*JOINTS, *FORCES):
        number += 1
        one = session.do("add_body", kind="rod")
        two = session.do("add_body", kind="rod")
        session.do("join", kind=kind, first={"marker": f"{one}.end"}, second={"marker": f"{two}.start"})
    session.do("step", count=3)
    assert session.snapshot.time == pytest.approx(3e-3)


def test_nails_hold_and_let_go(session):
    session.do("gravity", value=True)
    session.do("add_body", kind="box", name="block")
    session.do("nail", body="block")
    session.do("step", count=200)
    assert abs(poses(session)[0, 2]) < 1e-9
    session.do("free", body="block")
    session.do("step", count=100)
    assert poses(session)[0, 2] == pytest.approx(-0.5 * 9.81 * 0.1**2, abs=1e-6)


END, START = {"marker": "a.end"}, {"marker": "b.start"}
REFUSED = [
    ("join", {"kind": "Revolute", "first": None, "second": END}, "nothing to take hold of"),
    ("join", {"kind": "Revolute", "first": END, "second": {"marker": "a.start"}}, "itself"),
    ("join", {"kind": "Weld", "first": END, "second": START}, "is one of"),
    ("join", {"kind": "spring", "first": END, "second": START, "stiffness": -1}, "stiff"),
    ("join", {"kind": "Revolute", "first": END, "second": {"marker": "nobody"}}, "no marker"),
    ("add_body", {"kind": "rod", "mass": 0}, "mass must be greater than zero"),
    ("add_body", {"kind": "rod", "name": "a"}, "name is taken"),
    ("add_body", {"kind": "rod", "name": "x; quit"}, "a name has letters"),
    ("add_body", {"kind": "rod", "name": "ground"}, "taken by the ground"),
    ("add_body", {"kind": "rod", "size": [1.0, -1.0]}, "between"),
    ("add_body", {"kind": "mesh", "file": "../secret.stl"}, "working folder"),
    ("keep", {"file": "../out.yaml"}, "working folder"),
    ("open_file", {"file": "/etc/passwd"}, "working folder"),
    ("open_file", {"file": "nothing.yaml"}, "none of this name"),
    ("execute", {"line": "load /etc/passwd"}, None),
    ("execute", {"line": "save /tmp/outside.yaml"}, None),
    ("execute", {"line": "source /etc/hostname"}, None),
    ("execute", {"line": "body m mass=1 shapes=[{type: Mesh, file: /etc/passwd, density: 1}]"}, None),
    ("nail", {"body": "c"}, "no body of this name"),
    ("remove", {"name": "c"}, "no element of this name"),
    ("motor", {"joint": "c", "velocity": 1.0}, "no joint of this name"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "arguments", "rule"), REFUSED)
def test_bad_input_is_refused_and_leaves_everything_as_it_was(session, command, arguments, rule):
    for name in "ab":
        session.do("add_body", kind="rod", name=name)
    before = mechanism(session), poses(session), session.editor.session.everything
    if rule is None:
        reply = session.do(command, **arguments)
        assert not reply.ok
        assert "folder" in reply.text
    else:
        with pytest.raises(bc.MechanismError, match=rule):
            session.do(command, **arguments)
    assert mechanism(session) == before[0]
    assert np.array_equal(poses(session), before[1])
    assert session.editor.session.everything == before[2]


def test_a_joint_that_cannot_be_closed_is_refused(session):
    session.do("add_body", kind="rod", name="a")
    session.do("nail", body="a")
    session.do("add_body", kind="box", name="b")
    session.do("nail", body="b")
    before = mechanism(session)
    with pytest.raises(bc.MechanismError, match=r"(?i)cannot|contradict"):
        session.do("join", kind="Revolute", first={"marker": "a.end"}, second={"marker": "b.left"})
    assert mechanism(session) == before


def apart(length=0.6):
    """A four-bar in the xz plane whose pivots are too far apart by 1.3 m - 0.7 m."""
    mech, axis = bc.Mechanism("apart", gravity=(0.0, 0.0, 0.0)), (0.0, 1.0, 0.0)
    bodies = [mech.add_body(name, 1.0, (1.0, 1.0, 1.0)) for name in ("crank", "coupler", "rocker")]
    ends = (0.2, 0.3, 0.2)
    before = mech.ground.marker(axis=axis)
    for name, body, end in zip("OAB", bodies, ends, strict=True):
        mech.add_joint(name, bc.Revolute(), before, body.marker(axis=axis))
        before = body.marker((end, 0.0, 0.0), axis=axis)
    mech.add_joint("C", bc.Revolute(), before, mech.ground.marker((0.7 + length, 0.0, 0.0), axis=axis))
    return mech


@pytest.mark.parametrize("way", ["opened", "begun"])
def test_what_cannot_close_is_shown_where_its_joints_come_closest(session, tmp_path, way):
    if way == "begun":
        with live(apart(), folder=tmp_path) as opened:
            closes_in_the_end(opened)
    else:
        bc.save(apart(), tmp_path / "apart.yaml")
        session.do("open_file", file="apart.yaml")
        closes_in_the_end(session)


def closes_in_the_end(session):
    for _ in range(2):
        now = session.snapshot
        assert (now.status, now.misfits) == ("open", ("O", "A", "B", "C"))
        assert "come closest" in now.message
        # four gaps, equal in the sense of least squares, between points on one line
        assert now.position[:, 0] == pytest.approx([0.15, 0.5, 0.95], abs=1e-5)
        with pytest.raises(BellcrankError, match="cannot"):
            session.do("assemble")
    session.do("edit", path=["joints", "C", "second", "position"], value=[0.6, 0.0, 0.0])
    assert rested(session).status == "paused"
    assert session.snapshot.misfits == ()


def test_joints_that_assembling_cannot_close_are_marked(session):
    for name in "ab":
        session.do("add_body", kind="box", name=name)
        session.do("nail", body=name)
    ends = {"first": {"marker": "a.left"}, "second": {"marker": "b.right"}}
    session.do("join", kind="Spherical", name="gap", snap=False, **ends)
    assert session.snapshot.misfits == ()
    with pytest.raises(BellcrankError, match="gap"):
        session.do("assemble", method="root_finding")
    now = rested(session)
    assert now.status == "open"
    assert "gap" in now.misfits
    session.do("remove", name="gap")
    assert session.snapshot.misfits == ()


BUILDING = (
    "execute", "add_body", "join", "nail", "free", "motor", "remove", "gravity", "undo", "redo", "assemble",
    "keep", "open_file",
)  # fmt: skip


def test_malformed_commands_are_answered(session):
    source = random.Random(11)
    for name in "ab":
        session.do("add_body", kind="rod", name=name)
    values = [
        None, True, 0, -1, 1e300, float("nan"), float("inf"), "", "a", "b", "a.end", "../x", "\0", "x" * 5000,
        "é\n", [], [1], [0, 0, 0], {}, {"body": "a"}, {"body": "a", "point": [1, "x", 2]}, {"marker": 3}, END,
        object(), b"rod", "rod", "Revolute", "spring", ["rod"], {"body": "ground", "point": [1e300, 0, 0]},
    ]  # fmt: skip
    names = (
        "kind", "name", "size", "mass", "position", "file", "first", "second", "axis", "snap", "reach",
        "line", "body", "joint", "velocity", "value", "method", "over", "by", "stiffness", "nonsense",
    )  # fmt: skip
    refused = 0
    for _ in range(1000):
        chosen = {name: source.choice(values) for name in source.sample(names, source.randint(0, 6))}
        command = source.choice(BUILDING)
        if command == "execute":
            lines = ("joint", "joint a b c d", "body a {", "remove", "undo undo", "sb a -t")
            chosen["line"] = source.choice([*values, *lines])
        try:
            answer = session.do(command, **chosen)
        except BellcrankError:
            refused += 1
        else:
            refused += command == "execute" and not answer.ok
    assert refused > 800
    session.do("execute", line="new bench")
    four_bar(session)
    session.do("step")


def test_a_mechanism_comes_as_a_text_and_goes_by_undo(session):
    text = dumps(bc.gallery.four_bar(), "json")
    session.do("add_body", kind="rod", name="own")
    assert session.do("open_text", text=text) == "four-bar"
    assert list(session.snapshot.mechanism.bodies) == list(bc.gallery.four_bar().bodies)
    assert session.snapshot.log[-1].line.startswith(";")
    session.do("step", count=100)
    session.do("undo")
    assert list(session.snapshot.mechanism.bodies) == ["own"]
    for bad, rule in (
        ("{", "JSON"),
        ('{"bellcrank": 1, "bodies": 3}', "mapping"),
        ("x" * 600_000, "characters"),
        (7, "text"),
    ):
        with pytest.raises(BellcrankError, match=rule):
            session.do("open_text", text=bad)
    assert list(session.snapshot.mechanism.bodies) == ["own"]


def test_the_log_says_when_lines_were_given(session):
    before = time.time()
    session.do("add_body", kind="rod", name="one")
    session.do("step", count=250)
    session.do("execute", line="run 0.5")
    session.do("execute", line="sb one -m 3")
    first, run, last = (session.snapshot.log[k] for k in (0, -2, -1))
    assert (first.time, run.time, last.time) == pytest.approx((0.0, 0.25, 0.75))
    assert before <= first.moment <= run.moment <= last.moment <= time.time()


def test_what_asks_for_two_motions_is_refused_as_ever():
    mech = bc.Mechanism("two drives")
    for name, velocity in (("slow", 1.0), ("fast", 3.0)):
        wheel = mech.add_body(f"{name} wheel", 1.0, (1.0, 1.0, 1.0))
        mech.add_joint(name, bc.Revolute(), mech.ground.marker(), wheel.marker())
        mech.add_drive(f"drive of {name}", name, velocity=velocity)
    mech.add_constraint("gear", bc.Gear(1.0), "slow", "fast")
    with pytest.raises(bc.AssemblyError):
        live(mech)
