"""The page without a browser: its one line, commands, files, garbage, who reads slowly, and that it rests."""

import json
import random
import re
import socket
import time
from contextlib import suppress

import numpy as np
import pytest
from rigs.live import until
from rigs.reader import Frame, Scene, needs_a_page, reading

import bellcrank as bc
from bellcrank import scene
from bellcrank.viewer.names import file_in
from bellcrank.viewer.opening import view
from bellcrank.viewer.page import bundle
from bellcrank.viewer.page.recording import recording


@pytest.fixture(autouse=True)
def _page():
    needs_a_page()


@pytest.fixture
def page():
    with bc.gallery.double_pendulum().view(port=0) as opened:
        yield opened


def test_it_serves_on_this_machine_and_moves_what_it_shows(page):
    assert re.fullmatch(r"http://localhost:\d+/", page.url)
    with reading(page) as reader:
        assert reader.next(Scene).head["name"] == page.session.name
        reader.do("play")
        frame = reader.next(lambda one: isinstance(one, Frame) and one.time > 0.3)
        assert frame.status == 1
        reader.do("pause")
        until(page.session, lambda now: now.status == "paused")
        now = page.session.snapshot
        reader.state(lambda one: one["status"] == "paused")
        last = [one for one in reader.seen if isinstance(one, Frame)][-1]
        assert last.number == now.number
        assert np.allclose(last.position, now.position, atol=1e-6)


def test_others_need_a_token():
    with bc.gallery.double_pendulum().view(host="0.0.0.0", port=0) as page:
        assert re.fullmatch(r"http://0\.0\.0\.0:\d+/\?token=[\w-]{20,}", page.url)


def test_a_page_at_rest_sends_nothing_and_asks_nothing(page):
    """Questions publish no snapshots: otherwise each would bring a picture, which asks again."""
    with reading(page) as reader:
        name = page.session.snapshot.bodies[0]
        reader.watch(signals=["energy.total"], inspect=name, reactions=True)
        reader.event("inspected")
        time.sleep(0.6)
        number = page.session.snapshot.number
        seen = len(reader.seen)
        begun = time.process_time()
        with pytest.raises((AssertionError, TimeoutError)):
            reader.next(lambda _: len(reader.seen) > seen + 3, 1.5)
        assert time.process_time() - begun < 0.15
        assert page.session.snapshot.number == number
        page.session.do("inspect", name=name)
        _ = page.session.trajectory
        page.session.window(1.0, 10)
        assert page.session.snapshot.number == number


