"""URDF: links and joints of a robot, with mimic joints, transmissions and the extensions that close loops.

A root link with a mass is fixed by the joint "NAME (ground)", which may be removed to let the robot float; a
file without moving joints is an object, which floats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from math import inf, isfinite, nan
from typing import Final

import numpy as np

from bellcrank.io.robots.bounded import clamped
from bellcrank.io.robots.builder import Builder
from bellcrank.io.robots.shapes import drawn_and_touching, mesh, primitive, shapes_of
from bellcrank.io.robots.skeleton import (
    ENTRIES,
    GROUND,
    Connection,
    Link,
    Motion,
    Pose,
    Skeleton,
    of_rpy,
    symbol_name,
    symmetric,
)
from bellcrank.io.robots.source import Color, Quiet, Source, list_unused
from bellcrank.io.robots.xml_tree import Attributes, Element
from bellcrank.mechanism import Mechanism
from bellcrank.mechanism.collisions import Collisions, Surface
from bellcrank.mechanism.couplings import Coupling
from bellcrank.mechanism.friction import JointFriction
from bellcrank.mechanism.joint_kinds import Fixed, Prismatic, Revolute, Spherical
from bellcrank.mechanism.mass import MassProperties
from bellcrank.mechanism.motors import GearedMotor
from bellcrank.mechanism.parameters import Input
from bellcrank.mechanism.rotation import between
from bellcrank.mechanism.shape import Shape
from bellcrank.mechanism.springs import TorsionSpring

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
                pose = skeleton.links[parent].pose @ _origin_of(self.source, at)
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
        given = [0.0 if inertia_at is None else source.number(inertia_at, entry) or 0.0 for entry in ENTRIES]
        local = MassProperties(mass, np.zeros(3), symmetric(*given))
        if mass == 0.0 and not any(given):
            at.use()
            return None
        origin = _origin_of(self.source, at)
        if origin == Pose():
            return local
        turned = local.moved(origin.position, origin.rotation)
        return MassProperties(mass, np.array(origin.position), 0.5 * (turned.inertia + turned.inertia.T))


_Z: Final = (0.0, 0.0, 1.0)
_CLOSING: Final = {
    "fixed": Fixed,
    "revolute": Revolute,
    "continuous": Revolute,
    "hinge": Revolute,
    "prismatic": Prismatic,
    "spherical": Spherical,
    "ball": Spherical,
}


def add_extras(builder: Builder, root: Element, joints: Mapping[str, Element]) -> None:
    """Add forces, constraints and closing joints to the builder's mechanism; note what cannot be imported."""
    for name, at in joints.items():
        _dynamics(builder, name, at)
    for name, at in joints.items():
        if (mimic := at.first("mimic")) is not None and not mimic.dropped:
            _mimic(builder, name, mimic, joints)
    moved = Counter(one.name for at in root.all("transmission") for one in at.all("joint"))
    bounded: set[str] = set()
    for at in root.all("transmission", "loop_joint", "gazebo"):
        if at.tag == "transmission":
            bounded |= _transmission(builder, at, joints, moved)
        elif at.tag == "loop_joint":
            _loop_joint(builder, at)
        else:
            _gazebo(builder, at)
    for name, at in joints.items():
        _list_limits(builder.source, name, at.first("limit"), name in bounded)


def _list_limits(source: Source, name: str, at: Element | None, bounded: bool) -> None:
    """Note limits of effort and speed. bounded: whether that of the effort holds the input of a motor."""
    if at is None:
        return
    effort, speed = (source.bound(at, key, at.get(key)) for key in ("effort", "velocity"))
    if bounded and speed:
        source.leave(at, f"joint {name!r}", "its limit of speed is not kept")
    elif (effort or speed) and not bounded:
        source.leave(at, f"joint {name!r}", "limits of effort and speed are not kept")


def _dynamics(builder: Builder, name: str, at: Element) -> None:
    source, coordinate = builder.source, builder.coordinates.get(name)
    dynamics = at.first("dynamics")
    if dynamics is None or dynamics.dropped:
        return
    damping, friction = (source.number(dynamics, key) or 0.0 for key in ("damping", "friction"))
    for key, value in (("damping", damping), ("friction", friction)):
        if value < 0.0:
            source.fault(dynamics, "must not be negative", value, of=key)
    if (damping <= 0.0 and friction <= 0.0) or min(damping, friction) < 0.0:
        return
    if coordinate is None:
        moves = name in builder.joints
        rule = "damping and friction need a joint with one coordinate"
        source.leave(dynamics, f"joint {name!r}", rule, moves=moves)
    elif friction > 0.0:
        builder.force(dynamics, f"{name} friction", lambda: JointFriction(damping, friction), coordinate)
    else:
        builder.force(dynamics, f"{name} damping", lambda: TorsionSpring(0.0, damping), coordinate)


