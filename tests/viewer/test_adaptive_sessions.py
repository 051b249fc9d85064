"""Live sessions with adaptive dynamics: their engine by a clock set by hand, commands, what pages get."""

import struct
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rigs.live import Clock
from rigs.reader import FRAME, Scene, needs_a_page

import bellcrank as bc
from bellcrank.errors import MechanismError, Unsupported
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.viewer import adaptive_commands
from bellcrank.viewer.adaptive_engine import SERIES, AdaptiveEngine
from bellcrank.viewer.engine import LiveEngine
from bellcrank.viewer.opening import view
from bellcrank.viewer.page import tree_picture
from bellcrank.viewer.page.tree_frames import series_of, tree_frame_of
from bellcrank.viewer.session import live
from bellcrank.viewer.tree_motion import TreeMotion
from benchmarks.adaptive_linkages import millipede, molecule

MARK = -1  # of who has seen nothing


def molecular(atoms=60):
    return molecule(atoms, 2, even=True).mechanism()


def engine(mechanism=None, **given):
    given = {"max_error": 0.1, **given}
    return AdaptiveEngine(molecular() if mechanism is None else mechanism, given, Clock(1e-3))


def do(live_engine, command, **arguments):
    return adaptive_commands.COMMANDS[command](live_engine, **arguments)


def dragged(one, body="link 30", way=(3.0, 0.0, 0.0), steps=100):
    """Takes hold of a body and pulls it for a while."""
    at = np.array(do(one, "inspect", name=body)["position [m]"])
    do(one, "grab", body=body, point=[0.0, 0.0, 0.0], target=[*at])
    do(one, "move", body=body, target=[*(at + way)], mark=("page", 7))
    do(one, "step", count=steps)
    return np.array(do(one, "inspect", name=body)["position [m]"]) - at


class TreeFrame:
    """A frame of what moved, as protocol.ts reads it."""

    def __init__(self, data):
        fields = FRAME.unpack_from(data)
        assert fields[0] == 4
        self.status, self.time, self.count, self.origin = fields[1], fields[4], fields[10], fields[11:14]
        _, hands, moved, free, self.flags, _ = fields[14:]
        self.facts = dict(zip(
            ("error", "max_error", "lost", "kinetic", "free", "joints", "most", "loss", "flags"),
            struct.unpack_from("<10d", data, 96), strict=False,
        ))  # fmt: skip
        at = 96 + 80
        self.places = np.frombuffer(data, "<f8", 7 * moved, at).reshape(moved, 7)
        at += 56 * moved
        self.hands = np.frombuffer(data, "<f4", 7 * hands, at).reshape(hands, 7)
        at += 28 * hands
        self.bodies = np.frombuffer(data, "<u4", moved, at)
        at += 4 * moved
        self.free = None if free == 0xFFFFFFFF else np.frombuffer(data, "<u4", free, at)
        assert len(data) == at + (0 if self.free is None else 4 * len(self.free))


# The session.


def test_it_plays_pauses_steps_and_goes_back():
    mech = bc.gallery.chain(30)
    with live(mech, {"formulation": "adaptive", "max_error": 0.05}) as session:
        assert (session.is_live, session.snapshot.status, session.snapshot.formulation) == (
            False, "paused", "adaptive",
        )  # fmt: skip
        session.do("step", count=50)
        assert session.snapshot.time == pytest.approx(0.05)
        session.do("play")
        until = time.monotonic() + 20.0
        while session.snapshot.time < 0.2 and time.monotonic() < until:
            time.sleep(0.02)
        session.do("pause")
        now = session.snapshot
        assert now.time >= 0.2
        assert 0.0 < now.adaptivity.error <= 0.05
        assert 0 < now.adaptivity.free < 30
        run = bc.start(mech, formulation="adaptive", step=1e-3, max_error=0.05)
        run.advance(steps=round(now.time / 1e-3))
        assert_allclose(now.position, [run.pose(name)[0] for name in now.bodies], rtol=0, atol=1e-9)
        session.do("reset")
        assert (session.snapshot.time, session.snapshot.status) == (0.0, "paused")
        assert_allclose(session.snapshot.position, run.model.initial.position, rtol=0, atol=1e-12)


def test_a_hand_pulls_and_lets_go():
    one = engine()
    moved = dragged(one)
    assert moved[0] > 0.3
    now = one.snapshot()
    assert now.marks == {"page": 7}
    assert now.adaptivity.hands.shape == (1, 7)
    assert_allclose(now.adaptivity.hands[0, 1:4], one.inspected("link 30")["position [m]"], atol=1e-12)
    do(one, "release")
    assert one.snapshot().holds == {}
    kinetic = one.run.kinetic_energy
    do(one, "step", count=100)
    assert one.run.kinetic_energy <= kinetic * (1.0 + 1e-6)  # nothing pulls, and locks take energy