def test_moves_are_counted_and_seen_soon(page):
    with reading(page) as reader:
        body = page.session.snapshot.bodies[-1]
        target = page.session.snapshot.position[-1].tolist()
        reader.do("grab", body=body, point=[0.0, 0.0, 0.0], target=target)
        waits = []
        for seq in range(1, 30):
            begun = time.perf_counter()
            reader.send(do="move", body=body, target=[0.01 * seq, 0.0, -0.3], seq=seq)
            reader.next(lambda one, seq=seq: isinstance(one, Frame) and one.moved == seq)
            waits.append(time.perf_counter() - begun)
        assert sorted(waits)[len(waits) // 2] < 0.05
        reader.do("release", body=body)


def test_what_a_browser_drags_is_let_go_when_it_leaves(page):
    body = page.session.snapshot.bodies[-1]
    with reading(page) as reader:
        reader.do("play")
        reader.do("grab", body=body, point=[0.0, 0.0, 0.0], target=[0.3, 0.0, 0.0])
        until(page.session, lambda now: body in now.holds)
    until(page.session, lambda now: not now.holds)


def test_two_browsers_see_the_same_and_know_whose_lines_are_whose(page):
    with reading(page) as one, reading(page) as two:
        one.event("state")
        two.event("state")
        one.do("gravity", value=[0.0, 0.0, -1.62])
        own, other = (
            reader.event("log", lambda log: "gravity" in log["entries"][-1]["line"])["entries"][-1]
            for reader in (one, two)
        )
        assert (own["own"], other["own"]) == (True, False)
        assert own["by"] == other["by"] == "page"
        two.do("execute", line="info")
        found = one.event("log", lambda log: log["entries"][-1]["line"] == "info")
        assert found["entries"][-1]["by"] == "page 2"


def test_refusals_are_told_with_what_to_do(page):
    with reading(page) as reader:
        answer = reader.ask(do="edit", path=["bodies", "nobody", "mass"], value=1.0)
        assert not answer["ok"]
        assert answer["error"]["faults"]
        answer = reader.ask(do="no such")
        assert "there is no command of this name" in answer["text"]
        for command in ("save", "close", "question", ""):
            assert not reader.ask(do=command)["ok"]
        assert not reader.ask(do="gravity", value=[0, 0, 0], by="terminal")["ok"]
        assert not reader.ask(do="move", body="x", target=[0, 0, 0], mark=["page", 3])["ok"]
        assert reader.ask(complete="assem")["result"]["words"] == ["assemble"]
        switched = reader.ask(do="switch", method="euler")
        assert not switched["ok"]


def test_values_are_steered_and_told():
    mechanism = bc.gallery.double_pendulum()
    joint = next(iter(mechanism.joints))
    mechanism.add_drive("motor", joint, position=bc.Input("angle", 0.3, "rad"))
    with mechanism.view(port=0) as page, reading(page) as reader:
        state = reader.event("state")
        assert state["inputs"]["angle"]["value"] == 0.3
        assert state["inputs"]["angle"]["unit"] == "rad"
        assert (state["undo"], state["redo"]) == (False, False)
        reader.do("set_input", name="angle", value=0.5)
        reader.state(lambda one: one["inputs"]["angle"]["value"] == 0.5)
        reader.do("gravity", value=False)
        reader.state(lambda one: one["undo"])
        reader.do("undo")
        reader.state(lambda one: one["redo"])


def test_a_parameter_is_seen_in_the_scene():
    mechanism = bc.Mechanism("box")
    size = mechanism.add_parameter("size", 0.2, unit="m")
    mechanism.add_body("box", shapes=[bc.Box(size=(size, 0.1, 0.1), density=500.0)])
    with mechanism.view(port=0) as page, reading(page) as reader:
        assert reader.next(Scene).head["numbers"]["bodies"]["box"]["shapes"][0]["size"][0] == 0.2
        for value in np.linspace(0.2, 0.5, 16):
            reader.send(do="set_parameter", name="size", value=float(value))
        wide = [0.0]
        while wide[-1] < 0.5:
            scene = reader.next(Scene)
            wide.append(float(np.ptp(scene.meshes[0][0][:, 0])))
        assert len(wide) < 10  # some of them are skipped


def test_section_loads_are_told():
    with bc.gallery.four_bar().view(port=0) as page, reading(page) as reader:
        reader.do("step", count=10)
        reader.watch(loads="coupler")
        found = reader.event("loads")
        run = bc.simulate(bc.gallery.four_bar(), 0.01, method="rk4", step=1e-3)
        wanted = run.section("coupler", None, None, 41)
        assert found["place"] == pytest.approx(wanted.distance.tolist())
        assert np.allclose(found["force"], wanted.force[-1], rtol=1e-6, atol=1e-9)
        assert page.session.snapshot.time == pytest.approx(0.01)


def test_garbage_on_its_line_and_browsers_that_go_never_stop_it(page):
    source = random.Random(3)
    for _ in range(8):
        with suppress(Exception), reading(page) as reader:
            for _ in range(60):
                data = source.randbytes(source.randint(0, 300))
                reader.line.send(data if source.random() < 0.3 else data.decode("latin-1"))
            for message in (
                "[]",
                "7",
                "null",
                '{"do": 7}',
                '{"watch": 3}',
                '{"watch": {"signals": [1]}}',
                '{"id": 1}',
            ):
                reader.line.send(message)
            reader.line.send("[" * 100_000)
            if source.random() < 0.5:
                reader.line.socket.shutdown(socket.SHUT_RDWR)
    page.session.do("play")
    reached = page.session.snapshot.time
    until(page.session, lambda now: now.time > reached + 0.2)
    with reading(page) as reader:
        assert reader.ask(do="pause")["ok"]


def test_one_that_reads_nothing_costs_others_nothing():
    with bc.gallery.chain(50).view(port=0) as page, reading(page) as lazy, reading(page) as reader:
        lazy.line.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.watch(reactions=True, twists=True)
        reader.do("play")
        begun, count = time.monotonic(), 0
        while time.monotonic() < begun + 3.0:
            reader.next(Frame)
            count += 1
        assert count > 40
        reader.do("pause")
        assert max(browser._line.waiting for browser in page.browsers) < 2_000_000


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
    with view(bc.gallery.double_pendulum(), port=0, folder=tmp_path) as page, reading(page) as reader:
        reader.do("step", count=3)
        for command, suffix in (("save_run", ".h5"), ("record", ".html")):
            theirs, ours = tmp_path / f"theirs{suffix}", tmp_path / f"ours{suffix}"
            theirs.write_text("precious")
            refused = reader.ask(do=command, file="theirs")
            assert re.search(r"it exists already, got 'theirs\.\w+'; take another", refused["text"])
            assert theirs.read_text() == "precious"
            assert "ours" in reader.ask(do=command, file="ours")["text"]
            first = ours.read_bytes()
            reader.do("step", count=3)
            assert "ours" in reader.ask(do=command, file="ours")["text"]  # it wrote this file itself
            assert ours.read_bytes() != first
        assert len(list(tmp_path.iterdir())) == 4
        assert not reader.ask(do="record", file="../outside")["ok"]
        reader.do("keep", file="pendulum")
        assert reader.do("files") == {"mechanisms": ["pendulum.yaml"], "meshes": []}
    assert bc.Trajectory.load(tmp_path / "ours.h5").time[-1] == pytest.approx(0.006)


def test_a_recorded_run_is_played(tmp_path):
    bc.simulate(bc.gallery.four_bar(), 0.5).save(tmp_path / "run.h5")
    run = bc.Trajectory.load(tmp_path / "run.h5")
    with run.view(port=0) as page, reading(page) as reader:
        assert reader.next(Scene).head["live"] is False
        reader.do("rewind", time=0.25)
        assert page.session.snapshot.time == pytest.approx(0.25, abs=1e-3)
        traced = reader.do("trace", body="coupler", point=[0.1, 0.0, 0.0], frames=50)
        assert len(traced["time"]) == len(traced["points"]) == len(traced["rotations"]) > 10
        reader.do("play")
        until(page.session, lambda now: now.time == run.time[-1] and now.status == "paused")
        assert "no command of this name" in reader.ask(do="grab", body="coupler")["text"]
        assert page.session.do("inspect", name="crank")["mass [kg]"] > 0.0
        assert not reader.ask(do="save_run", file="again")["ok"]


def test_messages_speak_of_what_the_page_has():
    from bellcrank.viewer.page.words import in_words_of_the_page

    text = "the step is too long: use method='dopri5' or step=0.0005"
    method, step = "the method dopri5, beside the clock", "a step of 0.0005 s, beside the clock"
    assert in_words_of_the_page(text) == f"the step is too long: use {method} or {step}"
    assert in_words_of_the_page("nothing to say") == "nothing to say"


def test_fields_of_all_kinds_are_served(page):
    import urllib.request

    with urllib.request.urlopen(f"{page.url}kinds.json") as answer:
        kinds = json.load(answer)
    nouns = {"body", "joint", "force", "constraint", "drive", "sensor", "shape", "marker", "parameter"}
    assert set(kinds) >= nouns
    mass = next(field for field in kinds["body"][""] if field["name"] == "mass")
    assert (mass["type"], mass["units"]) == ("number", ["kg"])
    stiffness = next(field for field in kinds["force"]["SpringDamper"] if field["name"] == "stiffness")
    assert "N/m" in stiffness["units"]
    assert {field["type"] for table in kinds.values() for one in table.values() for field in one} <= {
        "number", "vector", "numbers", "text", "flag", "choice", "function", "other"
    }  # fmt: skip


def test_a_page_that_was_not_built_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(bundle, "FOLDER", tmp_path)
    with pytest.raises(bc.Unsupported, match="was not built"):
        bc.gallery.double_pendulum().view(port=0)


def test_a_page_that_cannot_be_reached_leaves_nothing():
    with pytest.raises(bc.MechanismError, match="cannot listen"):
        bc.gallery.double_pendulum().view(host="203.0.113.7", port=0)


def test_a_recording_is_one_page_that_loads_nothing():
    mechanism = bc.gallery.double_pendulum()
    text = recording(scene.of(mechanism), bc.simulate(mechanism, 1.0))
    assert text.lstrip().lower().startswith("<!doctype html")
    assert len(text) < 4_000_000
    head = text.partition("<body>")[0]
    assert "default-src 'none'" in head
    assert "unsafe" not in head
    body = re.sub(r"<script.*?</script>", "", text.partition("<body>")[2], flags=re.DOTALL)
    assert not re.findall(r'(?:src|href)="', body + re.sub(r"<style>.*?</style>", "", head, flags=re.DOTALL))


def test_browsers_are_told_that_it_is_over():
    with bc.gallery.double_pendulum().view(port=0) as page, reading(page) as reader:
        reader.event("state")
        page.close()
        assert reader.event("closed")["text"] == "the session has ended"


def test_a_notebook_shows_it(page):
    assert page.url in page._repr_html_()
