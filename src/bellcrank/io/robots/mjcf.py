"""MJCF: bodies in a tree with any number of joints each, geoms that may give them mass, sites as markers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from bellcrank.io.robots.builder import Builder
from bellcrank.io.robots.mjcf_actuators import add_actuators
from bellcrank.io.robots.mjcf_constraints import Equalities, Tendons
from bellcrank.io.robots.mjcf_contacts import Contacts
from bellcrank.io.robots.mjcf_document import Document
from bellcrank.io.robots.mjcf_geometry import Geoms
from bellcrank.io.robots.mjcf_joints import JointReader
from bellcrank.io.robots.mjcf_medium import Medium
from bellcrank.io.robots.mjcf_start import add_start, check_start, start_of
from bellcrank.io.robots.skeleton import (
    GROUND,
    HERE,
    Connection,
    Link,
    Pose,
    Skeleton,
    element_name,
    symbol_name,
    symmetric,
)
from bellcrank.io.robots.source import Quiet, Source, list_unused
from bellcrank.io.robots.xml_tree import Element
from bellcrank.mechanism import Mechanism
from bellcrank.mechanism.checking import Quat
from bellcrank.mechanism.mass import MassProperties, total
from bellcrank.mechanism.rotation import IDENTITY
from bellcrank.mechanism.shape import Shape

_SOFT: Final = (
    *("solref", "solimp", "solreflimit", "solimplimit", "solreffriction", "solimpfriction", "margin"),
    *("limitsolref", "limitsolimp", "frictionsolref", "frictionsolimp"),
    *("solreffix", "solimpfix", "solreflimitfix"),
)
_CONTACT: Final = ("contype", "conaffinity", "condim", "priority", "friction", "solmix", "gap")
_SOLVER: Final = (
    *("timestep", "apirate", "impratio", "magnetic", "o_margin", "o_solref", "o_solimp", "o_friction"),
    *("integrator", "cone", "jacobian", "solver", "iterations", "tolerance", "ls_iterations", "ls_tolerance"),
    *("noslip_iterations", "noslip_tolerance", "ccd_iterations", "ccd_tolerance", "mpr_iterations"),
    *("mpr_tolerance", "sdf_iterations", "sdf_initpoints", "collision", "sleep_tolerance", "diagapprox"),
)
_SWITCHES: Final = (
    *("contact", "filterparent", "autoreset", "multiccd", "nativeccd", "midphase", "eulerdamp", "refsafe"),
    *(
        "sensor",
        "warmstart",
        "clampctrl",
        "island",
        "energy",
        "fwdinv",
        "invdiscrete",
        "override",
        "sensornoise",
    ),
    *("sleep", "diagexact"),
)
_ACTUATORS: Final = ("general", "motor", "position", "velocity", "intvelocity", "damper")

QUIET: Final = Quiet(
    tags=(
        *("visual", "statistic", "default", "custom", "size", "include"),
        *("asset/texture", "asset/material", "asset/skin", "asset/hfield"),
        "option/contact",
    ),
    attributes=("class", "childclass", "rgba", "material", "group", "user", *_SOFT),
    of={
        "mujoco": ("model",),
        "geom": (*_CONTACT, "hfield", "fitscale", "fluidshape", "fluidcoef"),
        "site": ("size", "type"),
        "body": ("sleep",),
        "joint": ("actuatorgravcomp", "actuatorfrclimited"),
        "freejoint": ("align",),
        "key": ("time",),
        "compiler": (
            *("discardvisual", "usethread", "fusestatic", "convexhull", "saveinertial", "alignfree"),
            *("exactmeshinertia", "texturedir"),
        ),
        "option": (*_SOLVER, "actuatorgroupdisable"),
        "flag": _SWITCHES,
        "mesh": ("normal", "texcoord", "smoothnormal", "maxhullvert", "content_type", "octree_maxdepth"),
        "spatial": ("width", "actuatorfrclimited"),
        "fixed": ("width", "actuatorfrclimited"),
        **dict.fromkeys(_ACTUATORS, ("actlimited", "actearly", "lengthrange", "nsample", "interp")),
    },
    moving=(
        *(
            "compiler",
            "option",
            "flag",
            "worldbody",
            "body",
            "frame",
            "inertial",
            "joint",
            "freejoint",
            "geom",
        ),
        *("mesh", "equality", "connect", "weld", "tendon", "spatial", "fixed", "actuator"),
        *_ACTUATORS,
    ),
)


_GRAVITY: Final = (0.0, 0.0, -9.81)
_EXPANDED: Final = ("composite", "flexcomp", "flex")
_SEEN: Final = ("camera", "light")

_SECTIONS: Final = (
    *("compiler", "option", "size", "visual", "statistic", "default", "custom", "asset", "worldbody"),
    *("equality", "tendon", "actuator", "contact", "include"),
)
_LISTED: Final = {
    "sensor": "sensors have no counterpart",
    "keyframe": "it is not where the mechanism starts: bc.load(path, start=NAME) takes it",
    "deformable": "what deforms is not taken",
    "extension": "plugins are not taken",
}


def read(source: Source, root: Element) -> Mechanism:
    """The mechanism of a <mujoco> element; faults and parts left out are recorded in the source."""
    document = Document(source, root)
    reader = _Reader(document)
    for at in document.all("worldbody"):
        reader.contents(at, reader.world)
    reader.finish(reader.world.link)
    reader.adjust_masses()
    source.faults.raise_any()
    inputs = [symbol_name(at.name) for at in document.items("actuator") if at.name]
    name = root.get("model") or source.path.stem
    medium = Medium(document, reader.skeleton, reader.frames)
    builder = Builder(source, name, _gravity(document), reader.skeleton, inputs)
    medium.add(builder)
    _add_elements(builder, document, reader.joints, reader.sites)
    reader.contacts.add(builder)
    list_unused(source, [document.root, *document.attached], QUIET)
    return builder.mechanism


def _add_elements(
    builder: Builder, document: Document, joints: JointReader, sites: Mapping[str, tuple[str, Pose]]
) -> None:
    """Add forces, constraints and inputs to the builder's mechanism; note what cannot be imported."""
    joints.add_forces(builder)
    equalities = Equalities(builder, document, joints, sites)
    tendons = Tendons(builder, document, joints, sites)
    for at in document.items("equality"):
        equalities.add(at, tendons)
    add_actuators(builder, document, joints, sites, tendons)
    joints.list_efforts(builder)
    check_start(document)
    add_start(builder, document)
    start = start_of(document)
    for at in document.sections:
        if at.tag in _LISTED:
            at.visited = True
            for one in at.children:
                if one is not start:
                    document.source.drop(one, str(one), _LISTED[at.tag], moves=at.tag == "deformable")
        elif at.tag not in _SECTIONS:
            document.source.fault(at, "it has no place here")


