"""What a page sends: scenes, frames and signals, against the session and the runs that they are of."""

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rigs.live import box_on_a_table, until
from rigs.reader import Frame, Scene, Signals, needs_a_page, reading

import bellcrank as bc
from bellcrank import scene
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.viewer.opening import view
from bellcrank.viewer.page.frames import Wanted, frame_of
from bellcrank.viewer.page.picture import Picture
from bellcrank.viewer.page.signals import one_frame
from bellcrank.viewer.session import live

GALLERY = ["four_bar", "double_pendulum", "belt", "slider_crank", "elliptic_trammel"]


@pytest.fixture(autouse=True)
def _page():
    needs_a_page()


def pictured(session):
    """The picture of a session, without a page."""
    now = session.snapshot
    drawn = scene.of(session.editor.mechanism)
    contacts = tuple(c.name for c in now.model.contacts)
    described = session.editor.mechanism
    return Picture(drawn, now.edition, one_frame(now.layout, now.frame), True, described, contacts)


def framed(session, picture, **wanted):
    return Frame(frame_of(session.snapshot, picture, Wanted(**wanted)))


def names():
    return [name for name in GALLERY if hasattr(bc.gallery, name)]


@pytest.mark.parametrize("name", names())
def test_pieces_are_placed_as_pictures_have_them(name):
    """From the scene and a frame, each mesh is where `Scene.placed` has it."""
    with live(getattr(bc.gallery, name)()) as session:
        session.do("step", count=120)
        picture, now = pictured(session), session.snapshot
        sent, frame = Scene(picture.message), framed(session, picture)
        drawn = picture.scene
        placed = drawn.placed(now.position, now.rotation)
        position = np.vstack([frame.position, np.zeros(3)])
        rotation = np.vstack([frame.rotation, [1.0, 0.0, 0.0, 0.0]])
        assert len(sent.head["pieces"]) == len(drawn.pieces)
        for number, (given, piece) in enumerate(zip(sent.head["pieces"], drawn.pieces, strict=True)):
            turn, at = rotation[given["carrier"]], np.array(given["position"])
            where = position[given["carrier"]] + rotate(turn[None], at[None])[0]
            assert_allclose(where, placed.position[number], atol=1e-6)
            vertices, triangles = sent.meshes[given["mesh"]]
            assert_allclose(vertices, piece.mesh.vertices, atol=1e-6)
            assert np.array_equal(triangles, piece.mesh.triangles)
        for link, given in zip(drawn.links.values(), sent.head["links"], strict=True):
            first, count = given["first"], given["spans"]
            straight = drawn.ends(now.position, now.rotation)[list(drawn.links).index(link.name)]
            if count == 0:
                both = [position[c] + rotate(rotation[c][None], np.array(p)[None])[0]
                        for c, p in zip(given["carriers"], given["points"], strict=True)]  # fmt: skip
                assert_allclose(both, straight, atol=1e-6)
            else:
                spans = frame.spans[first : first + count].reshape(-1, 2, 3) + frame.origin
                assert_allclose(spans[0, 0], straight[0], atol=2e-6 + 2.0 * (link.way is not None))
                assert_allclose(spans[1:, 0], spans[:-1, 1], atol=1.0 if link.way is not None else 1e-6)


def test_far_out_digits_are_kept():
    mechanism = bc.Mechanism("far", gravity=(0.0, 0.0, 0.0))
    mechanism.add_body("rod", 1.0, (0.1, 0.1, 0.1), position=(1e6, 0.0, 0.0))
    mechanism.add_body("other", 1.0, (0.1, 0.1, 0.1), position=(1e6 + 0.123, 0.0, 0.0))
    with live(mechanism) as session:
        frame = framed(session, pictured(session))
        assert_allclose(frame.position, session.snapshot.position, atol=1e-7)


def test_reactions_are_those_of_the_run_at_the_joints():
    with live(bc.gallery.double_pendulum()) as session:
        session.do("step", count=100)
        picture, now = pictured(session), session.snapshot
        frame = framed(session, picture, reactions=True)
        reactions = now.frame[now.layout.columns["reactions"]].reshape(-1, 6)
        forces = frame.arrows[frame.arrows[:, 6] == 0.0]
        assert len(forces) == len(now.layout.reactions)
        for arrow in forces:
            name = list(picture.scene.joints)[int(arrow[7])]
            reaction = reactions[now.layout.reactions.index(name), 3:6]
            assert_allclose(arrow[3:6], reaction, rtol=1e-5, atol=1e-6)
            glyph = picture.scene.joints[name]
            at = np.array(glyph.point)
            if glyph.carriers[0] < len(now.bodies):
                at = now.position[glyph.carriers[0]] + rotate(now.rotation[glyph.carriers[0]], at)
            assert_allclose(arrow[:3] + frame.origin, at, atol=1e-6)
        assert not len(framed(session, picture).arrows)


