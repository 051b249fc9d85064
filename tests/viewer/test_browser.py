"""The page in a browser, headless Chromium: what is seen, dragged and clicked. Needs playwright, Chromium."""

import io
import time

import imageio.v3 as images
import numpy as np
import pytest
from rigs.chromium import NEEDS_A_BROWSER, pixel, press, visit
from rigs.live import until

import bellcrank as bc
from bellcrank import scene
from bellcrank.trajectory.rotations import rotate

pytestmark = NEEDS_A_BROWSER


@pytest.fixture(scope="module")
def shown(browser):
    """The page of a double pendulum that hangs, and a browser that has loaded it."""
    mechanism = bc.gallery.double_pendulum()
    with mechanism.view(port=0) as page:
        tab = visit(browser, page)
        yield page, tab
        tab.close()


def middle(page, body):
    """A point in the midst of a body, in the world."""
    now, number = page.session.snapshot, page.session.snapshot.bodies.index(body)
    local = page.stage._middle(number)
    return now.position[number] + rotate(now.rotation[number], local)


def test_the_clock_is_run_by_buttons(shown):
    page, tab = shown
    press(tab, "Play")
    until(page.session, lambda now: now.status == "playing" and now.time > 0.2)
    press(tab, "Pause")
    stood = until(page.session, lambda now: now.status == "paused")
    press(tab, "Step")
    until(page.session, lambda now: now.time == pytest.approx(stood.time + 1e-3))
    press(tab, "Reset")
    until(page.session, lambda now: now.time == 0.0)
    assert tab.foreign == [] or all(url.startswith(("data:", "blob:")) for url in tab.foreign)


def test_a_body_follows_the_mouse_and_is_let_go(shown):
    page, tab = shown
    page.session.do("reset")
    page.session.do("speed", value=1.0)
    tab.wait_for_timeout(2000)
    body = page.session.snapshot.bodies[-1]
    x, y = pixel(page, middle(page, body))
    page.session.do("play")
    page.session.do("speed", value=1e-4)  # it stands, as good as, until it is held
    tab.mouse.move(x, y)
    tab.mouse.down()
    for k in range(1, 6):
        tab.mouse.move(x + 12 * k, y - 6 * k)
        tab.wait_for_timeout(150)
    held = until(page.session, lambda now: body in now.holds, 60.0)
    target = np.asarray(held.holds[body].target)
    tx, ty = pixel(page, target)
    assert tx > x + 3
    assert ty < y - 1
    page.session.do("speed", value=1.0)
    begun = np.linalg.norm(middle(page, body) - target)
    until(page.session, lambda now: np.linalg.norm(middle(page, body) - target) < 0.7 * begun, 60.0)
    tab.mouse.up()
    until(page.session, lambda now: not now.holds, 60.0)
    page.session.do("pause")


def test_what_is_clicked_is_inspected(shown):
    page, tab = shown
    page.session.do("reset")
    tab.wait_for_timeout(3000)
    body = page.session.snapshot.bodies[0]
    tab.mouse.click(*pixel(page, middle(page, body)))
    end = time.monotonic() + 60.0
    while page.selected.name != body and time.monotonic() < end:
        tab.wait_for_timeout(200)
    assert (page.selected.kind, page.selected.name) == ("body", body)


def test_the_name_under_the_pointer_is_shown_beside_it(shown):
    page, tab = shown
    page.session.do("reset")
    tab.wait_for_timeout(2000)
    tip = tab.locator("#bellcrank-name")
    for body in page.session.snapshot.bodies:
        x, y = pixel(page, middle(page, body))
        tab.mouse.move(x, y - 3)
        tab.mouse.move(x, y)
        tip.filter(has_text=body).wait_for(timeout=30_000)
        box = tip.bounding_box()
        assert 0 < box["x"] - x < 40
        assert 0 < box["y"] - y < 40
    tab.mouse.move(30, 600)  # on nothing
    tip.wait_for(state="hidden", timeout=30_000)


