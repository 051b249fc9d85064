"""Shapes of bodies as the core collides them."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank import _core
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.mesh import Mesh
from bellcrank.mechanism.prism import Prism
from bellcrank.mechanism.shape import Box, Capsule, Cone, Cylinder, Ellipsoid, Plane, Shape, Sphere
from bellcrank.mechanism.terrain import Terrain


def collision_shape(shape: Shape) -> Any:
    """The collision shape of a shape, in its own axes. Raises MechanismError for an unreadable mesh."""
    made = _core.CollisionShape
    if isinstance(shape, Sphere):
        return made.sphere(shape.radius)
    if isinstance(shape, Box):
        return made.box([0.5 * size for size in shape.size])
    if isinstance(shape, Capsule):
        return made.capsule(shape.radius, 0.5 * shape.length)
    if isinstance(shape, Cylinder):
        return made.cylinder(shape.radius, 0.5 * shape.length)
    if isinstance(shape, Cone):
        return made.cone(shape.radius, 0.5 * shape.height)
    if isinstance(shape, Ellipsoid):
        return made.ellipsoid(list(shape.radii))
    if isinstance(shape, Prism):
        vertices, triangles = shape.surface()
        return made.hull(vertices, triangles.tolist())
    if isinstance(shape, Plane):
        return made.plane()
    if isinstance(shape, Terrain):
        return made.height_field(np.ascontiguousarray(shape.samples), shape.origin, shape.spacing)
    if isinstance(shape, Mesh):
        vertices, triangles = shape.surface()
        try:
            return made.mesh(vertices, triangles.tolist())
        except ValueError as error:
            rule = f"it cannot touch: {error}"
            raise MechanismError(Fault(f"Mesh {shape.file!r}", rule, None, "repair it")) from None
    raise TypeError(f"a {type(shape).__name__} cannot touch")
