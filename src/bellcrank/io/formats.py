"""The formats of mechanism files: YAML and JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bellcrank.errors import Unsupported
from bellcrank.io import json_format, yaml_format
from bellcrank.io.node import Node
from bellcrank.mechanism.checking import required_path

_SURFACE: Final = "export its surface as STL, OBJ or glTF, which load as one body (density=..., scale=...)"
_MOTION: Final = "write its columns as CSV: bc.CubicSpline.from_csv(file, column) makes a motion of one"
_ROBOT: Final = "export the model as URDF, MJCF or SDF there"
_ANEW: Final = "describe it anew in YAML or Python"
_EXPAND: Final = "expand it first, and load the result"
_UNPACK: Final = "unpack it, and load the model in it"
_KINDS: Final = (
    ("a model of OpenSim", f"convert it to MJCF (MyoConverter does), or {_ROBOT}", "osim"),
    ("a scene of COLLADA", "convert it to glTF or OBJ: `assimp export FROM.dae TO.glb`", "dae zae"),
    ("a solid of a CAD program", f"in FreeCAD, {_SURFACE}", "step stp iges igs brep x_t x_b sat jt fcstd"),
    ("a document of a CAD program", f"there, {_SURFACE}", "sldprt sldasm ipt iam catpart catproduct prt asm"),
    ("a document of a CAD program", f"there, {_SURFACE}", "f3d 3dm dwg dxf"),
    ("a recorded motion", _MOTION, "bvh c3d trc mot sto amc asf tsv mat npz npy parquet xlsx ods"),
    ("a table", "bc.CubicSpline.from_csv(file, column) makes a motion of a column", "csv"),
    ("a scene of USD", f"{_ROBOT}; or, in Blender, {_SURFACE}", "usd usda usdc usdz"),
    ("a scene", f"in Blender, {_SURFACE}", "fbx blend 3ds max ma mb x3d c4d lwo"),
    ("a scene of VRML", f"in Blender or MeshLab, {_SURFACE}", "wrl vrml"),
    ("an archive with a mesh", _SURFACE, "3mf amf"),
    ("a model of Simulink", f"{_ANEW}, or load the URDF file from which it was made", "mdl slx"),
    ("a model of Adams", f"{_ROBOT}, or {_ANEW}", "adm cmd"),
    ("a model of MBDyn", _ANEW, "mbd"),
    ("a model of Modelica", _ANEW, "mo"),
    ("a world of Webots", _ROBOT, "wbt proto"),
    ("a scene of CoppeliaSim", _ROBOT, "ttt ttm"),
    ("a model of Drake's directives, or a launch file", "load the models that it names", "dmd launch"),
    ("the groups of a robot", "load the URDF file beside it", "srdf"),
    ("what describes a folder of models", "load the .sdf file that it names", "config"),
    ("a template", _EXPAND, "erb em jinja jinja2 j2 mako rsdf"),
    ("an archive", _UNPACK, "zip tar gz tgz bz2 xz 7z rar kmz"),
    ("compiled", "load the MJCF file from which it was made, or write it with mj_saveLastXML", "mjb"),
    ("a mesh of MuJoCo", "convert it to STL or OBJ", "msh"),
    ("a picture", "bc.Terrain.from_image(file) makes a landscape of one", "png jpg jpeg"),
    ("a program", "run it with Python", "py ipynb"),
)  # fmt: skip
_WAYS: Final = {f".{suffix}": (what, how) for what, how, suffixes in _KINDS for suffix in suffixes.split()}


def way_from(path: Path) -> str:
    """What a file of that suffix is and what to do with it, as a sentence; empty if that is not known."""
    what, how = _WAYS.get(path.suffix.lower(), ("", ""))
    return f"{path.name!r} is {what}: {how}" if what else ""


@dataclass(frozen=True)
class Format:
    """The functions that convert a text to nodes, and plain data to a text."""

    parse: Callable[[str, str | None], Node | None]
    write: Callable[[dict[str, Any]], str]


FORMATS: Final = {
    "yaml": Format(yaml_format.parse, yaml_format.write),
    "json": Format(json_format.parse, json_format.write),
}
SUFFIXES: Final = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}


def format_named(name: str) -> Format:
    """The format of that name. Raises Unsupported for any other."""
    if not isinstance(name, str) or name not in FORMATS:
        raise Unsupported(f"there is no file format {name!r}; use one of {', '.join(map(repr, FORMATS))}")
    return FORMATS[name]


def format_of(path: str | os.PathLike[str], others: Iterable[str] = (), reading: bool = False) -> Format:
    """The format for a path's suffix. others: suffixes that are also allowed.

    Raises Unsupported for any other; if it is to be read, with the way from the program whose suffix it is.
    """
    required_path("mechanism file", path)
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        if reading and (way := way_from(Path(path))):
            raise Unsupported(way)
        known = ", ".join((*SUFFIXES, *others))
        raise Unsupported(f"a mechanism file ends in {known}, not as in {str(path)!r}")
    return FORMATS[SUFFIXES[suffix]]