def _mimic(builder: Builder, name: str, at: Element, joints: Mapping[str, Element]) -> None:
    """Q = multiplier q_other + offset."""
    source, other = builder.source, at.get("joint")
    if other not in joints or other == name:
        moves = builder.coordinates.get(name) is not None
        rule = "it follows a joint that the robot does not have"
        source.drop(at, f"joint {name!r}", rule, other, moves)
        return
    factor, offset = source.number(at, "multiplier", 1.0), source.number(at, "offset", 0.0)
    ends = [builder.coordinates.get(one) for one in (name, other)]
    if None in ends or factor is None or offset is None:
        moves = ends[0] is not None
        source.leave(at, f"joint {name!r}", "it follows a joint without a coordinate", other, moves)
    elif factor == 0.0:
        builder.constraint(at, f"{name} mimic", lambda: Coupling((1.0,), offset), ends[0])
    else:
        builder.constraint(at, f"{name} mimic", lambda: Coupling((1.0, -factor), offset), *ends)


def _transmission(
    builder: Builder, at: Element, joints: Mapping[str, Element], moved: Mapping[str, int]
) -> set[str]:
    """Add a geared motor for each actuator of a transmission with one joint; its torque is an input.

    moved: how many transmissions name a joint. If it is one, the input is held within what the joint may
    exert; the joints of which this is so are returned.
    """
    source = builder.source
    held, actuators = list(at.all("joint")), list(at.all("actuator"))
    if any(one.name not in joints for one in held):
        source.drop(at, str(at), "it names a joint that the robot does not have")
        return set()
    if len(held) != 1 or len(actuators) != 1:
        rule = f"a transmission of {len(held)} joints and {len(actuators)} actuators is not available"
        source.drop(at, str(at), rule)
        return set()
    coordinate = builder.coordinates.get(held[0].name)
    if coordinate is None:
        source.drop(at, str(at), "its joint has no coordinate that could be driven")
        return set()
    ratio = _said(
        (at, held[0], actuators[0]), ("mechanicalReduction", "mechanical_reduction", "gear_ratio"), 1.0
    )
    inertia = _said((actuators[0], at), ("rotorInertia", "rotor_inertia", "motorInertia"), 0.0)
    if not (abs(ratio) > 0.0 and inertia >= 0.0 and isfinite(ratio) and isfinite(inertia)):
        rule = "its reduction must be a number but zero, and its inertia one that is not negative"
        source.leave(at, str(at), rule, (ratio, inertia))
        return set()
    for one in (held[0], actuators[0]):
        one.use()  # all else in them configures the robot's controller
    name = symbol_name(actuators[0].name or at.name)
    label = actuators[0].name or at.name or f"{held[0].name} motor"

    limit = joints[held[0].name].first("limit")
    effort = None if limit is None else source.bound(limit, "effort", limit.get("effort"))
    alone = effort is not None and effort > 0.0 and moved[held[0].name] == 1
    most = effort / abs(ratio) if effort is not None and alone else inf

    def motor() -> GearedMotor:
        return GearedMotor(ratio, inertia, clamped(Input(name, 0.0, "N m"), (-most, most)))

    builder.force(at, label, motor, coordinate)
    return {held[0].name} if alone else set()


def _said(places: tuple[Element, ...], tags: tuple[str, ...], default: float) -> float:
    """The number in the first of these elements that exists, in its text or its `value`; nan for none."""
    for place in places:
        for one in place.children:
            if one.tag.rpartition(":")[2] in tags:
                try:
                    return float(one.get("value") or one.words)
                except ValueError:
                    return nan
    return default


def _loop_joint(builder: Builder, at: Element) -> None:
    """Add the joint of a <loop_joint> with <link1> and <link2>, between frames of two links of the tree."""
    source = builder.source
    ends: list[tuple[str, Pose]] = []
    for tag in ("link1", "link2"):
        end = at.first(tag)
        link = "" if end is None else end.get("link")
        if end is None or link not in builder.skeleton.links or not link:
            source.fault(at, f"its {tag} is no link of the robot", link or None)
            return
        ends.append((link, Pose(source.vector(end, "xyz"), of_rpy(*source.vector(end, "rpy")))))
    kind = source.word(at, "type", tuple(_CLOSING), "spherical")
    axis_at = at.first("axis")
    axis = source.direction(
        at, "axis", None if axis_at is None else source.vector(axis_at, "xyz"), (1.0, 0.0, 0.0)
    )
    turned = Pose((0.0, 0.0, 0.0), between(_Z, axis))
    one, two = ((link, pose @ turned) for link, pose in ends)
    builder.close(at.name or "loop", _CLOSING[kind](), one, two, at)


