"""A flexible solid from its shape and material: meshed, assembled, reduced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.extras import needed
from bellcrank.mechanism.checking import Check
from bellcrank.slips import answered
from bellcrank.solids.meshes import Tetrahedra, nodes_of, of_arrays, of_file
from bellcrank.solids.reduced import ReducedSolid
from bellcrank.solids.reduction import Interface, reduced
from bellcrank.solids.selections import Selection
from bellcrank.solids.stresses import Recovery


@answered
def flexible(
    solid: Any,
    material: Any,
    interfaces: Mapping[str, Any],
    modes: int = 6,
    *,
    size: float | None = None,
    unit: str | None = None,
    stresses: Any = None,
) -> ReducedSolid:
    """A flexible solid of tetrahedra of second order, reduced to interfaces and modes between them.

    solid: a file: a drawing (.step, .iges, .brep), a closed surface (.stl), or a mesh of tetrahedra that
        meshio reads (.msh, .inp, .vtu, .bdf, ...); or points (n, 3), m, and cells (m, 4) or (m, 10), from 0.
    material: Young's modulus, Pa, Poisson's ratio, and density, kg/m^3: ("210 GPa", 0.3, 7850).
    interfaces: by name, each a part of the surface: `OnPlane`, `OnCylinder`, `OnSphere`, `InBox`, or the name
        of a group of the mesh; or an `Interface` with one of these as its nodes.
    modes: as of `reduce`.
    size: of the elements where drawings and surfaces are meshed, m; by default a twentieth of the diagonal.
    stresses: where stresses inside are kept, for `run.flexible`: "surface", "all", a part of space such as
        `InBox`, or numbers of nodes; None keeps none.
    unit: of lengths in files of surfaces and meshes, such as "mm"; drawings have their own, .brep mm.

    Raises MechanismError for files that cannot be read or meshed, and parts without nodes; Unsupported, with
    what to install, without the libraries of the extra `solids`.

    >>> points = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]) * 0.1
    >>> foot = {"foot": bc.OnPlane((0, 0, 0), "z")}
    >>> rock = bc.flexible((points, [(0, 1, 2, 3), (1, 2, 3, 4)]), ("70 GPa", 0.3, 2700), foot)
    >>> print(f"{rock.mass:.3f} kg")    # of a tetrahedron of 1/6 and one of 1/3 dm^3
    1.350 kg
    """
    element = f"solid {str(solid)!r}" if not isinstance(solid, (tuple, list)) else "solid"
    with Check(element) as check:
        if not isinstance(material, (tuple, list)) or len(material) != 3:
            advice = 'such as ("210 GPa", 0.3, 7850)'
            check.fault("material must be modulus, Poisson's ratio, density", material, advice)
            check.faults.raise_any()
        young = check.positive("Young's modulus", material[0], "Pa")
        poisson = check.number("Poisson's ratio", material[1])
        if not -1.0 < poisson < 0.4999:
            check.fault("Poisson's ratio must lie between -1 and 0.4999", poisson)
        density = check.positive("density", material[2], "kg/m^3")
        edge = None if size is None else check.positive("size", size, "m")
        if not isinstance(interfaces, Mapping) or not interfaces:
            advice = "such as {'hub': bc.OnCylinder(...)}"
            check.fault("interfaces must be given by name", interfaces, advice)
    if isinstance(solid, (tuple, list)):
        if len(solid) != 2:
            raise MechanismError.of(element, "arrays must be points and cells", len(solid))
        mesh = of_arrays(element, *solid)
    else:
        mesh = of_file(element, solid, edge, unit)
    with Check(element) as check:
        parts = {}
        for name, part in interfaces.items():
            with check.faults.collect():
                parts[str(name)] = _part(str(name), part, mesh)
        recovery = None if stresses is None else Recovery(element, mesh, young, poisson, stresses)
        if recovery is not None:
            recovery.check(check)
    K, M = matrices(element, mesh, young, poisson, density)
    return reduced(K, M, mesh.points, parts, modes, recovered=None if recovery is None else recovery.of)


def _part(name: str, given: Any, mesh: Tetrahedra) -> Interface:
    """An interface with numbers of nodes."""
    element = f"interface {name!r}"
    part = given if isinstance(given, Interface) else Interface(given)
    selection = part.nodes
    if not isinstance(selection, (str, Selection)):
        return part
    nodes = nodes_of(element, mesh, selection, getattr(selection, "near", None))
    if len(nodes) == 0:
        low, high = mesh.points.min(axis=0).round(6).tolist(), mesh.points.max(axis=0).round(6).tolist()
        advice = f"the solid reaches from {low} to {high} m; is it in the unit meant? or give it a tolerance"
        raise MechanismError.of(element, "no face of the surface lies there", selection, advice)
    at = part.position
    if at is None and isinstance(selection, Selection):
        at = tuple(selection.middle(mesh.points[nodes]).tolist())
    return replace(part, nodes=tuple(np.asarray(nodes).tolist()), position=at)


def matrices(element: str, mesh: Tetrahedra, young: float, poisson: float, density: float) -> tuple[Any, Any]:
    """Stiffness and mass of a solid, by nodes, x, y, z of each; SI units."""
    skfem = needed("skfem", "assembling a solid", "solids")
    sparse = needed("scipy.sparse", "assembling a solid", "solids")
    elasticity = needed("skfem.models.elasticity", "assembling a solid", "solids")
    kind = skfem.ElementTetP2()
    grid = skfem.MeshTet2(mesh.points.T, mesh.cells.T)
    basis = skfem.Basis(grid, kind, intorder=4)
    if np.any(basis.mapping.detDF(basis.X) <= 0.0):
        rule = "some of its curved elements are turned inside out"
        raise MechanismError.of(element, rule, None, "give smaller elements by size")
    scalar = skfem.BilinearForm(lambda u, v, _: density * u * v).assemble(basis)
    vectors = skfem.Basis(grid, skfem.ElementVector(kind), intorder=2)
    form = elasticity.linear_elasticity(*elasticity.lame_parameters(young, poisson))
    K = form.assemble(vectors).tocsr()
    # skfem numbers freedoms by corners and edges; here they go by points.
    cells = mesh.cells.T
    at, freedoms = np.empty(len(mesh.points), dtype=int), np.empty(3 * len(mesh.points), dtype=int)
    at[cells] = basis.dofs.element_dofs
    freedoms[np.reshape(3 * cells[:, None] + np.arange(3)[:, None], (30, -1))] = vectors.dofs.element_dofs
    return K[freedoms][:, freedoms], sparse.kron(scalar.tocsr()[at][:, at], sparse.eye(3)).tocsr()