def test_two_browsers_see_the_same_and_one_may_go(browser, shown):
    page, tab = shown
    page.session.do("rewind", time=0.0)
    other = visit(browser, page)
    page.session.do("step", count=137)
    for one in (tab, other):
        one.get_by_text("t = 0.137 s").first.wait_for(timeout=60_000)
    other.close()
    page.session.do("step")
    tab.get_by_text("t = 0.138 s").first.wait_for(timeout=60_000)


def test_a_recording_plays_from_a_file_without_a_network(browser, tmp_path):
    from bellcrank.viewer.page.keeping import recording

    mechanism = bc.gallery.four_bar()
    file = tmp_path / "run.html"
    file.write_text(recording(scene.of(mechanism), bc.simulate(mechanism, 0.5)), encoding="utf-8")
    context = browser.new_context(offline=True, viewport={"width": 700, "height": 500})
    tab, foreign, errors = context.new_page(), [], []
    tab.on(
        "request", lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else foreign.append(r.url)
    )
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto(file.as_uri())
    tab.locator("canvas").last.wait_for(timeout=90_000)
    tab.wait_for_timeout(5000)
    from io import BytesIO

    pixels = np.asarray(pytest.importorskip("PIL.Image").open(BytesIO(tab.screenshot(timeout=120_000))))
    assert pixels[:, :, :3].std() > 5.0  # a mechanism, not a blank page
    assert foreign == []
    assert errors == []
    context.close()


def test_the_hand_is_jogged_by_keys_and_buttons_and_torques_are_plotted(browser):
    from bellcrank.gallery.prosthetic_tasks import demonstration

    with demonstration().view(port=0) as page:
        tab = visit(browser, page)
        tab.get_by_text("Jog", exact=True).first.click()
        body = page.session.snapshot.bodies.index("hand")
        begin = page.session.snapshot.position[body].copy()
        page.session.do("speed", value=0.2)  # so that a slow machine keeps up
        end = time.monotonic() + 90.0
        while page.session.snapshot.position[body][2] < begin[2] + 0.01:
            assert time.monotonic() < end, page.session.snapshot
            tab.keyboard.press("PageUp")
            tab.wait_for_timeout(50)
        high = page.session.snapshot.position[body].copy()
        assert np.abs(high[:2] - begin[:2]).max() < 2e-3
        until(page.session, lambda _: page.plots.chosen[0].startswith("drive."), 60.0)
        assert [name.split(".")[1] for name in page.plots.chosen] == ["front motor", "rear motor"]
        button = tab.get_by_role("button", name="lower", exact=True).first
        button.scroll_into_view_if_needed()
        button.hover()
        tab.mouse.down()
        until(page.session, lambda now: now.position[body][2] < high[2] - 0.005, 90.0)
        tab.mouse.up()
        until(page.session, lambda now: np.abs(now.frame[now.layout.columns["velocity"]]).max() < 1e-3, 90.0)
        tab.close()


def test_contacts_are_seen_where_the_switch_shows_them(browser):
    mech = bc.Mechanism("box on a table")
    mech.replace(mech.ground, shapes=[bc.Plane(size=0.5)])
    mech.add_body("box", position=(0, 0, 0.1), shapes=[bc.Box(size=(0.2, 0.2, 0.2), density=500.0)])
    mech.add_force("table", bc.Contact(1e5, friction=0.4), "box", "ground")
    with mech.view(port=0) as page:
        tab = visit(browser, page)
        page.session.do("step", count=500)
        seen = []
        for on in (False, True, False):
            page._contacts.value = on
            tab.wait_for_timeout(3000)
            picture = images.imread(io.BytesIO(tab.screenshot(timeout=120_000)))[..., :3].astype(int)
            red, green, blue = np.moveaxis(picture, -1, 0)
            seen.append(int(np.sum((red > green + 90) & (blue > green + 30))))
        assert seen[0] == seen[2] == 0
        assert seen[1] > 30
        tab.close()
