"""SDF: models nested in models, poses relative to any frame, joints that may close loops."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np

from bellcrank.io.robots.builder import Builder
from bellcrank.io.robots.sdf_frames import SEPARATOR, WORLD, Frame, Frames, JointReader, number, pose_of
from bellcrank.io.robots.shapes import drawn_and_touching, mesh, primitive, shapes_of
from bellcrank.io.robots.skeleton import ENTRIES, GROUND, Connection, Link, Pose, Skeleton, symmetric
from bellcrank.io.robots.source import Color, Included, Quiet, Source, list_unused, version
from bellcrank.io.robots.xml_tree import Element
from bellcrank.mechanism import Mechanism
from bellcrank.mechanism.collisions import Collisions, Surface
from bellcrank.mechanism.mass import MassProperties, total
from bellcrank.mechanism.rotation import between
from bellcrank.mechanism.shape import Plane, Shape

_GRAVITY: Final = (0.0, 0.0, -9.81)
_WORLD_GRAVITY: Final = (0.0, 0.0, -9.8)
"""The gravity of SDF's worlds that do not state it."""
_IN_PHYSICS: Final = (1, 6)
"""The version before which worlds state gravity within <physics>."""
_FILES: Final = 200
_DEPTH: Final = 30
_TRUE: Final = ("1", "true")
_READ: Final = ("link", "joint", "model", "frame", "include", "static", "pose", "gravity")
_QUIET: Final = Quiet(
    tags=(
        *("self_collide", "allow_auto_disable", "enable_wind", "must_be_base_link", "scene", "gui", "audio"),
        *("magnetic_field", "atmosphere", "spherical_coordinates", "wind", "physics", "material", "surface"),
        *("cast_shadows", "laser_retro", "transparency", "visibility_flags", "meta", "max_contacts"),
        *("limit/stiffness", "limit/dissipation", "collision/density", "collision/auto_inertia_params"),
        *("inertial/density", "inertial/auto_inertia_params"),
    ),
    attributes=("xmlns", "xsi"),
    still=(
        *("sensor", "plugin", "light", "gripper", "road", "actor", "battery", "projector", "physics"),
        *("particle_emitter", "audio_source", "audio_sink"),
    ),
    moving=(
        *("world", "model", "link", "joint", "axis", "axis2", "inertial", "inertia", "dynamics", "mimic"),
        *("include", "pose", "frame", "sdf"),
    ),
)


def read(source: Source, root: Element) -> Mechanism:
    """The mechanism of an <sdf> element; faults and parts left out are recorded in the source."""
    reader = _Reader(source, root)
    tops = [at for at in root.children if at.tag in ("model", "world", "include")]
    if not tops:
        source.fault(root, "it holds no model and no world")
    for at in tops:
        at.visited = True
        if at.tag == "world":
            reader.gravity = _WORLD_GRAVITY
            reader.scope(at, WORLD, _Level())
        elif at.tag == "model":
            reader.model(at, WORLD, _Level())
        else:
            reader.include(at, WORLD, _Level())
    source.faults.raise_any()
    skeleton = reader.skeleton()
    source.faults.raise_any()
    name = tops[0].name or source.path.stem
    builder = Builder(source, name, reader.gravity, skeleton)
    reader.joints.add_forces(builder)
    builder.collide(Collisions(tuple(builder.surfaces), least=True))
    list_unused(source, reader.roots, _QUIET)
    return builder.mechanism


@dataclass(frozen=True)
class _Level:
    """The depth of a model, and whether it is static.

    family: the outermost model. meets: whether its links collide with each other.
    """

    depth: int = 0
    static: bool = False
    family: str = ""
    meets: bool = False


