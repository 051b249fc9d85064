"""Springs, dampers and bushings; what acts on one side only: strings, stops, supports, cushions, play."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import pi
from typing import Any, ClassVar, Final, Self

import numpy as np

from bellcrank import expression as ex
from bellcrank.mechanism.attachment import Attachment, End, ForceKind, Motion, markers, pairwise
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.fields import choice, described, fraction, function, quantity, vector
from bellcrank.mechanism.formulas import CustomForce, EndPose
from bellcrank.mechanism.functions.function import FunctionField, FunctionOfTime, OptionalFunctionField
from bellcrank.mechanism.functions.nurbs import _RationalFunction
from bellcrank.mechanism.functions.piecewise import FAR, _PiecewiseFunction
from bellcrank.mechanism.given import FloatField, OptionalFloatField, VectorField
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.parameters import is_expression, present
from bellcrank.mechanism.rows import FROM_START, Law, Lowered


class _LinearSpring(ForceKind):
    """effort = -stiffness (value - rest) - damping rate + preload."""

    _rest: ClassVar[str]

    def _judge(self, check: Check) -> None:
        own: Any = self  # each kind declares the fields, in its own units
        if len(check.faults) == 0 and own.stiffness == own.damping == own.preload == 0.0:
            check.fault("it does nothing", None, "give a stiffness or a damping")

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A linear law on the distance or the joint coordinate."""
        return Lowered(
            laws=(Law.of(self, "linear", pairwise("distance", ends), rest=getattr(self, self._rest)),)
        )

    def held_at(self, value: float, _ends: tuple[Attachment, ...]) -> Self:
        """With that rest length or angle."""
        return replace(self, **{self._rest: value})


@described
class SpringDamper(_LinearSpring):
    """A linear spring and damper along the line between two markers.

    stiffness: N/m. damping: N s/m. Neither is negative.
    rest_length: m; None takes the distance in the assembled initial configuration.
    preload: force that pushes the markers apart at rest length, N.

    >>> spring = bc.SpringDamper(stiffness=1962.0, damping=10.0, rest_length=0.5)
    >>> hung = block.add_force("spring", spring, block.ground.marker((0, 0, 0.5)), "block")
    >>> print(f"{bc.statics(block).position['guide'][0]:.6f} m")    # -m g / k
    -0.010000 m
    >>> print(f"{bc.modes(block, state=bc.statics(block).state).mode(1).damping:.4f}")    # c / (2 sqrt(k m))
    0.0798
    """

    stiffness: FloatField = quantity("N/m", "not negative")
    damping: FloatField = quantity("N s/m", "not negative", default=0.0)
    rest_length: OptionalFloatField = quantity("m", "not negative", default=FROM_START)
    preload: FloatField = quantity("N", default=0.0)
    pattern: ClassVar[str] = "MM"
    ends_text: ClassVar[str] = "two markers"
    meaning: ClassVar[str] = "A linear spring and damper between two points."
    _rest: ClassVar[str] = "rest_length"


@described
class TorsionSpring(_LinearSpring):
    """A linear spring and damper on a joint coordinate (on a travel as well as on an angle).

    stiffness: N m/rad (N/m). damping: N m s/rad (N s/m). Neither is negative.
    rest_angle: rad (m); None takes the value in the assembled initial configuration.
    preload: effort at rest, N m (N).

    >>> spring = pendulum.add_force("spring", bc.TorsionSpring(stiffness=100.0), "hinge")
    >>> angle = bc.statics(pendulum).position["hinge"][0]
    >>> print(f"{-100 * angle:.6f} N m, by hand {9.81 / 2 * np.cos(angle):.6f} N m")
    4.899115 N m, by hand 4.899115 N m
    """

    stiffness: FloatField = quantity("N/m or N m/rad", "not negative")
    damping: FloatField = quantity("N s/m or N m s/rad", "not negative", default=0.0)
    rest_angle: OptionalFloatField = quantity("rad or m", default=0.0, optional=True)
    preload: FloatField = quantity("N or N m", default=0.0)
    pattern: ClassVar[str] = "J"
    ends_text: ClassVar[str] = "one joint"
    meaning: ClassVar[str] = "A linear spring and damper on a joint coordinate."
    _rest: ClassVar[str] = "rest_angle"


