"""The convex hull of points, used for collision shapes of kind `hull`."""

from __future__ import annotations

from typing import Any, Final, NoReturn

import numpy as np

from bellcrank.errors import Fault, FaultList, MechanismError

_FLAT: Final = 1e-9
"""Thickness of a cloud of points, by its largest extent, below which rounding decides about its hull."""
_SHAPES: Final = ("at one place", "on one line", "in one plane")


def convex_hull(points: Any, element: str = "convex hull") -> tuple[np.ndarray, np.ndarray]:
    """The convex hull of points: its vertices (n, 3), m, and triangles (m, 3) counterclockwise from outside.

    points: (k, 3), m, in any order; those inside and within faces are left out. element: their owner, for
    messages.

    Raises MechanismError if points are not finite, are fewer than four, or lie in one plane, and if scipy
    is missing. By Qhull (C. Barber, D. Dobkin, H. Huhdanpaa, The quickhull algorithm for convex hulls, 1996),
    on points moved and scaled to the unit cube, so that its tolerances do not depend on where they are.
    """
    cloud = np.asarray(points, dtype=float)
    _check(cloud, element)
    centre, size = 0.5 * (cloud.max(axis=0) + cloud.min(axis=0)), float(np.ptp(cloud, axis=0).max())
    unit = (cloud - centre) / (0.5 * size)
    triangles = _triangles(unit, element)
    used, numbers = np.unique(triangles, return_inverse=True)
    return cloud[used], numbers.reshape(triangles.shape)


def _check(cloud: np.ndarray, element: str) -> None:
    if cloud.ndim != 2 or cloud.shape[1] != 3:
        _refuse(element, "points must be rows of three numbers, an array of shape (n, 3)", cloud.shape)
    faults = FaultList()
    for row in np.flatnonzero(~np.isfinite(cloud).all(axis=1))[:10]:
        faults.add(element, f"point {row} is not finite", cloud[row].tolist(), "give x, y, z in m")
    faults.raise_any()
    distinct = len(np.unique(cloud, axis=0))
    if distinct < 4:
        _refuse(element, "a hull needs at least four different points", distinct)
    spread = np.linalg.svd(cloud - cloud.mean(axis=0), compute_uv=False) / np.sqrt(len(cloud))
    flat = int(np.sum(spread > _FLAT * spread[0]))
    if flat < 3:
        extent = float(spread[flat]) if spread[0] > 0.0 else 0.0
        _refuse(element, f"the points lie {_SHAPES[flat]}, but for a spread in m", extent)


def _triangles(unit: np.ndarray, element: str) -> np.ndarray:
    try:
        from scipy.spatial import ConvexHull, QhullError
    except ImportError as error:
        fault = Fault(element, "this needs the package scipy", advice="pip install 'bellcrank[mesh]'")
        raise MechanismError(fault) from error
    try:
        hull = ConvexHull(unit)
    except QhullError as error:
        _refuse(element, f"no hull was found ({str(error).splitlines()[0]})", None)
    triangles = np.array(hull.simplices)
    a, b, c = (unit[triangles[:, k]] for k in range(3))
    inwards = np.sum(np.cross(b - a, c - a) * hull.equations[:, :3], axis=1) < 0.0
    triangles[inwards] = triangles[inwards][:, ::-1]
    return triangles


def _refuse(element: str, rule: str, value: Any) -> NoReturn:
    advice = "give points of a body with a thickness, or use a box, capsule or cylinder"
    raise MechanismError(Fault(element, rule, value, advice))
