"""Pictures of the live page for the guide, whose own code is run and photographed where a picture stands.

Usage: .venv/bin/python tools/live_pictures.py docs/guide/14-strings-and-a-plate.md ...
Needs the extras `viewer` and `browser` and a Chromium. Sessions that the code opens get a page each; a
picture that follows a block of code in the text is taken of the last of them.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from bellcrank import scene
from bellcrank.viewer import session as sessions
from bellcrank.viewer.page.page import Page

PARTS = re.compile(r"```python\n(?P<code>.*?)```|!\[[^\]]*\]\((?P<picture>[^)]*)\)", re.DOTALL)
SOFTWARE = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox")
SIZE = {"width": 1180, "height": 720}


class Photographer:
    """Opens a page for each session, and takes pictures of the last one."""

    def __init__(self, browser: Any) -> None:
        self._browser, self._live = browser, sessions.live
        self._page: Page | None = None
        self._tab: Any = None

    def live(self, mechanism: Any, *arguments: Any, **named: Any) -> Any:
        """A session, as `bellcrank.viewer.session.live` makes it, with a page that is looked at."""
        opened = self._live(mechanism, *arguments, **named)
        self.close()
        self._page = Page(opened, scene.of(mechanism), port=0)
        self._tab = self._browser.new_page(viewport=SIZE)
        self._tab.goto(self._page.url)
        while not self._tab.evaluate("(window.bellcrank?.frame ?? -1) >= 0"):
            self._tab.wait_for_timeout(100)
        return opened

    def take(self, path: Path) -> None:
        """Photograph what is there."""
        assert self._page is not None
        while self._page.session.snapshot.moving:
            self._tab.wait_for_timeout(100)
        self._tab.keyboard.press("f")
        self._tab.wait_for_timeout(3000)
        self._tab.screenshot(path=path, timeout=120_000)
        print(path.name)

    def close(self) -> None:
        """Close the page."""
        if self._page is not None:
            self._tab.close()
            self._page.close()
            self._page = None


def pictures_of(page: Path, photographer: Photographer) -> None:
    """Run the code of a page, and take its pictures."""
    namespace: dict[str, Any] = {}
    for part in PARTS.finditer(page.read_text(encoding="utf-8")):
        if part["code"] is not None:
            exec(compile(part["code"], page.name, "exec"), namespace)  # noqa: S102  (the guide's own code)
        elif "live-" in part["picture"]:
            photographer.take((page.parent / part["picture"]).resolve())


def main() -> None:
    """Take the pictures of the pages that are named."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    pages = [Path(name).resolve() for name in sys.argv[1:]]
    with sync_playwright() as tool, tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        browser = tool.chromium.launch(executable_path=chromium, args=list(SOFTWARE))
        photographer = Photographer(browser)
        sessions.live = photographer.live
        for page in pages:
            pictures_of(page, photographer)
        photographer.close()
        browser.close()


if __name__ == "__main__":
    main()
