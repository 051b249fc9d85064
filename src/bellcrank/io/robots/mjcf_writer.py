"""Export to MJCF of mechanisms whose joints are made of turns, slides and balls; loops become equalities.

The key frame "start" holds the start, unless the mechanism starts at rest with all coordinates at zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from xml.sax.saxutils import quoteattr

import numpy as np

from bellcrank.errors import FaultList
from bellcrank.io.robots.bounded import FREE, bounded, scaled
from bellcrank.io.robots.mjcf_start import KEY
from bellcrank.io.robots.outline import UNBOUNDED, Branch, Outline, is_plain_friction, listed, outline, rgba
from bellcrank.io.robots.skeleton import ORIGIN, Pose
from bellcrank.io.robots.xml_tree import DEPTH
from bellcrank.mechanism import GROUND, Joint, Marker, Mechanism
from bellcrank.mechanism.cables import Cable
from bellcrank.mechanism.couplings import Coupling
from bellcrank.mechanism.formulas import CustomForce
from bellcrank.mechanism.joint_kinds import Fixed, Revolute, Spherical
from bellcrank.mechanism.mesh import Mesh
from bellcrank.mechanism.motors import GearedMotor, JointMotor
from bellcrank.mechanism.rotation import conjugate, from_matrix, multiply
from bellcrank.mechanism.shape import Box, Capsule, Cylinder, Ellipsoid, Shape, Sphere
from bellcrank.mechanism.springs import SpringDamper, TorsionSpring

_APART: Final = 0.1  # m, between the two points that represent a hinge of a loop
_CLOSING: Final = (Fixed, Spherical, Revolute)
_LEAST: Final = 1e-15  # kg, kg m^2: MuJoCo's mjMINVAL
_EDGE: Final = 1e-11  # relative: how near to the triangle inequality's edge MuJoCo's rounding may matter
_ROUNDING: Final = 1e-15  # m, rad and their rates
_BROKEN: Final = 1e-9  # relative: beyond the edge by more, no rounding has brought the moments there


def write(mechanism: Mechanism) -> tuple[str, Outline]:
    """The text of an MJCF file, and the outline that says what of the mechanism is in it.

    Raises MechanismError for faults, for joints that are not made of turns, slides and balls, and for loops
    closed by joints other than hinges, balls and fixed joints; AssemblyError if there is no start.
    """
    made = outline(mechanism, _CLOSING)
    faults = FaultList()
    for joint in made.loops:
        if not isinstance(joint.kind, _CLOSING):
            rule = "it closes a loop, which MJCF does by hinges, balls and fixed joints"
            faults.add(f"joint {joint.name!r}", rule, joint.kind.name, "save it as YAML")
    depth = {GROUND: 3}  # with the elements around the bodies, and those within them
    for branch in made.branches():
        depth[branch.body.name] = depth[branch.parent] + 1
    if (deepest := max(depth, key=depth.__getitem__)) != GROUND and depth[deepest] > DEPTH:
        rule = f"it hangs on more than {DEPTH - 3} bodies one after the other, which MJCF nests too deep"
        faults.add(f"body {deepest!r}", rule, depth[deepest] - 3, "save it as URDF or YAML")
    for body in made.mechanism.bodies.values():
        if not body.mass_known:
            advice = "give it a mass and an inertia, or save the mechanism as URDF or YAML"
            faults.add(f"body {body.name!r}", "its mass is not known, which MJCF needs", None, advice)
    faults.raise_any()
    return _Writer(made).text(), made


class _Writer:
    def __init__(self, made: Outline) -> None:
        self.made = made
        self.mechanism = made.mechanism
        self.meshes: dict[tuple[str, str], str] = {}
        self.sites: dict[str, list[str]] = {}
        self.lines: list[str] = []
        self.laws = Laws(made, self._site)
        self.positions: list[float] = []
        self.velocities: list[float] = []
        self.moved = False

    def text(self) -> str:
        """The whole file."""
        made, laws = self.made, self.laws
        made.names.take("body", "world")  # the name of the ground
        made.name_all("body", "joint")
        laws.own.update({name: {} for name in made.coordinates.values()})
        for wanted, _, marker in made.markers():
            self._site(wanted, marker)
        laws.add_all()
        for joint in made.loops:
            self._loop(joint)
        self._contents(GROUND, self.mechanism.ground.shapes, "    ")
        for branch in made.roots:
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
            "tendon": laws.tendons,
            "equality": laws.equalities,
            "actuator": laws.actuators,
            "keyframe": self._start(),
        }
        for tag, lines in parts.items():
            if tag == "tendon":
                head += ["  <worldbody>", *self.lines, "  </worldbody>"]
            if lines:
                head += [f"  <{tag}>", *(f"    {line}" for line in lines), f"  </{tag}>"]
        return "\n".join([*head, "</mujoco>", ""])

    def _body(self, branch: Branch, indent: str) -> None:
        body, made = branch.body, self.made
        name = quoteattr(made.bodies[body.name])
        self.lines.append(f"{indent}<body name={name}{_place(branch.pose)}>")
        inner = indent + "  "
        if branch.joint is None:
            self.lines.append(f"{inner}<freejoint/>")
            self._start_floating(branch)
        elif not branch.motions:
            made.merge(branch, "it fixes one body to the other: read back, they are one")
        for motion in branch.motions:
            self._joint(branch, motion, inner)
        self.lines.append(f"{inner}<inertial {self._inertial(body)}/>")
        self._contents(body.name, body.shapes, inner)
        for child in branch.children:
            self._body(child, inner)
        self.lines.append(f"{indent}</body>")

    def _inertial(self, body: Any) -> str:
        """Mass and inertia. MuJoCo checks A + B >= C for the moments that it finds, without any tolerance."""
        given = f'pos="{listed(body.com)}" mass="{body.mass!r}"'
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia
        inertia = np.array(body.inertia)
        moments, axes = np.linalg.eigh(inertia) if xy or xz or yz else (inertia.diagonal(), np.eye(3))
        low, middle, high = sorted(moments.tolist())
        if min(low, body.mass) < _LEAST:
            rule = f"MuJoCo takes no mass and no moment of inertia below {_LEAST} kg and kg m^2"
            self.made.leave(f"body {body.name!r}", rule, (body.mass, low))
        if high <= (low + middle) * (1.0 - _EDGE):
            return f'{given} fullinertia="{listed((xx, yy, zz, xy, xz, yz))}"'
        least = min(high, low + middle)
        if high > (low + middle) * (1.0 + _BROKEN):
            rule = (
                "MuJoCo refuses moments that break the triangle inequality: the greatest is less in the file"
            )
            self.made.leave(f"body {body.name!r}", rule, (high, least))
            less = (axes * np.minimum(moments, least)) @ axes.T
            self.made.change("_bodies", body.name, inertia=0.5 * (less + less.T))
        axes[:, 0] *= np.sign(np.linalg.det(axes))
        turn = listed(from_matrix(axes))
        return f'{given} quat="{turn}" diaginertia="{listed(np.minimum(moments, least))}"'

    def _joint(self, branch: Branch, motion: Any, indent: str) -> None:
        joint = branch.joint
        assert joint is not None
        name = self.made.coordinates[f"{joint.name}.{motion.coordinate}"]
        if motion.kind == "ball":
            line = f'{indent}<joint name={quoteattr(name)} type="ball" pos="{listed(motion.point)}"/>'
            self.lines.append(line)
            self._start_ball(branch)
            return
        kind = "slide" if motion.kind == "slide" else "hinge"
        rest = "".join(f' {key}="{value!r}"' for key, value in self.laws.own[name].items())
        bounds = branch.bounds(motion)
        if bounds is not None:
            rest += f' range="{bounds[0]!r} {bounds[1]!r}"'
        self.lines.append(
            f'{indent}<joint name={quoteattr(name)} type="{kind}" axis="{listed(motion.axis)}" '
            f'pos="{listed(motion.point)}"{rest}/>'
        )
        value, rate = self.made.start.coordinate(joint.name, motion.coordinate)
        self.positions.append(value)
        self.velocities.append(rate)
        self.moved |= _counts(value) or (bounds is not None and not bounds[0] <= 0.0 <= bounds[1])

    def _start_floating(self, branch: Branch) -> None:
        """Pose and velocity in the world, the angular velocity in the axes of the body."""
        at = self.made.start.body(branch.body.name)
        self.positions += [*at["position"], *at["rotation"]]
        self.velocities += [*at["velocity"], *self.made.start.turning(branch.body.name, GROUND).tolist()]
        self.moved |= Pose(at["position"], at["rotation"]) != branch.pose

    def _start_ball(self, branch: Branch) -> None:
        start = self.made.start
        outer, inner = (start.body(name)["rotation"] for name in (branch.parent, branch.body.name))
        turn = multiply(conjugate(branch.pose.rotation), multiply(conjugate(outer), inner))
        self.positions += turn
        self.velocities += start.turning(branch.body.name, branch.parent).tolist()
        self.moved |= any(map(_counts, turn[1:]))

    def _start(self) -> list[str]:
        """The key frame of the start; none if all is zero."""
        if not self.moved and not any(map(_counts, (*self.velocities, *self.laws.controls))):
            return []
        parts = {"qpos": self.positions, "qvel": self.velocities, "ctrl": self.laws.controls}
        numbers = " ".join(f'{key}="{listed(part)}"' for key, part in parts.items() if part)
        return [f'<key name="{KEY}" {numbers}/>']

    def _contents(self, body: str, shapes: tuple[Shape, ...], indent: str) -> None:
        for shape in shapes:
            if (geometry := self._geometry(shape)) is None:
                self.made.leave(f"body {body!r}", "MJCF has no shape of this kind", type(shape).__name__)
                continue
            color = f' rgba="{rgba(shape)}"' if shape.color else ""
            pose = _place(Pose(shape.position, shape.rotation))
            group = "" if shape.shown else ' group="3"'
            self.lines.append(f'{indent}<geom {geometry}{pose}{color}{group} contype="0" conaffinity="0"/>')
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

    def _site(self, wanted: str, marker: Marker) -> str:
        name = self.made.names.take("site", wanted)
        pose = _place(Pose(marker.position, marker.rotation))
        self.sites.setdefault(marker.body, []).append(f"<site name={quoteattr(name)}{pose}/>")
        return name

    def _loop(self, joint: Joint) -> None:
        """Write a closing joint: a weld, a point constraint, or for a hinge two points on its axis."""
        pairs, tag = [("", joint.marker_1, joint.marker_2)], "connect"
        if isinstance(joint.kind, Fixed):
            tag = "weld"
        elif isinstance(joint.kind, Revolute):
            along = [_shifted(marker) for marker in (joint.marker_1, joint.marker_2)]
            pairs.append((" axis", along[0], along[1]))
        for word, one, two in pairs:
            ends = [self._site(f"{joint.name}{word} {k}", marker) for k, marker in ((1, one), (2, two))]
            name = quoteattr(self.made.names.take("equality", f"{joint.name}{word}"))
            self.laws.equalities.append(
                f"<{tag} name={name} site1={quoteattr(ends[0])} site2={quoteattr(ends[1])}/>"
            )


def _counts(number: float) -> bool:
    """Whether a coordinate or a rate is more than rounding."""
    return abs(number) > _ROUNDING


def _place(pose: Pose) -> str:
    position = "" if pose.position == ORIGIN else f' pos="{listed(pose.position)}"'
    turned = "" if pose.rotation == (1.0, 0.0, 0.0, 0.0) else f' quat="{listed(pose.rotation)}"'
    return position + turned


def _shifted(marker: Marker) -> Marker:
    """A marker shifted along its z axis."""
    point = Pose(marker.position, marker.rotation).point((0.0, 0.0, _APART))
    return Marker(marker.body, point, marker.rotation)


class Laws:
    """What the forces and constraints of a mechanism become in a file.

    own: numbers of joints, by the joint's name in the file and the attribute. controls: values of the
    actuators' inputs. site: writes a site at a marker, by a wanted name, and returns its name.
    """

    def __init__(self, made: Outline, site: Callable[[str, Marker], str]) -> None:
        self.made = made
        self.site = site
        self.own: dict[str, dict[str, float]] = {name: {} for name in made.coordinates.values()}
        self.tendons: list[str] = []
        self.equalities: list[str] = []
        self.actuators: list[str] = []
        self.controls: list[float] = []
        self.inputs: set[str] = set()

    def add_all(self) -> None:
        """Write all forces and constraints."""
        self.made.write_elements("MJCF", self._force, self._constraint)

    def _tendon(self, category: str, element: Any, attributes: str) -> bool:
        """A tendon between two markers."""
        label = f"{category} {element.name!r}"
        name = quoteattr(self.made.own_name("tendon", element.name, label))
        sites = [self.site(f"{element.name} {k}", end) for k, end in enumerate(element.ends, start=1)]
        inner = "".join(f"<site site={quoteattr(site)}/>" for site in sites)
        self.tendons.append(f"<spatial name={name} {attributes}>{inner}</spatial>")
        return True

    def _force(self, force: Any) -> bool:
        kind = force.kind
        if isinstance(kind, SpringDamper) and kind.preload == 0.0 and kind.rest_length is not None:
            numbers = {
                "stiffness": kind.stiffness, "damping": kind.damping, "springlength": kind.rest_length
            }  # fmt: skip
            return self._tendon("force", force, " ".join(f'{k}="{v!r}"' for k, v in numbers.items()))
        name = self.made.coordinate(force.ends[0]) if len(force.ends) == 1 else None
        if name is None or name not in self.own:
            return False
        own = self.own[name]
        if isinstance(kind, TorsionSpring) and kind.preload == 0.0 and kind.rest_angle is not None:
            if kind.stiffness and "stiffness" in own:
                return False
            if kind.stiffness:
                own |= {"stiffness": kind.stiffness, "springref": kind.rest_angle}
            self._add(own, damping=kind.damping)
            return True
        if is_plain_friction(kind):
            self._add(own, damping=kind.viscous, frictionloss=kind.coulomb)
            return True
        if isinstance(kind, GearedMotor) and self._motor(name, kind.torque, kind.ratio):
            square = kind.ratio**2
            self._add(own, armature=square * kind.rotor_inertia, damping=square * kind.droop)
            return True
        if isinstance(kind, JointMotor) and self._motor(name, kind.effort, 1.0):
            self._add(own, damping=kind.droop)
            return True
        if isinstance(kind, CustomForce) and kind.efforts is not None:
            (end,) = kind.ends
            return self._motor(name, kind.efforts[0], 1.0, (end.value, end.rate))
        return False

    @staticmethod
    def _add(own: dict[str, float], **numbers: float) -> None:
        for key, value in numbers.items():
            own[key] = own.get(key, 0.0) + value

    def _motor(self, joint: str, effort: Any, ratio: float, state: tuple[Any, ...] = ()) -> bool:
        """An actuator whose effort is affine in one input that no other one has, or zero.

        state: the symbols of coordinate and rate, if the effort may depend on them.
        """
        found = bounded(effort)
        if found is None or not set(found.slopes) <= set(state):
            return False
        if found.input is None:
            return True
        if found.input.name in self.inputs or ratio * found.gain == 0.0:
            return False
        self.inputs.add(found.input.name)
        gear = ratio * found.gain
        of = f'<general name={quoteattr(found.input.name)} joint={quoteattr(joint)} gear="{gear!r}"'
        bias = [found.bias / found.gain, *(found.slopes.get(s, 0.0) / found.gain / gear for s in state)]
        if any(bias):
            of += f' biastype="affine" biasprm="{listed((*bias, 0.0, 0.0)[:3])}"'
        for key, limits in (("ctrl", found.control), ("force", scaled(found.force, 1.0 / found.gain))):
            if limits != FREE:
                of += f' {key}range="{listed(min(max(bound, -UNBOUNDED), UNBOUNDED) for bound in limits)}"'
        self.actuators.append(f"{of}/>")
        self.controls.append(found.input.value)
        return True

    def _constraint(self, one: Any) -> bool:
        kind, label = one.kind, f"constraint {one.name!r}"
        if isinstance(kind, Cable) and kind.slack and kind.length is not None:
            return self._tendon("constraint", one, f'range="0 {kind.length!r}"')
        names = [self.made.coordinate(end) for end in one.ends]
        if not isinstance(kind, Coupling) or kind.constant is None or any(n not in self.own for n in names):
            return False
        if len(names) > 2:
            name = quoteattr(self.made.own_name("tendon", one.name, label))
            pairs = zip(names, kind.coefficients, strict=True)
            inner = "".join(f'<joint joint={quoteattr(str(name))} coef="{c!r}"/>' for name, c in pairs)
            self.tendons.append(f"<fixed name={name}>{inner}</fixed>")
            self.equalities.append(f'<tendon tendon1={name} polycoef="{kind.constant!r} 0 0 0 0"/>')
            return True
        a, *rest = kind.coefficients
        second = f" joint2={quoteattr(str(names[1]))}" if rest else ""
        factor = -rest[0] / a if rest else 0.0
        self.equalities.append(
            f"<joint name={quoteattr(self.made.own_name('equality', one.name, label))} "
            f"joint1={quoteattr(str(names[0]))}{second} "
            f'polycoef="{kind.constant / a!r} {factor!r} 0 0 0"/>'
        )
        return True
