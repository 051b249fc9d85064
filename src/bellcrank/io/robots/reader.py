"""Reading of robot model files by their contents: URDF, MJCF or SDF."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.io.robots import mjcf, sdf, urdf
from bellcrank.io.robots.source import Source, of_environment
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

_XACRO: Final = ".xacro"
_DEFINITIONS: Final = ("property", "arg", "macro")  # of xacro
_EXPRESSION: Final = re.compile(r"\$\{|\$\((?!find )")
SUFFIXES: Final = (".urdf", ".xml", ".mjcf", ".sdf", ".world", _XACRO)


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
    expand(source, root)
    with np.errstate(all="ignore"):  # numbers that are too large are refused where they are checked
        made = reader(source, root)
    source.faults.raise_any()
    made.left_out = tuple(source.left_out)
    return made


def expand(source: Source, root: Element) -> None:
    """Remove definitions that nothing uses. Raises MechanismError where anything must be expanded first."""
    prefixes = {key.removeprefix("xmlns:") for key, text in root.attributes.items() if "xacro" in text}
    reader = _Macros(source, {"xacro", *prefixes})
    place = reader.unexpanded(root)
    if place is None and reader.left and not _is_whole(root):
        place = reader.left[0]
    if place is not None:
        advice = f"expand them first: pip install xacro; {_command(source.path.name, root.tag)}"
        source.fault(place, "macros are not expanded here", reader.expression, advice)
        source.faults.raise_any()
    for at in reader.left:
        source.leave(at, str(at), "it belongs to macros, which nothing here uses")


def _command(name: str, tag: str) -> str:
    """The command that expands a file, with a fitting name for the result."""
    target = name.removesuffix(_XACRO)
    if target == name:
        target = f"expanded_{name}"
    elif "." not in target:
        target += ".urdf" if tag == "robot" else f".{tag}"
    return f"xacro {shlex.quote(name)} > {shlex.quote(target)}"


class _Macros:
    """left: definitions, which are taken out. expression: the first one that must be evaluated."""

    def __init__(self, source: Source, prefixes: set[str]) -> None:
        self.left: list[Element] = []
        self.expression: str | None = None
        self._prefixes = prefixes
        # What a file named .xacro includes is part of it; elsewhere the robot may be whole without it.
        self._definitions = (*_DEFINITIONS, *(() if source.path.suffix == _XACRO else ("include",)))

    def unexpanded(self, root: Element) -> Element | None:
        """The first element that must be expanded, at any depth."""
        waiting = [root]
        while waiting:
            at = waiting.pop()
            self.expression = next((text for text in _texts(at) if _EXPRESSION.search(text)), None)
            if self.expression is not None:
                return at
            kept = []
            for one in at.children:
                prefix, colon, tag = one.tag.rpartition(":")
                if not colon or prefix not in self._prefixes:
                    kept.append(one)
                elif tag in self._definitions:
                    self.left.append(one)
                else:
                    return one
            at.children[:] = kept
            waiting += reversed(kept)
        return None


def _texts(at: Element) -> Iterator[str]:
    yield from at.attributes.values()
    yield at.text


def _is_whole(root: Element) -> bool:
    """Whether a robot has links, and all that its joints name, without what it would include."""
    if root.tag != "robot":
        return True
    links = {at.name for at in root.all("link")} | {"world"}
    ends = (end for at in root.all("joint") for end in (at.first("parent"), at.first("child")))
    return len(links) > 1 and all(end is None or end.get("link") in links for end in ends)
