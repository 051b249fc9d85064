"""Strings and a plate, as in guide 14, by clicks in headless Chromium; places and loads are typed."""

import numpy as np
import pytest
from viewer.test_browser import pixel, press, pytestmark  # noqa: F401
from viewer.test_building import place
from viewer.test_building_browser import click, field, fill, wait_for
from viewer.test_session import until

from bellcrank.viewer.pieces import PALETTE


@pytest.fixture
def shown(bench):
    """The bench with its command line unfolded."""
    bench[1].get_by_text("File and commands").first.click()
    return bench


def chosen(tab, label, option):
    """Choose from a list."""
    field(tab, label).click()
    tab.get_by_role("option", name=option, exact=True).click()
    tab.wait_for_timeout(500)


def add(page, tab, kind, name, mass, **sizes):
    """Add a body by the palette."""
    if page.building._kind.value != kind:
        chosen(tab, "Kind", kind)
        name_of_first, usual = next(iter(PALETTE[kind].sizes.items()))
        first = field(tab, f"{name_of_first.capitalize()} [m]")
        wait_for(tab, lambda: first.is_visible() and float(first.input_value()) == usual)
    for label, value in sizes.items():
        fill(page, tab, f"{label} [m]", value)
    fill(page, tab, "Mass [kg]", mass)
    fill(page, tab, "Name", name)
    press(tab, "Add")
    until(page.session, lambda now: name in now.bodies, 60.0)


def typed(page, tab, *lines):
    """Type command lines on the page."""
    for line in lines:
        before = page.session.snapshot.log[-1].number if page.session.snapshot.log else 0
        fill(page, tab, "Command", line)
        press(tab, "Do it")
        now = until(
            page.session, lambda now, before=before: bool(now.log) and now.log[-1].number > before, 60.0
        )
        assert now.log[-1].ok, now.log[-1]


def height(page, body):
    now = page.session.snapshot
    return float(now.position[now.bodies.index(body)][2])


def test_strings_are_clicked_and_hold_a_plate(shown):
    page, tab = shown
    session = page.session
    add(page, tab, "rod", "beam", 1.0, Length=1.2, Width=0.04)
    typed(page, tab, "sb beam -t 0 0 1")
    add(page, tab, "plate", "plate", 2.0, Length=0.8, Depth=0.8, Thickness=0.03)
    typed(page, tab, "sb plate -t 0 0 0.4")
    chosen(tab, "Element", "body beam")
    press(tab, "Nail")
    until(session, lambda now: len(now.mechanism.joints) == 1, 30.0)
    chosen(tab, "By", "string")
    fill(page, tab, "Stiffness [N/m]", 400.0)
    press(tab, "Click two points")
    names = [name.split(".")[1] for name in session.snapshot.mechanism.markers if name.startswith("plate.")]
    sides = sorted(names, key=lambda name: place(session, f"plate.{name}")[0])
    for count, (one, two) in enumerate((("start", sides[0]), ("end", sides[-1])), start=1):
        click(page, tab, f"beam.{one}")
        click(page, tab, f"plate.{two}")
        until(session, lambda now, count=count: len(now.mechanism.forces) == count, 60.0)
    press(tab, "Stop joining")
    typed(page, tab, "force air BodyDamping plate damping=4 rotational_damping=0.4", "gravity 0 0 -9.81")
    press(tab, "Play")
    until(session, lambda now: now.time > 6.0, 120.0)
    press(tab, "Pause")
    until(session, lambda now: now.status == "paused")
    assert height(page, "beam") == pytest.approx(1.0, abs=1e-9)
    run = session.window(0.0, 1)
    tensions = [
        abs(float(np.ravel(run.force(name).effort)[-1]))
        for name in session.snapshot.mechanism.forces
        if name != "air"
    ]
    assert sum(tensions) > 0.9 * 2.0 * 9.81  # they carry it
