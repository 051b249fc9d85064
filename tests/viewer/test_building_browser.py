"""Building by clicks in headless Chromium: a four-bar from nothing. Needs playwright and Chromium."""

import numpy as np
import pytest
from rigs.chromium import NEEDS_A_BROWSER, click, field, fill, press, settled, wait_for
from rigs.live import COUPLER, CRANK, GROUND, ROCKER, place, until

import bellcrank as bc

pytestmark = NEEDS_A_BROWSER


def add_rod(page, tab, name, length):
    """Add a rod by the palette."""
    fill(page, tab, "Length [m]", length)
    fill(page, tab, "Width [m]", 0.04)
    fill(page, tab, "Name", name)
    press(tab, "Add")
    until(page.session, lambda now: name in now.bodies, 60.0)


def joined(page, count):
    until(page.session, lambda now: len(now.mechanism.joints) == count, 60.0)


def test_a_notice_over_the_stage_lets_clicks_pass_but_for_its_button(bench):
    page, tab = bench
    add_rod(page, tab, "rod", 1.0)
    press(tab, "Click two points")
    settled(page, tab)
    tab.mouse.click(40, 600)  # on nothing
    notice = tab.locator(".mantine-Notification-root").filter(has_text="there is nothing there")
    notice.wait_for(timeout=30_000)
    under = """notice => {
        const box = notice.getBoundingClientRect();
        return document.elementFromPoint(box.x + 60, box.y + box.height / 2)?.tagName;
    }"""
    wait_for(tab, lambda: notice.evaluate(under) == "CANVAS")  # once it has slid in
    notice.locator("button").click()
    notice.wait_for(state="detached", timeout=30_000)


def test_a_four_bar_is_built_by_clicks_from_nothing(bench, tmp_path):
    page, tab = bench
    session = page.session
    for name, length in (("crank", CRANK), ("coupler", COUPLER), ("rocker", ROCKER)):
        add_rod(page, tab, name, length)
    press(tab, "Click two points")
    click(page, tab, "crank.start")
    press(tab, "First point to the ground")
    joined(page, 1)
    click(page, tab, "crank.end")
    click(page, tab, "coupler.start")
    joined(page, 2)
    assert np.allclose(place(session, "crank.end"), place(session, "coupler.start"), atol=1e-9)

    tab.mouse.click(40, 600)  # on nothing
    tab.get_by_text("there is nothing there").first.wait_for(timeout=30_000)
    assert len(session.snapshot.mechanism.joints) == 2

    click(page, tab, "coupler.end")
    click(page, tab, "rocker.start")
    joined(page, 3)
    fixed = place(session, "crank.start")
    other = np.add(fixed, (GROUND, 0.0, 0.0))
    session.do(
        "join", kind="Revolute", first={"body": "ground", "point": other.tolist()},
        second={"marker": "rocker.end"},
    )  # fmt: skip
    press(tab, "Stop joining")
    assert bc.info(session.editor.mechanism.copy()).freedom == 1

    settled(page, tab)
    field(tab, "Element").click()
    tab.get_by_role("option", name="joint revolute1", exact=True).click()
    press(tab, "Drive the joint")
    until(session, lambda now: len(now.mechanism.drives) == 1, 30.0)
    press(tab, "Play")
    until(session, lambda now: now.time > 0.5, 60.0)
    press(tab, "Pause")
    until(session, lambda now: now.status == "paused")
    assert np.linalg.norm(place(session, "coupler.end") - place(session, "crank.end")) == pytest.approx(
        COUPLER
    )
    assert np.allclose(place(session, "rocker.end"), other, atol=1e-9)

    built = session.editor.mechanism.copy()
    press(tab, "Undo")
    until(session, lambda now: not now.mechanism.drives, 30.0)
    press(tab, "Redo")
    until(session, lambda now: len(now.mechanism.drives) == 1, 30.0)
    assert session.editor.mechanism == built
    tab.get_by_text("File and commands").first.click()
    fill(page, tab, "File", "four_bar.yaml")
    press(tab, "Save")
    tab.get_by_text("written: four_bar.yaml").first.wait_for(timeout=30_000)
    assert bc.load(tmp_path / "four_bar.yaml") == built
    press(tab, "Open")
    until(session, lambda now: now.time == 0.0, 30.0)
    assert session.editor.mechanism == built