@described
class TabulatedSpring(ForceKind):
    """A nonlinear spring: the effort as a function of the distance of two markers or of a joint coordinate.

    effort: function of the coordinate (m or rad), N or N m; positive drives it up (pushes the markers apart).
        A spring that pulls back has a falling function. A Table, CubicSpline, Polynomial or Harmonic; it
            needs an antiderivative for its potential energy, which a Nurbs does not have.
    damping: N s/m or N m s/rad.

    >>> curve = bc.Table([-0.2, 0.0, 0.2], [400.0, 0.0, -100.0], interpolation="linear")
    >>> spring = block.add_force("spring", bc.TabulatedSpring(curve), "guide")
    >>> print(f"{bc.statics(block).position['guide'][0]:.6f} m")    # -m g / (2000 N/m)
    -0.009810 m
    """

    effort: FunctionField = function("N or N m")
    damping: FloatField = quantity("N s/m or N m s/rad", "not negative", default=0.0)
    pattern: ClassVar[str] = "MM|J"
    ends_text: ClassVar[str] = "two markers or one joint"
    meaning: ClassVar[str] = "A spring whose effort is a given function of its length or angle."

    def _judge(self, check: Check) -> None:
        effort = present(self.effort)
        if isinstance(effort, FunctionOfTime):
            advice = "use a Table, a CubicSpline or a Polynomial"
            check.fault("effort must be a function of the coordinate, not of t", str(effort), advice)
        if isinstance(effort, _RationalFunction):
            check.fault("effort must have an antiderivative", effort, "use a Table or a CubicSpline")

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A table law on the distance or the joint coordinate."""
        return Lowered(laws=(Law.of(self, "table", pairwise("distance", ends), self.effort),))


@described
class Bushing(ForceKind):
    """A rubber bushing: six springs and dampers between two markers, along and about the axes of marker 1.

    stiffness, damping: along x, y, z, N/m and N s/m.
    rotational_stiffness, rotational_damping: about x, y, z, N m/rad and N m s/rad, on the rotation vector,
        which is followed: past pi it goes on, whole turns count, and it comes back the same way. At a whole
        turn it has no direction of its own, so bodies that turn that far are best held to their axis.
    It is unloaded where the markers coincide; a start counts from the nearest such turn.

    >>> rubber = bc.Bushing(stiffness=(1e5, 1e5, 2e5), rotational_stiffness=(100.0, 100.0, 100.0))
    >>> mount = cube.add_force("mount", rubber, "ground", "cube")
    >>> cube.gravity = (0, 0, -9.81)
    >>> print(f"{1e3 * bc.statics(cube).state.position[0, 2]:.5f} mm")    # -m g / 2e5 N/m
    -0.29430 mm
    """

    stiffness: VectorField = vector("N/m", "not negative", default=(0.0, 0.0, 0.0))
    rotational_stiffness: VectorField = vector("N m/rad", "not negative", default=(0.0, 0.0, 0.0))
    damping: VectorField = vector("N s/m", "not negative", default=(0.0, 0.0, 0.0))
    rotational_damping: VectorField = vector("N m s/rad", "not negative", default=(0.0, 0.0, 0.0))
    pattern: ClassVar[str] = "MM"
    ends_text: ClassVar[str] = "two markers"
    meaning: ClassVar[str] = "Springs and dampers in all six directions between two markers."

    def _judge(self, check: Check) -> None:
        held = (self.stiffness, self.rotational_stiffness, self.damping, self.rotational_damping)
        if len(check.faults) == 0 and not any(map(any, held)):
            check.fault("it does nothing", None, "give a stiffness or a damping")

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """Six linear laws, on x, y, z and rot_x, rot_y, rot_z; those that do nothing are left out."""
        one, two = markers(ends)
        names = ("x", "y", "z", "rot_x", "rot_y", "rot_z")
        stiffness = (*self.stiffness, *self.rotational_stiffness)
        damping = (*self.damping, *self.rotational_damping)
        return Lowered(
            laws=tuple(
                Law.of(
                    self, "linear", Coordinate(name, one, two), stiffness=k, damping=c, rest=0.0, preload=0.0
                )
                for name, k, c in zip(names, stiffness, damping, strict=True)
                if k != 0.0 or c != 0.0
            )
        )


_DIRECTIONS: Final = {"below": 1.0, "above": -1.0}


@described
class RubberString(ForceKind):
    """A string between two markers that pulls and never pushes.

    stiffness: N/m, not negative. rest_length: below it the string is slack, m.
    restitution: part of the tension that is left while the markers approach each other, 0 to 1. At 1 the
        string is a spring that only pulls; below, it takes energy out of every swing.
    closing_speed: speed of approach over which the tension falls to that part, along a cubic, m/s. It is full
        where the markers are at rest to each other.

    P. Schröder, The Virtual Erector Set (1990), section 7.2.

    >>> string = bc.RubberString(stiffness=981.0, rest_length=0.5)
    >>> rope = block.add_force("string", string, block.ground.marker((0, 0, 0.5)), "block")
    >>> print(f"{bc.statics(block).position['guide'][0]:.6f} m")    # it stretches by m g / k
    -0.020000 m
    """

    stiffness: FloatField = quantity("N/m", "not negative")
    rest_length: FloatField = quantity("m", "not negative")
    restitution: FloatField = fraction(default=1.0)
    closing_speed: FloatField = quantity("m/s", "positive", default=0.1)
    pattern: ClassVar[str] = "MM"
    ends_text: ClassVar[str] = "two markers"
    meaning: ClassVar[str] = "A string that pulls only, and less while it shortens."

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A rubber law on the distance."""
        return Lowered(laws=(Law.of(self, "rubber", pairwise("distance", ends), rest=self.rest_length),))