def _gravity(document: Document) -> tuple[float, float, float]:
    gravity = _GRAVITY
    for at in document.all("option"):
        gravity = document.vector(at, at.attributes, "gravity", gravity)
    return gravity if "gravity" not in document.disabled else (0.0, 0.0, 0.0)


@dataclass
class _Place:
    """The position of the reader: the link, the frame in it, and the default class.

    connection: of the link to its parent, None for the world.
    """

    link: Link
    connection: Connection | None = None
    frame: Pose = HERE
    childclass: str = ""


@dataclass
class _Geometry:
    """The totals of a body's geoms: masses, shapes that are drawn, shapes that are not."""

    masses: list[MassProperties]
    drawn: list[Shape]
    hidden: list[Shape]
    weighs: bool = False
    """Whether the mass of the body is that of its geoms."""
    inertial: tuple[Element, Pose] | None = None
    """With the frame in the body in which it is given."""


class _Reader:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.source = document.source
        self.geoms = Geoms(document)
        self.contacts = Contacts(document)
        self.skeleton = Skeleton()
        self.world = _Place(self.skeleton.links[GROUND])
        self.joints = JointReader(document)
        self.sites: dict[str, tuple[str, Pose]] = {}
        self.frames: dict[Link, Quat] = {}
        self.held: dict[Link, _Geometry] = {self.world.link: _Geometry([], [], [])}

    def contents(self, at: Element, place: _Place) -> None:
        """Read the contents of a body, a frame or the world."""
        for one in at.children:
            if one.tag == "body":
                self._body(one, place)
            elif one.tag == "frame":
                pose = place.frame @ self.document.pose(one, one.attributes)
                inner = _Place(place.link, place.connection, pose, one.get("childclass") or place.childclass)
                self.contents(one, inner)
            elif one.tag == "geom":
                self._geom(one, place)
            elif one.tag == "site":
                self._site(one, place)
            elif one.tag in ("joint", "freejoint"):
                self._joint(one, place)
            elif one.tag == "inertial":
                held = self.held[place.link]
                held.inertial = (one, place.frame)
                if held.weighs:
                    one.use()  # as the compiler's inertiafromgeom says
            elif one.tag in _EXPANDED:
                rule = f"<{one.tag}> is not expanded: MuJoCo writes the bodies that it makes (mj_saveLastXML)"
                self.source.drop(one, str(one), rule, moves=True)
                self.document.incomplete = True
            elif one.tag == "plugin":
                self.source.drop(one, str(one), "plugins are not taken", moves=True)
            elif one.tag in _SEEN:
                self.source.drop(one, str(one), "cameras and lights are not taken")
            else:
                self.source.fault(one, "it has no place here")

    def _body(self, at: Element, place: _Place) -> None:
        links = self.skeleton.links
        name = element_name(at.name or f"body {len(links)}", links)
        if at.name and name != at.name and at.name in links:
            self.source.fault(at, "this name is taken")
        pose = place.link.pose @ place.frame @ self.document.pose(at, at.attributes)
        link = links[name] = Link(name, pose, at)
        relieved = self.document.number(at, at.attributes, "gravcomp")
        link.relieved = relieved if "passive" not in self.document.disabled else 0.0
        way = Connection(name, place.link.name, name, at)
        self.skeleton.connections.append(way)
        choice = self.document.of(at).compiler.get("inertiafromgeom", "auto")
        weighs = choice == "true" or (choice == "auto" and not _has_inertial(at))
        self.held[link] = _Geometry([], [], [], weighs)
        if at.get("mocap") == "true":
            self.source.leave(at, str(at), "a mocap body stands still")
        inner = _Place(link, way, childclass=at.get("childclass") or place.childclass)
        self.contents(at, inner)
        if way.motions and way.motions[0].kind == "free" and place.link.name != GROUND:
            self.source.fault(at, "a free joint belongs to a body of the world")
        self.finish(link)

    def _geom(self, at: Element, place: _Place) -> None:
        held = self.held[place.link]
        shape, mass, drawn = self.geoms.read(at, place.childclass, place.frame, held.weighs)
        if mass is not None:
            held.masses.append(mass)
            self.frames[place.link] = IDENTITY if len(held.masses) > 1 or shape is None else shape.rotation
        if shape is not None:
            surface = self.contacts.surface(at, place.link.name)
            if surface is None:
                shape = replace(shape, touches=False)
            else:
                place.link.surfaces.append(surface)
            (held.drawn if drawn else held.hidden).append(shape)

    def _site(self, at: Element, place: _Place) -> None:
        given = self.document.attributes(at, place.childclass)
        ends = self.source.numbers(at, "fromto", given.get("fromto"), 6)
        if ends is not None and ends[:3] == ends[3:]:
            self.source.fault(at, "must have two different ends", ends, of="fromto")
            return
        pose = place.frame @ (self.document.pose(at, given) if ends is None else self.document.along(ends))
        if at.name:
            if at.name in self.sites:
                self.source.fault(at, "this name is taken")
            self.sites[at.name] = (place.link.name, pose)
            place.link.markers.append((at.name, pose))

    def _joint(self, at: Element, place: _Place) -> None:
        if place.connection is None:
            self.source.fault(at, "the world has no joints")
            return
        motion = self.joints.read(at, place.link, place.frame, place.childclass, place.connection)
        if motion is not None:
            place.connection.motions.append(motion)

    def finish(self, link: Link) -> None:
        """Set mass and shapes of a body once its contents have been read."""
        held = self.held[link]
        link.shapes += held.drawn
        link.shapes += [replace(shape, shown=not held.drawn) for shape in held.hidden]
        if held.inertial is not None and "mass" not in held.inertial[0].attributes:
            rule = "its <inertial> has no mass: it is not taken"
            self.source.drop(held.inertial[0], str(link.at), rule)
            held.inertial = None
        if held.inertial is not None and not held.weighs:
            found = self._inertial(link, *held.inertial)
        else:
            found = total(held.masses) if held.masses else None
        if found is not None:
            link.masses.append(found)

    def _inertial(self, link: Link, at: Element, frame: Pose) -> MassProperties | None:
        document, source, given = self.document, self.source, at.attributes
        mass = document.number(at, given, "mass")
        full = source.numbers(at, "fullinertia", given.get("fullinertia"), 6)
        moments = source.numbers(at, "diaginertia", given.get("diaginertia"), 3)
        if mass < 0.0 or (moments is not None and min(moments) < 0.0):
            source.fault(at, "mass and moments must not be negative", (mass, moments))
            return None
        if full is not None:
            xx, yy, zz, xy, xz, yz = full
            local = symmetric(xx, xy, xz, yy, yz, zz)
        else:
            local = np.diag(moments if moments is not None else (0.0, 0.0, 0.0))
        pose = frame @ document.pose(at, given)
        if full is None:
            self.frames[link] = pose.rotation
        if mass == 0.0 and not np.any(local):
            return None
        return MassProperties(mass, np.zeros(3), local).moved(pose.position, pose.rotation)

    def adjust_masses(self) -> None:
        """Adjust the masses to the compiler's settings: bounds, balance, and the total."""
        document, compiler = self.document, self.document.compiler
        at = next(document.all("compiler"), None)
        if at is None:
            return
        bound, least, whole = (
            document.number(at, compiler, name, default)
            for name, default in (("boundmass", 0.0), ("boundinertia", 0.0), ("settotalmass", -1.0))
        )
        links = [link for link in self.skeleton.links.values() if link.name != GROUND]
        balance = document.setting("balanceinertia", False)
        for link in links:
            if bound > 0.0 or least > 0.0 or (balance and link.masses):
                found = link.masses[0] if link.masses else MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))
                link.masses = [_bounded(found, bound, least, balance)]
                if link.masses[0].mass == 0.0 and not np.any(link.masses[0].inertia):
                    link.masses = []
        mass = sum(part.mass for link in links for part in link.masses)
        if whole > 0.0 and mass > 0.0:
            for link in links:
                link.masses = [part.scaled(whole / mass) for part in link.masses]


def _has_inertial(at: Element) -> bool:
    return any(
        (one.tag == "inertial" and "mass" in one.attributes) or (one.tag == "frame" and _has_inertial(one))
        for one in at.children
    )


def _bounded(found: MassProperties, mass: float, least: float, balance: bool) -> MassProperties:
    moments, axes = np.linalg.eigh(found.inertia)
    raised = np.maximum(moments, least)
    if balance and raised[0] + raised[1] < raised[2]:
        raised = np.full(3, raised.mean())
    inertia = found.inertia if np.array_equal(raised, moments) else (axes * raised) @ axes.T
    return MassProperties(max(found.mass, mass), found.com, inertia)
