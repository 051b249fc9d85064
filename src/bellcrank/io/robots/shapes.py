"""Shapes in robot files: primitives, and meshes if their files are found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bellcrank.errors import MechanismError
from bellcrank.io.robots.skeleton import Pose
from bellcrank.io.robots.source import Color, Source
from bellcrank.io.robots.xml_tree import Element
from bellcrank.mechanism.mesh import Mesh
from bellcrank.mechanism.shape import Box, Capsule, Cone, Cylinder, Ellipsoid, Shape, Sphere
from bellcrank.named_files import refuse_pointer


def primitive(
    source: Source, at: Element, kind: str, numbers: tuple[float, ...], pose: Pose, color: Color
) -> Shape | None:
    """A shape by dimensions: Box x y z, Sphere r, Ellipsoid a b c, Cylinder, Capsule and Cone r length."""
    common: dict[str, Any] = {"position": pose.position, "rotation": pose.rotation, "color": color}
    with source.faults.collect(at.location):
        if kind == "Box":
            return Box(size=(numbers[0], numbers[1], numbers[2]), **common)
        if kind == "Sphere":
            return Sphere(radius=numbers[0], **common)
        if kind == "Ellipsoid":
            return Ellipsoid(radii=(numbers[0], numbers[1], numbers[2]), **common)
        if kind == "Cone":
            return Cone(radius=numbers[0], height=numbers[1], **common)
        if kind == "Capsule" and numbers[1] == 0.0:
            return Sphere(radius=numbers[0], **common)
        return (Capsule if kind == "Capsule" else Cylinder)(radius=numbers[0], length=numbers[1], **common)
    return None


def mesh(
    source: Source,
    at: Element,
    text: str,
    scale: tuple[float, float, float],
    pose: Pose,
    color: Color,
    *bases: Path,
) -> Shape | None:
    """A mesh, if its file exists; if it cannot be shown, that is noted at the place where it is used."""
    if not text:
        source.leave(at, str(at), "it names no file of a mesh")
        return None
    found = source.file(text, *bases)
    if found is None:
        source.leave(at, str(at), f"its mesh is not found in {source.searched}", text)
        return None
    if min(scale) <= 0.0:
        source.leave(at, str(at), "its mesh is mirrored, which is not available", scale)
        return None
    try:
        refuse_pointer(found, str(at))
    except MechanismError as error:
        source.leave(at, str(at), f"{error.faults[0].rule}: {error.faults[0].advice}", text)
        return None
    with source.faults.collect(at.location):
        return Mesh(file=str(found), scale=scale, position=pose.position, rotation=pose.rotation, color=color)
    return None


def shapes_of(
    source: Source, link: Element, tag: str, read: Callable[[Element], Iterable[Shape | None]]
) -> list[Shape]:
    """The shapes of all <visual> or <collision> of a link; one with faults, which are left out, has none."""
    found: list[Shape] = []
    for one in link.all(tag):
        with source.leaving() as broken:
            shapes = [shape for shape in read(one) if shape is not None]
        found += [] if broken else shapes
    return found


def drawn_and_touching(drawn: Sequence[Shape], touching: Sequence[Shape]) -> list[Shape]:
    """The shapes of a link of a file that states what collides: what is drawn does not touch, and conversely.

    A shape that is given for both does both. Without anything to draw, what touches is drawn.
    """
    if not drawn:
        return list(touching)
    left = {_form(shape): shape for shape in touching}
    found = []
    for shape in drawn:
        both = left.pop(_form(shape), None)
        found.append(replace(shape, touches=both is not None))
    return [*found, *(replace(shape, shown=False) for shape in left.values())]


def _form(shape: Shape) -> Shape:
    return replace(shape, color=None, touches=True)