ELASTIC: Any = {"exponent": 1.0, "loss": 0.0, "loss_speed": 1.0}
"""Of a one-sided law whose elastic load is in proportion to its depth and loses nothing."""


def _judge_loss(check: Check, factor: float) -> None:
    """Note a loss factor at which a stroke would lose more than it stores."""
    if len(check.faults) == 0 and factor > (1.0 + 1e-12) / pi:
        check.fault("loss_factor must not be more than 1/pi", factor, "0.1 to 0.3 are usual of rubber")


def _loss_of(factor: Any) -> Any:
    """By which part of the elastic load the load is more on the way in, and less on the way out."""
    return pi * factor if is_expression(factor) else min(pi * factor, 1.0)


@described
class OneSidedSpring(ForceKind):
    """A spring and damper that acts on one side of a value, pushes away from it, and never pulls.

    stiffness: N/m or N m/rad, not negative. contact: the value where it begins, m or rad.
    side: "below" or "above" that value.
    damping: N s/m or N m s/rad. depth: how far beyond the contact the damping has its full value, m or rad;
        it rises along a cubic, so that an arrival at speed meets no jump of the force.
    curve: what it pushes with over the depth, m or rad, beside the stiffness: a function that begins with 0
        at 0 and is nowhere negative, such as a Table of a buffer, N or N m.
    loss_factor: of a stroke and its return, the energy lost is 2 pi loss_factor times the greatest energy
        stored; at most 1/pi, at which nothing comes back. loss_speed: beyond it the loss is full, m/s or
        rad/s.

    >>> stop = bc.OneSidedSpring(stiffness=981.0, contact=-0.1, side="below", damping=20.0)
    >>> buffer = block.add_force("buffer", stop, "guide")
    >>> print(f"{bc.statics(block).position['guide'][0]:.6f} m")    # -0.1 - m g / k
    -0.120000 m
    """

    stiffness: FloatField = quantity("N/m or N m/rad", "not negative")
    contact: FloatField = quantity("m or rad")
    side: str = choice(_DIRECTIONS, default="below")
    damping: FloatField = quantity("N s/m or N m s/rad", "not negative", default=0.0)
    depth: FloatField = quantity("m or rad", "positive", default=1e-3)
    curve: OptionalFunctionField = function("N or N m", default=None)
    loss_factor: FloatField = quantity("1", "not negative", default=0.0)
    loss_speed: FloatField = quantity("m/s or rad/s", "positive", default=1e-2)
    pattern: ClassVar[str] = "MM|J"
    ends_text: ClassVar[str] = "two markers or one joint"
    meaning: ClassVar[str] = "A spring and damper on one side of a distance, travel or angle: a bump stop."

    def _judge(self, check: Check) -> None:
        _judge_loss(check, self.loss_factor)
        curve = present(self.curve)
        if curve is None or len(check.faults) > 0:
            return
        if isinstance(curve, (FunctionOfTime, _RationalFunction)):
            advice = "use a Table, a CubicSpline or a Polynomial"
            check.fault("curve must be a function of the depth with an antiderivative", str(curve), advice)
            return
        places = curve.pieces.breaks if isinstance(curve, _PiecewiseFunction) else np.linspace(0.0, 1.0, 33)
        deep = np.interp(np.linspace(0, len(places) - 1, 8 * len(places)), np.arange(len(places)), places)
        loads = curve(np.maximum(deep[deep < FAR], 0.0))
        size = 1e-9 * float(np.max(np.abs(loads), initial=0.0))
        if abs(first := float(curve(0.0))) > size:
            check.fault("curve must begin with 0 at a depth of 0", first)
        elif np.min(loads) < -size:
            check.fault("curve must not be negative: it would pull", float(np.min(loads)))

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A one-sided law on the distance or the joint coordinate."""
        numbers: Any = {
            "direction": _DIRECTIONS[self.side],
            "exponent": 1.0,
            "loss": _loss_of(self.loss_factor),
        }
        law = Law.of(self, "one_sided", pairwise("distance", ends), self.curve, **numbers)
        return Lowered(laws=(law,))


_BEARINGS: Final = {"journal": "distance_xy", "ball": "distance", "thrust": "z"}


@described
class BearingClearance(ForceKind):
    """A bearing with clearance: nothing acts within it; beyond it two elastic bodies press on each other.

    clearance: how far marker 2 may move from the middle, m: half the difference of diameters, or half the
        axial play.
    stiffness, exponent: of the load stiffness depth^exponent at the depth beyond, N/m^exponent; the exponent
        is 1 of a given stiffness, 1.5 of bodies that touch at a point (`hertz` gives both).
    shape: "journal", a pin in a ring, across z of marker 1; "ball", a ball in a socket, in all directions;
        "thrust", collars, along z both ways.
    damping: N s/m. depth: how far beyond the contact it has its full value, m.
    loss_factor: of a stroke and its return, the energy lost is 2 pi loss_factor times the greatest energy
        stored; at most 1/pi, at which nothing comes back. loss_speed: beyond it the loss is full, m/s.

    The load is along the line of centres: nothing rubs. The parts meet at speed and bounce.

    >>> mech = bc.Mechanism("pin")
    >>> pin = mech.add_body("pin", 2.0, (1, 1, 1))
    >>> bearing = bc.BearingClearance(clearance=1e-4, stiffness=1e7, damping=500.0, shape="ball")
    >>> play = mech.add_force("play", bearing, "ground", pin)
    >>> print(f"{1e6 * bc.statics(mech).state.position[0, 2]:.3f} um")    # -(100 + m g / k)
    -101.962 um
    """

    clearance: FloatField = quantity("m", "positive")
    stiffness: FloatField = quantity("", "positive")
    exponent: FloatField = quantity("1", "positive", default=1.0)
    shape: str = choice(_BEARINGS, default="journal")
    damping: FloatField = quantity("N s/m", "not negative", default=0.0)
    depth: FloatField = quantity("m", "positive", default=1e-6)
    loss_factor: FloatField = quantity("1", "not negative", default=0.0)
    loss_speed: FloatField = quantity("m/s", "positive", default=1e-2)
    pattern: ClassVar[str] = "MM"
    ends_text: ClassVar[str] = "two markers: the housing (z along the shaft) and the shaft"
    meaning: ClassVar[str] = "A journal, ball or thrust bearing with clearance, whose parts may strike."

    def _judge(self, check: Check) -> None:
        _judge_loss(check, self.loss_factor)
        if len(check.faults) == 0 and self.exponent < 1.0:
            check.fault("exponent must not be less than 1", self.exponent, "1.5 is that of a point contact")

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """One-sided laws on the distance from the middle; along z, one each way."""
        along, loss = pairwise(_BEARINGS[self.shape], ends), _loss_of(self.loss_factor)

        def beyond(side: float) -> Law:
            contact = side * self.clearance
            return Law.of(self, "one_sided", along, contact=contact, direction=-side, loss=loss)

        if self.shape != "thrust":
            return Lowered(laws=(beyond(1.0),))
        return Lowered(laws=(replace(beyond(1.0), label="up"), replace(beyond(-1.0), label="down")))

    def quantities(self, motion: Motion) -> dict[str, tuple[str, Any]]:
        """Distance from the middle, what is left of the clearance, and the load between the parts."""
        away = motion.value[:, 0]
        return {
            "eccentricity": ("m", away),
            "gap": ("m", self.clearance - np.abs(away)),
            "load": ("N", np.abs(motion.effort.sum(axis=1))),
        }


@described
class SupportPoint(ForceKind):
    """A spring and damper that keep a point of a body from going below the ground: a foot, a wheel.

    stiffness: N/m, not negative. damping: N s/m. height: of the ground, world z, m.
    depth: how far below the ground the damping has its full value, m.
    It pushes along world z, without friction, and never pulls.

    P. Schröder, The Virtual Erector Set (1990), section 6.6.

    >>> foot = block.add_force("foot", bc.SupportPoint(stiffness=1962.0, height=-0.3), "block")
    >>> print(f"{bc.statics(block).position['guide'][0]:.6f} m")    # -0.3 - m g / k
    -0.310000 m
    """

    stiffness: FloatField = quantity("N/m", "not negative")
    damping: FloatField = quantity("N s/m", "not negative", default=0.0)
    height: FloatField = quantity("m", default=0.0)
    depth: FloatField = quantity("m", "positive", default=1e-3)
    pattern: ClassVar[str] = "M"
    ends_text: ClassVar[str] = "one marker"
    meaning: ClassVar[str] = "A spring and damper that keep a point above the ground."

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A one-sided law on the height of the marker."""
        (point,) = markers(ends)
        above, up = Coordinate("z", Marker(GROUND), point), _DIRECTIONS["below"]
        law = Law.of(self, "one_sided", above, contact=self.height, direction=up, **ELASTIC)
        return Lowered(laws=(law,))