@dataclass
class _Reader:
    source: Source
    root: Element
    frames: Frames = field(init=False)
    included: Included = field(init=False)
    joints: JointReader = field(init=False)
    links: dict[str, tuple[Element, _Level]] = field(default_factory=dict)
    gravity: tuple[float, float, float] = _GRAVITY
    files: int = 0
    roots: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.roots.append(self.root)
        self.frames = Frames(self.source)
        self.included = Included(self.source)
        self.joints = JointReader(self.source, self.frames, version(self.root.get("version")))

    def model(
        self,
        at: Element,
        scope: str,
        level: _Level,
        name: str = "",
        placed: Element | None = None,
        merged: bool = False,
    ) -> None:
        """Read a model into a scope; `placed`: the <include> that may replace its pose.

        merged: whether its contents become those of the scope, with the names they have there.
        """
        at.visited = True
        name = name or at.name
        if not name:
            self.source.fault(at, "a model needs a name")
            return
        if level.depth > _DEPTH:
            self.source.fault(at, f"models lie in each other more than {_DEPTH} deep")
            self.source.faults.raise_any()
        if at.get("placement_frame") or (placed is not None and placed.inner("placement_frame")):
            rule = "a placement frame is not taken: the pose is that of the model"
            self.source.leave(at, str(at), rule, moves=True)
        where = at if placed is None or placed.first("pose") is None else placed
        pose, relative = pose_of(self.source, where)
        whole = self.frames.name(scope, f"_merged__{name}__model__" if merged else name)
        if merged:
            self.frames.merged[whole] = self.frames.merged.get(scope, scope)
        still = level.static or at.inner("static") in _TRUE
        still = still or (placed is not None and placed.inner("static") in _TRUE)
        first = at.get("canonical_link") or next((one.name for one in at.all("link")), "")
        self._enter(
            whole,
            Frame(
                self.frames.name(scope, relative), pose, at, self.frames.name(whole, first) if first else ""
            ),
        )
        meets = level.meets or at.inner("self_collide") in _TRUE
        self.scope(at, whole, _Level(level.depth + 1, still, level.family or whole, meets))

    def scope(self, at: Element, scope: str, level: _Level) -> None:
        """Read the contents of a model or a world."""
        if any(one.name == "world" for one in at.all("link")):
            self.frames.worlds.add(scope)
        # Links first: they keep their names where joints and frames have the same.
        for one in sorted(at.children, key=lambda one: one.tag in ("joint", "frame")):
            one.visited = one.tag in _READ
            if one.tag == "link":
                self._link(one, scope, level)
            elif one.tag == "frame":
                self._frame(one, scope)
            elif one.tag == "joint":
                self._joint(one, scope)
            elif one.tag == "model":
                self.model(one, scope, level)
            elif one.tag == "include":
                self.include(one, scope, level)
            elif one.tag == "gravity" and at.tag == "world":
                self._gravity(one)
            elif one.tag == "physics" and at.tag == "world" and self.joints.version < _IN_PHYSICS:
                for inner in one.all("gravity"):
                    self._gravity(inner)

    def include(self, at: Element, scope: str, level: _Level) -> None:
        """Read the model contained in another file."""
        uri = at.inner("uri")
        found = self.source.model(uri, Path(at.file).parent)
        self.files += 1
        if self.files > _FILES or level.depth > _DEPTH:
            rule = f"it is not included: models are, {_FILES} times or {_DEPTH} deep"
            self.source.drop(at, str(at), rule, uri, moves=True)
            return
        if found is None:
            missing = f"the included model is not found in {self.source.places or self.source.searched}"
            self.source.drop(at, str(at), missing, uri, moves=True)
            self.joints.missing.append(f"{missing}: {uri!r}")
            return
        root = self.included.read(at, found, uri)
        if root is None:
            return
        model = root.first("model")
        if model is None:
            self.source.fault(root, "an included file holds a model")
            return
        self.roots.append(root)
        merged = at.get("merge") in _TRUE
        self.model(model, scope, replace(level, depth=level.depth + 1), at.inner("name"), at, merged)

    def _gravity(self, at: Element) -> None:
        self.gravity = self.source.triple(at, "gravity", at.words, self.gravity)

    def _enter(self, name: str, frame: Frame) -> str:
        """Note a frame; its name, which is another for that of a joint or a <frame> named like a link."""
        at, other = frame.at, self.frames.known.get(name)
        if name == WORLD or (other is not None and at.tag == other.at.tag):
            self.source.fault(at, "this name is taken", name)
        elif other is not None and at.tag in ("joint", "frame"):
            while name in self.frames.known:  # as in libsdformat
                name = f"{name}_{at.tag}"
            rule = f"{other.at} has the same name, and keeps it: frames that name it mean the {other.at.tag}"
            self.source.leave(at, str(at), rule)
        elif other is not None:
            self.source.fault(at, "this name is taken", name)
        self.frames.known.setdefault(name, frame)
        return name

    def _link(self, at: Element, scope: str, level: _Level) -> None:
        if not at.name:
            self.source.fault(at, "a link needs a name")
            return
        name = self.frames.name(scope, at.name)
        pose, relative = pose_of(self.source, at)
        self._enter(name, Frame(self.frames.name(scope, relative), pose, at, name))
        self.links.setdefault(name, (at, level))

    def _frame(self, at: Element, scope: str) -> None:
        pose, relative = pose_of(self.source, at)
        attached = self.frames.name(scope, at.get("attached_to"))
        base = self.frames.name(scope, relative) if relative else attached
        self._enter(self.frames.name(scope, at.name or "frame"), Frame(base, pose, at, attached))

    def _joint(self, at: Element, scope: str) -> None:
        pose, relative = pose_of(self.source, at)
        child = self.frames.name(scope, at.inner("child"))
        base = self.frames.name(scope, relative) if relative else child
        name = self.frames.name(scope, at.name or "joint")
        self.joints.enter(at, scope, name, self._enter(name, Frame(base, pose, at, child)))

    def skeleton(self) -> Skeleton:
        """Links at their frames, joints as a tree, and the joints that close loops in it."""
        skeleton, names = Skeleton(), self._short_names()
        collides = any(at.first("collision") is not None for at, _ in self.links.values())
        for name, (at, level) in self.links.items():
            pose = self.frames.pose(name, at)
            meeting = level.meets if (own := at.inner("self_collide")) == "" else own in _TRUE
            family = "" if meeting else level.family
            skeleton.links[names[name]] = read_link(self.source, at, names[name], pose, collides, family)
            if level.static:
                skeleton.connections.append(Connection(names[name], GROUND, names[name], at))
        names[WORLD] = GROUND
        for name, frame in self.frames.known.items():
            link = self.frames.link(name)
            if frame.at.tag == "frame" and link is not None and link in names:
                local = skeleton.links[names[link]].pose.inverse() @ self.frames.pose(name, frame.at)
                skeleton.links[names[link]].markers.append((frame.at.name, local))
        self.joints.add_to(skeleton, names)
        return skeleton

    def _short_names(self) -> dict[str, str]:
        """Names of links: without the model's name if there is one model, with "/" between scopes."""
        tops = {name.split(SEPARATOR)[0] for name in self.links}
        drop = len(tops) == 1 and all(SEPARATOR in name for name in self.links)
        return {
            name: (name.split(SEPARATOR, 1)[1] if drop else name).replace(SEPARATOR, "/")
            for name in self.links
        }


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
    drawn, touching = (
        shapes_of(source, at, tag, lambda one: [_shape(source, one)]) for tag in ("visual", "collision")
    )
    link.shapes += drawn_and_touching(drawn, touching) if collides else drawn
    if any(shape.touches for shape in link.shapes):
        link.surfaces += [_surface(source, one, name, family) for one in at.all("collision")]
    if at.inner("gravity") in ("0", "false"):
        link.relieved = 1.0
    if at.inner("kinematic") in ("1", "true"):
        source.leave(at, str(at), "kinematic links move like all others")
    return link


