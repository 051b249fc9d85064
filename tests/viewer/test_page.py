"""The page without a browser: what it does with commands, files and garbage on its line. Needs viser."""

import asyncio
import random
import re
import time
from contextlib import suppress

import numpy as np
import pytest
from rigs.live import follows, until

import bellcrank as bc
from bellcrank import scene
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.viewer.names import file_in
from bellcrank.viewer.opening import view
from bellcrank.viewer.page.stage import Stage

pytest.importorskip("viser", reason="viser is not installed")
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings(
        "ignore::pytest.PytestUnraisableExceptionWarning"
    ),  # lines that viser leaves open
]


@pytest.fixture
def page():
    with bc.gallery.double_pendulum().view(port=0) as opened:
        yield opened


def test_it_serves_on_this_machine_and_moves_what_it_draws(page):
    assert re.fullmatch(r"http://localhost:\d+/", page.url)
    page.session.do("play")
    until(page.session, lambda now: now.time > 0.3)
    page.session.do("pause")
    end = time.monotonic() + 3.0
    while not follows(page):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_others_need_a_token():
    with bc.gallery.double_pendulum().view(host="0.0.0.0", port=0) as page:
        assert re.fullmatch(r"http://0\.0\.0\.0:\d+/\?token=[\w-]{20,}", page.url)


def test_what_a_camera_sees_is_named_and_nonsense_is_not(page):
    from types import SimpleNamespace

    now, stage = page.session.snapshot, page.stage
    for number, body in enumerate(now.bodies):
        at = stage.unit * (now.position[number] + rotate(now.rotation[number], stage._middle(number)))
        camera = SimpleNamespace(
            position=at - [0.0, 9.0, 0.0], wxyz=(np.sqrt(0.5), -np.sqrt(0.5), 0, 0), fov=0.7
        )
        assert page.hovering.name(camera, 0.5, 0.5, 1.6) == body  # straight ahead, along y of the world
        assert page.hovering.name(camera, 0.02, 0.98, 1.6) == ""
    for query in (
        "",
        "client=0&x=0.5&y=0.5&aspect=1",
        "client=nan&x=1",
        "client=1e99&x=inf&y=1&aspect=-1",
        "%00&x",
    ):
        assert page.hovering.answer(query) == ""


def test_nobody_can_share_it(page):
    assert page.server.request_share_url() is None


def test_meshes_that_are_copies_go_as_one():
    from bellcrank.viewer.page.server import quiet_server

    server = quiet_server()
    drawn = scene.of(bc.gallery.chain(60))
    stage = Stage(server, drawn)
    assert len(stage.batches) < 12
    assert sum(len(batch.numbers) for batch in stage.batches) == len(drawn.drawn)
    begun = time.perf_counter()
    for _ in range(20):
        stage.show(drawn.state.position, drawn.state.rotation)
    assert (time.perf_counter() - begun) / 20 < 0.1
    server.stop()


def test_garbage_on_its_line_and_browsers_that_go_never_stop_it(page):
    import viser
    import websockets

    source = random.Random(3)

    async def shout():
        url = page.url.replace("http", "ws")
        for _ in range(8):
            async with websockets.connect(url, subprotocols=[f"viser-v{viser.__version__}"]) as line:
                for _ in range(60):
                    await line.send(source.randbytes(source.randint(0, 300)))
                if source.random() < 0.5:
                    line.transport.abort()

    page.session.do("play")
    with suppress(websockets.ConnectionClosed, OSError):  # it may hang up on who shouts
        asyncio.run(shout())
    reached = page.session.snapshot.time
    until(page.session, lambda now: now.time > reached + 0.2)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../run", "a/b", "/etc/passwd", "a\\b", "a\0", ".hidden", "x" * 200, 7, None]
)
def test_a_page_names_no_file_outside_its_folder(tmp_path, name):
    with pytest.raises(bc.MechanismError, match="plain name"):
        file_in(tmp_path, name, (".h5",))


def test_what_is_no_file_is_not_written_over(tmp_path):
    (tmp_path / "link.h5").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "folder.h5").mkdir()
    for name in ("link", "folder.h5"):
        with pytest.raises(bc.MechanismError, match="something else"):
            file_in(tmp_path, name, (".h5",))
    assert file_in(tmp_path, "run 1.h5", (".h5",)) == tmp_path / "run 1.h5"


def test_what_a_page_keeps_replaces_no_file_of_others(tmp_path):
    with view(bc.gallery.double_pendulum(), port=0, folder=tmp_path) as page:
        page.session.do("step", count=3)
        keeping, answers = page.keeping, []
        keeping._report = answers.append

        def kept(name, work):
            keeping._name.value = name
            work(None)
            return answers[-1]

        for work, suffix in ((keeping._save, ".h5"), (keeping._record, ".html")):
            theirs, ours = tmp_path / f"theirs{suffix}", tmp_path / f"ours{suffix}"
            theirs.write_text("precious")
            with pytest.raises(
                bc.MechanismError, match=r"it exists already, got 'theirs\.\w+'; take another"
            ):
                kept("theirs", work).result()
            assert theirs.read_text() == "precious"
            assert "ours" in kept("ours", work).result()
            first = ours.read_bytes()
            page.session.do("step", count=3)
            assert "ours" in kept("ours", work).result()  # it wrote this file itself
            assert ours.read_bytes() != first
        assert len(list(tmp_path.iterdir())) == 4


def test_a_recorded_run_is_played(tmp_path):
    bc.simulate(bc.gallery.four_bar(), 0.5).save(tmp_path / "run.h5")
    run = bc.Trajectory.load(tmp_path / "run.h5")
    with run.view(port=0) as page:
        page.session.do("rewind", time=0.25)
        assert page.session.snapshot.time == pytest.approx(0.25, abs=1e-3)
        page.session.do("play")
        until(page.session, lambda now: now.time == run.time[-1] and now.status == "paused")
        with pytest.raises(bc.MechanismError, match="no command of this name"):
            page.session.do("grab", body="coupler")
        assert page.session.do("inspect", name="crank")["mass [kg]"] > 0.0


def test_a_recording_is_one_page_that_loads_nothing():
    from bellcrank.viewer.page.keeping import recording

    mechanism = bc.gallery.double_pendulum()
    text = recording(scene.of(mechanism), bc.simulate(mechanism, 1.0))
    assert text.lstrip().lower().startswith("<!doctype html")
    assert len(text) < 4_000_000
    assert not re.findall(r'(?:src|href)="https?://', text)
