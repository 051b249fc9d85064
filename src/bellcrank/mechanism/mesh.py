"""Triangle meshes as shapes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import Check, Vec3
from bellcrank.mechanism.fields import checked, described
from bellcrank.mechanism.given import VectorField
from bellcrank.mechanism.mass import MassProperties
from bellcrank.mechanism.mesh_reading import loaded
from bellcrank.mechanism.shape import Shape


def _file(check: Check, _: str, value: Any) -> str:
    if not isinstance(value, (str, Path)) or not str(value):
        check.fault("file must be the path of a mesh file", value)
    return str(value)


def _scale(check: Check, name: str, value: Any) -> Vec3:
    scale = check.vector(name, (value,) * 3 if np.ndim(value) == 0 else value)
    if min(scale) <= 0.0:
        check.fault("scale must be greater than zero", value, "mirrored meshes are not available")
    return scale


@described
class Mesh(Shape):
    """A triangle mesh read from a file: STL, OBJ, PLY, OFF, glTF, GLB, COLLADA, 3MF, or a ZIP of these.

    file: path of the file, which may have 1,200,000 triangles, and 60 MB (PLY and COLLADA 40 MB, 3MF 30 MB
    unpacked, OFF 25 MB) with the files that it names and copies of its parts. Colours are not read.
    scale: factor from the file's unit to metres (0.001 for millimetres), one number or one for each axis.

    A mesh without a density is not read here. With one it must be closed ("watertight"), and the package
    trimesh must be installed (extra `mesh`).
    """

    file: str = checked(_file)
    scale: VectorField = checked(_scale, "1", default=(1.0, 1.0, 1.0), parametric=True)

    def volume_properties(self) -> MassProperties:
        """Mass properties at density 1, by the exact integrals over the enclosed volume.

        Raises MechanismError if trimesh is missing, the file cannot be read, or the mesh is not closed.
        """
        mesh = self._load()
        mesh.apply_scale(self.scale)
        if not mesh.is_watertight or not mesh.is_winding_consistent:
            raise MechanismError(
                Fault(
                    f"Mesh {self.file!r}",
                    "a mesh with a density must be closed (watertight), with all triangles facing one way",
                    advice="repair it, or give the body its mass and inertia and leave the density out",
                )
            )
        volume = float(mesh.volume)
        if volume < 0.0:  # every triangle faces inward: the same solid
            mesh.invert()
            volume = float(mesh.volume)
        return MassProperties(
            volume, np.array(mesh.center_mass, dtype=float), np.array(mesh.moment_inertia, dtype=float)
        )

    def surface(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices (n, 3), m, and triangles (m, 3) of the mesh, in the shape's frame.

        Raises MechanismError if trimesh is missing or the file cannot be read.
        """
        mesh = self._load()
        return np.asarray(mesh.vertices, dtype=float) * self.scale, np.asarray(mesh.faces, dtype=np.int32)

    def _load(self) -> Any:
        try:
            import trimesh
        except ImportError as error:
            raise MechanismError(
                Fault(
                    f"Mesh {self.file!r}",
                    "reading a mesh needs the package trimesh",
                    advice="pip install 'bellcrank[mesh]', or give the body its mass and inertia",
                )
            ) from error
        return loaded(self.file, trimesh)
