"""Export to URDF of trees of turns and slides; joints with several motions get massless links."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any
from xml.sax.saxutils import quoteattr

from bellcrank.errors import FaultList
from bellcrank.io.robots.bounded import FREE, Bounded, bounded
from bellcrank.io.robots.outline import UNBOUNDED, Branch, Outline, is_plain_friction, listed, outline, rgba
from bellcrank.io.robots.skeleton import Pose, added, scaled
from bellcrank.mechanism import GROUND, Mechanism
from bellcrank.mechanism.couplings import Coupling
from bellcrank.mechanism.friction import JointFriction
from bellcrank.mechanism.mesh import Mesh
from bellcrank.mechanism.motors import GearedMotor
from bellcrank.mechanism.rotation import matrix
from bellcrank.mechanism.shape import Box, Capsule, Cylinder, Shape, Sphere
from bellcrank.mechanism.springs import TorsionSpring

_WORLD = "world"


def write(mechanism: Mechanism) -> tuple[str, Outline]:
    """The text of a URDF file, and the outline that says what of the mechanism is in it.

    Raises MechanismError for faults, loops, ball joints and joints that are not made of turns and slides;
    AssemblyError if there is no start.
    """
    made = outline(mechanism, balls=False)
    made.lacks = {
        "gravity": "URDF has none: whoever reads the file takes another one",
        "start": "URDF has no positions and velocities: read back, these bodies start otherwise",
    }
    faults = FaultList()
    for joint in made.loops:
        faults.add(
            f"joint {joint.name!r}",
            "it closes a loop, which URDF does not have",
            None,
            "save it as MJCF or YAML",
        )
    for branch in made.branches():
        if branch.joint is not None and any(motion.kind == "ball" for motion in branch.motions):
            faults.add(
                f"joint {branch.joint.name!r}", "URDF has no ball joints", None, "save it as MJCF or YAML"
            )
    faults.raise_any()
    return _Writer(made).text(), made


class _Writer:
    def __init__(self, made: Outline) -> None:
        self.made = made
        self.mechanism = made.mechanism
        self.lines = ['<?xml version="1.0"?>', f"<robot name={quoteattr(made.mechanism.name)}>"]
        made.names.take("link", _WORLD)
        made.name_all("link", "joint")
        self.inner: dict[str, list[str]] = {name: [] for name in made.coordinates.values()}
        self.efforts: dict[str, float] = {}
        """What the motor of a joint may exert."""
        carriers: tuple[Any, ...] = (made.mechanism.ground, *made.mechanism.bodies.values())
        self.collides = not all(shape.touches and shape.shown for one in carriers for shape in one.shapes)
        """Whether what touches is not what is drawn, and has to be written as well."""
        self.frames: dict[str, Pose] = {GROUND: Pose()}
        """Of links in their bodies: at the last line about or along which they move."""

    def text(self) -> str:
        """The whole file."""
        after = self._elements()
        self._link(_WORLD, GROUND, self.mechanism.ground.shapes)
        for branch in self.made.branches():
            self._branch(branch)
        for wanted, key, marker in self.made.markers():
            self._marker(wanted, key, marker)
        return "\n".join([*self.lines, *after, "</robot>", ""])

    def _branch(self, branch: Branch) -> None:
        made, name, motions, joint = self.made, branch.body.name, branch.motions, branch.joint
        places = [Pose(motion.point) for motion in motions] or [Pose()]
        self.frames[name] = places[-1]
        link = made.bodies[name]
        self._link(link, name, branch.body.shapes, self._inertia(branch, places[-1]))
        above = _WORLD if branch.parent == GROUND else made.bodies[branch.parent]
        last = self.frames[branch.parent].inverse() @ branch.pose
        if joint is None:
            self._joint(made.names.take("joint", f"{name} floating"), "floating", above, link, last, [])
        elif not motions:
            fixed = made.own_name("joint", joint.name, f"joint {joint.name!r}")
            self._joint(fixed, "fixed", above, link, last, [])
            if branch.parent != GROUND:
                made.merge(branch, "it fixes one body to the other: read back, they are one")
        label = "" if joint is None else joint.name
        for number, (motion, place) in enumerate(zip(motions, places, strict=True) if motions else ()):
            inner = link
            if number < len(motions) - 1:
                inner = made.names.take("link", f"{name} {number + 1}")
                self.lines.append(f"  <link name={quoteattr(inner)}/>")
            named = made.coordinates[f"{label}.{motion.coordinate}"]
            bounds = branch.bounds(motion)
            kind = "prismatic" if motion.kind == "slide" else ("continuous" if bounds is None else "revolute")
            rest = [f'<axis xyz="{listed(motion.axis)}"/>', *self.inner[named]]
            effort = min(self.efforts.get(named, math.inf), UNBOUNDED)
            low, high = bounds or (-UNBOUNDED, UNBOUNDED)
            within = "" if kind == "continuous" else f'lower="{low!r}" upper="{high!r}" '
            if within or effort < UNBOUNDED:
                rest.append(f'<limit {within}effort="{effort!r}" velocity="1e10"/>')
            self._joint(named, kind, above, inner, last @ place, rest)
            above, last = inner, place.inverse()

    def _joint(self, name: str, kind: str, parent: str, child: str, pose: Pose, rest: list[str]) -> None:
        self.lines.append(
            f'  <joint name={quoteattr(name)} type="{kind}"><parent link={quoteattr(parent)}/>'
            f"<child link={quoteattr(child)}/>{_origin(pose)}{''.join(rest)}</joint>"
        )

    def _inertia(self, branch: Branch, place: Pose) -> str:
        body = branch.body
        if not body.mass_known:
            return ""
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia
        pairs = zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), (xx, xy, xz, yy, yz, zz), strict=True)
        held = " ".join(f'{key}="{value!r}"' for key, value in pairs)
        com = Pose(added(body.com, scaled(place.position, -1.0)))
        return f'<inertial>{_origin(com)}<mass value="{body.mass!r}"/><inertia {held}/></inertial>'

    def _link(self, name: str, body: str, shapes: tuple[Shape, ...], inertia: str = "") -> None:
        back = self.frames[body].inverse()
        self.lines.append(f"  <link name={quoteattr(name)}>{inertia}")
        for shape in shapes:
            if (geometry := _geometry(shape)) is None:
                self.made.leave(f"body {body!r}", "URDF has no shape of this kind", type(shape).__name__)
                continue
            pose = back @ Pose(shape.position, shape.rotation)
            color = f'<material name=""><color rgba="{rgba(shape)}"/></material>' if shape.color else ""
            within = f"{_origin(pose)}<geometry>{geometry}</geometry>"
            if shape.shown:
                self.lines.append(f"    <visual>{within}{color}</visual>")
            if shape.touches and self.collides:
                self.lines.append(f"    <collision>{within}</collision>")
        self.lines.append("  </link>")

    def _marker(self, wanted: str, key: str, marker: Any) -> None:
        carrier = _WORLD if marker.body == GROUND else self.made.bodies[marker.body]
        name = self.made.names.take("link", wanted)
        pose = self.frames[marker.body].inverse() @ Pose(marker.position, marker.rotation)
        self.lines.append(f"  <link name={quoteattr(name)}/>")
        self._joint(self.made.names.take("joint", f"{key} marker"), "fixed", carrier, name, pose, [])

    def _elements(self) -> list[str]:
        """Add elements of joints to the joints; return the lines of those at the end of the file."""
        after: list[str] = []
        self.made.write_elements("URDF", lambda force: self._force(force, after), self._mimic)
        return after

    def _mimic(self, one: Any) -> bool:
        """A coupling of two joints: one of them, which follows no other one yet, follows the other."""
        kind, names = one.kind, [self.made.coordinate(end) for end in one.ends]
        if not isinstance(kind, Coupling) or kind.constant is None or None in names or len(names) != 2:
            return False
        pairs = list(zip(map(str, names), kind.coefficients, strict=True))
        for (follower, a), (other, b) in (pairs, reversed(pairs)):
            if not any(line.startswith("<mimic") for line in self.inner[follower]):
                factor, offset = -b / a, kind.constant / a
                self.inner[follower].append(
                    f'<mimic joint={quoteattr(other)} multiplier="{factor!r}" offset="{offset!r}"/>'
                )
                return True
        return False

    def _force(self, force: Any, after: list[str]) -> bool:
        kind, name = force.kind, self.made.coordinate(force.ends[0]) if len(force.ends) == 1 else None
        if name is None:
            return False
        if isinstance(kind, TorsionSpring) and kind.stiffness == 0.0 and kind.preload == 0.0:
            damping, friction = kind.damping, 0.0
        elif isinstance(kind, JointFriction) and is_plain_friction(kind):
            damping, friction = kind.viscous, kind.coulomb
        elif isinstance(kind, GearedMotor) and kind.droop == 0.0:
            return self._transmission(force, name, after)
        else:
            return False
        if any(line.startswith("<dynamics") for line in self.inner[name]):
            return False
        self.inner[name].append(f'<dynamics damping="{damping!r}" friction="{friction!r}"/>')
        return True

    def _transmission(self, force: Any, name: str, after: list[str]) -> bool:
        """A motor whose torque is zero, or an input that starts at zero and moves no other motor.

        The input may be held within some torque of either sign, on a joint that has no other motor.
        """
        found, kind = bounded(force.kind.torque), force.kind
        if found is None:
            return False
        symbol, (low, high) = found.input, found.control
        label = force.name if symbol is None else symbol.name
        if symbol is not None:
            plain = replace(found, control=FREE) == Bounded(symbol, 1.0)
            if not plain or symbol.value != 0.0 or low != -high:
                return False
        if name in self.efforts and min(high, self.efforts[name]) < math.inf:
            return False
        self.efforts[name] = abs(kind.ratio) * high
        if (actuator := self.made.names.take("actuator", label)) != label and symbol is not None:
            return False
        after.append(
            f"  <transmission name={quoteattr(force.name)}>"
            "<type>transmission_interface/SimpleTransmission</type>"
            f"<joint name={quoteattr(name)}/><actuator name={quoteattr(actuator)}>"
            f"<mechanicalReduction>{kind.ratio!r}</mechanicalReduction>"
            f"<rotorInertia>{kind.rotor_inertia!r}</rotorInertia></actuator></transmission>"
        )
        return True


def _origin(pose: Pose) -> str:
    if pose == Pose():
        return ""
    rpy = listed(rpy_of(pose))
    return f'<origin xyz="{listed(pose.position)}" rpy="{rpy}"/>'


def rpy_of(pose: Pose) -> tuple[float, float, float]:
    """Roll, pitch and yaw, rad: rotations about the fixed x, y and z axes."""
    r = matrix(pose.rotation)
    across = math.hypot(r[0, 0], r[1, 0])
    pitch = math.atan2(-r[2, 0], across)
    if across > 1e-9:
        return math.atan2(r[2, 1], r[2, 2]), pitch, math.atan2(r[1, 0], r[0, 0])
    return 0.0, pitch, math.atan2(-r[0, 1], r[1, 1])


def _geometry(shape: Shape) -> str | None:
    if isinstance(shape, Box):
        return f'<box size="{listed(shape.size)}"/>'
    if isinstance(shape, Sphere):
        return f'<sphere radius="{shape.radius!r}"/>'
    if isinstance(shape, (Cylinder, Capsule)):
        tag = type(shape).__name__.lower()
        return f'<{tag} radius="{shape.radius!r}" length="{shape.length!r}"/>'
    if isinstance(shape, Mesh):
        return f'<mesh filename={quoteattr(shape.file)} scale="{listed(shape.scale)}"/>'
    return None
