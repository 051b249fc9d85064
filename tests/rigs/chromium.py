"""The browser of tests, which draws without a graphics card, and a live page in it."""

import io
import shutil

import pytest
from rigs.pixels import imread
from rigs.reader import needs_a_page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SOFTWARE = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox")
NEEDS_A_BROWSER = [pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")]
SIZES = [(1400, 900), (900, 600)]


def visit(browser, page, size=SIZES[1]):
    """A tab that shows a page. What goes wrong in it, and foreign addresses that it asks for, are kept."""
    needs_a_page()
    tab = browser.new_page(viewport={"width": size[0], "height": size[1]})
    watch(tab)
    tab.goto(page.url)
    ready(tab)
    return tab


def watch(tab):
    """Keep what goes wrong in a tab."""
    tab.faults, tab.foreign = [], []
    tab.on("console", lambda m: tab.faults.append(m.text) if m.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: tab.faults.append(str(error)))
    local = ("http://localhost", "http://127.0.0.1", "file:", "data:", "blob:", "ws://localhost")
    tab.on("request", lambda r: None if r.url.startswith(local) else tab.foreign.append(r.url))


def ready(tab):
    """Wait for the first picture."""
    wait_for(tab, lambda: hook(tab, "bellcrank.frame >= 0") is True, "there is no picture")


def hook(tab, expression, argument=None):
    """The value of an expression of the page's hook for tests; None where there is none yet."""
    body = f"const bellcrank = window.bellcrank; return bellcrank ? {expression} : null;"
    return tab.evaluate(f"(given) => {{ {body} }}", argument)


def wait_for(tab, condition, otherwise="it did not come to this", seconds=60.0):
    for _ in range(int(seconds * 20)):
        if condition():
            return
        tab.wait_for_timeout(50)
    raise AssertionError(otherwise)


def seen(tab):
    """What a window shows, (height, width, 3), red, green, blue."""
    return imread(io.BytesIO(tab.screenshot(timeout=120_000)))[..., :3].astype(int)


def click(tab, pixel, **more):
    """Click a place of the window."""
    assert pixel is not None
    tab.mouse.click(*pixel, **more)


def at(tab, point):
    """The pixel of a point of the world."""
    return hook(tab, "bellcrank.pixelOf(given)", list(map(float, point)))


def on(tab, body, point=(0.0, 0.0, 0.0)):
    """The pixel of a point of a body, in its frame."""
    return hook(tab, "bellcrank.pixelOn(given[0], given[1])", [body, list(map(float, point))])


def fill(tab, label, value):
    """Type into a field, and leave it."""
    field = tab.get_by_label(label, exact=True).last
    field.fill(str(value))
    field.press("Enter")


def outside(tab):
    """Parts of the page that reach out of the window, or whose text is cut off in a button or a label."""
    return tab.evaluate(
        """() => [...document.querySelectorAll('body *')].filter((one) => {
            const box = one.getBoundingClientRect();
            const drawn = one.closest('[popover]:not(:popover-open), canvas, svg, .u-wrap');
            if (!box.width || !box.height || drawn) return false;
            const away = box.left < -1 || box.right > innerWidth + 1;
            const scrolls = getComputedStyle(one.parentElement).overflow !== 'visible';
            const cut = one.tagName === 'BUTTON' && one.scrollWidth > one.clientWidth + 1;
            const frame = one.closest('dialog')?.getBoundingClientRect();
            const beside = frame && (box.left < frame.left - 1 || box.right > frame.right + 1);
            return (away && !scrolls) || cut || beside;
        }).map((one) => `${one.tagName}.${one.className}: ${one.textContent.slice(0, 30)}`)"""
    )
