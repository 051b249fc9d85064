"""Export to MJCF of mechanisms whose joints are made of turns, slides and balls; loops become equalities."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import quoteattr

from bellcrank.errors import Fault, FaultList
from bellcrank.io.robots.outline import Branch, Outline, listed, outline
from bellcrank.io.robots.pose import ORIGIN, Pose
from bellcrank.mechanism import GROUND, Joint, Marker, Mechanism
from bellcrank.mechanism.friction import JointFriction
from bellcrank.mechanism.inputs import inputs_in
from bellcrank.mechanism.joint_kinds import Fixed, Revolute, Spherical
from bellcrank.mechanism.mesh import Mesh
from bellcrank.mechanism.motors import GearedMotor, JointMotor
from bellcrank.mechanism.shape import Box, Capsule, Cylinder, Ellipsoid, Shape, Sphere
from bellcrank.mechanism.springs import SpringDamper, TorsionSpring
from bellcrank.mechanism.transmissions import Cable, Coupling

_APART = 0.1  # m, between the two points that represent a hinge of a loop


def write(mechanism: Mechanism) -> tuple[str, list[Fault]]:
    """The text of an MJCF file, and the parts of the mechanism that it omits.

    Raises MechanismError for joints that are not made of turns, slides and balls, and for loops closed by
    joints other than hinges, balls and fixed joints.
    """
    made = outline(mechanism)
    faults = FaultList()
    for joint in made.loops:
        if not isinstance(joint.kind, (Fixed, Spherical, Revolute)):
            rule = "it closes a loop, which MJCF does by hinges, balls and fixed joints"
            faults.add(f"joint {joint.name!r}", rule, joint.kind.name, "save it as YAML")
    for body in made.mechanism.bodies.values():
        if not body.mass_known:
            advice = "give it a mass and an inertia, or save the mechanism as URDF or YAML"
            faults.add(f"body {body.name!r}", "its mass is not known, which MJCF needs", None, advice)
    faults.raise_any()
    return _Writer(made).text(), made.left_out


class _Writer:
    def __init__(self, made: Outline) -> None:
        self.made = made
        self.mechanism = made.mechanism
        self.names = made.names()
        self.own: dict[str, dict[str, float]] = {name: {} for name in self.names.values()}
        self.meshes: dict[tuple[str, str], str] = {}
        self.sites: dict[str, list[str]] = {}
        self.tendons: list[str] = []
        self.equalities: list[str] = []
        self.actuators: list[str] = []
        self.lines: list[str] = []

    def text(self) -> str:
        """The whole file."""
        self._elements()
        for joint in self.made.loops:
            self._loop(joint)
        for marker in self.mechanism.markers.values():
            self._site(str(marker.key), marker)
        self._contents(GROUND, self.mechanism.ground.shapes, "    ")
        for branch in self.made.roots:
            self._body(branch, "    ")
        head = [
            f"<mujoco model={quoteattr(self.mechanism.name)}>",
            '  <compiler angle="radian" autolimits="true" inertiafromgeom="false"/>',
            f'  <option gravity="{listed(self.mechanism.gravity)}"/>',
        ]
        assets = [
            f'<mesh name="{name}" file={quoteattr(file)} scale="{scale}"/>'
            for (file, scale), name in self.meshes.items()
        ]
        parts = {
            "asset": assets,
            "tendon": self.tendons,
            "equality": self.equalities,
            "actuator": self.actuators,
        }
        for tag, lines in parts.items():
            if tag == "tendon":
                head += ["  <worldbody>", *self.lines, "  </worldbody>"]
            if lines:
                head += [f"  <{tag}>", *(f"    {line}" for line in lines), f"  </{tag}>"]
        return "\n".join([*head, "</mujoco>", ""])

    def _body(self, branch: Branch, indent: str) -> None:
        body = branch.body
        self.lines.append(f"{indent}<body name={quoteattr(body.name)}{_place(branch.pose)}>")
        inner = indent + "  "
        if branch.joint is None:
            self.lines.append(f"{inner}<freejoint/>")
        for step in branch.steps:
            self._joint(branch, step, inner)
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia
        full = listed((xx, yy, zz, xy, xz, yz))
        self.lines.append(
            f'{inner}<inertial pos="{listed(body.com)}" mass="{body.mass!r}" fullinertia="{full}"/>'
        )
        self._contents(body.name, body.shapes, inner)
        for child in branch.children:
            self._body(child, inner)
        self.lines.append(f"{indent}</body>")

    def _joint(self, branch: Branch, step: Any, indent: str) -> None:
        joint = branch.joint
        assert joint is not None
        if step.kind == "ball":
            line = f'{indent}<joint name={quoteattr(joint.name)} type="ball" pos="{listed(step.point)}"/>'
            self.lines.append(line)
            return
        name = self.names[f"{joint.name}.{step.coordinate}"]
        kind = "slide" if step.kind == "slide" else "hinge"
        rest = "".join(f' {key}="{value!r}"' for key, value in self.own[name].items())
        limit = dict(joint.limits).get(step.coordinate)
        if limit is not None:
            low, high = (
                (-1e10 if limit.lower is None else limit.lower),
                (1e10 if limit.upper is None else limit.upper),
            )
            rest += f' range="{low!r} {high!r}"'
        self.lines.append(
            f'{indent}<joint name={quoteattr(name)} type="{kind}" axis="{listed(step.axis)}" '
            f'pos="{listed(step.point)}"{rest}/>'
        )

    def _contents(self, body: str, shapes: tuple[Shape, ...], indent: str) -> None:
        for shape in shapes:
            if (geometry := self._geometry(shape)) is None:
                self.made.leave(f"body {body!r}", "MJCF has no shape of this kind", type(shape).__name__)
                continue
            color = "" if shape.color is None else f' rgba="{listed((*shape.color, 1.0)[:4])}"'
            pose = _place(Pose(shape.position, shape.rotation))
            self.lines.append(f'{indent}<geom {geometry}{pose}{color} contype="0" conaffinity="0"/>')
        self.lines += [f"{indent}{line}" for line in self.sites.get(body, ())]

    def _geometry(self, shape: Shape) -> str | None:
        if isinstance(shape, Box):
            return f'type="box" size="{listed(0.5 * part for part in shape.size)}"'
        if isinstance(shape, Sphere):
            return f'type="sphere" size="{shape.radius!r}"'
        if isinstance(shape, Ellipsoid):
            return f'type="ellipsoid" size="{listed(shape.radii)}"'
        if isinstance(shape, (Cylinder, Capsule)):
            return f'type="{type(shape).__name__.lower()}" size="{shape.radius!r} {0.5 * shape.length!r}"'
        if isinstance(shape, Mesh):
            key = (shape.file, listed(shape.scale))
            return f'type="mesh" mesh="{self.meshes.setdefault(key, f"mesh {len(self.meshes) + 1}")}"'
        return None

    def _site(self, name: str, marker: Marker) -> str:
        pose = _place(Pose(marker.position, marker.rotation))
        self.sites.setdefault(marker.body, []).append(f"<site name={quoteattr(name)}{pose}/>")
        return name

    def _loop(self, joint: Joint) -> None:
        """Write a closing joint: a weld, a point constraint, or for a hinge two points on its axis."""
        if isinstance(joint.kind, Fixed):
            pairs, tag = [("", joint.marker_1, joint.marker_2)], "weld"
        else:
            pairs, tag = [("", joint.marker_1, joint.marker_2)], "connect"
            if isinstance(joint.kind, Revolute):
                along = [_shifted(marker) for marker in (joint.marker_1, joint.marker_2)]
                pairs.append((" axis", along[0], along[1]))
        for word, one, two in pairs:
            ends = [self._site(f"{joint.name}{word} {k}", marker) for k, marker in ((1, one), (2, two))]
            name = quoteattr(f"{joint.name}{word}")
            self.equalities.append(
                f"<{tag} name={name} site1={quoteattr(ends[0])} site2={quoteattr(ends[1])}/>"
            )
        if joint.limits:
            self.made.leave(
                f"joint {joint.name!r}", "limits of a joint that closes a loop are not in the file"
            )

    def _elements(self) -> None:
        for force in self.mechanism.forces.values():
            if not self._force(force):
                self.made.leave(f"force {force.name!r}", "MJCF has no counterpart of it", force.kind.name)
        for one in self.mechanism.constraints.values():
            if not self._constraint(one):
                self.made.leave(f"constraint {one.name!r}", "MJCF has no counterpart of it", one.kind.name)
        for drive in self.mechanism.drives.values():
            self.made.leave(f"drive {drive.name!r}", "MJCF has no counterpart of it")

    def _force(self, force: Any) -> bool:
        kind = force.kind
        if isinstance(kind, SpringDamper) and kind.preload == 0.0 and kind.rest_length is not None:
            sites = [self._site(f"{force.name} {k}", end) for k, end in enumerate(force.ends, start=1)]
            inner = "".join(f"<site site={quoteattr(site)}/>" for site in sites)
            self.tendons.append(
                f'<spatial name={quoteattr(force.name)} stiffness="{kind.stiffness!r}" '
                f'damping="{kind.damping!r}" springlength="{kind.rest_length!r}">{inner}</spatial>'
            )
            return True
        name = self.names.get(self.made.key(force.ends[0])) if len(force.ends) == 1 else None
        if name is None:
            return False
        own = self.own[name]
        if isinstance(kind, TorsionSpring) and kind.preload == 0.0 and kind.rest_angle is not None:
            if kind.stiffness and "stiffness" in own:
                return False
            if kind.stiffness:
                own |= {"stiffness": kind.stiffness, "springref": kind.rest_angle}
            own["damping"] = own.get("damping", 0.0) + kind.damping
            return True
        if isinstance(kind, JointFriction) and kind.stiction == kind.coulomb:
            own["damping"] = own.get("damping", 0.0) + kind.viscous
            own["frictionloss"] = own.get("frictionloss", 0.0) + kind.coulomb
            return True
        if isinstance(kind, GearedMotor):
            own["armature"] = own.get("armature", 0.0) + kind.ratio**2 * kind.rotor_inertia
            own["damping"] = own.get("damping", 0.0) + kind.ratio**2 * kind.droop
            return self._motor(name, kind.torque, kind.ratio)
        if isinstance(kind, JointMotor):
            own["damping"] = own.get("damping", 0.0) + kind.droop
            return self._motor(name, kind.effort, 1.0)
        return False

    def _motor(self, joint: str, effort: Any, ratio: float) -> bool:
        """An actuator whose effort is affine in one input, gain · input + bias, or zero."""
        if getattr(effort, "value", None) == 0.0:
            return True
        found = list(dict.fromkeys(inputs_in(effort)))
        if len(found) != 1:
            return False
        from bellcrank.expression import derivative, substitute
        from bellcrank.expression.reading import symbols_of

        formula = effort.expression
        gain = derivative(formula, found[0])
        if symbols_of(gain) or set(symbols_of(formula)) != {found[0]}:
            return False
        bias = float(substitute(formula, {found[0]: 0.0}))
        gear = ratio * float(gain)
        of = f'<general name={quoteattr(found[0].name)} joint={quoteattr(joint)} gear="{gear!r}"'
        if bias:
            of += f' biastype="affine" biasprm="{bias / float(gain)!r} 0 0"'
        self.actuators.append(f"{of}/>")
        return True

    def _constraint(self, one: Any) -> bool:
        kind, label = one.kind, quoteattr(one.name)
        if isinstance(kind, Cable) and kind.slack and kind.length is not None:
            sites = [self._site(f"{one.name} {k}", end) for k, end in enumerate(one.ends, start=1)]
            inner = "".join(f"<site site={quoteattr(site)}/>" for site in sites)
            self.tendons.append(f'<spatial name={label} range="0 {kind.length!r}">{inner}</spatial>')
            return True
        names = [self.names.get(self.made.key(end)) for end in one.ends]
        if not isinstance(kind, Coupling) or kind.constant is None or None in names:
            return False
        if len(names) > 2:
            pairs = zip(names, kind.coefficients, strict=True)
            inner = "".join(f'<joint joint={quoteattr(str(name))} coef="{c!r}"/>' for name, c in pairs)
            self.tendons.append(f"<fixed name={label}>{inner}</fixed>")
            self.equalities.append(f'<tendon tendon1={label} polycoef="{kind.constant!r} 0 0 0 0"/>')
            return True
        a, *rest = kind.coefficients
        second = f" joint2={quoteattr(str(names[1]))}" if rest else ""
        factor = -rest[0] / a if rest else 0.0
        self.equalities.append(
            f"<joint name={label} joint1={quoteattr(str(names[0]))}{second} "
            f'polycoef="{kind.constant / a!r} {factor!r} 0 0 0"/>'
        )
        return True


def _place(pose: Pose) -> str:
    position = "" if pose.position == ORIGIN else f' pos="{listed(pose.position)}"'
    turned = "" if pose.rotation == (1.0, 0.0, 0.0, 0.0) else f' quat="{listed(pose.rotation)}"'
    return position + turned


def _shifted(marker: Marker) -> Marker:
    """A marker shifted along its z axis."""
    point = Pose(marker.position, marker.rotation).point((0.0, 0.0, _APART))
    return Marker(marker.body, point, marker.rotation)