@described
class Seat(ForceKind):
    """A saddle or cushion between two bodies, which becomes stiffer the deeper it is pressed.

    Its ends are a marker on the seat, z upwards out of it, and one on the sitting body, at its lowest point.
    Above the seat no force acts; the seat never pulls.

    stiffness, hardening: of the load k d + h d^3 at a depth d, N/m and N/m^3.
    dissipation: c of the factor 1 + c v of the load, with the speed v at which d grows, s/m.
    shear_length: displacement across the seat at which the force across is as large as the load, m. The body
        does not slide. shear_damping: ratio of damping to stiffness across, s.

    A. Tasora, An optimized Lagrangian-multiplier approach ... (2000), figure 7, measured such a curve; its
    numbers are not in the text. The defaults, assumed, make 44 kN/m under 450 N: a rider of 45 kg on it
    swings at 5 Hz with 0.3 of critical damping.

    >>> seat = block.add_force("seat", bc.Seat(), block.ground.marker(), "block")
    >>> depth = -bc.statics(block).position["guide"][0]
    >>> print(f"{15e3 * depth + 30e6 * depth**3:.4f} N")    # k d + h d^3 carries the weight
    19.6200 N
    """

    stiffness: FloatField = quantity("N/m", "not negative", default=1.5e4)
    hardening: FloatField = quantity("N/m^3", "not negative", default=3e7)
    dissipation: FloatField = quantity("s/m", "not negative", default=1.9)
    shear_length: FloatField = quantity("m", "positive", default=0.015)
    shear_damping: FloatField = quantity("s", "not negative", default=0.02)
    pattern: ClassVar[str] = "MM"
    ends_text: ClassVar[str] = "a marker on the seat and one on who sits"
    meaning: ClassVar[str] = "A cushion that pushes more than in proportion and holds against sliding."

    def _judge(self, check: Check) -> None:
        if len(check.faults) == 0 and self.stiffness == 0.0 and self.hardening == 0.0:
            check.fault("it does nothing", None, "give a stiffness or a hardening")

    def lowered(self, ends: tuple[End, ...]) -> Lowered:  # noqa: ARG002
        """A force by formulas: on the seat, and the opposite one on the sitting body.

        Elastic forces have the potential W(d) + W'(d) s^2 / 2 l, with W' = k d + h d^3, the displacement s
        across and the shear length l.
        """
        seat, rider = EndPose("seat"), EndPose("rider")
        up, apart = seat.z_axis, rider.position - seat.position
        velocity = rider.velocity - seat.velocity
        depth, growth = ex.maximum(0.0, -ex.dot(up, apart)), -ex.dot(up, velocity)
        aside, drift = apart - ex.dot(up, apart) * up, velocity + growth * up
        load = self.stiffness * depth + self.hardening * depth**3
        slope = self.stiffness + 3.0 * self.hardening * depth**2
        of_shear = ex.piecewise(depth > 0.0, 0.5 * slope * ex.dot(aside, aside) / self.shear_length, 0.0)
        lift = load * ex.maximum(0.0, 1.0 + self.dissipation * growth) + of_shear
        across = (load / self.shear_length) * (aside + self.shear_damping * drift)
        force = across - lift * up  # on the seat, at the rider's marker
        return Lowered(custom=_Seat((seat, rider), force=tuple(force), moment=tuple(ex.cross(apart, force))))


@dataclass(frozen=True)
class _Seat(CustomForce, listed=False):
    """The formulas of a seat."""

    description: Any = None