def test_a_hand_is_not_stronger_than_what_it_holds_needs():
    """A target that is far away is not reached at once: accelerations stay those of a reach of few bonds."""
    near, far = (
        dragged(engine(), way=(4.0, 0.0, 0.0), steps=20),
        dragged(engine(), way=(4e4, 0.0, 0.0), steps=20),
    )
    assert_allclose(near, far, rtol=0.5)


def test_limits_are_changed_while_it_runs():
    one = engine(max_loss=np.inf)
    dragged(one)
    do(one, "limit", max_error=1e-6, max_joints=6)
    do(one, "step", count=20)
    now = one.snapshot().adaptivity
    assert (now.free, now.max_joints, now.is_bounded) == (6, 6, True)
    assert now.error > 1e-6
    do(one, "limit", max_joints="none", max_loss="none", measure="rms", max_error=0.5)
    do(one, "step", count=20)
    now = one.snapshot().adaptivity
    assert (now.max_joints, now.max_loss, now.measure, now.is_bounded) == (None, np.inf, "rms", False)
    do(one, "switch", method="symplectic", step=2e-3)
    before = one.run.time
    do(one, "step")
    assert one.run.time == pytest.approx(before + 2e-3)
    do(one, "reset")
    assert (one.run.method, one.run.step, one.run.measure) == ("symplectic", 2e-3, "rms")


def test_lines_of_the_command_language():
    one = engine()
    reply = do(one, "execute", line="formulation adaptive max_error=0.3 max_joints=20", by="terminal")
    assert "at most 20 joints" in reply.text
    assert (one.run.max_error, one.run.max_joints) == (0.3, 20)
    assert "as many joints as it takes" in do(one, "execute", line="formulation max_joints=none").text
    assert do(one, "execute", line="method symplectic step=0.002").text == "symplectic, step 0.002 s"
    do(one, "execute", line="reset")
    for line, message in (
        ("ib rod", "cannot be built on"), ("formulation lagrange", "keeps its equations"),
        ("formulation max_eror=1", "no option 'max_eror'"), ("formulation max_error=-1", "at least 0"),
    ):  # fmt: skip
        with pytest.raises(MechanismError, match=message):
            do(one, "execute", line=line)


@pytest.mark.parametrize(("command", "given", "message"), [
    ("grab", {"body": "link 99", "point": [0, 0, 0], "target": [0, 0, 0]}, "link 99"),
    ("grab", {"body": "link 1", "point": [0, 0], "target": [0, 0, 0]}, "point"),
    ("move", {"body": "link 1", "target": [0, "x", 0]}, "target"),
    ("step", {"count": 0}, "whole number"),
    ("speed", {"value": 1e9}, "between"),
    ("rewind", {"time": 0.05}, "keeps no past"),
    ("limit", {"max_joints": 0}, "at least 1"),
    ("limit", {"measure": "mean"}, "measure"),
    ("switch", {"method": "adams"}, "method"),
    ("switch", {"step": 1.0}, "between"),
    ("inspect", {"name": "nobody"}, "nobody"),
])  # fmt: skip
def test_what_is_wrong_is_refused(command, given, message):
    one = engine()
    with pytest.raises(MechanismError, match=message):
        do(one, command, **given)
    with pytest.raises(Unsupported, match="records no poses"):
        one.trajectory()


def test_a_session_that_can_be_built_on_says_where_adaptive_ones_are():
    with live(bc.gallery.chain(3)) as session, pytest.raises(MechanismError, match="formulation='adaptive'"):
        session.do("switch", formulation="adaptive")


def test_an_admitted_error_opens_an_adaptive_session_where_it_pays():
    with live(molecular(120), {"max_error": 0.1}) as large, live(molecular(20), {"max_error": 0.1}) as small:
        assert isinstance(large._engine, AdaptiveEngine)
        assert isinstance(small._engine, LiveEngine)


def test_a_run_that_fails_says_so_and_starts_again():
    one = engine(step=0.1, max_error=0.0)
    at = one.inspected("link 30")["position [m]"]
    one.run.pull("link 30", np.add(at, (1.0, 0.0, 0.0)), stiffness=1e9)
    do(one, "step", count=200)
    assert one.snapshot().status == "failed"
    assert "no numbers" in one.snapshot().message
    with pytest.raises(MechanismError, match="go back to the start"):
        do(one, "play")
    do(one, "reset")
    assert one.snapshot().status == "paused"


# What moved.


