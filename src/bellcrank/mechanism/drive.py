"""Drives: coordinates of joints, or markers, driven by functions of time. Their effort is a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bellcrank.errors import MechanismError, Unsupported
from bellcrank.mechanism.checking import Check, Quat, check_name
from bellcrank.mechanism.coordinate import Coordinate, JointCoordinate
from bellcrank.mechanism.fields import Description, described, flag, function
from bellcrank.mechanism.functions.function import Function, OptionalFunctionField, as_function
from bellcrank.mechanism.functions.path import Path
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.parameters import present
from bellcrank.mechanism.rows import FROM_START, Block, Lowered, Row, lock


@described
class Drive(Description):
    """A joint coordinate driven by a function of time; exactly one of position and velocity is given.

    coordinate: which coordinate of which joint.
    position: rad or m over time in s; it must have at least one continuous derivative.
    velocity: rad/s or m/s; it must be continuous and have an antiderivative. The position starts at the value
        in the assembled initial configuration, or in the state that a run starts from.
    relative: `position` is measured from that value as well, instead of from zero.

    >>> drive = pendulum.add_drive("motor", "hinge", position=bc.Ramp(0.0, np.pi / 2, duration=2.0))
    >>> effort = bc.simulate(pendulum, 3.0).drive("motor").effort
    >>> print(f"{effort[0]:.3f} N m, {abs(effort[-1]):.3f} N m")    # level: m g L / 2; upright: none
    4.905 N m, 0.000 N m
    """

    name: str
    coordinate: JointCoordinate
    position: OptionalFunctionField = function("rad or m", default=None)
    velocity: OptionalFunctionField = function("rad/s or m/s", default=None)
    relative: bool = flag(default=False)

    def __post_init__(self) -> None:
        check_name("drive", self.name)
        super().__post_init__()

    def _element(self) -> str:
        return f"drive {self.name!r}"

    def _judge(self, check: Check) -> None:
        check.instance("what it drives", self.coordinate, JointCoordinate, "give a joint, by name or handle")
        if (self.position is None) == (self.velocity is None):
            check.fault("exactly one of position and velocity must be given", (self.position, self.velocity))
        for field, least in (("position", 1), ("velocity", 0)):
            if (function := getattr(self, field)) is not None:
                with check.faults.collect():
                    smooth_function(check.element, field, function, least)
        if self.velocity is not None and len(check.faults) == 0:
            try:
                present(self.velocity).integral()
            except Unsupported as error:
                check.fault("the velocity must have an antiderivative", None, str(error))

    def lowered(self, coordinate: Coordinate) -> Lowered:
        """The row  coordinate - position(t) = 0,  or  coordinate - integral of velocity = initial value."""
        if self.position is not None:
            row = lock(coordinate, FROM_START if self.relative else 0.0, self.position)
        elif self.velocity is not None:
            row = lock(coordinate, FROM_START, self.velocity.integral())
        else:
            raise TypeError("a drive has a position or a velocity")
        return Lowered((Block("drive", (row,)),))

    def _repr_html_(self) -> str:
        from bellcrank.mechanism.html import element

        return element(
            "drive", self.name, "position" if self.velocity is None else "velocity", self.coordinate
        )


@dataclass(frozen=True)
class PathDrive:
    """A marker driven along a path, optionally with its orientation.

    marker: what is driven.
    path: positions over time, m, in the axes of `reference`.
    reference: the marker to which the path belongs, by default the ground's frame.
    orientation: None leaves it free; a unit quaternion (marker axes to reference axes) keeps it constant;
        three functions of time prescribe the rotation vector (below pi) of the marker seen from the
        reference.

    >>> circle = bc.Path(("cos(t)", "sin(t)", 0.0))
    >>> drive = cube.add_drive("hand", marker="cube", path=circle)
    >>> run = bc.simulate(cube, 1.0)
    >>> print(f"{np.linalg.norm(run.drive('hand').effort[-1]):.6f} N")    # m r w^2
    6.000000 N
    """

    name: str
    marker: Marker
    path: Path
    reference: Marker = Marker(GROUND)  # noqa: RUF009  (a frozen value)
    orientation: Quat | tuple[Function, Function, Function] | None = None

    def __post_init__(self) -> None:
        check_name("drive", self.name)
        with Check(f"drive {self.name!r}") as check:
            for field in ("marker", "reference"):
                check.instance(field, getattr(self, field), Marker, "use body.marker(...)")
            check.instance("path", self.path, Path, "use bc.Path(...)")
            if isinstance(self.path, Path):
                with check.faults.collect():
                    for axis, function in zip("xyz", present(self.path).functions, strict=True):
                        smooth_function(check.element, f"path {axis}", function, 1)
            orientation: Any = self.orientation
            if orientation is not None:
                if not isinstance(orientation, (tuple, list)) or len(orientation) not in (3, 4):
                    check.fault("orientation must be a quaternion or three functions of time", orientation)
                elif len(orientation) == 4:
                    orientation = check.quaternion("orientation", orientation)
                else:
                    with check.faults.collect():
                        orientation = tuple(
                            smooth_function(check.element, f"orientation {axis}", value, 1)
                            for axis, value in zip("xyz", orientation, strict=True)
                        )
            check.store(self, orientation=orientation)

    def _repr_html_(self) -> str:
        from bellcrank.mechanism.html import element

        return element("drive", self.name, f"{self.marker.body} along a path")

    def lowered(self) -> Lowered:
        """One block of three rows on x, y, z, or six with the orientation."""
        rows: list[Row] = [
            lock(Coordinate(axis, self.reference, self.marker), 0.0, function)
            for axis, function in zip("xyz", self.path.functions, strict=True)
        ]
        if self.orientation is not None and len(self.orientation) == 4:
            held = self.reference.turned(self.orientation)
            rows += [lock(Coordinate(e, held, self.marker)) for e in ("e1", "e2", "e3")]
        elif self.orientation is not None:
            rows += [
                lock(Coordinate(f"rot_{axis}", self.reference, self.marker), 0.0, function)
                for axis, function in zip("xyz", self.orientation, strict=True)
            ]
        return Lowered((Block("drive", tuple(rows)),))


def smooth_function(element: str, field: str, value: Any, least: int) -> Function:
    """A Function with at least `least` continuous derivatives. Raises MechanismError otherwise."""
    function = as_function(element, field, value)
    if present(function).smoothness < least:
        wanted = "must be continuous" if least == 0 else "must have a continuous first derivative"
        advice = (
            "use a CubicSpline, or a Table with interpolation='pchip'; at the ends of its range a "
            "function with a slope must go on with extrapolation='linear'"
        )
        raise MechanismError.of(element, f"{field} {wanted}", function, advice)
    return function
