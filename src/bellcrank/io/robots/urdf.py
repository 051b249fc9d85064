"""URDF: links and joints of a robot, with mimic joints, transmissions and the extensions that close loops.

A root link with a mass is fixed by the joint "NAME (ground)", which may be removed to let the robot float; a
file without moving joints is an object, which floats.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from bellcrank.io.robots.building import Builder
from bellcrank.io.robots.consumption import Quiet, list_unused
from bellcrank.io.robots.names import symbol_name
from bellcrank.io.robots.pose import Pose
from bellcrank.io.robots.skeleton import GROUND, Connection, Link, Motion, Skeleton
from bellcrank.io.robots.source import Source
from bellcrank.io.robots.urdf_extras import add_extras
from bellcrank.io.robots.urdf_shapes import Shapes, origin_of
from bellcrank.io.robots.xml_tree import Attributes, Element
from bellcrank.mechanism import Mechanism
from bellcrank.mechanism.collisions import Collisions, Surface
from bellcrank.mechanism.mass import MassProperties

_GRAVITY: Final = (0.0, 0.0, -9.81)
_WORLD: Final = "world"  # the name of a root link that is the ground
_MOVING: Final = {
    "revolute": "turn",
    "continuous": "turn",
    "prismatic": "slide",
    "floating": "free",
    "planar": "planar",
    "ball": "ball",
    "spherical": "ball",
}
_KNOWN: Final = (*_MOVING, "fixed")
_QUIET: Final = Quiet(
    tags=(
        "robot/material",
        "visual/material",
        "collision/material",
        "transmission/type",
        "collision/verbose",
    ),
    attributes=("xmlns",),
    of={"limit": ("acceleration", "deceleration", "jerk"), "transmission": ("type",)},
    moving=("inertial", "mass", "inertia", "mimic", "axis", "origin", "parent", "child"),
)


def read(source: Source, root: Element) -> Mechanism:
    """The mechanism of a <robot> element; faults and parts left out are recorded in the source."""
    reader = _Reader(source, root)
    skeleton = reader.skeleton()
    source.faults.raise_any()
    inputs = [symbol_name(one.name) for at in root.all("transmission") for one in at.all("actuator")]
    builder = Builder(source, root.name or source.path.stem, _GRAVITY, skeleton, inputs)
    add_extras(builder, root, reader.joints)
    builder.collide(Collisions(tuple(builder.surfaces)))
    list_unused(source, [root], _QUIET)
    return builder.mechanism


class _Reader:
    def __init__(self, source: Source, root: Element) -> None:
        self.source = source
        self.root = root
        self.links = self._named("link")
        self.joints = self._named("joint")
        self._declare_world()
        self.shapes = Shapes(source, root)

    def _declare_world(self) -> None:
        """Add the link of the ground if joints name it and it is not declared, as Gazebo has it."""
        for at in self.joints.values():
            parent = at.first("parent")
            if _WORLD not in self.links and parent is not None and parent.get("link") == _WORLD:
                self.links[_WORLD] = Element("link", Attributes({"name": _WORLD}), parent.file, parent.line)
                self.source.leave(parent, f"link {_WORLD!r}", "it is not declared: it is the ground")

    def _named(self, tag: str) -> dict[str, Element]:
        found: dict[str, Element] = {}
        for at in self.root.all(tag):
            if not at.name:
                self.source.fault(at, f"a {tag} needs a name")
            elif at.name in found:
                self.source.fault(
                    at, "this name is taken", None, f"the other stands in line {found[at.name].line}"
                )
            else:
                found[at.name] = at
        return found

    def skeleton(self) -> Skeleton:
        """Links in the pose with all joints at zero, parents before children."""
        source = self.source
        below: dict[str, list[Element]] = {name: [] for name in self.links}
        above: dict[str, Element] = {}
        for at in self.joints.values():
            ends = [self._end(at, tag) for tag in ("parent", "child")]
            if None in ends:
                continue
            parent, child = str(ends[0]), str(ends[1])
            if child in above:
                advice = "a loop is closed by a <loop_joint> or by Gazebo's <joint>"
                source.fault(at, f"link {child!r} has a parent already", above[child].name, advice)
                continue
            above[child] = at
            below[parent].append(at)
        roots = [name for name in self.links if name not in above]
        if not self.links:
            source.fault(self.root, "it holds no links")
        elif not roots:
            source.fault(self.root, "every link has a parent: there is no root")
        skeleton = Skeleton()
        moving = any(
            at.get("type") in _MOVING and at.get("type") != "floating" for at in self.joints.values()
        )
        for name in roots:
            self._add_tree(skeleton, name, below, moving)
        for name in roots[1:]:
            held = "stands on the ground" if name == _WORLD or moving else "floats"
            rule = f"it has no parent, as {roots[0]!r}: it {held}, at the origin; a joint may join the two"
            source.leave(self.links[name], f"link {name!r}", rule, roots)
        if lost := [name for name in self.links if name not in skeleton.links and roots]:
            source.fault(self.links[lost[0]], "links hang on each other in a ring", lost[:5])
        return skeleton

    def _end(self, at: Element, tag: str) -> str | None:
        end = at.first(tag)
        name = "" if end is None else end.get("link")
        if name in self.links:
            return name
        self.source.fault(at, f"its {tag} is no link of the robot", name or None)
        return None

    def _add_tree(self, skeleton: Skeleton, root: str, below: dict[str, list[Element]], moving: bool) -> None:
        skeleton.links[root] = self._link(root, Pose())
        if root == _WORLD and not skeleton.links[root].masses:
            skeleton.connections.append(Connection(root, GROUND, root))
        elif moving:
            skeleton.connections.append(Connection(f"{root} (ground)", GROUND, root, kept=True))
        waiting = [root]
        while waiting:
            parent = waiting.pop(0)
            for at in below[parent]:
                child = at.first("child").get("link")  # type: ignore[union-attr]
                if child in skeleton.links:
                    continue
                pose = skeleton.links[parent].pose @ origin_of(self.source, at)
                skeleton.links[child] = self._link(child, pose)
                skeleton.connections.append(self._connection(at, parent, child, pose))
                waiting.append(child)

    def _connection(self, at: Element, parent: str, child: str, pose: Pose) -> Connection:
        kind = self.source.word(at, "type", _KNOWN, "fixed")
        made = Connection(at.name, parent, child, at)
        if kind == "fixed":
            made.kept = parent == _WORLD  # as the joint of a root is
            for one in at.all("axis", "limit", "dynamics", "mimic"):
                one.use()
            return made
        axis_at = at.first("axis")
        given = None if axis_at is None else self.source.vector(axis_at, "xyz", (1.0, 0.0, 0.0))
        if _MOVING[kind] in ("ball", "free"):
            given = None  # they have no axis, whatever is written
        axis = self.source.direction(at, "axis", given, (1.0, 0.0, 0.0))
        motion = Motion(at.name, _MOVING[kind], at, pose.position, pose.vector(axis))
        limit = at.first("limit")
        for one in at.all("limit") if kind not in ("revolute", "prismatic") else ():
            _ = one.get("lower"), one.get("upper")  # which have no meaning there
        if limit is not None and kind in ("revolute", "prismatic"):
            motion.low, motion.high = (
                self.source.bound(limit, which, limit.get(which, "0")) for which in ("lower", "upper")
            )
        elif limit is None and kind in ("revolute", "prismatic"):
            self.source.leave(at, str(at), f"a {kind} joint needs a <limit>: it has none")
        made.motions.append(motion)
        return made

    def _link(self, name: str, pose: Pose) -> Link:
        at = self.links[name]
        link = Link(name, pose, at)
        inertial = at.first("inertial")
        if inertial is not None and (mass := self._mass(at, inertial)) is not None:
            link.masses.append(mass)
        link.massless = inertial is not None and inertial.first("mass") is not None and not link.masses
        for one in at.all("inertial"):
            if one is not inertial:
                self.source.drop(one, f"link {name!r}", "only its first <inertial> counts", moves=True)
        link.shapes += self.shapes.of(at)
        if self.shapes.collides and any(shape.touches for shape in link.shapes):
            link.surfaces.append(Surface("", name))
        return link

    def _mass(self, link: Element, at: Element) -> MassProperties | None:
        source, mass_at, inertia_at = self.source, at.first("mass"), at.first("inertia")
        given_mass = "" if mass_at is None else mass_at.get("value") or mass_at.text.strip()
        if mass_at is None or not given_mass:
            source.leave(at, f"link {link.name!r}", "its <inertial> has no mass: it is not taken")
            return None
        numbers = source.numbers(mass_at, "value", given_mass, 1)
        if numbers is None:
            return None
        (mass,) = numbers
        if mass < 0.0:
            source.fault(at, f"the mass of link {link.name!r} must not be negative", mass)
            return None
        entries = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        given = [0.0 if inertia_at is None else source.number(inertia_at, entry) or 0.0 for entry in entries]
        xx, xy, xz, yy, yz, zz = given
        local = MassProperties(mass, np.zeros(3), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        if mass == 0.0 and not any(given):
            at.use()
            return None
        origin = origin_of(self.source, at)
        if origin == Pose():
            return local
        turned = local.moved(origin.position, origin.rotation)
        return MassProperties(mass, np.array(origin.position), 0.5 * (turned.inertia + turned.inertia.T))
