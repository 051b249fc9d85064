"""Rheonomic joints: joints with coordinates that are driven by functions of time.

Such a kind is a shorthand: `Mechanism.add_joint` turns it into the plain joint and a drive for each driven
coordinate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from bellcrank.errors import MechanismError
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.coordinate import unit_of
from bellcrank.mechanism.drive import Drive
from bellcrank.mechanism.fields import checked, declarations, described, quantity
from bellcrank.mechanism.functions.function import Function, as_function
from bellcrank.mechanism.given import FloatField
from bellcrank.mechanism.joint import Joint, JointKind, register
from bellcrank.mechanism.joint_kinds import (
    Cylindrical,
    Free,
    Oldham,
    Orientation,
    PinInSlot,
    Planar,
    PlungingConstantVelocity,
    Prismatic,
    PrismaticX,
    Revolute,
    RevolutePrismatic,
    RevoluteX,
    Screw,
    Spherical,
    Universal,
)
from bellcrank.mechanism.kind_examples import EXAMPLES
from bellcrank.mechanism.units import in_si, unit_along, units_of


@described
class MotorKind(JointKind):
    """Base of the kinds with driven coordinates.

    position: function of time (or number) for the driven coordinate, rad or m; a tuple of them where several
        are driven.
    velocity: the same for the rates, rad/s or m/s, starting from the assembled initial configuration.
    Exactly one of the two is given.
    """

    position: Any = checked(unit="rad or m", default=None)
    velocity: Any = checked(unit="rad/s or m/s", default=None)
    plain: ClassVar[type[JointKind]] = JointKind
    shorthand: ClassVar[bool] = True
    driven: ClassVar[tuple[str, ...]] = ()

    def _judge(self, check: Check) -> None:
        if (self.position is None) == (self.velocity is None):
            check.fault("give either position or velocity", (self.position, self.velocity))
        for field in ("position", "velocity"):
            if (value := getattr(self, field)) is not None:
                with check.faults.collect():
                    self._store(**{field: self._functions(field, value)})

    def _functions(self, field: str, value: Any) -> Function | tuple[Function, ...]:
        if len(self.driven) == 1:
            return as_function(self.name, field, value)
        if not isinstance(value, (tuple, list)) or len(value) != len(self.driven):
            rule, advice = f"{field} must hold {len(self.driven)} functions", f"for {', '.join(self.driven)}"
            raise MechanismError.of(self.name, rule, value, advice)
        return tuple(as_function(self.name, field, function) for function in value)

    def joint(self) -> JointKind:
        """The plain joint kind."""
        return self.plain()

    def drives(self, joint: Joint) -> list[Drive]:
        """The drives of the joint: one of its name, or "joint.coordinate" for each of several."""
        field = "position" if self.position is not None else "velocity"
        functions = (getattr(self, field),) if len(self.driven) == 1 else getattr(self, field)
        drives = []
        given = self.texts.get(field)
        texts = given if isinstance(given, (tuple, list)) else [given] * len(self.driven)
        with Check(f"joint {joint.name!r}") as check:
            for coordinate, text in zip(self.driven, texts, strict=True):
                unit = unit_along(declarations(MotorKind)[field].unit, unit_of(joint.kind, coordinate))
                in_si(check, field, text, units_of(unit), formulas=True)
        for coordinate, function in zip(self.driven, functions, strict=True):
            name = joint.name if len(self.driven) == 1 else f"{joint.name}.{coordinate}"
            motion: dict[str, Any] = {field: function}
            drives.append(Drive(name, joint.coordinate(coordinate), **motion))
        return drives


def _motor(name: str, plain: type[JointKind], driven: str, meaning: str) -> type[MotorKind]:
    names = tuple(driven.split())
    body = {
        "plain": plain,
        "driven": names,
        "locked": plain.locked,
        "free": tuple(free for free in plain.free if free not in names),
        "meaning": meaning,
        "__doc__": f"{meaning} Driven: {', '.join(names)}. See MotorKind for the arguments.\n"
        f"{EXAMPLES[name]}",
        "__module__": __name__,
    }
    kind: type[MotorKind] = dataclass(frozen=True)(type(name, (MotorKind,), body))
    register(kind)
    return kind


RevoluteMotor = _motor("RevoluteMotor", Revolute, "theta_z", "A revolute joint whose angle is driven.")
RevoluteMotorX = _motor(
    "RevoluteMotorX", RevoluteX, "theta_x", "A revolute joint about x whose angle is driven."
)
LinearMotor = _motor("LinearMotor", Prismatic, "z", "A prismatic joint whose travel is driven.")
LinearMotorX = _motor("LinearMotorX", PrismaticX, "x", "A prismatic joint along x whose travel is driven.")
CylindricalMotor = _motor(
    "CylindricalMotor", Cylindrical, "z theta_z", "A cylindrical joint, travel and angle driven."
)
TurnedCylindrical = _motor(
    "TurnedCylindrical", Cylindrical, "theta_z", "A cylindrical joint whose angle is driven."
)
PushedCylindrical = _motor(
    "PushedCylindrical", Cylindrical, "z", "A cylindrical joint whose travel is driven."
)
PinInSlotMotor = _motor("PinInSlotMotor", PinInSlot, "x", "A pin whose travel along its slot is driven.")
SlotMotor = _motor(
    "SlotMotor", RevolutePrismatic, "z theta_x", "Slides along z and turns about x, both driven."
)
PlanarMotor = _motor("PlanarMotor", Planar, "x y theta_z", "Motion in a plane, all driven.")
TableMotor = _motor("TableMotor", Oldham, "x y", "A table that slides in its plane, both directions driven.")
TranslationMotor = _motor(
    "TranslationMotor", Orientation, "x y z", "Translation without any turn, all driven."
)
SphericalMotor = _motor(
    "SphericalMotor",
    Spherical,
    "rot_x rot_y rot_z",
    "A ball joint whose rotation vector (below pi) is driven.",
)
UniversalMotor = _motor(
    "UniversalMotor", Universal, "universal_1 universal_2", "A universal joint, both angles driven."
)
BendMotor = _motor(
    "BendMotor",
    PlungingConstantVelocity,
    "rot_x rot_y",
    "A constant velocity joint that slides, its bend driven.",
)
PointMotor = _motor("PointMotor", Free, "x y z", "A point that is driven through space, orientation free.")
MovingLine = _motor(
    "MovingLine", Free, "x y", "A point on a line along z that moves: its x and y are driven."
)
MovingPlane = _motor("MovingPlane", Free, "z", "A point in a plane across z that moves: its z is driven.")
TurnMotor = _motor(
    "TurnMotor", Free, "rot_x rot_y rot_z", "Orientation driven by the rotation vector (below pi)."
)
LengthActuator = _motor(
    "LengthActuator", Free, "distance", "A leg between two ball joints whose length is driven."
)
ImposedMotion = _motor(
    "ImposedMotion", Free, "x y z rot_x rot_y rot_z", "Position and orientation, all driven."
)


@register
@described
class ScrewMotor(MotorKind):
    """A screw joint whose angle is driven; pitch: m a turn, not zero. See MotorKind for the rest.

    >>> screw = cube.add_joint("screw", bc.ScrewMotor(velocity=2 * np.pi, pitch=0.01), "ground", "cube")
    >>> cube.gravity = (0, 0, -9.81)
    >>> run = bc.simulate(cube, 1.0)
    >>> print(f"{run.drive('screw').effort[-1]:.6f} N m, by hand {6 * 9.81 * 0.01 / (2 * np.pi):.6f} N m")
    0.093679 N m, by hand 0.093679 N m
    """

    pitch: FloatField = quantity("m a turn", default=0.0)
    plain: ClassVar[type[JointKind]] = Screw
    driven: ClassVar[tuple[str, ...]] = ("theta_z",)
    locked: ClassVar[tuple[str, ...]] = Screw.locked
    meaning: ClassVar[str] = "A screw joint whose angle is driven."

    def _judge(self, check: Check) -> None:
        super()._judge(check)
        with check.faults.collect():
            self.joint()

    def joint(self) -> JointKind:
        """The plain screw."""
        return Screw(self.pitch)