def _mass(source: Source, link: Element, at: Element | None) -> MassProperties | None:
    """The mass properties; by default 1 kg and 1 kg m^2 about each axis, as in SDF."""
    if at is None:
        source.leave(link, str(link), "it has no <inertial>: SDF gives it 1 kg and 1 kg m²")
        return MassProperties(1.0, np.zeros(3), np.eye(3))
    mass = number(source, at, 1.0, "mass")
    inertia = at.first("inertia")
    defaults = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
    pairs = zip(defaults, ENTRIES, strict=True)
    given = defaults if inertia is None else [number(source, inertia, d, entry) for d, entry in pairs]
    if mass < 0.0:
        source.fault(at, "the mass must not be negative", mass)
        return None
    pose, _ = pose_of(source, at)
    if mass == 0.0 and not any(given):
        return None
    return MassProperties(mass, np.zeros(3), symmetric(*given)).moved(pose.position, pose.rotation)


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


def _surface(source: Source, at: Element, link: str, family: str) -> Surface:
    """How a <collision> touches others: by SDF's default, it rubs with the coefficient 1."""
    bits = at.inner("surface", "contact", "collide_bitmask")
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
    color = source.color(at, "diffuse", at.inner("material", "diffuse") or None)
    for one in geometry.each():
        if one.tag == "mesh":
            scale = source.scale(one, one.inner("scale"))
            return mesh(source, one, one.inner("uri"), scale, pose, color, Path(one.file).parent)
        if one.tag in _SHAPES:
            kind, tags, count = _SHAPES[one.tag]
            found: list[float] = []
            for tag in tags:
                numbers = source.numbers(one, tag, one.inner(tag) or " ".join(["1"] * count), count)
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
    normal = source.triple(at, "normal", at.inner("normal") or "0 0 1", (0.0, 0.0, 1.0))
    sizes = source.numbers(at, "size", at.inner("size") or "1 1", 2) or (1.0, 1.0)
    turned = between((0.0, 0.0, 1.0), source.direction(at, "normal", normal, (0.0, 0.0, 1.0)))
    with source.faults.collect(at.location):
        turn = (pose @ Pose(rotation=turned)).rotation
        return Plane(size=max(sizes), position=pose.position, rotation=turn, color=color, touches=touches)
    return None
