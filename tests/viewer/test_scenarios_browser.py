"""The scenarios of guides 14 to 16 by clicks in headless Chromium; places, loads and motions are typed."""

import numpy as np
import pytest
from rigs.chromium import NEEDS_A_BROWSER, click, field, fill, pixel, press, settled, wait_for
from rigs.live import place, until

from bellcrank.viewer.pieces import PALETTE

pytestmark = NEEDS_A_BROWSER


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
        for label, usual in PALETTE[kind].sizes.items():
            one = field(tab, f"{label.capitalize()} [m]")
            wait_for(tab, lambda one=one, usual=usual: one.is_visible() and float(one.input_value()) == usual)
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


def test_an_arm_is_clicked_together_and_reaches_for_its_tool(shown):
    """The engineer of guide 15: the tool is out of reach until the slider moves the shoulder."""
    page, tab = shown
    session = page.session
    tool = (1.05, 0.0, 0.75)
    add(page, tab, "rod", "upper", 3.0, Length=0.5, Width=0.05)
    typed(page, tab, "sb upper -t 0 0 1")
    add(page, tab, "rod", "fore", 2.0, Length=0.4, Width=0.04)
    typed(page, tab, "sb fore -t 0.6 0 1.2")
    add(page, tab, "box", "tool", 1.5, Length=0.08, Depth=0.08, Height=0.16)
    typed(page, tab, "sb tool -t {} {} {}".format(*tool))
    chosen(tab, "Element", "body tool")
    press(tab, "Nail")
    until(session, lambda now: len(now.mechanism.joints) == 1, 30.0)
    ground = "{body: ground, position: [shoulder_x, 0, 1.2], axis: [0, 1, 0]}"
    typed(
        page, tab, "parameter shoulder_x 0 unit=m low=-0.6 high=0.6",
        f"joint shoulder Revolute {ground} {{body: upper, position: [-0.25, 0, 0], axis: [0, 1, 0]}}",
    )  # fmt: skip
    press(tab, "Click two points")
    click(page, tab, "upper.end")
    click(page, tab, "fore.start")
    until(session, lambda now: "revolute1" in now.mechanism.joints, 60.0)
    press(tab, "Stop joining")

    def missing():
        drag(page, tab, "fore.end", tool)
        return np.linalg.norm(place(session, "fore.end") - tool)

    assert missing() == pytest.approx(np.hypot(1.05, 0.45) - 0.9, abs=0.02)
    slider = tab.locator("xpath=//label[normalize-space()='shoulder_x']/ancestor::div[3]//input").last
    slider.fill("0.396")  # a step of the slider
    tab.keyboard.press("Tab")
    until(session, lambda now: now.parameters["shoulder_x"] == pytest.approx(0.396), 30.0)
    assert missing() < 0.02


def drag(page, tab, marker, to):
    """Drag a point of a body by the mouse while time stands."""
    settled(page, tab)
    begin, end = np.array(pixel(page, place(page.session, marker))), np.array(pixel(page, to))
    tab.mouse.move(*begin)
    tab.mouse.down()
    tab.wait_for_timeout(300)
    for part in np.linspace(0.0, 1.0, 12)[1:]:
        tab.mouse.move(*(begin + part * (end - begin)))
        tab.wait_for_timeout(100)
    tab.wait_for_timeout(2000)
    tab.mouse.up()
    settled(page, tab)


def test_cans_are_clicked_together_and_bounce_behind_the_car(shown):
    """The animator of guide 16, with one can."""
    page, tab = shown
    session = page.session
    add(page, tab, "box", "car", 100.0, Length=0.6, Depth=0.4, Height=0.3)
    typed(page, tab, "sb car -t 0 0 0.4")
    add(page, tab, "rod", "wire", 0.02, Length=0.3, Width=0.02)
    typed(page, tab, "sb wire -t -0.5 0.1 0.35")
    add(page, tab, "rod", "can", 0.1, Length=0.16, Width=0.11)
    typed(page, tab, "sb can -t -0.9 -0.1 0.2")
    chosen(tab, "By", "Spherical")
    press(tab, "Click two points")
    for count, (one, two) in enumerate((("car.left", "wire.end"), ("wire.start", "can.end")), start=1):
        click(page, tab, one)
        click(page, tab, two)
        until(session, lambda now, count=count: len(now.mechanism.joints) == count, 60.0)
    press(tab, "Stop joining")
    x = "3*(t - 1 + exp(-t))"
    curve = f'["{x}", "0.3*sin({x})", 0.4]'
    typed(page, tab, f"drive path marker=car path={{curve: {curve}}} orientation=[0, 0, 0]")
    for end in ("start", "end"):
        typed(page, tab, f"force road.{end} SupportPoint can.{end} stiffness=900 damping=1.5 height=0.055")
    typed(page, tab, "force scraping BodyDamping can damping=0.03 rotational_damping=2e-4")
    tab.get_by_label("Gravity").first.check()
    until(session, lambda now: any(now.mechanism.gravity), 30.0)
    press(tab, "Play")
    until(session, lambda now: now.time > 2.0 or now.status == "failed", 120.0)
    press(tab, "Pause")
    now = until(session, lambda now: now.status != "playing")
    assert now.status == "paused", now.message
    run = session.trajectory
    length = np.linalg.norm(place(session, "car.left") - place(session, "can.end"))
    assert length == pytest.approx(0.3, abs=1e-6)  # the wire holds it
    assert 3.0 < run.body("can").position[-1, 0] < run.body("car").position[-1, 0] - 0.2
    assert np.ptp(run.body("can").position[:, 2]) > 0.01  # it bounces
