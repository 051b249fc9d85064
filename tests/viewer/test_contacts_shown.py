"""Contacts on a live page: the points that the engine computes, and the objects that show them."""

import time
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rigs.live import box_on_a_table, do, engine, until, wall

import bellcrank as bc
from bellcrank.scene.contact_marks import SLIPS, STICKS
from bellcrank.trajectory.contact_log import FORCE, POSITION
from bellcrank.trajectory.contact_log import SLIPS as SLIPPING
from bellcrank.trajectory.contact_marks import Touching
from bellcrank.viewer.history import Touched
from bellcrank.viewer.playing import COMMANDS, Player

WEIGHT = 4.0 * 9.81


def sliding_box():
    mech = box_on_a_table()
    mech.replace(mech.bodies["box"], velocity=(2.0, 0, 0))
    return mech


def upwards(now):
    """The vertical force of the table on the box in a snapshot, N."""
    first = np.array([now.touching.shapes[int(shape)] == "box" for shape in now.touching.rows[:, 1]])
    return float(np.sum(np.where(first, 1.0, -1.0) * now.touching.rows[:, FORCE][:, 2]))


@pytest.mark.parametrize("method", ["rk4", "moreau"])
def test_a_snapshot_has_the_forces_that_the_run_records(method):
    live = engine(box_on_a_table(), method=method)
    do(live, "play")
    wall(live, 0.5)
    now = live.snapshot()
    assert len(now.touching) == 4
    assert upwards(now) == pytest.approx(WEIGHT, rel=1e-3)
    forces = live.trajectory().force("table")
    recorded = forces.effort[-1, forces.coordinates.index("box.force_z")]
    assert upwards(now) == pytest.approx(recorded, rel=1e-6)


def test_the_past_shows_its_own_points_and_what_follows_takes_their_place():
    live = engine(sliding_box())
    do(live, "play")
    wall(live, 1.0)
    assert (live.snapshot().touching.rows[:, SLIPPING] == 0.0).all()
    do(live, "rewind", time=0.1)
    then = live.snapshot()
    assert then.time == pytest.approx(0.1, abs=0.02)
    assert (then.touching.rows[:, SLIPPING] == 1.0).all()
    assert_allclose(then.touching.rows[:, POSITION][:, 0].mean(), then.position[0, 0], atol=2e-3)
    do(live, "play")
    wall(live, 0.2)
    now = live.snapshot()
    assert len(now.touching)
    assert_allclose(now.touching.rows[:, POSITION][:, 0].mean(), now.position[0, 0], atol=2e-3)
    do(live, "reset")
    assert live.snapshot().time == 0.0


def test_what_a_command_line_runs_can_be_looked_at():
    from bellcrank.viewer.session import live

    with live(box_on_a_table(), {"step": 1e-3}) as session:
        session.do("execute", line="run 0.2 output_step=0.05")
        session.do("rewind", time=0.15)
        now = session.snapshot
        assert now.time == pytest.approx(0.15)
        run = session.trajectory
        forces, frame = run.force("table"), int(np.argmin(np.abs(run.time - 0.15)))
        recorded = forces.effort[frame, forces.coordinates.index("box.force_z")]
        assert recorded > 0.5 * WEIGHT
        assert upwards(now) == pytest.approx(recorded, rel=1e-6)


def test_the_oldest_points_are_given_up(monkeypatch):
    run = bc.simulate(box_on_a_table(), 0.1, output_step=0.01)
    size = 4 * 26 * 8
    monkeypatch.setattr("bellcrank.viewer.history._TOUCHED_BYTES", 3 * size)
    touched = Touched()
    touched.note(run)
    kept = [moment for moment in run.time.tolist() if len(touched.at(moment))]
    assert kept == run.time[-3:].tolist()
    touched.note(run, len(run) - 1)  # the same time again
    assert [moment for moment in run.time.tolist() if len(touched.at(moment))] == kept


def test_a_played_run_shows_the_points_of_its_frames(tmp_path):
    bc.simulate(sliding_box(), 0.5, output_step=0.01).save(tmp_path / "run.h5")
    run = bc.Trajectory.load(tmp_path / "run.h5", lazy=True)
    player = Player(run)
    for moment in (0.1, 0.4):
        COMMANDS["rewind"](player, time=moment)
        points = run.contact("table").points(player.shown)
        assert len(points)
        rows = player.snapshot().touching.rows
        assert_allclose(rows[:, POSITION], points.position)
        assert_allclose(rows[:, FORCE], points.force)
    without = Player(bc.simulate(bc.gallery.double_pendulum(), 0.1))
    assert len(without.snapshot().touching) == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
