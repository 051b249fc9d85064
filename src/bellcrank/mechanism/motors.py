"""Motors on joint coordinates, and wrenches applied from outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bellcrank.mechanism.attachment import End, markers, pairwise
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.force import ForceKind
from bellcrank.mechanism.functions.function import Function, as_function
from bellcrank.mechanism.functions.harmonic import Constant
from bellcrank.mechanism.parametric import is_expression
from bellcrank.mechanism.rows import AppliedWrench, Block, Law, Lowered, lock


@dataclass(frozen=True)
class JointMotor(ForceKind):
    """An effort on a joint coordinate that is a function of time, with a droop in speed.

    effort: N m on an angle, N on a travel; positive drives the coordinate up.
    droop: how much the effort falls with speed, N m s/rad or N s/m, not negative.
    """

    effort: Function | float
    droop: float = 0.0
    pattern: ClassVar[str] = "J"
    ends_text: ClassVar[str] = "one joint"
    meaning: ClassVar[str] = "A torque or force on a joint coordinate as a function of time."

    def __post_init__(self) -> None:
        with Check("JointMotor") as check:
            droop = check.not_negative("droop", self.droop)
            with check.faults.collect():
                check.settle(self, effort=as_function(check.element, "effort", self.effort))
            check.settle(self, droop=droop)

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A motor law."""
        function = as_function(self.name, "effort", self.effort)
        return Lowered(laws=(Law("motor", pairwise("", ends), (self.droop,), function),))


@dataclass(frozen=True)
class GearedMotor(ForceKind):
    """A motor behind a gear on a joint coordinate; its rotor's inertia acts with the square of the ratio.

    ratio: turns of the motor for each turn of the joint (rad/m on a travel), not zero; it may be negative.
    rotor_inertia: of the rotor about its axis, kg m^2.
    torque: at the motor, a function of time, N m.
    droop: fall of the motor's torque with the motor's speed, N m s/rad.

    On the joint act  ratio torque(t) - ratio^2 droop rate  and the inertia  ratio^2 rotor_inertia.  The
    rotor's spin is reckoned relative to the first body; gyroscopic effects of the rotor are not in it.
    """

    ratio: float
    rotor_inertia: float = 0.0
    torque: Function | float = 0.0
    droop: float = 0.0
    pattern: ClassVar[str] = "J"
    ends_text: ClassVar[str] = "one joint"
    meaning: ClassVar[str] = "A geared motor with the inertia of its rotor."

    def __post_init__(self) -> None:
        with Check("GearedMotor") as check:
            ratio = check.number("ratio", self.ratio)
            if ratio == 0.0:
                check.fault("ratio must not be zero", ratio)
            values: dict[str, object] = {
                "ratio": ratio,
                "rotor_inertia": check.not_negative("rotor_inertia", self.rotor_inertia, "kg m^2"),
                "droop": check.not_negative("droop", self.droop),
            }
            with check.faults.collect():
                values["torque"] = as_function(check.element, "torque", self.torque)
            check.settle(self, **values)

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A motor law and, with a rotor, a row of compliance 1/(ratio^2 rotor_inertia)."""
        coordinate = pairwise("", ends)
        torque = as_function(self.name, "torque", self.torque).scaled(self.ratio)
        laws: tuple[Law, ...] = ()
        if (
            is_expression(self.droop)
            or self.droop > 0.0
            or not (isinstance(torque, Constant) and torque.value == 0.0)
        ):
            laws = (Law("motor", coordinate, (self.ratio**2 * self.droop,), torque),)
        if self.rotor_inertia == 0.0:
            return Lowered(laws=laws)
        compliance = 1.0 / (self.ratio**2 * self.rotor_inertia)
        return Lowered((Block("inertance", (lock(coordinate),), compliance=compliance),), laws)


@dataclass(frozen=True)
class Wrench(ForceKind):
    """A force and a moment from outside on a body, at a marker.

    force: three components, N; moment: three components, N m; each a number or a function of time.
    axes: "world", or "marker" for components in the marker's axes, which turn with the body.
    """

    force: tuple[Function | float, Function | float, Function | float] = (0.0, 0.0, 0.0)
    moment: tuple[Function | float, Function | float, Function | float] = (0.0, 0.0, 0.0)
    axes: str = "world"
    pattern: ClassVar[str] = "M"
    ends_text: ClassVar[str] = "one marker"
    meaning: ClassVar[str] = "A force and a moment on a body as functions of time."

    def __post_init__(self) -> None:
        with Check("Wrench") as check:
            values: dict[str, object] = {"axes": check.choice("axes", self.axes, ("world", "marker"))}
            for field in ("force", "moment"):
                values[field] = _components(check, field, getattr(self, field))
            check.settle(self, **values)

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """One applied wrench, moment over force."""
        (marker,) = markers(ends)
        return Lowered(wrenches=(AppliedWrench(marker, self.axes == "marker", (*self.moment, *self.force)),))


def _components(check: Check, field: str, values: object) -> tuple[Function | float, ...]:
    """Three components: numbers stay numbers, functions stay functions."""
    try:
        given = tuple(values)  # type: ignore[arg-type, var-annotated]
    except TypeError:
        given = ()
    if len(given) != 3 or isinstance(values, str):
        check.fault(f"{field} must hold three numbers or functions of time", values)
        return (0.0, 0.0, 0.0)
    components: list[Function | float] = []
    for axis, value in zip("xyz", given, strict=True):
        if isinstance(value, Function):
            components.append(value)
        elif isinstance(value, str) or is_expression(value):
            with check.faults.collect():
                components.append(as_function(check.element, f"{field} {axis}", value))
        else:
            components.append(check.number(f"{field} {axis}", value))
    return tuple(components)
