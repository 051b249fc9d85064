"""Frames on a torus and links between two, the examples on which derivatives are counted."""

from bellcrank import expression as ex
from bellcrank.expression import Expression, Rotation, Transform, Vector, cos, derivative, sin


def torus_frame(u: Expression, v: Expression, radius: float = 1.0, tube: float = 0.3) -> Transform:
    """The frame of both unit tangents and their vector product at a point of a torus."""
    distance = radius + tube * cos(u)
    point = Vector(distance * cos(v), distance * sin(v), tube * sin(u))
    along_u = derivative(point, u, "forward").normalized()
    along_v = derivative(point, v, "forward").normalized()
    axes = [along_u, along_v, ex.cross(along_u, along_v)]
    return Transform(Rotation(zip(*axes, strict=True)), point)


def torus_link(u1: Expression, v1: Expression, u2: Expression, v2: Expression) -> Transform:
    """From a frame on one torus to the centre of the next, which touches it there."""
    return torus_frame(u1, v1) @ torus_frame(u2, v2).inverse()


def transform_items(transform: Transform) -> list[Expression]:
    return [*(item for row in transform.rotation for item in row), *transform.position]
