"""The benchmark of the live page measures a server and, where there is a browser, moves of the mouse."""

import pytest
from rigs.chromium import CHROMIUM, SOFTWARE
from rigs.reader import needs_a_page

import bellcrank as bc
from benchmarks import page, page_adaptive

pytestmark = pytest.mark.usefixtures("every_core")


def test_a_server_is_measured_with_and_without_readers():
    needs_a_page()
    row = page._server_row("chain of 3", page.chain, (3,), 0.5)
    assert row["rate"] > 5.0
    assert row["bytes"] > 96 + 3 * 28
    assert all(0.0 <= row[name] < 200.0 for name in page.WATCHED)


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_moves_of_the_mouse_are_timed():
    needs_a_page()
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as tool, page.served(bc.gallery.double_pendulum) as served:
        browser = tool.chromium.launch(executable_path=CHROMIUM, args=SOFTWARE)
        tab = browser.new_page(viewport=page.SIZE)
        tab.goto(served.url)
        tab.wait_for_function("() => window.bellcrank?.frame >= 0")
        row = page._drags(tab, 1.0, plays=True)
        browser.close()
    assert row["moves"] > 3
    assert 0.0 < row["median"] <= row["nine"]


def test_a_crowd_is_dragged_by_a_reader():
    needs_a_page()
    row = page_adaptive.server_row(60, {"max_error": 0.1}, 1.5, None)
    assert row["limits"] == "max_error=0.1"
    assert row["rate"] > 5.0
    assert 0.0 <= row["error"] <= 0.1
    assert row["median"] <= row["nine"]
