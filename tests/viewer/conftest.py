"""Headless Chromium, and the page of an empty bench in it."""

import pytest
from rigs.chromium import CHROMIUM, SOFTWARE, visit

import bellcrank as bc


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as tool:
        opened = tool.chromium.launch(executable_path=CHROMIUM, args=SOFTWARE)
        yield opened
        opened.close()


@pytest.fixture
def bench(browser, tmp_path):
    """The page of an empty bench, and a browser that has loaded it."""
    from bellcrank.viewer.opening import view

    with view(bc.Mechanism("bench", gravity=(0.0, 0.0, 0.0)), port=0, folder=tmp_path) as page:
        tab = visit(browser, page)
        yield page, tab
        tab.close()
