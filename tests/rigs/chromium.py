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
    wait_for(tab, lambda: (hook(tab, "bellcrank.frame") or -1) >= 0, "there is no picture")


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