def test_a_spring_pulls_both_its_ends_alike():
    mechanism = bc.Mechanism("spring", gravity=(0.0, 0.0, 0.0))
    one = mechanism.add_body("one", 1.0, (0.1, 0.1, 0.1))
    two = mechanism.add_body("two", 1.0, (0.1, 0.1, 0.1), position=(1.0, 0.0, 0.0))
    spring = bc.SpringDamper(stiffness=100.0, rest_length=0.8)
    mechanism.add_force("spring", spring, one.marker(), two.marker())
    with live(mechanism) as session:
        session.do("step", count=1)
        picture = pictured(session)
        arrows = framed(session, picture, forces=True).arrows
        assert arrows[:, 6].tolist() == [2.0, 2.0]
        assert {picture.forces[int(k)] for k in arrows[:, 7]} == {"spring"}
        assert_allclose(np.abs(arrows[:, 3:6]), [[20.0, 0.0, 0.0]] * 2, rtol=1e-3, atol=1e-6)
        assert_allclose(arrows[0, 3:6], -arrows[1, 3:6], atol=1e-9)
        inward = {0.0: 1.0, 1.0: -1.0}  # the left end is pulled to the right
        for arrow in arrows:
            left = arrow[0] < 0.0
            assert np.sign(arrow[3]) == inward[0.0 if left else 1.0]


def test_velocities_come_if_they_are_wanted():
    with live(bc.gallery.double_pendulum()) as session:
        session.do("step", count=100)
        now, picture = session.snapshot, pictured(session)
        frame = framed(session, picture, twists=True)
        for part, name in ((slice(0, 3), "velocity"), (slice(3, 6), "angular_velocity")):
            assert_allclose(
                frame.twists[:, part], now.frame[now.layout.columns[name]].reshape(-1, 3), rtol=1e-6
            )
        assert not len(framed(session, picture).twists)


def test_contacts_are_points_and_arrows():
    mechanism = box_on_a_table()
    mechanism.replace(mechanism.bodies["box"], velocity=(2.0, 0, 0))
    with live(mechanism) as session:
        session.do("step", count=50)
        now, picture = session.snapshot, pictured(session)
        frame, rows = framed(session, picture, contacts=True), now.touching.rows
        assert len(rows) == 4
        order = np.argsort(-np.linalg.norm(rows["force"], axis=1))
        assert_allclose(frame.touching[:, :3] + frame.origin, rows["position"][order], atol=1e-6)
        assert_allclose(frame.touching[:, 3], np.linalg.norm(rows["force"], axis=1)[order], rtol=1e-5)
        assert frame.touching[:, 4].all()  # it slips
        arrows = frame.arrows
        assert set(arrows[:, 6]) == {4.0}
        assert (arrows[:, 5] > 0.0).all()  # the table holds it up
        assert (arrows[:, 3] < 0.0).all()  # friction
        assert picture.contacts == ("table",)
        assert not len(framed(session, picture).touching)


def test_there_are_never_too_many_points():
    from dataclasses import replace

    from bellcrank.trajectory.contact_marks import Touching

    with live(box_on_a_table()) as session:
        session.do("step", count=10)
        now, picture = session.snapshot, pictured(session)
        rows = np.tile(now.touching.rows, 600)
        many = replace(now, touching=Touching(now.touching.contacts, now.touching.shapes, rows))
        frame = Frame(frame_of(many, picture, Wanted(contacts=True)))
        assert len(frame.touching) == 512
        assert len(frame.arrows) <= 512


def test_hands_are_where_they_hold_and_where_they_pull_to():
    with bc.gallery.double_pendulum().view(port=0) as page, reading(page) as reader:
        body = page.session.snapshot.bodies[-1]
        reader.do("play")
        reader.do("grab", body=body, point=[0.0, 0.0, -0.1], target=[0.5, 0.0, 0.2])
        frame = reader.next(lambda one: isinstance(one, Frame) and len(one.hands) == 1)
        number, point, target = int(frame.hands[0, 0]), frame.hands[0, 1:4], frame.hands[0, 4:7]
        assert page.session.snapshot.bodies[number] == body
        assert_allclose(target + frame.origin, [0.5, 0.0, 0.2], atol=1e-6)
        held = frame.position[number] + rotate(frame.rotation[number], np.array([0.0, 0.0, -0.1]))
        assert_allclose(point + frame.origin, held, atol=1e-5)


