"""Reading of robot model files by their contents: URDF, MJCF or SDF."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.io.robots import macros, mjcf, sdf, urdf
from bellcrank.io.robots.model_folders import of_environment
from bellcrank.io.robots.source import Source
from bellcrank.io.robots.xml_tree import Element, parse, parse_text
from bellcrank.mechanism import Mechanism

READERS: Final[dict[str, Callable[[Source, Element], Mechanism]]] = {
    "robot": urdf.read,
    "mujoco": mjcf.read,
    "sdf": sdf.read,
    "gazebo": sdf.read,
}
"""What reads a file, by its root element."""

ELSEWHERE: Final = {
    "OpenSimDocument": "this is a model of OpenSim: convert it to MJCF (MyoConverter does)",
    "COLLADA": "this is a scene of COLLADA, not a mechanism",
    "html": 'this is a page of a web site: download the file itself ("Raw")',
    "launch": "this is a launch file of ROS: load the model that it names",
    "package": "this describes a package of ROS: load a model in it",
    "model": "this describes a model of Gazebo: load the .sdf file that it names",
}
"""What files with other root elements are."""

SUFFIXES: Final = (".urdf", ".xml", ".mjcf", ".sdf", ".world", macros.SUFFIX)


def read(
    path: Path,
    packages: Iterable[str | os.PathLike[str]] = (),
    density: float | None = None,
    start: str | None = None,
) -> Mechanism:
    """The mechanism of a URDF, MJCF or SDF file; its `left_out` lists the parts of the file that it omits.

    packages: folders of packages that package:// and model:// name, besides the file's own, those above it,
        those beside it, and those that the environment names (`of_environment`).
    density: kg/m^3, of the shapes of links whose masses the file does not state.
    start: the name of the key frame of MJCF at which it starts.

    Raises MechanismError with all faults, each with file and line; OSError if the file cannot be read.
    """
    return _mechanism(parse(path, str(path)), path, packages, density, start)


def of_text(text: str, path: Path) -> Mechanism:
    """The mechanism of the text of a file that would have that path. Raises MechanismError as `read` does."""
    return _mechanism(parse_text(text.encode(), str(path)), path)


def _mechanism(
    root: Element,
    path: Path,
    packages: Iterable[str | os.PathLike[str]] = (),
    density: float | None = None,
    start: str | None = None,
) -> Mechanism:
    source = Source(path, [*map(Path, packages), *of_environment()], density, start)
    reader = READERS.get(root.tag)
    if start is not None and root.tag != "mujoco":
        source.fault(root, "start names a key frame of MJCF, which this is not", start)
    if reader is None:
        advice = "models begin with <robot> (URDF), <mujoco> (MJCF) or <sdf>"
        advice = f"{ELSEWHERE[root.tag]}; {advice}" if root.tag in ELSEWHERE else advice
        source.fault(root, "it is no model of a robot", None, advice)
        raise MechanismError(source.faults)
    macros.expand(source, root)
    with np.errstate(all="ignore"):  # numbers that are too large are refused where they are checked
        made = reader(source, root)
    source.faults.raise_any()
    made.left_out = tuple(source.left_out)
    return made