def _gazebo(builder: Builder, at: Element) -> None:
    """Read the joints in <gazebo>, which close loops; the rest configures the simulator."""
    source = builder.source
    for one in at.children:
        if one.tag != "joint":
            of = f"gazebo of {at.get('reference')!r}" if at.get("reference") else "gazebo"
            source.drop(one, of, f"<{one.tag}> has no counterpart")
            continue
        parent, child = (one.inner(tag) for tag in ("parent", "child"))
        if not {parent, child} <= set(builder.skeleton.links) - {""}:
            source.fault(one, "its parent or child is no link of the robot", (parent, child))
            continue
        pose = source.numbers(one, "pose", one.inner("pose") or "0 0 0 0 0 0", 6) or (0.0,) * 6
        local = Pose((pose[0], pose[1], pose[2]), of_rpy(*pose[3:]))
        kind = one.get("type", "revolute")
        if kind not in _CLOSING:
            source.drop(one, str(one), f"a closing joint of type {kind!r} is not available", moves=True)
            continue
        given = None
        if (axis_at := one.first("axis")) is not None:
            given = source.triple(one, "axis", axis_at.inner("xyz") or "0 0 1", _Z)
        axis = source.direction(one, "axis", given, _Z)
        frame = builder.skeleton.links[child].pose @ local @ Pose((0.0, 0.0, 0.0), between(_Z, axis))
        ends = [(link, builder.skeleton.links[link].pose.inverse() @ frame) for link in (parent, child)]
        builder.close(one.name or "loop", _CLOSING[kind](), ends[0], ends[1], one)


_SHAPES: Final = {
    "box": ("Box", ("size",)),
    "sphere": ("Sphere", ("radius",)),
    "cylinder": ("Cylinder", ("radius", "length")),
    "capsule": ("Capsule", ("radius", "length")),
}


def _origin_of(source: Source, at: Element) -> Pose:
    """The pose of an element's <origin>."""
    origin = at.first("origin")
    if origin is None:
        return Pose()
    position = source.vector(origin, "xyz")
    quaternion = source.numbers(origin, "quat_xyzw", origin.attributes.get("quat_xyzw"), 4)
    if quaternion is None:
        return Pose(position, of_rpy(*source.vector(origin, "rpy")))
    x, y, z, w = quaternion
    norm = (x * x + y * y + z * z + w * w) ** 0.5
    if norm == 0.0:
        source.fault(origin, "must not be zero", quaternion, of="quat_xyzw")
        return Pose(position)
    return Pose(position, (w / norm, x / norm, y / norm, z / norm))


class Shapes:
    """The shapes of a robot. collides: whether any link has collision geometry."""

    def __init__(self, source: Source, root: Element) -> None:
        self.source = source
        self.collides = any(at.tag == "collision" for link in root.children for at in link.children)
        self.colors: dict[str, Color] = {}
        for material in root.all("material"):
            if (color := material.first("color")) is not None:
                found = self._color(color)
                if self.colors.setdefault(material.name, found) != found:
                    source.leave(material, str(material), "this name is taken: the first material counts")

    def of(self, link: Element) -> list[Shape]:
        """The shapes of a link; where no link has collision geometry, what is drawn touches as well."""
        drawn, touching = (
            shapes_of(self.source, link, tag, partial(self._shapes, link)) for tag in ("visual", "collision")
        )
        return drawn_and_touching(drawn, touching) if self.collides else drawn

    def _shapes(self, link: Element, at: Element) -> list[Shape | None]:
        geometry = at.first("geometry")
        if geometry is None or not geometry.children:
            self.source.leave(at, f"link {link.name!r}", f"the geometry of its <{at.tag}> is missing")
            return []
        found: list[Shape | None] = []
        pose, color = _origin_of(self.source, at), self._material(at)
        for one in geometry.each():
            if one.tag == "mesh":
                scale = self.source.scale(one, one.get("scale"))
                found.append(mesh(self.source, one, one.get("filename"), scale, pose, color))
            elif one.tag in _SHAPES:
                kind, attributes = _SHAPES[one.tag]
                numbers = self._sizes(one, attributes)
                if numbers is not None:
                    found.append(primitive(self.source, one, kind, numbers, pose, color))
            else:
                rule = f"shapes of this kind are not available: <{one.tag}>"
                self.source.drop(one, f"link {link.name!r}", rule)
        return found

    def _sizes(self, at: Element, attributes: tuple[str, ...]) -> tuple[float, ...] | None:
        count = 3 if attributes == ("size",) else 1
        found: list[float] = []
        for attribute in attributes:
            if attribute not in at.attributes:
                self.source.fault(at, "is missing", of=attribute)
                return None
            numbers = self.source.numbers(at, attribute, at.get(attribute), count)
            if numbers is None:
                return None
            found += numbers
        if min(found) == 0.0:
            self.source.leave(at, str(at), "a shape without extent is not shown", tuple(found))
            return None
        return tuple(found)

    def _material(self, at: Element) -> Color:
        material = at.first("material")
        if material is None:
            return None
        if material.first("texture") is not None:
            self.source.leave(material, str(material), "textures are not shown")
        own = material.first("color")
        return self._color(own) if own is not None else self.colors.get(material.name)

    def _color(self, at: Element) -> Color:
        return self.source.color(at, "rgba", at.get("rgba") or None)
