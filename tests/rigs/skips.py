"""Tests that were skipped: what they need and how to have it; where none may be skipped they fail.

A reason names what is missing: "could not import 'mujoco'", "Chromium is not installed". One that begins with
"this system", "this processor" or "this user" names what nothing installs: such a test may always be skipped.
"""

import os
import re
import sys
from collections import Counter

NONE_MAY_BE = os.environ.get("BELLCRANK_SKIPS") == "none"
EXTRAS = {
    "oracles": ("coal", "mujoco", "pinocchio"),
    "models": ("dm-control", "example-robot-data", "gymnasium", "gymnasium-robotics", "pybullet"),
    "docs": ("sphinx", "furo", "myst_parser", "sphinx_design", "sphinx_copybutton", "latex2mathml"),
    "notebooks": ("ipykernel", "nbclient"),
    "browser": ("playwright",),
    "frameworks": ("casadi", "jax"),
}
"""Modules and packages of the tests, by the extras of pyproject.toml that `make test` installs on demand."""

_PACKAGES = {"PIL": "pillow", "sksundae": "scikit-sundae"}
_PROGRAMS = {"Chromium": "chromium", "a C compiler": "gcc", "a C++ compiler": "g++"}
_OF_THE_MACHINE = re.compile(r"this (system|processor|user) ")
_MISSING = re.compile(r"could not import '(\w+)|^(.+) is not installed")


def reason_of(report):
    """Why the test or the file of a report was skipped."""
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return reason.removeprefix("Skipped: ")


def judged(report):
    """A report as it is, or a failure if it is of a skip where none may be."""
    if NONE_MAY_BE and report.skipped and not hasattr(report, "wasxfail"):
        reason = reason_of(report)
        if not _OF_THE_MACHINE.match(reason):
            report.outcome = "failed"
            report.longrepr = f"skipped, which BELLCRANK_SKIPS=none does not permit: {reason}"
    return report


def missing(reason):
    """What a reason says is missing, and how to have it; nothing where no way is known."""
    found = _MISSING.search(reason)
    name = (found[1] or found[2]) if found and not _OF_THE_MACHINE.match(reason) else ""
    if not name or name in sys.stdlib_module_names:
        return reason, ""
    if name in _PROGRAMS:
        return name, f"apt-get install {_PROGRAMS[name]}"
    extra = next((extra for extra, names in EXTRAS.items() if name in names), "")
    return name, f"make test EXTRAS={extra}" if extra else f"pip install {_PACKAGES.get(name, name)}"


def lines(reports):
    """What the tests of these reports were skipped for, one line each, the most frequent first."""
    counts = Counter((missing(reason_of(report)), report.when == "collect") for report in reports)
    found = {}
    for (what, of_files), count in counts.most_common():
        noun = f"file{'s' * (count > 1)} of tests" if of_files else f"test{'s' * (count > 1)}"
        found.setdefault(what, []).append(f"{count} {noun}")
    return [_line(" and ".join(those), *what) for what, those in found.items()]


def _line(tests, name, how):
    verb = "needs" if tests.startswith("1 ") and " and " not in tests else "need"
    return f"{tests} {verb} {name}: {how}" if how else f"{tests}: {name}"