class TestPage:
    @pytest.fixture
    def page(self):
        pytest.importorskip("viser", reason="viser is not installed")
        with sliding_box().view(port=0) as opened:
            yield opened

    def test_the_switch_shows_and_hides_them(self, page):
        page.session.do("step", count=100)
        page.contacts.show(page.session.snapshot)
        assert page.contacts._balls._handle is None
        assert page.contacts.note == ""
        now = shown(page, True)
        balls, arrows = page.contacts._balls._handle, page.contacts._arrows._handle
        count = len(now.touching)
        assert count == 4
        rows, unit = now.touching.rows, page.stage.unit
        for handle in (balls, arrows):
            assert handle.visible
            assert_allclose(handle.batched_positions[:count], unit * rows[:, POSITION], atol=1e-5)
            assert np.max(handle.batched_scales[count:]) < 1e-6
        colors = np.where((rows[:, SLIPPING] == 0.0)[:, None], STICKS, SLIPS)
        assert_allclose(balls.batched_colors[:count] / 255.0, colors, atol=0.01)
        length, force = arrows.batched_scales[:count, 2], np.linalg.norm(rows[:, FORCE], axis=1)
        assert_allclose(length / force, length[0] / force[0], rtol=1e-5)
        assert "4 points; a full arrow is" in page.contacts.note
        bodies = [batch.handle for batch in page.stage.batches if batch.moves]
        assert all(np.max(handle.batched_opacities) < 1.0 for handle in bodies)
        shown(page, False)
        assert not balls.visible
        assert not arrows.visible
        assert all(handle.batched_opacities is None for handle in bodies)

    def test_arrows_point_as_the_forces_do(self, page):
        from bellcrank.scene.scene import rotated

        page.session.do("step", count=50)
        now = shown(page, True)
        arrows, count = page.contacts._arrows._handle, len(now.touching)
        turned = rotated(np.asarray(arrows.batched_wxyzs[:count], dtype=float), np.array([0.0, 0.0, 1.0]))
        first = np.array([now.touching.shapes[int(shape)] == "box" for shape in now.touching.rows[:, 1]])
        force = np.where(first[:, None], 1.0, -1.0) * now.touching.rows[:, FORCE]
        assert (force[:, 2] > 0.0).all()
        assert (force[:, 0] < 0.0).all()  # friction
        assert_allclose(turned, force / np.linalg.norm(force, axis=1, keepdims=True), atol=1e-5)

    def test_they_vanish_where_nothing_touches(self, page):
        page.session.do("step", count=10)
        now = shown(page, True)
        empty = Touching(now.touching.contacts, now.touching.shapes, now.touching.rows[:0])
        page.contacts.show(changed(now, empty))
        assert not page.contacts._balls._handle.visible
        assert page.contacts.note == "Nothing touches."

    def test_another_number_of_points_takes_no_new_object_and_there_are_never_too_many(self, page):
        page.session.do("step", count=10)
        now = shown(page, True)
        rows = np.tile(now.touching.rows, (600, 1))
        rows[:, FORCE] *= np.linspace(0.5, 1.0, len(rows))[:, None]
        made = set()
        for count in (3, 16, 5, 9):
            page.contacts.show(changed(now, some(now, rows[:count])))
            made.add(id(page.contacts._balls._handle))
        assert len(made) == 1
        page.contacts.show(changed(now, some(now, rows)))
        ball = page.contacts._balls._handle
        assert len(ball.batched_positions) == 512
        assert len(page.contacts._arrows._handle.batched_positions) <= 512
        assert f"{len(rows)} points" in page.contacts.note

    def test_a_mechanism_that_has_no_contact_shows_none(self):
        pytest.importorskip("viser", reason="viser is not installed")
        with bc.gallery.double_pendulum().view(port=0) as page:
            shown(page, True)
            page.session.do("step", count=5)
            page.contacts.show(page.session.snapshot)
            assert page.contacts._balls._handle is None
            assert page.contacts.note == "Nothing touches."


def shown(page, on):
    """Switch contacts on or off, and wait until that is done; the snapshot that is shown."""
    page._contacts.value = on
    end = time.monotonic() + 20.0
    while page.contacts.shown is not on and time.monotonic() < end:
        time.sleep(0.02)
    assert page.contacts.shown is on
    until(page.session, lambda now: now.status == "paused")
    page.contacts.show(page.session.snapshot)
    return page.session.snapshot


def some(now, rows):
    return Touching(now.touching.contacts, now.touching.shapes, rows)


def changed(now, touching):
    return replace(now, touching=touching)
