"""The environment of a benchmark: machine, core in use, versions, date."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import bellcrank as bc
from benchmarks.timing import pin_to_one_core


def environment() -> dict[str, Any]:
    """Pin this process to one core and describe everything that figures depend on.

    `load` is that of the machine over the last minute: above 1, others were using it too.
    """
    cores = os.cpu_count()
    pinned = pin_to_one_core()
    build = bc.build_info()
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": cpu_model(),
        "cores": cores,
        "pinned_to_core": pinned,
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "compiler": build["compiler"],
        "flags": build["flags"],
        "core": build["variant"],
        "versions": {
            "bellcrank": bc.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "eigen": build["eigen"],
        },
    }


def cpu_model() -> str:
    """The processor's name and family, as reported by the system."""
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor() or platform.machine()
    facts: dict[str, str] = {}
    for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
        key, _, value = line.partition(":")
        facts.setdefault(key.strip(), value.strip())
    name = facts.get("model name") or platform.machine()
    if "cpu family" in facts and "model" in facts:
        name += f" (family {facts['cpu family']}, model {facts['model']})"
    return name