def test_signals_are_those_of_the_run_and_go_on():
    with bc.gallery.double_pendulum().view(port=0) as page, reading(page) as reader:
        head = reader.next(Scene).head
        listed = {f"{group['group']}.{row[0]}": row for group in head["signals"] for row in group["signals"]}
        first = [name for name, row in listed.items() if row[2] == 2]
        assert first
        assert all(listed[name][1] in ("rad", "m") for name in first)
        names = [*first, "energy.total", "nothing.such"]
        reader.watch(signals=names)
        found = reader.next(Signals)
        assert found.fresh
        assert len(found.time) == 1
        reader.do("play")
        more = reader.next(Signals)
        assert not more.fresh
        until(page.session, lambda now: now.time > 0.5)
        reader.do("pause")
        end = page.session.snapshot.time
        while [one for one in reader.seen if isinstance(one, Signals)][-1].time[-1] < end:
            reader.next(Signals)
        parts = [one for one in reader.seen if isinstance(one, Signals)]
        assert [bool(part.fresh) for part in parts] == [True] + [False] * (len(parts) - 1)
        times = np.concatenate([part.time for part in parts])
        columns = np.concatenate([part.columns for part in parts], axis=1)
        assert (np.diff(times) > 0.0).all()
        run = page.session.trajectory
        assert_allclose(times, run.time)
        table = run.to_dict()
        for name, values in zip(names, columns, strict=True):
            if name == "energy.total":
                assert_allclose(values, run.energy.total, rtol=1e-5)
            elif name == "nothing.such":
                assert np.isnan(values).all()
            else:
                assert_allclose(values, table[f"{name} [{listed[name][1]}]"], rtol=1e-5, atol=1e-6)
        reader.do("rewind", time=0.2)
        reader.do("step", count=3)  # what came later is forgotten
        again = reader.next(Signals)
        assert again.fresh
        assert again.time[-1] == pytest.approx(page.session.snapshot.time)


def test_a_played_run_has_all_its_signals_at_once():
    run = bc.simulate(bc.gallery.four_bar(), 0.5)
    with run.view(port=0) as page, reading(page) as reader:
        reader.watch(signals=["joint.crank pivot.theta_z"])
        found = reader.next(Signals)
        assert_allclose(found.time, run.time)
        assert_allclose(found.columns[0], run.joint("crank pivot").position[:, 0], atol=1e-5)


def test_an_edit_brings_another_scene_before_its_frames():
    with bc.gallery.double_pendulum().view(port=0) as page, reading(page) as reader:
        before = reader.next(Scene)
        name = next(iter(before.head["document"]["bodies"]))
        reader.do("edit", path=["bodies", name, "mass"], value=7.5)
        after = next((one for one in reader.seen if isinstance(one, Scene) and one is not before), None)
        after = after or reader.next(Scene)
        assert after.edition != before.edition
        assert after.head["document"]["bodies"][name]["mass"] == 7.5
        edition = -1
        for one in reader.seen:
            if isinstance(one, Scene):
                edition = one.edition
            elif isinstance(one, Frame):
                assert one.edition == edition


def test_frames_of_200_bodies_are_made_without_loops():
    with live(bc.gallery.chain(200)) as session:
        session.do("step", count=20)
        picture, now = pictured(session), session.snapshot
        wanted = Wanted(reactions=True, twists=True)
        frame_of(now, picture, wanted)
        begun = time.process_time()
        for _ in range(50):
            frame_of(now, picture, wanted)
        assert (time.process_time() - begun) / 50 < 2e-3


def test_a_scene_says_what_can_be_built(tmp_path):
    with view(bc.Mechanism("bench"), port=0, folder=tmp_path) as page, reading(page) as reader:
        head = reader.next(Scene).head
        assert {one["kind"] for one in head["palette"]} >= {"rod", "box", "plate", "wheel", "mesh"}
        assert head["joint_kinds"][0] == "Revolute"
        assert {one["kind"] for one in head["force_kinds"]} >= {"spring", "cable", "gas spring"}
        assert head["views"]["start"]["toward"]
        assert head["carriers"] == ["ground"]