def test_nobody_is_told_twice_and_nobody_misses_anything():
    rng = np.random.default_rng(0)
    tree = TreeMotion(np.array([-1, 0, 1, 1, 3, -1]))
    everything = np.zeros((6, 7))
    everything[:, 3] = 1.0
    readers = [(MARK, everything.copy()) for _ in range(2)]
    for turn in range(20):
        bodies = np.flatnonzero(rng.uniform(size=6) < 0.4) if turn else np.arange(6)
        position, rotation = rng.normal(size=(len(bodies), 3)), rng.normal(size=(len(bodies), 4))
        tree.take(bodies, position, rotation, bodies[:2])
        everything[bodies, :3], everything[bodies, 3:] = position, rotation
        for number, (mark, seen) in enumerate(readers):
            if number == 1 and turn % 3:
                continue
            moved = tree.since(mark)
            if number == 0 and turn:
                assert moved.bodies.tolist() == bodies.tolist()
            seen[moved.bodies] = moved.places
            readers[number] = (moved.mark, seen)
            assert_allclose(seen, everything)
    assert tree.since(readers[0][0]).free is None
    assert tree.since(MARK).free.tolist() == bodies[:2].tolist()


def test_frames_have_what_moved_and_facts():
    one = engine(millipede(20, 4, 60).mechanism())
    first, mark = tree_frame_of(one.snapshot(), np.array([1.0, 2.0, 3.0]), MARK)
    frame = TreeFrame(first)
    assert frame.count == len(frame.bodies) == len(one.model.bodies)
    assert frame.origin == (1.0, 2.0, 3.0)
    again, same = tree_frame_of(one.snapshot(), np.zeros(3), mark)
    assert (len(TreeFrame(again).bodies), TreeFrame(again).free, same) == (0, None, mark)
    do(one, "step", count=30)
    do(one, "limit", max_joints=9)
    frame = TreeFrame(tree_frame_of(one.snapshot(), np.zeros(3), mark)[0])
    assert 0 < len(frame.bodies) < frame.count
    run = one.run
    assert sorted(frame.free) == sorted(run.free_bodies)
    assert frame.time == run.time
    assert frame.facts["error"] == run.error
    assert (frame.facts["free"], frame.facts["most"], frame.facts["loss"]) == (run.free_count, 9.0, -1.0)
    assert frame.facts["lost"] == run.lost_energy


def test_numbers_of_the_past_are_told_once():
    one = engine(molecule(40, 2, even=True).loaded(np.array([20]), np.array([[1.0, 0, 0]])).mechanism())
    names = tuple(f"run.{label}" for label, _ in SERIES[:2])
    sent, message = series_of(one, names, None)
    assert struct.unpack_from("<BBHI", message)[1] == 1
    do(one, "step", count=5)
    do(one, "step", count=5)
    after, message = series_of(one, names, sent)
    kind, fresh, _, rows = struct.unpack_from("<BBHI", message)
    assert (kind, fresh, rows) == (3, 0, 2)
    assert np.frombuffer(message, "<f8", 2, 16).round(9).tolist() == [0.005, 0.01]
    assert series_of(one, names, after) is None
    do(one, "reset")
    assert struct.unpack_from("<BBHI", series_of(one, names, after)[1])[1] == 1


# The scene.


@pytest.mark.parametrize("crowd", [False, True])
def test_the_scene_has_the_tree_and_a_crowd_is_balls(crowd, monkeypatch):
    needs_a_page()
    monkeypatch.setattr(tree_picture, "CROWD", 20 if crowd else 1000)
    mech = molecular()
    with view(mech, {"formulation": "adaptive"}, port=0) as page:
        now = page.session.snapshot
        message = page.picture(now).message
        state = page.state(now)
    head, model = Scene(message).head, now.model
    numbers = memoryview(message)[8 + struct.unpack_from("<BBHI", message)[3] :]
    at, count = head["tree"]["carriers"]
    assert np.frombuffer(numbers, "<i4", count, 4 * at).tolist() == now.adaptivity.tree.carriers.tolist()
    assert head["signals"][0]["signals"][0][0] == "error"
    assert (head["live"], state["live"], state["adaptive"]["methods"]) == (
        False,
        False,
        ("rk4", "symplectic"),
    )
    assert (len(head["pieces"]) == 0) is crowd
    assert [*head["document"]["bodies"]] == [*mech.bodies]
    assert ("mass" in head["document"]["bodies"]["link 3"]) is not crowd
    if crowd:
        at, count = head["tree"]["centres"]
        centres = np.frombuffer(numbers, "<f4", count, 4 * at).reshape(-1, 3)
        assert_allclose(centres, model.com, atol=1e-6)
        com = model.initial.position + rotate(model.initial.rotation, model.com)
        apart = np.linalg.norm(com[1:] - com[now.adaptivity.tree.carriers[1:]], axis=1)
        assert head["tree"]["radius"] == pytest.approx(0.35 * np.median(apart))
        assert head["size"] > 1.0
