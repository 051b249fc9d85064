"""Folders of packages and models: those that the environment names, and the file that describes a model."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bellcrank.errors import MechanismError
from bellcrank.io.robots.xml_tree import parse

DESCRIPTION: Final = "model.config"
"""What describes a model of Gazebo, at the top of its folder."""
_FOLDERS: Final = (
    "ROS_PACKAGE_PATH",
    "GZ_SIM_RESOURCE_PATH",
    "IGN_GAZEBO_RESOURCE_PATH",
    "GAZEBO_MODEL_PATH",
    "SDF_PATH",
)
_PREFIXES: Final = ("AMENT_PREFIX_PATH",)  # of installations, whose packages lie in `share`
_NEWEST: Final = (1, 12)  # the newest version of SDF that is read


def of_environment() -> list[Path]:
    """The folders of packages and models that variables of ROS and Gazebo name."""
    return [
        *(Path(text) for name in _FOLDERS for text in _listed(name)),
        *(Path(text) / "share" for name in _PREFIXES for text in _listed(name)),
    ]


def _listed(name: str) -> list[str]:
    return [text for text in os.environ.get(name, "").split(os.pathsep) if text]


def model_file(folder: Path, readable: Callable[[Path], bool]) -> Path | None:
    """The SDF file of the model in a folder; None if there is none that may be read.

    It is the one of the newest version that the folder's model.config names, else model.sdf.
    """
    for name in (*_named(folder / DESCRIPTION, readable), "model.sdf"):
        real = Path(os.path.realpath(folder / name))
        if real.is_relative_to(os.path.realpath(folder)) and readable(real) and real.is_file():
            return real
    return None


def _named(config: Path, readable: Callable[[Path], bool]) -> list[str]:
    """The files that a model.config names, the best first."""
    real = Path(os.path.realpath(config))
    if not readable(real) or not real.is_file():
        return []
    try:
        root = parse(real, str(config))
    except (MechanismError, OSError):  # the model itself may be sound
        return []
    found = [(version(at.get("version")), at.text.strip()) for at in root.all("sdf")]
    found = [(one, name) for one, name in found if name and "\0" not in name]
    found.sort(key=lambda one: (one[0] <= _NEWEST, one[0]), reverse=True)
    return [name for _, name in found]


def version(text: str) -> tuple[int, ...]:
    """A version of SDF, such as "1.9", as numbers; the newest if there is none."""
    parts = [part for part in text.split(".") if part.isascii() and part.isdigit() and len(part) < 5]
    return tuple(map(int, parts)) or _NEWEST
