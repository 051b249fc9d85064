"""Motors on joint coordinates, and external wrenches."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from bellcrank.mechanism.attachment import End, ForceKind, markers, pairwise
from bellcrank.mechanism.checking import Check, range_of
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.fields import checked, choice, described, function, quantity
from bellcrank.mechanism.functions.function import Constant, Function, FunctionField, as_function
from bellcrank.mechanism.given import FloatField
from bellcrank.mechanism.parameters import is_expression
from bellcrank.mechanism.rows import AppliedWrench, Block, Law, Lowered, lock


@described
class JointMotor(ForceKind):
    """An effort on a joint coordinate that is a function of time, with a droop in speed.

    effort: N m on an angle, N on a travel; positive drives the coordinate up.
    droop: how much the effort falls with speed, N m s/rad or N s/m, not negative.

    >>> slide = cube.add_joint("slide", bc.PrismaticX(), "ground", "cube")
    >>> motor = cube.add_force("motor", bc.JointMotor("12*t"), "slide")
    >>> print(bc.simulate(cube, 1.0).joint("slide").velocity[-1].round(6))    # m/s: 12 N/s t^2 / (2 x 6 kg)
    [1.]
    """

    effort: FunctionField = function("N or N m")
    droop: FloatField = quantity("N s/m or N m s/rad", "not negative", default=0.0)
    pattern: ClassVar[str] = "J"
    ends_text: ClassVar[str] = "one joint"
    meaning: ClassVar[str] = "A torque or force on a joint coordinate as a function of time."

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A motor law."""
        law = Law.of(self, "motor", pairwise("", ends), self.effort, torque_slope=self.droop)
        return Lowered(laws=(law,))


@described
class GearedMotor(ForceKind):
    """A motor behind a gear on a joint coordinate; its rotor's inertia acts with the square of the ratio.

    ratio: turns of the motor for each turn of the joint (rad/m on a travel), not zero; it may be negative.
    rotor_inertia: of the rotor about its axis, kg m^2.
    torque: at the motor, a function of time, N m.
    droop: fall of the motor's torque with the motor's speed, N m s/rad.

    On the joint act  ratio torque(t) - ratio^2 droop rate  and the inertia  ratio^2 rotor_inertia.  The
    rotor's spin is taken relative to the first body; gyroscopic effects of the rotor are not included.

    >>> motor = cube.add_joint("hinge", bc.Revolute(), "ground", "cube")
    >>> geared = bc.GearedMotor(ratio=10, rotor_inertia=0.02, torque=0.3)
    >>> force = cube.add_force("motor", geared, "hinge")
    >>> run = bc.simulate(cube, 1.0)
    >>> print(run.joint("hinge").velocity[-1].round(6))    # rad/s: 10 x 0.3 / (1 + 100 x 0.02)
    [1.]
    """

    ratio: FloatField = quantity("1 or rad/m", "not zero")
    rotor_inertia: FloatField = quantity("kg m^2", "not negative", default=0.0)
    torque: FunctionField = function("N m", default=0.0)
    droop: FloatField = quantity("N m s/rad", "not negative", default=0.0)
    pattern: ClassVar[str] = "J"
    ends_text: ClassVar[str] = "one joint"
    meaning: ClassVar[str] = "A geared motor with the inertia of its rotor."

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A motor law and, with a rotor, a row of compliance 1/(ratio^2 rotor_inertia)."""
        coordinate = pairwise("", ends)
        torque = self.torque.scaled(self.ratio)
        laws: tuple[Law, ...] = ()
        if (
            is_expression(self.droop)
            or self.droop > 0.0
            or not (isinstance(torque, Constant) and torque.value == 0.0)
        ):
            slope = self.ratio**2 * self.droop
            laws = (Law.of(self, "motor", coordinate, torque, torque_slope=slope),)
        return Lowered(rotor(coordinate, self.ratio**2 * self.rotor_inertia), laws)


def rotor(coordinate: Coordinate, inertia: Any) -> tuple[Block, ...]:
    """A row of compliance 1/inertia along a coordinate; none if it is lighter than anything."""
    if not is_expression(inertia) and inertia < range_of("kg m^2").least:
        return ()
    return (Block("inertance", (lock(coordinate),), compliance=1.0 / inertia),)


_NONE = (0.0, 0.0, 0.0)


def _components(check: Check, field: str, values: Any) -> tuple[Function | float, ...]:
    """Three components: numbers stay numbers, functions stay functions."""
    given = tuple(values) if np.iterable(values) and not isinstance(values, str) else ()
    if len(given) != 3:
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


@described
class Wrench(ForceKind):
    """A force and a moment from outside on a body, at a marker.

    force: three components, N; moment: three components, N m; each a number or a function of time.
    axes: "world", or "marker" for components in the marker's axes, which turn with the body.

    >>> push = cube.add_force("push", bc.Wrench(force=(12.0, 0, 0), moment=(0, 0, 0.5)), "cube")
    >>> run = bc.simulate(cube, 1.0)
    >>> print(run.body("cube").velocity[-1].round(6), run.body("cube").angular_velocity[-1].round(6))
    [2. 0. 0.] [0.  0.  0.5]
    """

    force: tuple[Function | float, Function | float, Function | float] = checked(
        _components, "N", default=_NONE
    )
    moment: tuple[Function | float, Function | float, Function | float] = checked(
        _components, "N m", default=_NONE
    )
    axes: str = choice(("world", "marker"), default="world")
    pattern: ClassVar[str] = "M"
    ends_text: ClassVar[str] = "one marker"
    meaning: ClassVar[str] = "A force and a moment on a body as functions of time."

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """One applied wrench, moment over force."""
        (marker,) = markers(ends)
        return Lowered(wrenches=(AppliedWrench(marker, self.axes == "marker", (*self.moment, *self.force)),))
