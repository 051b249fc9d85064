"""SDF: models nested in models, poses relative to any frame, joints that may close loops."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from bellcrank.io.robots.building import Builder
from bellcrank.io.robots.consumption import Quiet, list_unused
from bellcrank.io.robots.included import Included
from bellcrank.io.robots.model_folders import version
from bellcrank.io.robots.sdf_frames import SEPARATOR, WORLD, Frame, Frames, pose_of, text
from bellcrank.io.robots.sdf_joints import JointReader
from bellcrank.io.robots.sdf_links import read_link
from bellcrank.io.robots.skeleton import GROUND, Connection, Skeleton
from bellcrank.io.robots.source import Source
from bellcrank.io.robots.xml_tree import Element
from bellcrank.mechanism import Mechanism
from bellcrank.mechanism.collisions import Collisions

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
        if at.get("placement_frame") or (placed is not None and text(placed, "placement_frame")):
            rule = "a placement frame is not taken: the pose is that of the model"
            self.source.leave(at, str(at), rule, moves=True)
        where = at if placed is None or placed.first("pose") is None else placed
        pose, relative = pose_of(self.source, where)
        whole = self.frames.name(scope, f"_merged__{name}__model__" if merged else name)
        if merged:
            self.frames.merged[whole] = self.frames.merged.get(scope, scope)
        still = level.static or text(at, "static") in _TRUE
        still = still or (placed is not None and text(placed, "static") in _TRUE)
        first = at.get("canonical_link") or next((one.name for one in at.all("link")), "")
        self._enter(
            whole,
            Frame(
                self.frames.name(scope, relative), pose, at, self.frames.name(whole, first) if first else ""
            ),
        )
        meets = level.meets or text(at, "self_collide") in _TRUE
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
        uri = text(at, "uri")
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
        self.model(model, scope, replace(level, depth=level.depth + 1), text(at, "name"), at, merged)

    def _gravity(self, at: Element) -> None:
        found = self.source.numbers(at, "gravity", at.words, 3)
        self.gravity = self.gravity if found is None else (found[0], found[1], found[2])

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
        child = self.frames.name(scope, text(at, "child"))
        base = self.frames.name(scope, relative) if relative else child
        name = self.frames.name(scope, at.name or "joint")
        self.joints.enter(at, scope, name, self._enter(name, Frame(base, pose, at, child)))

    def skeleton(self) -> Skeleton:
        """Links at their frames, joints as a tree, and the joints that close loops in it."""
        skeleton, names = Skeleton(), self._short_names()
        collides = any(at.first("collision") is not None for at, _ in self.links.values())
        for name, (at, level) in self.links.items():
            pose = self.frames.pose(name, at)
            meeting = level.meets if (own := text(at, "self_collide")) == "" else own in _TRUE
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
