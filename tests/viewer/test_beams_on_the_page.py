"""Beams on the page: what is sent of them, how the browser bends and colours them, the bar, clicks."""

import numpy as np
import pytest
from rigs.chromium import NEEDS_A_BROWSER, hook, visit, wait_for
from rigs.reader import Frame, Scene, needs_a_page

import bellcrank as bc
from bellcrank import scene
from bellcrank.trajectory.beam_values import QUANTITIES
from bellcrank.viewer.page.frames import Wanted, frame_of
from bellcrank.viewer.page.picture import Picture
from bellcrank.viewer.page.signals import one_frame
from bellcrank.viewer.session import live

STEEL = {"E": 210e9, "nu": 0.3, "density": 7850}


@pytest.fixture(autouse=True)
def _page():
    needs_a_page()


def rigged():
    """A rectangular arm that bends and twists, and a rope without sizes."""
    mech = bc.Mechanism("arm")
    arm = mech.add_beam("arm", bc.Section.rectangle(0.02, 0.04, **STEEL), "ground", (1, 0, 0), segments=4)
    soft = bc.Section.general(EA=1e5, GA=1e5, GJ=1.0, EI=1.0, mass_per_length=0.5)
    mech.add_beam("rope", soft, start=arm.marker(1.0), end=(1, 0, -0.6), segments=4, damping=1e-2)
    mech.add_force("push", bc.Wrench(force=(0, 300, 0), moment=(60, 0, 0)), arm.marker(1.0))
    return bc.statics(mech).at


def pictured(session):
    now = session.snapshot
    described = session.editor.mechanism
    return Picture(scene.of(described), now.edition, one_frame(now.layout, now.frame), True, described)


def test_the_scene_has_what_is_swept():
    with live(rigged()) as session:
        picture = pictured(session)
        sent = Scene(picture.message)
        assert [one["name"] for one in sent.head["sweeps"]] == ["arm", "rope"]
        for given in sent.head["sweeps"]:
            sweep = picture.scene.sweeps[given["name"]]
            assert given["rings"] == pytest.approx(sweep.rings.tolist())
            assert given["carriers"] == sweep.carriers.tolist()
            vertices, triangles = sent.meshes[given["mesh"]]
            assert vertices == pytest.approx(sweep.mesh.vertices, abs=1e-6)
            assert np.array_equal(triangles, sweep.mesh.triangles)
            normals = sent.normals[given["mesh"]].reshape(-1, 3)
            assert normals == pytest.approx(sweep.mesh.normals, abs=1e-6)
        assert set(sent.normals) == {one["mesh"] for one in sent.head["sweeps"]}
        assert [name for name, _, _ in sent.head["quantities"]] == list(QUANTITIES)


@pytest.mark.parametrize("name", QUANTITIES)
def test_values_are_those_of_results(name):
    mech = rigged()
    with live(mech) as session:
        session.do("step", count=3)
        picture, now = pictured(session), session.snapshot
        frame = Frame(frame_of(now, picture, Wanted(beams=name)))
        rings = [len(sweep.rings) for sweep in picture.scene.sweeps.values()]
        assert len(frame.beams) == sum(rings)
        shown = session.trajectory.beam("arm")
        stations = np.linspace(0.0, 1.0, rings[0])
        by_hand = QUANTITIES[name].values(shown, stations)[-1]
        assert frame.beams[: rings[0]] == pytest.approx(by_hand, rel=1e-4, abs=1e-4 * np.abs(by_hand).max())
        assert np.isnan(frame.beams[rings[0] :]).all() == (name in ("stress", "von_mises"))
        assert not len(Frame(frame_of(now, picture, Wanted())).beams)
        assert not len(Frame(frame_of(now, picture, Wanted(beams="nothing"))).beams)


def test_a_beam_is_inspected():
    with live(rigged()) as session:
        found = session.do("inspect", name="arm")
        beam = bc.statics(rigged()).beam("arm")
        assert found["kind"] == "beam"
        assert found["largest bending moment [N m]"] == pytest.approx(
            np.linalg.norm(beam.moment(0.0)[0, 1:]), rel=1e-3
        )
        assert found["largest torsion [N m]"] == pytest.approx(60.0, rel=1e-2)
        rope = session.do("inspect", name="rope")
        assert "largest normal stress [Pa]" not in rope
        assert rope["length [m]"] == pytest.approx(0.6)


BENT = """() => {
    const { pieces, poses } = window.bellcrank.stage;
    const mesh = pieces.beams.group.children[0];
    const take = (name) => Array.from(mesh.geometry.getAttribute(name).array);
    return { places: take("position"), normals: take("normal"), colors: take("color"), base: poses.base };
}"""


@NEEDS_A_BROWSER[0]
def test_the_browser_bends_and_colours_them(browser, tmp_path):
    with rigged().view(port=0) as page:
        tab = visit(browser, page)
        now = page.session.snapshot
        drawn = scene.of(page.session.editor.mechanism)
        vertices, normals = drawn.bent(now.position, now.rotation)["arm"]
        found = tab.evaluate(BENT)
        assert np.reshape(found["places"], (-1, 3)) + found["base"] == pytest.approx(vertices, abs=2e-6)
        assert np.reshape(found["normals"], (-1, 3)) == pytest.approx(normals, abs=2e-5)
        assert np.ptp(np.reshape(found["colors"], (-1, 3)), axis=0).max() == 0.0
        tab.get_by_role("button", name="What is shown").click()
        tab.get_by_label("Beams", exact=True).select_option("moment")
        tab.keyboard.press("Escape")
        bar = tab.locator(".colorbar")
        bar.wait_for()
        assert "bending moment" in bar.inner_text()
        wait_for(tab, lambda: np.ptp(np.reshape(tab.evaluate(BENT)["colors"], (-1, 3)), axis=0).max() > 0.1)
        colors = np.reshape(tab.evaluate(BENT)["colors"], (-1, 3))
        ring = drawn.sweeps["arm"].ring
        moment = bc.statics(rigged()).beam("arm")
        rings = drawn.sweeps["arm"].rings
        values = np.linalg.norm(moment.moment(rings / 4.0)[0, :, 1:], axis=1)
        bright = colors[:, :2].sum(axis=1)
        order = np.argsort(values[ring], kind="stable")
        assert bright[order[-1]] > 4.0 * bright[order[0]]
        assert np.corrcoef(values[ring], bright)[0, 1] > 0.9
        pixel = hook(tab, "bellcrank.pixelOn('arm/2')")
        tab.mouse.click(*pixel)
        tab.wait_for_timeout(200)
        assert hook(tab, "bellcrank.selection") == [{"table": "beams", "name": "arm"}]
        tab.screenshot(path=tmp_path / "page.png")
        assert tab.faults == []
        tab.close()
