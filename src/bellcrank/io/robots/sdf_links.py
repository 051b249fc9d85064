"""SDF links: mass, inertia and shapes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from bellcrank.io.robots.pose import Pose
from bellcrank.io.robots.sdf_frames import number, pose_of, text
from bellcrank.io.robots.shapes import Color, drawn_and_touching, mesh, primitive
from bellcrank.io.robots.skeleton import Link
from bellcrank.io.robots.source import Source
from bellcrank.io.robots.xml_tree import Element
from bellcrank.mechanism.collisions import Surface
from bellcrank.mechanism.mass import MassProperties, total
from bellcrank.mechanism.rotation import between
from bellcrank.mechanism.shape import Plane, Shape

_DENSITY: Final = 1000.0
_SHAPES: Final = {
    "box": ("Box", ("size",), 3),
    "sphere": ("Sphere", ("radius",), 1),
    "cylinder": ("Cylinder", ("radius", "length"), 1),
    "capsule": ("Capsule", ("radius", "length"), 1),
    "ellipsoid": ("Ellipsoid", ("radii",), 3),
    "cone": ("Cone", ("radius", "length"), 1),
}
_FLAT: Final = ("heightmap", "empty")
_ALL: Final = 0xFFFF
"""The bits of what collides where none are stated."""


def read_link(source: Source, at: Element, name: str, pose: Pose, collides: bool, family: str) -> Link:
    """A link with its mass properties and shapes.

    collides: whether the file has collision geometry. family: of links that do not collide with each other.
    """
    link = Link(name, pose, at)
    inertial = at.first("inertial")
    automatic = inertial is not None and inertial.get("auto") == "true"
    mass = _of_shapes(source, at) if automatic else _mass(source, at, inertial)
    if mass is not None:
        link.masses.append(mass)
    drawn, touching = _shapes(source, at, "visual"), _shapes(source, at, "collision")
    link.shapes += drawn_and_touching(drawn, touching) if collides else drawn
    if any(shape.touches for shape in link.shapes):
        link.surfaces += [_surface(source, one, name, family) for one in at.all("collision")]
    if text(at, "gravity") in ("0", "false"):
        link.relieved = 1.0
    if text(at, "kinematic") in ("1", "true"):
        source.leave(at, str(at), "kinematic links move like all others")
    return link


def _mass(source: Source, link: Element, at: Element | None) -> MassProperties | None:
    """The mass properties; by default 1 kg and 1 kg m^2 about each axis, as in SDF."""
    if at is None:
        source.leave(link, str(link), "it has no <inertial>: SDF gives it 1 kg and 1 kg m²")
        return MassProperties(1.0, np.zeros(3), np.eye(3))
    mass = number(source, at, 1.0, "mass")
    inertia = at.first("inertia")
    entries = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    defaults = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
    given = (
        defaults
        if inertia is None
        else [number(source, inertia, d, e) for d, e in zip(defaults, entries, strict=True)]
    )
    xx, xy, xz, yy, yz, zz = given
    if mass < 0.0:
        source.fault(at, "the mass must not be negative", mass)
        return None
    pose, _ = pose_of(source, at)
    if mass == 0.0 and not any(given):
        return None
    local = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return MassProperties(mass, np.zeros(3), local).moved(pose.position, pose.rotation)


def _of_shapes(source: Source, link: Element) -> MassProperties | None:
    """The mass of the collision shapes, by their density, or scaled to the mass that is given."""
    parts = []
    mass = number(source, link, 0.0, "inertial", "mass")
    for one in link.all("collision"):
        shape = _shape(source, one)
        general = number(source, link, _DENSITY, "inertial", "density")
        density = number(source, one, general, "density")
        if shape is None or density <= 0.0:
            continue
        with source.faults.collect(one.location):
            parts.append(replace(shape, density=density).mass_properties())
    if not parts:
        return None
    found = total(parts)
    return found.scaled(mass / found.mass) if mass > 0.0 else found


def _shapes(source: Source, link: Element, tag: str) -> list[Shape]:
    found = []
    for one in link.all(tag):
        with source.leaving() as broken:
            shape = _shape(source, one)
        if shape is not None and not broken:
            found.append(shape)
    return found


def _surface(source: Source, at: Element, link: str, family: str) -> Surface:
    """How a <collision> touches others: by SDF's default, it rubs with the coefficient 1."""
    bits = text(at, "surface", "contact", "collide_bitmask")
    try:
        mask = int(bits, 0) if bits else _ALL
    except ValueError:
        source.leave(at, str(at), "collide_bitmask must be an integer", bits)
        mask = _ALL
    friction = number(source, at, 1.0, "surface", "friction", "ode", "mu")
    return Surface("", link, mask, mask, family, friction)


def _shape(source: Source, at: Element) -> Shape | None:
    geometry = at.first("geometry")
    if geometry is None or not geometry.children:
        source.leave(at, str(at), "its geometry is missing")
        return None
    pose, relative = pose_of(source, at)
    if relative:
        source.leave(at, str(at), "the pose of a shape is taken in its link", relative)
    color = _color(source, at)
    for one in geometry.each():
        if one.tag == "mesh":
            scale = source.scale(one, text(one, "scale"))
            return mesh(source, one, text(one, "uri"), scale, pose, color, Path(one.file).parent)
        if one.tag in _SHAPES:
            kind, tags, count = _SHAPES[one.tag]
            found: list[float] = []
            for tag in tags:
                numbers = source.numbers(one, tag, text(one, tag) or " ".join(["1"] * count), count)
                if numbers is None:
                    return None
                found += numbers
            return primitive(source, one, kind, tuple(found), pose, color)
        if one.tag == "plane":
            return _plane(source, one, pose, color, at.tag == "collision")
        if one.tag == "heightmap" and at.tag == "collision":
            source.drop(one, str(at), "height maps are not taken: nothing touches them")
        elif one.tag in _FLAT:
            one.use()
        else:
            source.drop(one, str(at), f"shapes of this kind are not available: <{one.tag}>")
    return None


def _plane(source: Source, at: Element, pose: Pose, color: Color, touches: bool) -> Shape | None:
    x, y, z = source.numbers(at, "normal", text(at, "normal") or "0 0 1", 3) or (0.0, 0.0, 1.0)
    sizes = source.numbers(at, "size", text(at, "size") or "1 1", 2) or (1.0, 1.0)
    turned = between((0.0, 0.0, 1.0), source.direction(at, "normal", (x, y, z), (0.0, 0.0, 1.0)))
    with source.faults.collect(at.location):
        turn = (pose @ Pose(rotation=turned)).rotation
        return Plane(size=max(sizes), position=pose.position, rotation=turn, color=color, touches=touches)
    return None


def _color(source: Source, at: Element) -> Color:
    given = text(at, "material", "diffuse")
    with source.leaving():
        found = source.numbers(at, "diffuse", given, 3, 4) if given else None
    return None if found is None else tuple(min(max(part, 0.0), 1.0) for part in found)
