"""Stresses inside a reduced solid: at chosen nodes, for each of its free modes.

In a tetrahedron of second order strains are linear; at a node they are those of each tetrahedron there, and
the mean of these is taken, as programs of finite elements show it. The stress of a motion of the whole
is the sum of those of its freedoms: shapes of statics have all that loads at interfaces cause, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.extras import needed
from bellcrank.mechanism.checking import Check
from bellcrank.solids.meshes import Tetrahedra
from bellcrank.solids.reduced import Floats, StressModes
from bellcrank.solids.selections import Selection

_AT_ONCE: Final = 2000  # tetrahedra
_MOST_NUMBERS: Final = 20_000_000  # of stresses that are kept
_FACES: Final = ((0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5))
"""Triangles of a face of six nodes: corners, then those between."""


@dataclass(frozen=True, eq=False)
class Recovery:
    """How stresses are found. wanted: "surface", "all", a selection, or numbers of nodes."""

    element: str
    mesh: Tetrahedra
    young: float
    poisson: float
    wanted: Any

    def nodes(self) -> Any:
        """The numbers of the nodes at which stresses are kept."""
        points = self.mesh.points
        if isinstance(self.wanted, str) and self.wanted in ("surface", "all"):
            return np.unique(self.mesh.surface()) if self.wanted == "surface" else np.arange(len(points))
        if isinstance(self.wanted, Selection):
            found = np.nonzero(self.wanted.near(points))[0]
        else:
            found = np.unique(np.asarray(self.wanted))
            if (
                found.dtype.kind not in "iu"
                or found.min(initial=0) < 0
                or found.max(initial=0) >= len(points)
            ):
                rule = 'stresses must be "surface", "all", a selection, or numbers of nodes'
                raise MechanismError.of(self.element, rule, self.wanted, f"from 0 to {len(points) - 1}")
        if found.size == 0:
            raise MechanismError.of(self.element, "no node lies where stresses are wanted", self.wanted)
        return found

    def check(self, check: Check) -> None:
        """Note a fault of what is wanted."""
        with check.faults.collect():
            self.nodes()

    def of(self, shapes: Floats, basis: Floats) -> StressModes:
        """The stresses of displacements (3 nodes, n), x, y, z of each node, in the modes of a basis."""
        chosen, count = self.nodes(), shapes.shape[1]
        if 6 * len(chosen) * count > _MOST_NUMBERS:
            rule = f"stresses of {len(chosen)} nodes and {count} freedoms are too many to keep"
            raise MechanismError.of(self.element, rule, None, "choose fewer nodes, as those of the surface")
        place = np.full(len(self.mesh.points), -1)
        place[chosen] = np.arange(len(chosen))
        found, shares = np.zeros((len(chosen), 6, count)), np.zeros(len(chosen))
        moved = shapes.reshape(-1, 3, count)
        touching = np.nonzero((place[self.mesh.cells] >= 0).any(axis=1))[0]
        for begin in range(0, len(touching), _AT_ONCE):
            cells = self.mesh.cells[touching[begin : begin + _AT_ONCE]]
            strains = np.einsum("eajk,ejcn->eackn", self._slopes(cells), moved[cells], optimize=True)
            stresses = self._stress(strains)
            at = place[cells]
            kept = at >= 0
            np.add.at(found, at[kept], stresses[kept])
            np.add.at(shares, at[kept], 1.0)
        modes = (found / shares[:, None, None]).astype(np.float32)
        faces = self.mesh.surface()
        triangles = np.concatenate([faces[:, list(corners)] for corners in _FACES])
        seen = place[triangles[(place[triangles] >= 0).all(axis=1)]]
        return StressModes(self.mesh.points[chosen], modes, seen, basis)

    def _slopes(self, cells: Any) -> Floats:
        """Gradients of all functions of tetrahedra at all their nodes, (e, node, function, 3)."""
        skfem = needed("skfem", "stresses in a solid", "solids")
        used, numbers = np.unique(cells, return_inverse=True)
        kind = skfem.ElementTetP2()
        grid = skfem.MeshTet2(self.mesh.points[used].T, numbers.reshape(cells.shape).T)
        basis = skfem.Basis(grid, kind, quadrature=(kind.doflocs.T, np.full(10, 1.0 / 60.0)))
        slopes = np.stack([function[0].grad for function in basis.basis])  # (function, 3, e, node)
        found: Floats = np.einsum("jkea->eajk", slopes)
        return found

    def _stress(self, slopes: Floats) -> Floats:
        """Hooke's law: xx, yy, zz, xy, yz, zx of gradients (..., component, direction, n)."""
        shear = self.young / (2.0 * (1.0 + self.poisson))
        lame = self.young * self.poisson / ((1.0 + self.poisson) * (1.0 - 2.0 * self.poisson))
        diagonal = [slopes[:, :, k, k] for k in range(3)]
        swelling = lame * sum(diagonal)
        across = [shear * (slopes[:, :, i, j] + slopes[:, :, j, i]) for i, j in ((0, 1), (1, 2), (2, 0))]
        return np.stack([*(swelling + 2.0 * shear * one for one in diagonal), *across], axis=2)
