"""The page of adaptive dynamics in Chromium: clusters in colours, an atom dragged, limits by sliders."""

import numpy as np
import pytest
from rigs.chromium import NEEDS_A_BROWSER, SIZES, fill, hook, on, outside, seen, visit, wait_for
from rigs.live import until

from bellcrank.viewer.opening import view
from bellcrank.viewer.page import tree_picture
from benchmarks.adaptive_linkages import molecule

pytestmark = NEEDS_A_BROWSER
ATOMS = 90


@pytest.fixture(params=["meshes", "balls"])
def shown(request, browser, monkeypatch):
    """The page of a molecule, drawn as meshes or as balls, and a tab that shows it."""
    monkeypatch.setattr(tree_picture, "CROWD", 1000 if request.param == "meshes" else 50)
    mech = molecule(ATOMS, 2, even=True).mechanism()
    with view(mech, {"formulation": "adaptive", "max_error": 0.1}, port=0) as page:
        tab = visit(browser, page, SIZES[0])
        yield page, tab
        assert tab.faults == []
        assert tab.foreign == []
        tab.close()


def taken(page, tab):
    """Wait until the tab has taken up the last frame."""
    wait_for(tab, lambda: hook(tab, "bellcrank.frame") == page.session.snapshot.number, "frames are missing")


def drag(page, tab, body="link 45"):
    """Take hold of a body in the picture and pull it."""
    model = page.session.snapshot.model
    x, y = on(tab, body, model.com[model.body_number(body)])
    tab.mouse.move(x, y)
    tab.mouse.down()
    for k in range(1, 16):
        tab.mouse.move(x + 6 * k, y - 4 * k)
        tab.wait_for_timeout(30)
    until(page.session, lambda now: now.holds)


def test_an_atom_is_dragged_and_clusters_have_colours(shown):
    page, tab = shown
    taken(page, tab)
    before = seen(tab)
    page.session.do("play")
    drag(page, tab)
    until(page.session, lambda now: now.adaptivity.free > 2)
    tab.wait_for_timeout(500)
    page.session.do("pause")
    tab.mouse.up()
    taken(page, tab)
    now = page.session.snapshot
    for number in range(0, ATOMS, 17):
        found = hook(tab, "bellcrank.position(given)", now.bodies[number])
        np.testing.assert_allclose(found, now.position[number], atol=1e-6)
    moved = now.adaptivity.tree.since(-1)
    clusters = np.array(hook(tab, "bellcrank.clusters"))
    assert set(clusters) - {-1} <= set(moved.free.tolist())
    assert len(set(clusters)) > 2
    assert hook(tab, "bellcrank.adaptivity.free") == now.adaptivity.free
    tab.wait_for_timeout(400)
    coloured = seen(tab)
    tab.get_by_label("Colour what moves as one").uncheck()
    tab.wait_for_timeout(400)
    plain = seen(tab)
    part = np.s_[60:600, 60:1000]
    assert np.abs(coloured[part] - before[part]).max() > 60
    changed = np.abs(coloured[part] - plain[part]).max(axis=2) > 40
    assert changed.sum() > 100


@pytest.mark.parametrize("shown", ["balls"], indirect=True)
def test_limits_are_set_and_what_bounds_is_said(shown):
    page, tab = shown
    page.session.do("play")
    place = np.array(page.session.do("inspect", name="link 45")["position [m]"])
    page.session.do("grab", body="link 45", point=[0, 0, 0], target=(place + 3.0).tolist())
    fill(tab, "Error limit, number", 1e-3)
    until(page.session, lambda now: now.adaptivity.max_error == 1e-3)
    tab.get_by_label("As many joints as the error takes").click()  # the session says what is so
    until(page.session, lambda now: now.adaptivity.max_joints is not None)
    fill(tab, "Most joints, number", 3)
    until(page.session, lambda now: now.adaptivity.is_bounded and now.adaptivity.max_joints == 3)
    said = tab.get_by_text("The number of joints is what bounds")
    wait_for(tab, lambda: said.count() == 1, "it does not say what bounds")
    told = tab.get_by_label("What is left out")
    wait_for(tab, lambda: "3 of 3" in told.inner_text(), "it does not say how many joints are free")
    tab.get_by_label("Measure of the error").select_option("rms")
    until(page.session, lambda now: now.adaptivity.measure == "rms")
    tab.get_by_label("Method of integration").select_option("symplectic")
    until(page.session, lambda now: now.settings.method == "symplectic")
    tab.get_by_role("button", name="Back to the start").click()
    until(page.session, lambda now: now.time == 0.0)
    taken(page, tab)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_nothing_is_cut_off(browser, size):
    mech = molecule(20, 2, even=True).mechanism()
    with view(mech, {"formulation": "adaptive", "max_joints": 7, "max_error": 0.0}, port=0) as page:
        tab = visit(browser, page, size)
        tab.get_by_role("tab", name="Adaptive").click()
        tab.wait_for_timeout(300)
        assert outside(tab) == []
        assert tab.faults == []
        tab.close()
