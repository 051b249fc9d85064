"""The browser of tests, which draws without a graphics card, and a live page in it: seen, clicked, filled."""

import shutil
import time

import numpy as np
import pytest
from rigs.live import follows, place, until

from bellcrank.mechanism.rotation_arrays import conjugate, rotate

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SOFTWARE = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox")
NEEDS_A_BROWSER = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
WINDOW = {"width": 1000, "height": 640}
COARSE = 0.5
"""Pixels to one of the window: it is drawn without a graphics card, and few are seen as well as many."""


def visit(browser, page):
    tab = browser.new_page(viewport=WINDOW, device_scale_factor=COARSE)
    tab.foreign = []
    tab.on("request", lambda r: None if "//localhost" in r.url else tab.foreign.append(r.url))
    tab.goto(page.url)
    tab.get_by_text("Play", exact=True).first.wait_for(timeout=120_000)
    client = client_of(page)
    end = time.monotonic() + 60.0
    while client.camera.image_width < 100 and time.monotonic() < end:
        tab.wait_for_timeout(50)
    settled(page, tab)
    return tab


def client_of(page):
    end = time.monotonic() + 60.0
    while not (clients := page.server.get_clients()):
        assert time.monotonic() < end
        time.sleep(0.1)
    return max(clients.values(), key=lambda client: client.client_id)


def pixel(page, point):
    """Where a point of the world is seen in the window: the projection of a pinhole camera.

    A slow browser draws fewer pixels than the window has, and counts those.
    """
    camera = client_of(page).camera
    seen = rotate(conjugate(np.asarray(camera.wxyz)), page.stage.unit * np.asarray(point) - camera.position)
    height, width = camera.image_height, camera.image_width
    focus = 0.5 * height / np.tan(0.5 * camera.fov)
    scale = WINDOW["height"] / height
    return tuple(scale * (0.5 * w + focus * x / seen[2]) for w, x in zip((width, height), seen, strict=False))


def press(tab, text):
    tab.get_by_role("button", name=text, exact=True).first.click()


def field(tab, label):
    """The input beside a label."""
    beside = f"//label[normalize-space()='{label}']/ancestor::div[contains(@class, 'Flex-root')][1]//input"
    return tab.locator(f"xpath={beside}").first


def fill(page, tab, label, value):
    """Type into a field until the page has it: viser sends one change in 50 ms only, and drops others."""
    widgets = page.server.gui._gui_input_handle_from_uuid
    for _ in range(5):
        field(tab, label).fill(str(value))
        tab.keyboard.press("Tab")
        for _ in range(30):
            if any((one.label, one.value) == (label, value) for one in list(widgets.values())):
                return
            tab.wait_for_timeout(100)
    raise AssertionError(f"{label} did not become {value}")


def wait_for(tab, condition, otherwise="it did not come to this"):
    for _ in range(300):
        if condition():
            return
        tab.wait_for_timeout(100)
    raise AssertionError(otherwise)


def settled(page, tab):
    """Wait until nothing moves, the camera neither, and the window has drawn all bodies where they are."""
    until(page.session, lambda now: not now.moving, 30.0)
    wait_for(tab, lambda: follows(page))
    wait_for(tab, lambda: np.array_equal(seen_from(page), drawn(page, tab)), "the camera does not rest")


def drawn(page, tab):
    """From where the page is seen once the window has drawn all that was sent before."""
    client_of(page).get_render(height=8, width=8, timeout=30.0)  # comes after it
    tab.wait_for_timeout(100)
    frames = "left => new Promise(done => requestAnimationFrame(function next() {"
    tab.evaluate(frames + "left-- ? requestAnimationFrame(next) : done(); }))", 3)
    return seen_from(page)


def seen_from(page):
    """The camera, as the window has told of it: that it was moved it tells later."""
    camera = client_of(page).camera
    return [*camera.position, *camera.wxyz, camera.fov, camera.image_height, camera.image_width]


def click(page, tab, marker):
    """Click a marker of a body on the stage."""
    before = len(page.building.joining.picks)
    settled(page, tab)
    tab.mouse.click(*pixel(page, place(page.session, marker)))
    wait_for(tab, lambda: len(page.building.joining.picks) != before, f"{marker} was not hit")
