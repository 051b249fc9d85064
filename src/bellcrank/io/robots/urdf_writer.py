"""Export to URDF of trees of turns and slides; joints with several motions get massless links."""

from __future__ import annotations

import math
from typing import Any
from xml.sax.saxutils import quoteattr

from bellcrank.errors import Fault, FaultList
from bellcrank.io.robots.outline import Branch, Outline, listed, outline
from bellcrank.io.robots.pose import Pose, added, scaled
from bellcrank.mechanism import GROUND, Mechanism
from bellcrank.mechanism.friction import JointFriction
from bellcrank.mechanism.inputs import inputs_in
from bellcrank.mechanism.mesh import Mesh
from bellcrank.mechanism.motors import GearedMotor
from bellcrank.mechanism.rotation import matrix
from bellcrank.mechanism.shape import Box, Capsule, Cylinder, Shape, Sphere
from bellcrank.mechanism.springs import TorsionSpring
from bellcrank.mechanism.transmissions import Coupling

_WORLD = "world"


def write(mechanism: Mechanism) -> tuple[str, list[Fault]]:
    """The text of a URDF file, and the parts of the mechanism that it omits.

    Raises MechanismError for loops, ball joints and joints that are not made of turns and slides.
    """
    made = outline(mechanism)
    faults = FaultList()
    for joint in made.loops:
        faults.add(
            f"joint {joint.name!r}",
            "it closes a loop, which URDF does not have",
            None,
            "save it as MJCF or YAML",
        )
    for branch in made.branches():
        if branch.joint is not None and any(step.kind == "ball" for step in branch.steps):
            faults.add(
                f"joint {branch.joint.name!r}", "URDF has no ball joints", None, "save it as MJCF or YAML"
            )
    faults.raise_any()
    return _Writer(made).text(), made.left_out


class _Writer:
    def __init__(self, made: Outline) -> None:
        self.made = made
        self.mechanism = made.mechanism
        self.lines = ['<?xml version="1.0"?>', f"<robot name={quoteattr(made.mechanism.name)}>"]
        self.names = made.names()
        self.inner: dict[str, list[str]] = {name: [] for name in self.names.values()}
        self.frames: dict[str, Pose] = {GROUND: Pose()}
        """Of links in their bodies: at the last line about or along which they move."""

    def text(self) -> str:
        """The whole file."""
        after = self._elements()
        self._link(_WORLD, GROUND, self.mechanism.ground.shapes)
        for branch in self.made.branches():
            self._branch(branch)
        for key, marker in self.mechanism.markers.items():
            self._marker(key, marker)
        return "\n".join([*self.lines, *after, "</robot>", ""])

    def _branch(self, branch: Branch) -> None:
        name, steps = branch.body.name, branch.steps
        places = [Pose(step.point) for step in steps] or [Pose()]
        self.frames[name] = places[-1]
        inertia = self._inertia(branch, places[-1])
        self._link(name, name, branch.body.shapes, inertia)
        above, last = branch.parent, self.frames[branch.parent].inverse() @ branch.pose
        label = branch.joint.name if branch.joint is not None else f"{name} floating"
        if not steps:
            self._joint(label, "fixed" if branch.joint is not None else "floating", above, name, last, [])
            return
        for number, (step, place) in enumerate(zip(steps, places, strict=True)):
            inner = name if number == len(steps) - 1 else f"{name} {number + 1}"
            if inner != name:
                self.lines.append(f"  <link name={quoteattr(inner)}/>")
            named = self.names[f"{label}.{step.coordinate}"]
            limit = dict(branch.joint.limits).get(step.coordinate) if branch.joint is not None else None
            low, high = (None, None) if limit is None else (limit.lower, limit.upper)
            kind = "prismatic" if step.kind == "slide" else ("continuous" if limit is None else "revolute")
            rest = [f'<axis xyz="{listed(step.axis)}"/>', *self.inner[named]]
            if kind != "continuous":
                low, high = (-1e10 if low is None else low), (1e10 if high is None else high)
                rest.append(f'<limit lower="{low!r}" upper="{high!r}" effort="0" velocity="0"/>')
            self._joint(named, kind, above, inner, last @ place, rest)
            above, last = inner, place.inverse()

    def _joint(self, name: str, kind: str, parent: str, child: str, pose: Pose, rest: list[str]) -> None:
        parent = _WORLD if parent == GROUND else parent
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
            color = ""
            if shape.color is not None:
                rgba = listed((*shape.color, 1.0)[:4])
                color = f'<material name=""><color rgba="{rgba}"/></material>'
            self.lines.append(f"    <visual>{_origin(pose)}<geometry>{geometry}</geometry>{color}</visual>")
        self.lines.append("  </link>")

    def _marker(self, key: str, marker: Any) -> None:
        if marker.name in (_WORLD, *self.mechanism.bodies):
            return
        carrier = _WORLD if marker.body == GROUND else marker.body
        name = (
            marker.name if sum(m.name == marker.name for m in self.mechanism.markers.values()) == 1 else key
        )
        pose = self.frames[marker.body].inverse() @ Pose(marker.position, marker.rotation)
        self.lines.append(f"  <link name={quoteattr(name)}/>")
        self._joint(f"{key} marker", "fixed", carrier, name, pose, [])

    def _elements(self) -> list[str]:
        """Add elements of joints to the joints; return the lines of those at the end of the file."""
        after: list[str] = []
        for force in self.mechanism.forces.values():
            name = self.names.get(self.made.key(force.ends[0])) if len(force.ends) == 1 else None
            if name is None or not self._force(force, name, after):
                self.made.leave(f"force {force.name!r}", "URDF has no counterpart of it", force.kind.name)
        for one in self.mechanism.constraints.values():
            names = [self.names.get(self.made.key(end)) for end in one.ends]
            kind = one.kind
            if not isinstance(kind, Coupling) or None in names or len(names) != 2 or kind.constant is None:
                self.made.leave(f"constraint {one.name!r}", "URDF has no counterpart of it", kind.name)
                continue
            a, b = kind.coefficients
            led, rest = quoteattr(str(names[1])), kind.constant / a
            self.inner[str(names[0])].append(
                f'<mimic joint={led} multiplier="{-b / a!r}" offset="{rest!r}"/>'
            )
        for drive in self.mechanism.drives.values():
            self.made.leave(f"drive {drive.name!r}", "URDF has no counterpart of it")
        return after

    def _force(self, force: Any, name: str, after: list[str]) -> bool:
        kind = force.kind
        if isinstance(kind, TorsionSpring) and kind.stiffness == 0.0 and kind.preload == 0.0:
            damping, friction = kind.damping, 0.0
        elif isinstance(kind, JointFriction) and kind.stiction == kind.coulomb:
            damping, friction = kind.viscous, kind.coulomb
        elif isinstance(kind, GearedMotor) and kind.droop == 0.0:
            driven = next(iter(inputs_in(kind)), None)
            label = quoteattr(force.name if driven is None else driven.name)
            after.append(
                f"  <transmission name={quoteattr(force.name)}>"
                "<type>transmission_interface/SimpleTransmission</type>"
                f"<joint name={quoteattr(name)}/><actuator name={label}><mechanicalReduction>{kind.ratio!r}"
                f"</mechanicalReduction><rotorInertia>{kind.rotor_inertia!r}</rotorInertia></actuator></transmission>"
            )
            return True
        else:
            return False
        if any(line.startswith("<dynamics") for line in self.inner[name]):
            return False
        self.inner[name].append(f'<dynamics damping="{damping!r}" friction="{friction!r}"/>')
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
