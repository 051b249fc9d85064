"""Quasi-static runs are shown; joints that moved in the last step stand out, on the page as well."""

import time

import imageio.v3 as images
import numpy as np
import pytest
from rigs.live import until

import bellcrank as bc
from bellcrank.scene.joints import ACTIVE
from bellcrank.viewer.session import played


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
    assert highlighted(images.imread(tmp_path / "later.png")) > 100
    assert highlighted(images.imread(tmp_path / "start.png")) == 0
    run.draw(tmp_path / "plain.png", times=[0.2], joints=False, paths=["rod11"])
    assert highlighted(images.imread(tmp_path / "plain.png")) == 0
    run.animate(tmp_path / "film.gif", fps=10, width=640)
    film = images.imread(tmp_path / "film.gif")
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
        with pytest.raises(bc.Unsupported, match="a quasi-static run is saved"):
            _ = session.trajectory
        with pytest.raises(bc.MechanismError, match="there is no"):
            session.do("inspect", name="nobody")


def test_the_page_colours_them(run):
    pytest.importorskip("viser", reason="viser is not installed")
    with run.view(port=0) as page:
        page.session.do("step", count=7)
        until(page.session, lambda now: now.time == pytest.approx(0.07))
        wanted = page.session.snapshot.active
        end = time.monotonic() + 20.0
        while colored(page.stage) != wanted:
            assert time.monotonic() < end, colored(page.stage)
            time.sleep(0.05)
        page.session.do("rewind", time=0.0)
        while colored(page.stage):
            assert time.monotonic() < end
            time.sleep(0.05)


def colored(stage):
    """Names of the joints that stand out on a stage."""
    wanted, glyph_of = np.round(255.0 * np.array(ACTIVE[:3])), stage.scene.glyph_of
    return {
        glyph_of[id(stage.scene.drawn[number])]
        for batch in stage.batches
        for number, color in zip(batch.numbers, batch.handle.batched_colors, strict=True)
        if np.array_equal(color, wanted)
    }


def test_the_program_draws_and_files_are_told_apart(run, tmp_path):
    from bellcrank.trajectory.reading_runs import run_in

    run.save(tmp_path / "moves.h5")
    assert isinstance(run_in(tmp_path / "moves.h5"), bc.MoveTrajectory)
    bc.simulate(bc.gallery.four_bar(), 0.05, path=tmp_path / "run.h5")
    assert isinstance(run_in(tmp_path / "run.h5"), bc.Trajectory)
    (tmp_path / "text.h5").write_text("no run")
    with pytest.raises(bc.MechanismError):
        run_in(tmp_path / "text.h5")
