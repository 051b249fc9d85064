"""Mesh files as mechanisms of one body (STL, OBJ, PLY, OFF, glTF)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import numpy as np

from bellcrank.errors import Fault, FaultList, Location
from bellcrank.io.robots.names import element_name
from bellcrank.mechanism import Mechanism
from bellcrank.mechanism.mesh import Mesh

_METRES: Final = (".gltf", ".glb")  # whose unit is the metre
SUFFIXES: Final = (".stl", ".obj", ".ply", ".off", *_METRES)
_LARGE: Final = 5.0  # m; what is larger is likely to be meant in another unit


def read(path: Path, density: Any = None, scale: Any = None) -> Mechanism:
    """A mechanism of one free body, named like the file, in the frame of the file; its mass fills the mesh.

    density: kg/m^3; without one its mass is not known (`Body.mass_known`). scale: from the file's unit to
    metres, one number or one for each axis; 1 by default, which is listed in `left_out` where it is doubtful.

    Raises MechanismError for a mesh that cannot be read or, if a density is given, is not closed; OSError if
    there is no such file.
    """
    path.stat()
    place, faults = Location(str(path)), FaultList()
    made = Mechanism(element_name(path.stem))
    with faults.collect(place):
        file = os.path.abspath(path)  # noqa: PTH100  (links stay)
        shape = Mesh(file=file, scale=(1.0, 1.0, 1.0) if scale is None else scale, density=density)
        size = np.ptp(shape.surface()[0], axis=0)
        if scale is None and path.suffix.lower() not in _METRES and size.max() > _LARGE:
            rule = "its file has no unit and is taken in metres; scale=0.001 takes it in millimetres"
            shown = " x ".join(f"{part:.3g} m" for part in size)
            made.left_out = (Fault(f"mesh {path.name!r}", rule, shown, location=place),)
        made.add_body(made.name, shapes=shape, mass_known=density is not None)
    faults.raise_any()
    return made
