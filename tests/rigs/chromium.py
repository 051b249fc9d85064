"""The browser of tests: where it is, and how it draws without a graphics card."""

import shutil

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SOFTWARE = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox")
