"""Contacts and quasi-static runs on a live page: points of the engine, and the objects that show them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rigs.live import box_on_a_table, do, engine, wall
from rigs.pixels import imread
from rigs.reader import needs_a_page, reading

import bellcrank as bc
from bellcrank.scene.joints import ACTIVE
from bellcrank.viewer.history import Touched
from bellcrank.viewer.playing import COMMANDS, Player
from bellcrank.viewer.session import played

WEIGHT = 4.0 * 9.81


def sliding_box():
    mech = box_on_a_table()
    mech.replace(mech.bodies["box"], velocity=(2.0, 0, 0))
    return mech


def upwards(now):
    """The vertical force of the table on the box in a snapshot, N."""
    first = np.array(
        [now.touching.shapes[int(shape)] == "box" for shape in now.touching.rows["shapes"][:, 0]]
    )
    return float(np.sum(np.where(first, 1.0, -1.0) * now.touching.rows["force"][:, 2]))


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
    assert (live.snapshot().touching.rows["slips"] == 0.0).all()
    do(live, "rewind", time=0.1)
    then = live.snapshot()
    assert then.time == pytest.approx(0.1, abs=0.02)
    assert (then.touching.rows["slips"] == 1.0).all()
    assert_allclose(then.touching.rows["position"][:, 0].mean(), then.position[0, 0], atol=2e-3)
    do(live, "play")
    wall(live, 0.2)
    now = live.snapshot()
    assert len(now.touching)
    assert_allclose(now.touching.rows["position"][:, 0].mean(), now.position[0, 0], atol=2e-3)
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
        assert_allclose(rows["position"], points.position)
        assert_allclose(rows["force"], points.force)
    without = Player(bc.simulate(bc.gallery.double_pendulum(), 0.1))
    assert len(without.snapshot().touching) == 0


@pytest.fixture(scope="module")
def run():
    """A chain that sags: its ends move more than its middle, and so not all joints in each step."""
    mech = bc.Mechanism("chain")
    before = mech.ground.marker((0, 0, 0), axis=(0, 1, 0))
    for k in range(12):
        rod = mech.add_body(f"rod{k}", mass=1.0, inertia=(0.01, 0.1, 0.1), position=(k + 0.5, 0, 0))
        mech.add_joint(f"pin{k}", bc.Revolute(), before, rod.marker((-0.5, 0, 0), axis=(0, 1, 0)))
        before = rod.marker((0.5, 0, 0), axis=(0, 1, 0))
    return bc.simulate(mech, 0.3, mode="quasistatic", step=0.01, max_error=0.3)


def highlighted(picture):
    """Pixels in the colour of joints that moved."""
    wanted = 255.0 * np.array(ACTIVE[:3])
    return int(np.sum(np.abs(picture[..., :3].astype(float) - wanted).max(axis=-1) < 25.0))


def test_joints_that_moved_are_those_whose_coordinates_changed(run):
    for frame in (1, 7, 20):
        at = float(run.time[frame])
        changed = {n for n in run.joints if run.joint(n)[frame] != run.joint(n)[frame - 1]}
        assert run.active(at) == changed
        assert 0 < len(changed) < 12
        state = run.at(at)
        for number, body in enumerate(run.bodies):
            position, rotation = run.pose(body, frame)
            assert np.array_equal(state.position[number], position)
            assert np.array_equal(state.rotation[number], rotation)
    assert run.active(0.0) == frozenset()
    between = run.active(float(run.time[7]), since=float(run.time[3]))
    assert between == frozenset().union(*(run.active(float(run.time[k])) for k in range(4, 8)))
    with pytest.raises(bc.MechanismError, match="this time lies outside"):
        run.at(0.4)


def test_pictures_and_films_show_them(run, tmp_path):
    run.draw(tmp_path / "later.png", times=[0.2])
    run.draw(tmp_path / "start.png", times=[0.0])
    assert highlighted(imread(tmp_path / "later.png")) > 100
    assert highlighted(imread(tmp_path / "start.png")) == 0
    run.draw(tmp_path / "plain.png", times=[0.2], joints=False, paths=["rod11"])
    assert highlighted(imread(tmp_path / "plain.png")) == 0
    run.animate(tmp_path / "film.gif", fps=10, width=640)
    film = imread(tmp_path / "film.gif")
    assert len(film) == 4
    assert highlighted(film[0]) == 0
    assert highlighted(film[-1]) > 20
    with pytest.raises(bc.MechanismError, match="there is no body"):
        run.draw(tmp_path / "wrong.png", paths=["nobody"])


def test_a_session_plays_one_and_refuses_what_it_has_not(run):
    with played(run) as session:
        session.do("step", count=7)
        now = session.snapshot
        assert now.active == run.active(float(run.time[7]))
        assert np.array_equal(now.position, run.at(now.time).position)
        joint = sorted(now.active)[0]
        assert session.do("inspect", name=joint)["moved"] == "yes"
        assert session.do("inspect", name="rod3")["position [m]"] == run.pose("rod3", 7)[0].tolist()
        with pytest.raises(bc.Unsupported, match=r"saved by MoveTrajectory.save"):
            _ = session.trajectory
        with pytest.raises(bc.MechanismError, match="there is no"):
            session.do("inspect", name="nobody")


def test_the_page_is_told_which_joints_moved(run):
    needs_a_page()
    with run.view(port=0) as page, reading(page) as reader:
        reader.do("step", count=7)
        wanted = sorted(run.active(float(run.time[7])))
        assert wanted
        reader.state(lambda one: one["active"] == wanted)
        reader.do("rewind", time=0.0)
        reader.state(lambda one: one["active"] == sorted(run.active(0.0)))


def test_the_program_draws_and_files_are_told_apart(run, tmp_path):
    from bellcrank.trajectory.moves import run_in

    run.save(tmp_path / "moves.h5")
    assert isinstance(run_in(tmp_path / "moves.h5"), bc.MoveTrajectory)
    bc.simulate(bc.gallery.four_bar(), 0.05, path=tmp_path / "run.h5")
    assert isinstance(run_in(tmp_path / "run.h5"), bc.Trajectory)
    (tmp_path / "text.h5").write_text("no run")
    with pytest.raises(bc.MechanismError):
        run_in(tmp_path / "text.h5")


def test_a_box_is_pushed_along_a_table_and_stops():
    live = engine(box_on_a_table())
    do(live, "play")
    wall(live, 0.5)
    rest = live.state.position[0].copy()
    assert abs(rest[2] - 0.1) < 2e-4
    do(live, "grab", body="box", point=(0.0, 0.0, 0.0), target=(0.3, 0.0, 0.1))
    wall(live, 2.0)
    assert abs(live.state.position[0, 0] - 0.3) < 0.02
    do(live, "release", body="box")
    wall(live, 1.0)
    stopped = live.state.position[0].copy()
    wall(live, 1.0)
    assert np.allclose(live.state.position[0], stopped, atol=1e-6)
    run = live.trajectory()
    assert run.contacts == ()
    forces = run.force("table")
    assert abs(forces.effort[-1, forces.coordinates.index("box.force_z")] - 4.0 * 9.81) < 1e-3


def test_it_is_rewound_and_goes_on():
    live = engine(box_on_a_table())
    do(live, "play")
    wall(live, 1.0)
    do(live, "rewind", time=0.5)
    do(live, "play")
    wall(live, 0.5)
    assert abs(live.state.position[0, 2] - 0.1) < 2e-4
